// SPDX-License-Identifier: GPL-2.0
/*
 * Reading configurations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock_type.h"
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
	static const char signs[] = "?0@^~=-#";
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
	step->second = **text >= 'a';
	step->lock = **text - (step->second ? 'a' : 'A');
	if (step->lock >= MOST_LOCKS)
		refuse("no lock", *text);
	(*text)++;
	if (step->lock >= locks_number)
		locks_number = step->lock + 1;
	step->patience = read_patience(text);
	role->attempts[step->lock] += !is_question(step->patience);
	role->second[step->lock] += !is_question(step->patience) && step->second;
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
	role->follows = *word == '>';
	word += role->follows;
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

bool has_order(unsigned int number)
{
	return roles[number].follows ||
	       (number + 1 < contexts_number && roles[number + 1].follows);
}

static const struct lock_type *const all_types[] = {
#define LOCK_TYPE_ENTRY(name)	&lock_type_##name,
	LOCK_TYPES(LOCK_TYPE_ENTRY)
};

const struct lock_type *lock_types[MOST_LOCKS][2];

static const struct lock_type *read_type(const char **text)
{
	size_t length = strcspn(*text, ",>");
	unsigned int i;

	for (i = 0; i < sizeof(all_types) / sizeof(all_types[0]); i++) {
		const struct lock_type *type = all_types[i];

		if (strlen(type->name) == length && !strncmp(type->name, *text, length)) {
			*text += length;
			return type;
		}
	}
	refuse("no lock type", *text);
}

void types_read(const char *text)
{
	unsigned int lock;

	for (lock = 0; lock < MOST_LOCKS; lock++) {
		lock_types[lock][0] = read_type(&text);
		lock_types[lock][1] = lock_types[lock][0];
		if (*text == '>') {
			text++;
			lock_types[lock][1] = read_type(&text);
		}
		if (*text != ',')
			break;
		text++;
	}
	if (*text)
		refuse("something is left over", text);
	for (lock++; lock < MOST_LOCKS; lock++)
		memcpy(lock_types[lock], lock_types[0], sizeof(lock_types[0]));
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
