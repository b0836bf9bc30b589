// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a cost table: lines "name = number", "#" before a comment, each name once.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"
#include "store_buffer.h"

#define LONGEST_NS	1000000ULL

struct costs costs;

static const struct entry {
	const char *name;
	u64 *value;
	u64 unit;
	u64 most;
} entries[] = {
#define TIME(name)	{ #name, &costs.name, PS_PER_NS, LONGEST_NS }
	TIME(hit), TIME(same_socket), TIME(other_socket), TIME(memory), TIME(refill),
	TIME(invalidate), TIME(atomic), TIME(fence), TIME(relax), TIME(relax_jitter),
	TIME(clock_read), TIME(halt), TIME(kick), TIME(wake_up),
#undef TIME
	{ "store_buffer", &costs.store_buffer, 1, MOST_STORES },
};

#define ENTRIES	(sizeof(entries) / sizeof(entries[0]))

static struct {
	const char *path;
	unsigned int line;
	bool seen[ENTRIES];
} reading;

static void __attribute__((__format__(__printf__, 1, 2), __noreturn__))
refuse(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s", reading.path);
	if (reading.line)
		fprintf(stderr, ":%u", reading.line);
	fputs(": ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

static u64 value_of(const struct entry *entry, const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !(number >= 0 && number <= entry->most))
		refuse("%s is \"%s\", not a number from 0 to %llu", entry->name, text, entry->most);
	if (entry->unit == 1 && number != (u64)number)
		refuse("%s is \"%s\", not a whole number", entry->name, text);
	return number * entry->unit + 0.5;
}

static void set(const char *name, const char *value)
{
	size_t i;

	if (!strcmp(name, "name")) {
		if (costs.name[0])
			refuse("name is there twice");
		strcpy(costs.name, value);
		return;
	}
	for (i = 0; i < ENTRIES; i++) {
		if (strcmp(entries[i].name, name))
			continue;
		if (reading.seen[i])
			refuse("%s is there twice", name);
		reading.seen[i] = true;
		*entries[i].value = value_of(&entries[i], value);
		return;
	}
	refuse("there is no cost \"%s\"", name);
}

static void read_line(char *line)
{
	char name[sizeof(costs.name)], value[sizeof(costs.name)], more;

	line[strcspn(line, "#\n")] = '\0';
	if (sscanf(line, " %c", &more) != 1)
		return;
	if (sscanf(line, " %31[a-z_] = %31s %c", name, value, &more) != 2)
		refuse("\"%s\" is not NAME = NUMBER", line);
	set(name, value);
}

/* What no machine is like. */
static void check_whole(void)
{
	size_t i;

	reading.line = 0;
	if (!costs.name[0])
		refuse("name is missing");
	for (i = 0; i < ENTRIES; i++) {
		if (!reading.seen[i])
			refuse("%s is missing", entries[i].name);
	}
	if (!costs.hit || !costs.relax || !costs.store_buffer)
		refuse("hit, relax and store_buffer must be more than 0, or time does not pass");
	if (costs.same_socket <= costs.hit || costs.other_socket < costs.same_socket)
		refuse("the order must be hit < same_socket <= other_socket");
	if (costs.relax_jitter > costs.relax)
		refuse("relax_jitter must not be more than relax");
}

void costs_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;

	if (!file) {
		fprintf(stderr, "cannot read the cost table %s: %s\n", path, strerror(errno));
		exit(2);
	}
	reading.path = path;
	while (getline(&line, &size, file) >= 0) {
		reading.line++;
		read_line(line);
	}
	free(line);
	fclose(file);
	check_whole();
}
