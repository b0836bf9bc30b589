// SPDX-License-Identifier: GPL-2.0
/*
 * Records of the last messages, each guarded by a lock, whose holder a panic stops.
 *
 * A record is a ring of entries. A thread on a CPU of its own, with interrupts off, appends one
 * after the other, and holds the lock nearly all the time. Then CPU 0 panics. The kernel stops the
 * other CPUs by NMI, some of them in the middle of an entry, and calls the dumper, which appends
 * the last lines of the kernel log to each record, and writes the records to the port of QEMU's
 * debug console, as lines "WAY.NAME VALUE", which study.py reads.
 *
 * The ways of the dumper to the lock:
 *	skip		spin_trylock(), and no entry if it fails, as pstore does
 *	ignore		spin_trylock(), and an entry also if it fails, as serial consoles do
 *	takeover	nbq_spin_lock_timeout_info(). On -EOWNERDEAD it takes the lock over, and
 *			drops the entry that the holder has not finished
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kmsg_dump.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <nbqlock/nbqlock.h>

#define PORT		0xe9		/* is read as the step of the delay; 0 until there is one */
#define STEP_US		200U
#define RING		1024U
#define MOST_TEXT	200U
#define PATIENCE	(10 * NSEC_PER_MSEC)
#define FROM_PANIC	0x8000U		/* in an entry's length */

enum way { SKIP, IGNORE, TAKEOVER, WAYS };

static const char * const way_names[] = { "skip", "ignore", "takeover" };

/* In front of the text. */
struct head {
	u16 length;
	u16 sum;
};

/**
 * struct record - the last messages
 * @begin: bytes in front of the first entry that is kept, since the start
 * @end: bytes up to the end of the last one
 * @ring: the last of them
 */
struct record {
	u32 begin;
	u32 end;
	u8 ring[RING];
};

struct guarded {
	enum way way;
	spinlock_t spinlock;	/* guards the record, but for takeover */
	struct nbq_spin nbq;	/* the same for that */
	struct record record;
	int first;		/* result of the first attempt; of spin_trylock(): 0 or -EBUSY */
	int last;		/* 0: it had the lock in the end; or an error */
	u64 waited_ns;		/* of a first attempt that failed; of takeover */
	struct task_struct *writer;
	bool writes;
};

static struct guarded guarded[WAYS];
static struct task_struct *panicker;
static char last_lines[MOST_TEXT];

/* Entries */

static u8 byte_at(const struct record *record, u32 at)
{
	return READ_ONCE(record->ring[at % RING]);
}

static void put(struct record *record, u32 at, u8 byte)
{
	WRITE_ONCE(record->ring[at % RING], byte);
}

static struct head head_at(const struct record *record, u32 at)
{
	return (struct head){
		.length = byte_at(record, at) | byte_at(record, at + 1) << 8,
		.sum = byte_at(record, at + 2) | byte_at(record, at + 3) << 8,
	};
}

static u32 size_of(struct head head)
{
	return sizeof(head) + (head.length & ~FROM_PANIC);
}

/* Fletcher's, of the place, lest an entry of an earlier lap counts, the length and the text. */
static u16 sum_at(const struct record *record, u32 at)
{
	struct head head = head_at(record, at);
	u32 low = (at + head.length) % 255, high = at / 255 % 255, i;

	for (i = sizeof(head); i < size_of(head); i++) {
		low = (low + byte_at(record, at + i)) % 255;
		high = (high + low) % 255;
	}
	return high << 8 | low;
}

/* The space is reserved first, and the sum is written last. */
static void append(struct record *record, const char *text, u16 length, u16 flag)
{
	u32 size = sizeof(struct head) + length, at = record->end, i;
	u16 sum;

	while (record->end + size - record->begin > RING)
		WRITE_ONCE(record->begin, record->begin + size_of(head_at(record, record->begin)));
	WRITE_ONCE(record->end, at + size);
	put(record, at, (length | flag) & 0xff);
	put(record, at + 1, (length | flag) >> 8);
	for (i = 0; i < length; i++)
		put(record, at + sizeof(struct head) + i, text[i]);
	sum = sum_at(record, at);
	put(record, at + 2, sum & 0xff);
	put(record, at + 3, sum >> 8);
}

/* The holder has stopped for good: what it has finished stays. */
static void repair(struct record *record)
{
	u32 at = record->begin;

	while (at < record->end) {
		struct head head = head_at(record, at);

		if (at + size_of(head) > record->end || sum_at(record, at) != head.sum)
			break;
		at += size_of(head);
	}
	record->end = at;
}

