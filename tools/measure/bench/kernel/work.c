// SPDX-License-Identifier: GPL-2.0
/*
 * The loads: what a worker of each does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loads.h"

#define PAGES	16	/* of "mmap" */
#define SENDERS	2	/* of "hackbench", for each receiver */
#define MESSAGE	100	/* bytes, as in the kernel's hackbench */

static bool stopped(void)
{
	return atomic_load_explicit(&board->stop, memory_order_relaxed);
}

static void count(unsigned int id, unsigned long more)
{
	atomic_fetch_add_explicit(&board->workers[id].operations, more, memory_order_relaxed);
}

/* Note the first call of a worker that failed. Returns false, for the end of its work. */
bool fail(unsigned int id, const char *what)
{
	struct worker *worker = &board->workers[id];

	if (!worker->failed) {
		worker->error = errno;
		worker->failed = what;
	}
	return false;
}

/* An operation after the other, until the stop or until one fails. */
static void repeat(unsigned int id)
{
	while (!stopped() && options.load->once(id))
		count(id, 1);
}

static bool fork_once(unsigned int id)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	return (child > 0 && waitpid(child, NULL, 0) == child) || fail(id, "fork");
}

static void prepare_open(void)
{
	for (int file = 0; file < FILES; file++)
		if (close(open(file_names[file], O_CREAT | O_WRONLY, 0600)))
			quit(FAILED, "cannot make %s/%s: %s", folder, file_names[file],
			     strerror(errno));
}

static bool open_once(unsigned int id)
{
	static unsigned int turn;

	return !close(open(file_names[turn++ % FILES], O_RDONLY)) || fail(id, "open");
}

static bool dup_once(unsigned int id)
{
	return !close(dup(STDOUT_FILENO)) || fail(id, "dup");
}

static bool create_once(unsigned int id)
{
	static char name[24];

	if (!*name)
		snprintf(name, sizeof(name), "create-%u", id);
	return (!close(open(name, O_CREAT | O_EXCL | O_WRONLY, 0600)) && !unlink(name)) ||
	       fail(id, "create");
}

static bool flock_once(unsigned int id)
{
	static int file;	/* of this worker: 0 is taken */

	if (!file)
		file = open(file_names[0], O_RDONLY);
	return (!flock(file, LOCK_SH) && !flock(file, LOCK_UN)) || fail(id, "flock");
}

static void prepare_mmap(void)
{
	int file = open(file_names[0], O_CREAT | O_RDWR, 0600);

	if (ftruncate(file, PAGES * sysconf(_SC_PAGESIZE)))
		quit(FAILED, "cannot make %s/%s: %s", folder, file_names[0], strerror(errno));
	close(file);
}

static bool mmap_once(unsigned int id)
{
	static int file;
	static long page;
	volatile char *map;

	if (!file) {
		file = open(file_names[0], O_RDWR);
		page = sysconf(_SC_PAGESIZE);
	}
	map = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return fail(id, "mmap");
	for (int number = 0; number < PAGES; number++)
		map[number * page] = 1;
	munmap((void *)map, PAGES * page);
	return true;
}

static void ignore_signal(int number)
{
	(void)number;
}

static void prepare_signals(void)
{
	signal(SIGUSR1, ignore_signal);
}

static bool signal_once(unsigned int id)
{
	pid_t neighbour = board->workers[(id + 1) % options.workers].pid;

	return !kill(neighbour, SIGUSR1) || stopped() || fail(id, "kill");
}

/* Sends every byte back, until the other end is closed. */
static void echo(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
}

static void work_pipes(unsigned int id)
{
	int there[2] = { -1, -1 }, back[2] = { -1, -1 };
	pid_t child = pipe(there) || pipe(back) ? -1 : fork();
	char byte = 0;

	if (child < 0) {
		fail(id, "pipe");
		return;
	}
	if (!child) {
		close(there[1]);
		close(back[0]);
		echo(there[0], back[1]);
		_exit(0);
	}
	while (!stopped()) {
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) {
			fail(id, "write");
			break;
		}
		count(id, 1);
	}
	close(there[1]);
	waitpid(child, NULL, 0);
}

