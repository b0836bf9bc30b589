// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a cost table: lines "name = number", "#" before a comment, each name once.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costs.h"

#define LONGEST_NS	1e6
#define MOST_STORES	64

struct costs costs;

static const struct entry {
	const char *name;
	size_t offset;
	bool is_time;
} entries[] = {
#define TIME(name)	{ #name, offsetof(struct costs, name), true }
	TIME(hit), TIME(same_socket), TIME(other_socket), TIME(memory), TIME(refill),
	TIME(invalidate), TIME(atomic), TIME(fence), TIME(relax), TIME(relax_jitter),
	TIME(clock_read), TIME(halt), TIME(kick), TIME(wake_up),
#undef TIME
	{ "store_buffer", offsetof(struct costs, store_buffer), false },
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

static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static void set_name(const char *value)
{
	if (costs.name[0])
		refuse("name is there twice");
	if (!value[0] || strlen(value) >= sizeof(costs.name) || strpbrk(value, " \t"))
		refuse("name is \"%s\", not a word of at most %zu letters", value,
		       sizeof(costs.name) - 1);
	strcpy(costs.name, value);
}

static u64 encode_tail(const struct entry *entry, const char *value)
{
	double most = entry->is_time ? LONGEST_NS : MOST_STORES;
	char *end;
	double number;

	errno = 0;
	number = strtod(value, &end);
	if (end == value || *end || errno || !(number >= 0 && number <= most))
		refuse("%s is \"%s\", not a number from 0 to %.0f", entry->name, value, most);
	if (!entry->is_time && (number != (int)number || number < 1))
		refuse("%s is \"%s\", not a whole number from 1 to %.0f", entry->name, value,
		       most);
	return entry->is_time ? (u64)(number * PS_PER_NS + 0.5) : (u64)number;
}

static void set(const char *name, const char *value)
{
	size_t i;

	if (!strcmp(name, "name")) {
		set_name(value);
		return;
	}
	for (i = 0; i < ENTRIES; i++) {
		if (strcmp(entries[i].name, name))
			continue;
		if (reading.seen[i])
			refuse("%s is there twice", name);
		reading.seen[i] = true;
		*(u64 *)((char *)&costs + entries[i].offset) = encode_tail(&entries[i], value);
		return;
	}
	refuse("there is no cost \"%s\"", name);
}

static void read_line(char *line)
{
	char *comment = strchr(line, '#');
	char *equals;

	if (comment)
		*comment = '\0';
	line = trimmed(line);
	if (!*line)
		return;
	equals = strchr(line, '=');
	if (!equals)
		refuse("\"%s\" is not NAME = NUMBER", line);
	*equals = '\0';
	set(trimmed(line), trimmed(equals + 1));
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
	if (!costs.hit || !costs.relax)
		refuse("hit and relax must be more than 0, or time does not pass");
	if (costs.same_socket <= costs.hit || costs.other_socket < costs.same_socket)
		refuse("the order must be hit < same_socket <= other_socket");
	if (costs.relax_jitter > costs.relax)
		refuse("relax_jitter must not be more than relax");
}

void costs_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file) {
		fprintf(stderr, "cannot read the cost table %s: %s\n", path, strerror(errno));
		exit(2);
	}
	reading.path = path;
	while (fgets(line, sizeof(line), file)) {
		reading.line++;
		if (!strchr(line, '\n') && !feof(file))
			refuse("the line is longer than %zu letters", sizeof(line) - 2);
		read_line(line);
	}
	fclose(file);
	check_whole();
}
