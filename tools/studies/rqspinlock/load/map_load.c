// SPDX-License-Identifier: GPL-2.0
/*
 * A BPF hash map with one bucket under the updates of several threads, by the bpf() system call
 * alone: what its bucket's lock does.
 *
 * First updates of one key, counted. Then a key that each thread tries to create, where the one
 * that succeeds is the only one that may delete it, and must find its own value there: a bucket
 * whose lock lets two in has two elements of the key, or none.
 *
 * Before that, the size of struct bpf_res_spin_lock that the kernel takes for a lock in the value
 * of a map: it keeps the lock out of updates, and shows zeroes for it.
 *
 * Usage: map_load THREADS MILLISECONDS
 * Prints lines "name value", and "wrong: ..." for each thing that must not be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS	64
#define WORDS		8

struct value {
	uint64_t words[WORDS];
};

struct worker {
	pthread_t thread;
	unsigned int number;
	unsigned long updates, creations, refused, deadlocks, timeouts, other;
};

static int map;
static unsigned long milliseconds;
static struct worker workers[MOST_THREADS];
static unsigned int threads;
static pthread_barrier_t barrier;
static unsigned long wrong, owner;

static void report(const char *what)
{
	printf("wrong: %s\n", what);
	__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static int bpf(int command, union bpf_attr *attributes)
{
	return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

static int map_create(void)
{
	union bpf_attr attributes = {
		.map_type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct value),
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attributes);
}

static int map_do(int command, struct value *value, uint64_t flags)
{
	uint32_t key = 1;
	union bpf_attr attributes = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
		.flags = flags,
	};

	return bpf(command, &attributes) ? errno : 0;
}

static const char names[] = "\0word\0bpf_res_spin_lock\0value\0lock";

/* The types of a value that is a lock of this size, as a compiler would describe them. */
static int load_types(uint32_t size)
{
	struct {
		struct btf_header header;
		struct btf_type key;
		uint32_t key_bits;
		struct btf_type word;
		uint32_t word_bits;
		struct btf_type lock;
		struct btf_member lock_member;
		struct btf_type value;
		struct btf_member value_member;
		char names[sizeof(names)];
	} types = {
		.header = { .magic = BTF_MAGIC, .version = BTF_VERSION,
			    .hdr_len = sizeof(struct btf_header), .str_len = sizeof(names) },
		.key = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = 4 },
		.key_bits = 32,
		.word = { .name_off = 1, .info = BTF_KIND_INT << 24, .size = size },
		.word_bits = 8 * size,
		.lock = { .name_off = 6, .info = BTF_KIND_STRUCT << 24 | 1, .size = size },
		.lock_member = { .name_off = 1, .type = 2 },
		.value = { .name_off = 24, .info = BTF_KIND_STRUCT << 24 | 1, .size = size },
		.value_member = { .name_off = 30, .type = 3 },
	};
	union bpf_attr attributes = { .btf = (uintptr_t)&types, .btf_size = sizeof(types) };

	memcpy(types.names, names, sizeof(names));
	types.header.type_len = (char *)types.names - (char *)&types.key;
	types.header.str_off = types.header.type_len;
	attributes.btf_size = (char *)types.names + sizeof(names) - (char *)&types;
	return bpf(BPF_BTF_LOAD, &attributes);
}

/* Does the kernel take a value of this size for a lock? -1: it has none of the calls. */
static int is_lock(uint32_t size)
{
	uint64_t value = UINT64_MAX;
	uint32_t key = 0;
	union bpf_attr create = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(key),
		.value_size = size,
		.max_entries = 1,
		.btf_fd = load_types(size),
		.btf_key_type_id = 1,
		.btf_value_type_id = 4,
	};
	union bpf_attr access = { .key = (uintptr_t)&key, .value = (uintptr_t)&value };

	access.map_fd = bpf(BPF_MAP_CREATE, &create);
	if ((int)access.map_fd < 0 || bpf(BPF_MAP_UPDATE_ELEM, &access) ||
	    bpf(BPF_MAP_LOOKUP_ELEM, &access))
		return -1;
	return size == 4 ? !(uint32_t)value : !value;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static void count_error(struct worker *worker, int error)
{
	switch (error) {
	case EEXIST:
	case E2BIG:
		worker->refused++;
		break;
	case EDEADLK:
		worker->deadlocks++;
		break;
	case ETIMEDOUT:
		worker->timeouts++;
		break;
	default:
		worker->other++;
	}
}

