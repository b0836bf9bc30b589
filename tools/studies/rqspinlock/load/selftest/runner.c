// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the kernel's prog_tests/res_spin_lock.c: what test_progs and its test_loader.c do for it.
 *
 * Usage: selftest failure|success
 *	failure	what the verifier refuses and accepts, program by program
 *	success	programs that run: AA, more locks than rqspinlock has a table for, ABBA
 * Prints a line for each check, and one at the end.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test_progs.h"

#define MOST_MESSAGES	8

struct expected {
	bool failure;
	unsigned int messages;
	const char *message[MOST_MESSAGES];
};

static char verifier_log[1 << 20];
static unsigned long checks, failures;

bool check(bool ok, const char *name, long long value)
{
	__atomic_add_fetch(&checks, 1, __ATOMIC_RELAXED);
	if (!ok)
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	printf("%s: %s: %lld\n", ok ? "passed" : "failed", name, value);
	return ok;
}

void test__skip(void)
{
	check(false, "skipped", 0);
}

/* A tag is "comment:NUMBER:test_expect_...". */
static void add_tag(struct expected *expected, const char *tag)
{
	static const char message[] = "test_expect_msg=";

	if (strncmp(tag, "comment:", 8))
		return;
	tag = strchr(tag + 8, ':');
	if (!tag)
		return;
	tag++;
	if (!strcmp(tag, "test_expect_failure"))
		expected->failure = true;
	else if (!strncmp(tag, message, sizeof(message) - 1) && expected->messages < MOST_MESSAGES)
		expected->message[expected->messages++] = tag + sizeof(message) - 1;
	else
		check(!strcmp(tag, "test_expect_success"), tag, 0);
}

static void read_tags(const struct btf *btf, const char *program, struct expected *expected)
{
	const struct btf_type *type;
	int function = btf__find_by_name_kind(btf, program, BTF_KIND_FUNC);
	unsigned int id;

	for (id = 1; id < btf__type_cnt(btf); id++) {
		type = btf__type_by_id(btf, id);
		if (btf_is_decl_tag(type) && type->type == function &&
		    btf_decl_tag(type)->component_idx == -1)
			add_tag(expected, btf__name_by_offset(btf, type->name_off));
	}
}

/* Return: what is wrong with how it was loaded; NULL: nothing. */
static const char *judge(const struct expected *expected, int error)
{
	const char *place = verifier_log;
	unsigned int i;

	if (!error != !expected->failure)
		return error ? "refused" : "accepted";
	for (i = 0; i < expected->messages; i++) {
		place = strstr(place, expected->message[i]);
		if (!place)
			return "refused with another message";
		place += strlen(expected->message[i]);
	}
	return NULL;
}

static struct bpf_object *open_object(const char *name, const void *bytes, size_t size)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);

	return bpf_object__open_mem(bytes, size, &options);
}

/* Loads the one program of an object that was just opened. */
static void run_test(struct bpf_object *object, struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	struct expected expected = { };
	const char *wrong;
	int error;

	read_tags(bpf_object__btf(object), name, &expected);
	verifier_log[0] = 0;
	bpf_program__set_autoload(program, true);
	bpf_program__set_log_buf(program, verifier_log, sizeof(verifier_log));
	error = bpf_object__load(object);
	wrong = judge(&expected, error);
	check(!wrong, name, error);
	if (wrong)
		printf("%s: %s\n", wrong, verifier_log);
}

void run_tests(const char *name, const void *(*elf_bytes)(size_t *size))
{
	size_t size;
	const void *bytes = elf_bytes(&size);
	struct bpf_object *all = open_object(name, bytes, size), *object;
	struct bpf_program *each, *program;

	if (!ASSERT_OK_PTR(all, "open"))
		return;
	bpf_object__for_each_program(each, all) {
		object = open_object(name, bytes, size);
		program = bpf_object__find_program_by_name(object, bpf_program__name(each));
		run_test(object, program);
		bpf_object__close(object);
	}
	bpf_object__close(all);
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN ? vfprintf(stdout, format, arguments) : 0;
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

int main(int count, char **words)
{
	bool of_failure = count == 2 && !strcmp(words[1], "failure");

	if (!of_failure && (count != 2 || strcmp(words[1], "success"))) {
		fprintf(stderr, "usage: %s failure|success\n", words[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(of_failure ? print_nothing : print_warnings);
	if (of_failure)
		test_res_spin_lock_failure();
	else
		test_res_spin_lock_success();
	printf("%s.checks %lu\n%s.failures %lu\n", words[1], checks, words[1], failures);
	return 0;
}