static void prepare_hackbench(void)
{
	for (unsigned int id = 0; id < options.workers; id++)
		if (pipe(hack_pipes[id]))
			quit(FAILED, "cannot make a pipe: %s", strerror(errno));
}

/* A message to every receiver in turn. */
static void send_messages(void)
{
	char message[MESSAGE] = "";

	for (unsigned int id = 0; !stopped(); id = (id + 1) % options.workers)
		if (write(hack_pipes[id][1], message, MESSAGE) != MESSAGE)
			_exit(1);
	_exit(0);
}

/* A receiver, and its senders. Messages that are sent before the stop are read after it. */
static void work_hackbench(unsigned int id)
{
	char message[MESSAGE];
	ssize_t length;

	for (int sender = 0; sender < SENDERS; sender++) {
		pid_t child = fork();

		if (!child)
			send_messages();
		if (child < 0)
			fail(id, "fork");
	}
	for (unsigned int other = 0; other < options.workers; other++)
		close(hack_pipes[other][1]);
	while ((length = read(hack_pipes[id][0], message, MESSAGE)) == MESSAGE)
		count(id, 1);
	if (length)
		fail(id, "read");
	while (wait(NULL) > 0)
		;
}

static const char shell_pass[] =
	"set -e; mkdir w$0; cd w$0; mkdir copy\n"
	"for a in 1 2 3 4; do\n"
	"	mkdir -p tree/$a\n"
	"	for b in 1 2 3 4; do\n"
	"		dd if=/dev/zero of=tree/$a/$b bs=1k count=64 2>/dev/null\n"
	"	done\n"
	"	find tree -type f | sort -r | while read -r f; do echo $f; done | sort >list\n"
	"done\n"
	"tar cf - tree | tar xf - -C copy\n"
	"find /bin /usr /sys -name '*s*' | sort | tr a-z A-Z | sort -u | tail -n 3 >/dev/null\n"
	"find . -type f | sort | tr a-z A-Z | sort -u | tail -n 3 >/dev/null\n"
	"for a in 1 2 3 4; do cat copy/tree/$a/* | dd bs=4k 2>/dev/null | wc -c & done\n"
	"wait\n"
	"cd ..; rm -r w$0\n";

static void work_shell(unsigned int id)
{
	char name[16];
	int status;

	snprintf(name, sizeof(name), "%u", id);
	for (unsigned int pass = 0; pass < options.passes; pass++) {
		pid_t child = fork();

		if (!child) {
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
			execl("/bin/sh", "sh", "-c", shell_pass, name, NULL);
			_exit(127);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status) {
			errno = status ? ECHILD : errno;
			fail(id, "sh");
			return;
		}
		count(id, 1);
	}
}

const char *const file_names[FILES] = { "open-0", "open-1", "open-2", "open-3" };

const struct load loads[] = {
	{ "fork", "fork a child that exits, and wait for it",
	  .work = repeat, .once = fork_once, .pinned = true },
	{ "open", "open and close the same files",
	  prepare_open, repeat, open_once, .pinned = true },
	{ "dup", "dup and close in one table of files",
	  .work = repeat, .once = dup_once, .shared = CLONE_FILES, .pinned = true },
	{ "create", "create and unlink files in one directory",
	  .work = repeat, .once = create_once, .pinned = true },
	{ "flock", "share and release a lock on one file",
	  prepare_open, repeat, flock_once, .pinned = true },
	{ "mmap", "map, touch and unmap 16 pages of one file",
	  prepare_mmap, repeat, mmap_once, .pinned = true },
	{ "signals", "a signal to the next worker, which handles it",
	  prepare_signals, repeat, signal_once, .pinned = true },
	{ "pipes", "a byte to a process of its own and back", .work = work_pipes },
	{ "hackbench", "2 senders a receiver, messages of 100 bytes to all receivers",
	  .prepare = prepare_hackbench, .work = work_hackbench },
	{ "shell", "dd, find, tar, sort and pipes in a shell",
	  .work = work_shell, .fixed = true },
};

const unsigned int loads_number = sizeof(loads) / sizeof(loads[0]);