static struct value value_of(uint64_t word)
{
	struct value value;

	for (int i = 0; i < WORDS; i++)
		value.words[i] = word;
	return value;
}

static void update_for_a_time(struct worker *worker)
{
	struct value value = value_of(worker->number);
	uint64_t end = now_ms() + milliseconds;

	while (now_ms() < end) {
		for (int i = 0; i < 16; i++) {
			int error = map_do(BPF_MAP_UPDATE_ELEM, &value, BPF_ANY);

			if (error)
				count_error(worker, error);
			else
				worker->updates++;
		}
	}
}

/* The element is this thread's until it deletes it. */
static void own_element(struct worker *worker, const struct value *value)
{
	struct value found;
	unsigned long none = 0;
	int error;

	worker->creations++;
	if (!__atomic_compare_exchange_n(&owner, &none, worker->number, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		report("two threads have created the element");
	if (map_do(BPF_MAP_LOOKUP_ELEM, &found, 0))
		report("the element that was created is not there");
	else if (memcmp(&found, value, sizeof(found)))
		report("the element has another value");
	__atomic_store_n(&owner, 0, __ATOMIC_SEQ_CST);
	while ((error = map_do(BPF_MAP_DELETE_ELEM, NULL, 0))) {
		if (error != EDEADLK && error != ETIMEDOUT) {
			report("the element cannot be deleted");
			break;
		}
		count_error(worker, error);
	}
}

static void create_for_a_time(struct worker *worker)
{
	uint64_t end = now_ms() + milliseconds;
	uint64_t round = 0;

	while (now_ms() < end) {
		struct value value = value_of(++round << 8 | worker->number);
		int error = map_do(BPF_MAP_UPDATE_ELEM, &value, BPF_NOEXIST);

		if (error)
			count_error(worker, error);
		else
			own_element(worker, &value);
	}
}

static void *work(void *data)
{
	struct worker *worker = data;

	pthread_barrier_wait(&barrier);
	update_for_a_time(worker);
	if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD &&
	    map_do(BPF_MAP_DELETE_ELEM, NULL, 0))
		report("the updated element cannot be deleted");
	pthread_barrier_wait(&barrier);
	create_for_a_time(worker);
	return NULL;
}

static int start_all(void)
{
	cpu_set_t cpus;

	pthread_barrier_init(&barrier, NULL, threads);
	for (unsigned int i = 0; i < threads; i++) {
		workers[i].number = i + 1;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return -1;
		CPU_ZERO(&cpus);
		CPU_SET(i % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
		pthread_setaffinity_np(workers[i].thread, sizeof(cpus), &cpus);
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}

static void print_sums(void)
{
	struct worker sum = {}, least = { .updates = -1UL };

	for (unsigned int i = 0; i < threads; i++) {
		const struct worker *worker = &workers[i];

		sum.updates += worker->updates;
		sum.creations += worker->creations;
		sum.refused += worker->refused;
		sum.deadlocks += worker->deadlocks;
		sum.timeouts += worker->timeouts;
		sum.other += worker->other;
		if (worker->updates < least.updates)
			least = *worker;
	}
	printf("milliseconds %lu\nupdates %lu\nleast %lu\n", milliseconds, sum.updates,
	       least.updates);
	printf("creations %lu\nrefused %lu\ndeadlocks %lu\n", sum.creations, sum.refused,
	       sum.deadlocks);
	printf("timeouts %lu\nother %lu\nwrong %lu\n", sum.timeouts, sum.other, wrong);
}

int main(int count, char **words)
{
	threads = count == 3 ? strtoul(words[1], NULL, 10) : 0;
	milliseconds = count == 3 ? strtoul(words[2], NULL, 10) : 0;
	if (!threads || threads > MOST_THREADS || !milliseconds) {
		fprintf(stderr, "usage: map_load THREADS MILLISECONDS\n");
		return 2;
	}
	map = map_create();
	if (map < 0) {
		perror("bpf(BPF_MAP_CREATE)");
		return 2;
	}
	printf("lock4 %d\nlock8 %d\n", is_lock(4), is_lock(8));
	if (start_all()) {
		fprintf(stderr, "map_load: no thread\n");
		return 2;
	}
	if (!map_do(BPF_MAP_LOOKUP_ELEM, &(struct value){}, 0))
		report("an element is left");
	print_sums();
	return wrong ? 1 : 0;
}