/* The writers */

static void lock(struct guarded *one)
{
	if (one->way == TAKEOVER)
		nbq_spin_lock(&one->nbq);
	else
		spin_lock(&one->spinlock);
}

static void unlock(struct guarded *one)
{
	if (one->way == TAKEOVER)
		nbq_spin_unlock(&one->nbq);
	else
		spin_unlock(&one->spinlock);
}

static int write_on(void *data)
{
	struct guarded *one = data;
	static const char dots[] = "................................................";
	char text[MOST_TEXT];
	unsigned int number;

	local_irq_disable();
	for (number = 0; ; number++) {
		int length;

		lock(one);
		/* Of lengths that differ. */
		length = scnprintf(text, sizeof(text), "message %u %s", number,
				   &dots[number % sizeof(dots)]);
		append(&one->record, text, length, 0);
		unlock(one);
		WRITE_ONCE(one->writes, true);
	}
	return 0;
}

/* The dumper */

static bool begin(struct guarded *one)
{
	struct nbq_timeout info = {};

	if (one->way != TAKEOVER) {
		one->first = spin_trylock(&one->spinlock) ? 0 : -EBUSY;
		one->last = one->first;
		return !one->first || one->way == IGNORE;
	}
	one->first = nbq_spin_lock_timeout_info(&one->nbq, PATIENCE, &info);
	one->last = one->first;
	one->waited_ns = info.waited_ns;
	if (one->first == -EOWNERDEAD) {
		one->last = nbq_spin_takeover(&one->nbq, &info);
		if (!one->last)
			repair(&one->record);
	}
	return !one->last;
}

static __printf(1, 2) void send(const char *format, ...)
{
	static char text[64];
	const char *letter;
	va_list arguments;

	va_start(arguments, format);
	vscnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (letter = text; *letter; letter++)
		outb(*letter, PORT);
}

static void send_record(const struct guarded *one)
{
	const char *name = way_names[one->way];
	unsigned int i;

	send("%s.first %d\n", name, one->first);
	send("%s.last %d\n", name, one->last);
	send("%s.waited_us %llu\n", name, one->waited_ns / NSEC_PER_USEC);
	send("%s.begin %u\n", name, one->record.begin);
	send("%s.end %u\n", name, one->record.end);
	send("%s.ring x", name);
	for (i = 0; i < RING; i++)
		send("%02x", one->record.ring[i]);
	send("\n");
}

static void dump(struct kmsg_dumper *dumper, struct kmsg_dump_detail *detail)
{
	struct kmsg_dump_iter iter;
	size_t length = 0;
	unsigned int i;

	kmsg_dump_rewind(&iter);
	kmsg_dump_get_buffer(&iter, false, last_lines, sizeof(last_lines), &length);
	for (i = 0; i < WAYS; i++) {
		struct guarded *one = &guarded[i];

		if (begin(one)) {
			append(&one->record, last_lines, length, FROM_PANIC);
			if (!one->last)
				unlock(one);
		}
		send_record(one);
	}
}

static struct kmsg_dumper dumper = { .dump = dump, .max_reason = KMSG_DUMP_PANIC };

static int panic_later(void *data)
{
	unsigned int delay_us, i;

	/* The guest is saved meanwhile, and goes on from here in each panic. */
	while (!inb(PORT))
		msleep(20);
	delay_us = STEP_US * inb(PORT);
	for (i = 0; i < WAYS; i++)
		wake_up_process(guarded[i].writer);
	for (i = 0; i < WAYS; i++) {
		while (!READ_ONCE(guarded[i].writes))
			cpu_relax();
	}
	mdelay(delay_us / 1000);
	udelay(delay_us % 1000);
	panic("panic_load: after %u us", delay_us);
	return 0;
}

static int __init panic_load_init(void)
{
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		struct guarded *one = &guarded[i];

		one->way = i;
		spin_lock_init(&one->spinlock);
		nbq_spin_init(&one->nbq);
		one->writer = kthread_create_on_cpu(write_on, one, i + 1, "panic_load/%u");
		if (IS_ERR(one->writer))
			return PTR_ERR(one->writer);
	}
	panicker = kthread_create_on_cpu(panic_later, NULL, 0, "panic_load/%u");
	if (IS_ERR(panicker))
		return PTR_ERR(panicker);
	i = kmsg_dump_register(&dumper);
	if (i)
		return i;
	wake_up_process(panicker);
	return 0;
}
module_init(panic_load_init);

MODULE_DESCRIPTION("Records of the last messages, whose lock's holder a panic stops");
MODULE_LICENSE("GPL");
