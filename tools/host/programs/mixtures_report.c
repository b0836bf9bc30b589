// SPDX-License-Identifier: GPL-2.0
/* Mixtures: what was seen in all schedules. */
#include <stdio.h>
#include <stdlib.h>

#include "mixtures.h"

static const char *const event_names[RARE_EVENTS] = {
	[RESUMED] = "places resumed in strict queues",
	[NESTED] = "contexts above one of their level",
	[CHANGED_TYPE] = "locks in memory that was one of another type",
	[DEADLOCKED] = "deadlocks detected",
	[EXHAUSTED] = "attempts that found no node",
	[VISITED] = "locks at which they looked for one",
	[STOPPED] = "CPUs that stopped for good",
};

/* Has this lock type that operation? */
static bool exists(enum type type, enum call call)
{
	if (call == UNLESS || call == TAKEOVER)
		return type == SPIN;
	if (call == DESTROY || call == DESTROY_IN_USE)
		return type != SPIN;
	return true;
}

bool report_variety(void)
{
	unsigned int type, call, event;
	bool all = true;

	for (type = 0; type < TYPES; type++) {
		for (call = 0; call < CALLS; call++) {
			const u64 *seen = outcome->seen[type][call];

			if (!exists(type, call) || seen[0] + seen[1])
				continue;
			printf("# never seen: %s_%s\n", operations[type].name, call_names[call]);
			all = false;
		}
	}
	for (event = 0; event < RARE_EVENTS; event++) {
		if (!outcome->events[event])
			printf("# never seen: %s\n", event_names[event]);
		all &= !!outcome->events[event];
	}
	return all;
}

static void print_calls(FILE *file)
{
	const char *before = "";
	unsigned int type, call;

	for (type = 0; type < TYPES; type++) {
		for (call = 0; call < CALLS; call++) {
			const u64 *seen = outcome->seen[type][call];

			if (!exists(type, call))
				continue;
			fprintf(file, "%s\n\t\t{ \"lock\": \"%s\", \"operation\": \"%s%s\", ",
				before, operations[type].name, call_names[call],
				call == DESTROY_IN_USE ? " in use" : "");
			fprintf(file, "\"zero\": %llu, \"other\": %llu }",
				(unsigned long long)seen[0], (unsigned long long)seen[1]);
			before = ",";
		}
	}
}

void report_json(const char *path, unsigned int first_seed)
{
	FILE *file = fopen(path, "w");
	unsigned int event;

	if (!file) {
		perror(path);
		exit(2);
	}
	fprintf(file, "{\n\t\"seed\": %u,\n\t\"schedules\": %u,\n\t\"operations\": %llu,\n",
		first_seed, outcome->schedules, (unsigned long long)outcome->calls);
	fprintf(file, "\t\"steps\": %llu,\n\t\"failure\": \"%s\",\n\t\"failed_seed\": %u,\n",
		(unsigned long long)outcome->steps, outcome->kind, outcome->schedule.seed);
	fprintf(file, "\t\"calls\": [");
	print_calls(file);
	fprintf(file, "\n\t],\n\t\"events\": {");
	for (event = 0; event < RARE_EVENTS; event++)
		fprintf(file, "%s\n\t\t\"%s\": %llu", event ? "," : "", event_names[event],
			(unsigned long long)outcome->events[event]);
	fprintf(file, "\n\t}\n}\n");
	if (fclose(file))
		exit(2);
}
