// SPDX-License-Identifier: GPL-2.0
/*
 * Reading configurations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

struct role roles[MOST_FIBERS];
unsigned int contexts_number;
unsigned int stopping;
unsigned int locks_number;
unsigned int cpus_number;

static struct step steps[MOST_FIBERS * MOST_STEPS];
static unsigned int steps_number;

static void __attribute__((__noreturn__)) refuse(const char *why, const char *where)
{
	fprintf(stderr, "explore: %s at \"%s\"\n", why, where);
	exit(2);
}

static enum patience read_patience(const char **text)
{
	static const char signs[] = "?0@^~";
	const char *sign = **text ? strchr(signs, **text) : NULL;

	if (!sign)
		return FOR_EVER;
	(*text)++;
	return FINITE + (sign - signs);
}

static const struct step *read_steps(const char **text, struct role *role)
{
	struct step *step = &steps[steps_number++];

	if (steps_number > sizeof(steps) / sizeof(steps[0]))
		refuse("too many attempts", *text);
	if (**text < 'A' || **text >= (char)('A' + MOST_LOCKS))
		refuse("no lock", *text);
	step->lock = *(*text)++ - 'A';
	if (step->lock >= locks_number)
		locks_number = step->lock + 1;
	role->attempts[step->lock]++;
	step->patience = read_patience(text);
	if (**text == 'x') {
		step->stops = true;
		stopping = role - roles;
		(*text)++;
	}
	if (**text == '!') {
		step->remakes = true;
		(*text)++;
	}
	if (**text == '(') {
		(*text)++;
		step->inner = read_steps(text, role);
		if (*(*text)++ != ')')
			refuse("no closing parenthesis", *text - 1);
	}
	if (**text == ',') {
		(*text)++;
		step->next = read_steps(text, role);
	}
	return step;
}

/* Those who do the same have the same program: states are compared by that. */
static const struct step *program_of_like(const struct role *role)
{
	const struct role *other;

	for (other = roles; other < role; other++) {
		if (!strcmp(other->text, role->text))
			return other->program;
	}
	return NULL;
}

static void read_role(const char *word)
{
	struct role *role = &roles[contexts_number++], *other;
	const struct step *like;
	const char *text;
	int length;

	if (contexts_number > MOST_FIBERS)
		refuse("too many contexts", word);
	if (sscanf(word, "%u.%u:%n%31s", &role->cpu, &role->level, &length,
		   role->text) != 3 || role->cpu >= MOST_FIBERS || role->level > 3)
		refuse("no context", word);
	for (other = roles; other < role; other++)
		role->place += other->cpu == role->cpu;
	text = word + length;
	like = program_of_like(role);
	role->program = read_steps(&text, role);
	if (*text)
		refuse("something is left over", text);
	if (like)
		role->program = like;
	if (role->cpu >= cpus_number)
		cpus_number = role->cpu + 1;
}

void program_read(const char *text)
{
	char copy[256], *word, *rest;

	if (strlen(text) >= sizeof(copy))
		refuse("too long", text);
	strcpy(copy, text);
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		read_role(word);
	if (!contexts_number)
		refuse("no context", text);
}
