/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites, and the files of nbqlock/ that no other host program has, need of a kernel
 * beside tools/host/shim: in front of each file. Headers of the kernel's that neither has are empty
 * (tools/host/programs/run makes them).
 *
 * Rules
 *	A thread is a CPU. The cases run on the first one; a call on another CPU is a thread, in a
 *	hardirq there.
 *	An irq_work and a tasklet of the running CPU come as soon as it lets them, on top of what
 *	runs, in a context of their level. Work of a workqueue is done when it is waited for, and
 *	at the end of a case.
 *	There are no other tasks: a suite that starts a kthread does not run here.
 */
#ifndef SHIM_KERNEL_H
#define SHIM_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <host.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/numa.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

/* The compiler's */

#define __init
#define __exit
#define __user
#define __maybe_unused		__attribute__((__unused__))
#define __printf(format, first)	__attribute__((__format__(__printf__, format, first)))
/* frame.c has what is called then. */
#define __compiletime_error(message)
#define __stringify(x)		SHIM_TEXT(x)
#define SHIM_TEXT(x)		#x

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define sizeof_field(type, ...)	sizeof(((type *)NULL)->__VA_ARGS__)
#define container_of(pointer, type, member)	\
	((type *)((char *)(pointer) - offsetof(type, member)))
#define struct_size(pointer, member, number)	\
	offsetof(__typeof__(*(pointer)), member[number])
#define PTR_ALIGN(pointer, align)	\
	((__typeof__(pointer))(((unsigned long)(pointer) + (align) - 1) & -(unsigned long)(align)))
#define IS_ERR(pointer)		((unsigned long)(pointer) >= (unsigned long)-4095)
#define PTR_ERR(pointer)	((long)(pointer))
#define ERR_PTR(error)		((void *)(long)(error))

/* Numbers */

typedef int32_t s32;

#define U32_MAX			UINT32_MAX
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define NSEC_PER_SEC		1000000000L
#define MSEC_PER_SEC		1000L

/* Of a word that another CPU changes meanwhile: no thread sanitizer has a say in it. */
#undef data_race
#define data_race(word)								\
({										\
	__typeof__(word) __value;						\
										\
	shim_read_racing((void *)&__value, &(word), sizeof(__value));		\
	__value;								\
})

void shim_read_racing(void *to, const void *word, size_t size);

#define swap(a, b)							\
do {										\
	__auto_type __a = (a);							\
										\
	(a) = (b);								\
	(b) = __a;								\
} while (0)
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp_t(type, value, least, most)	min_t(type, max_t(type, (value), (least)), (most))
#define DIV_ROUND_UP(number, by)	(((number) + (by) - 1) / (by))
#define DIV_ROUND_CLOSEST(number, by)	(((number) + (by) / 2) / (by))
#define order_base_2(number)	((number) > 1 ? (int)fls64((number) - 1) : 0)
#define roundup_pow_of_two(number)	(1UL << order_base_2(number))
#define is_power_of_2(number)	((number) && !((number) & ((number) - 1)))
#define div64_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define div_u64(dividend, divisor)	((u64)(dividend) / (divisor))
#define mul_u64_u64_div_u64(factor, other, divisor)	\
	((u64)((__uint128_t)(factor) * (other) / (divisor)))
#define div64_u64_rem(dividend, divisor, remainder)	\
	({ *(remainder) = (dividend) % (divisor); (dividend) / (divisor); })

u64 int_sqrt64(u64 value);
int kstrtoll(const char *text, unsigned int base, long long *value);

struct rnd_state {
	u64 state;
};

void prandom_seed_state(struct rnd_state *random, u64 seed);
u32 prandom_u32_state(struct rnd_state *random);

/* Bits */

#define DECLARE_BITMAP(name, bits)	unsigned long name[DIV_ROUND_UP(bits, BITS_PER_LONG)]

static inline bool test_and_set_bit(unsigned int number, unsigned long *bits)
{
	unsigned long bit = BIT(number % BITS_PER_LONG), *word = &bits[number / BITS_PER_LONG];
	bool was_set = *word & bit;

	*word |= bit;
	return was_set;
}

#define set_bit(number, bits)	((void)test_and_set_bit((number), (bits)))

/* Texts */

int strscpy_size(char *to, const char *from, size_t size);
char *strreplace(char *text, char from, char to);
#define STRSCPY_3(to, from, size)	strscpy_size((to), (from), (size))
#define STRSCPY_2(to, from)		strscpy_size((to), (from), sizeof(to))
#define STRSCPY(_1, _2, _3, name, ...)	name
#define strscpy(...)			STRSCPY(__VA_ARGS__, STRSCPY_3, STRSCPY_2)(__VA_ARGS__)
#define scnprintf(to, size, ...)	\
	((size_t)min_t(size_t, snprintf((to), (size), __VA_ARGS__), (size) - 1))

/*
 * The log. %pS is a %p there. A line that begins with "nbqlock: BUG: " is a report, which the case
 * must have announced: see frame.c.
 */
__printf(1, 2) void shim_log(const char *format, ...);
#define KERN_ERR
#define pr_err(...)		shim_log(__VA_ARGS__)
#define pr_warn(...)		shim_log(__VA_ARGS__)
#define pr_warn_once(...)	shim_log(__VA_ARGS__)
#define printk_deferred(...)	shim_log(__VA_ARGS__)

void shim_warn(const char *text, const char *file, int line);
#define WARN_ON(condition)							\
({										\
	bool __is = (condition);						\
										\
	if (__is)								\
		shim_warn(#condition, __FILE__, __LINE__);			\
	__is;									\
})

struct ratelimit_state {
	unsigned int burst;
	unsigned int passed;
	unsigned int epoch;
};

/* So many in each case, which takes no time. */
#define DEFAULT_RATELIMIT_INTERVAL	0
#define DEFAULT_RATELIMIT_BURST		10
#define RATELIMIT_STATE_INIT(name, interval, most)	{ .burst = (most) }
#define DEFINE_RATELIMIT_STATE(name, interval, most)	\
	struct ratelimit_state name = RATELIMIT_STATE_INIT(name, interval, most)
bool __ratelimit(struct ratelimit_state *state);
extern unsigned int shim_ratelimit_epoch;

/* CPUs */

struct cpumask {
	unsigned long bits;
};

#define cpu_possible_mask		((const struct cpumask *)NULL)
#define cpu_online_mask			cpu_possible_mask
#define num_possible_cpus()		nr_cpu_ids
#define cpumask_first(mask)		((void)(mask), 0U)
#define cpumask_any_but(mask, cpu)	((void)(mask), (cpu) ? 0U : 1U)
#define for_each_online_cpu(cpu)	for_each_possible_cpu(cpu)
#define cpu_to_node(cpu)		((void)(cpu), 0)
#define smp_processor_id()		raw_smp_processor_id()
#define SMP_CACHE_BYTES			64

#define per_cpu_ptr(pointer, cpu)	(&(*(pointer))[cpu][0])

typedef struct {
	void (*function)(void *arg);
	void *arg;
} call_single_data_t;

#define INIT_CSD(csd, f, a)	(*(csd) = (call_single_data_t){ .function = (f), .arg = (a) })

int smp_call_function_single_async(unsigned int cpu, call_single_data_t *csd);
int smp_call_function_single(unsigned int cpu, void (*function)(void *arg), void *arg, bool wait);

/* Interrupts and work */

struct irq_work {
	void (*func)(struct irq_work *work);
	struct irq_work *next;
	bool pending;
};

#define IRQ_WORK_INIT_HARD(f)	((struct irq_work){ .func = (f) })
bool irq_work_queue(struct irq_work *work);
#define irq_work_sync(work)	((void)(work))

struct tasklet_struct {
	void (*callback)(struct tasklet_struct *tasklet);
	struct tasklet_struct *next;
};

#define tasklet_setup(tasklet, f)	(*(tasklet) = (struct tasklet_struct){ .callback = (f) })
#define tasklet_kill(tasklet)		((void)(tasklet))
void tasklet_schedule(struct tasklet_struct *tasklet);

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct workqueue_struct {
	bool unused;
};

#define WQ_UNBOUND		0
#define DECLARE_WORK(name, f)	struct work_struct name = { .func = (f) }
struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int most);
void queue_work(struct workqueue_struct *queue, struct work_struct *work);
void flush_work(struct work_struct *work);
/* Do what is queued. */
void shim_work(void);
#define destroy_workqueue(queue)	free(queue)

/* Tasks */

struct task_struct {
	const char *comm;
	int pid;
};

#define current			(&shim_task)
extern struct task_struct shim_task;
#define cond_resched()		do { } while (0)
#define kthread_create(run, arg, ...)	\
	((void)(run), (void)(arg), (struct task_struct *)ERR_PTR(-ENOMEM))
#define kthread_bind(task, cpu)	do { } while (0)
#define get_task_struct(task)	do { } while (0)

struct mutex {
	pthread_mutex_t mutex;
};

#define DEFINE_MUTEX(name)	struct mutex name = { PTHREAD_MUTEX_INITIALIZER }
#define mutex_lock(m)		((void)pthread_mutex_lock(&(m)->mutex))
#define mutex_unlock(m)		((void)pthread_mutex_unlock(&(m)->mutex))

/* Spinlocks of the kernel's */
#define raw_spin_lock_init(lock)	((void)((lock)->word = 0))
#define raw_spin_trylock(lock)		(preempt_disable(), !xchg_acquire(&(lock)->word, 1) || \
					 (preempt_enable(), false))
#define raw_spin_lock(lock)		do { } while (!raw_spin_trylock(lock))
#define raw_spin_unlock(lock)	\
do {				\
	smp_store_release(&(lock)->word, 0);	\
	preempt_enable();	\
} while (0)

#define udelay(microseconds)	do { } while (0)

/* Lists */

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)		struct list_head name = { &name, &name }
#define list_for_each_entry(entry, head, member)				\
	for (entry = container_of((head)->next, __typeof__(*entry), member);	\
	     &entry->member != (head);						\
	     entry = container_of(entry->member.next, __typeof__(*entry), member))
#define list_for_each_entry_safe(entry, after, head, member)			\
	for (entry = container_of((head)->next, __typeof__(*entry), member);	\
	     after = container_of(entry->member.next, __typeof__(*entry), member), \
	     &entry->member != (head); entry = after)

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	entry->next = head;
	entry->prev = head->prev;
	head->prev->next = entry;
	head->prev = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

/* Lockdep: what a lock says of itself, and whether it is recorded as held. No order is checked. */

#define SINGLE_DEPTH_NESTING				1
#define lockdep_set_subclass(lock, subclass)		((void)(lock))
#define lockdep_set_class(lock, key)			((void)(lock), (void)(key))
#define lockdep_set_notrack_class(lock)			((void)(lock))
#define lockdep_off()					do { } while (0)
#define lockdep_on()					do { } while (0)
#define lockdep_assert_held(lock)			((void)(lock))
#undef lockdep_assert
#define lockdep_assert(condition)			((void)WARN_ON(!(condition)))

/* Locks that are recorded as held, in all contexts */
extern int shim_lockdep_depth;

#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define debug_locks					1
#define LOCK_STATE_HELD					1
#define lock_is_held(map)				((map)->held > 0)
#undef lockdep_init_map_wait
#undef spin_acquire
#undef spin_release
#define lockdep_init_map_wait(map, n, k, subclass, type)			\
do {										\
	struct lockdep_map __map = {						\
		.name = (n), .key = (k), .wait_type_inner = (type),		\
	};									\
										\
	*(map) = __map;								\
} while (0)
#define spin_acquire(map, subclass, trylock, ip)	shim_lockdep_acquire(map)
#define spin_release(map, ip)				shim_lockdep_release(map)
#endif
void shim_lockdep_acquire(struct lockdep_map *map);
void shim_lockdep_release(struct lockdep_map *map);

/* Modules, in a kernel with all of them built in */

struct module;

#define THIS_MODULE			NULL
#define try_module_get(module)		((void)(module), true)
#define module_put(module)		((void)(module))
#define MODULE_INFO(tag, text)		extern int shim_unused
#define MODULE_AUTHOR(text)		extern int shim_unused
#define MODULE_DESCRIPTION(text)	extern int shim_unused
#define MODULE_LICENSE(text)		extern int shim_unused
#define MODULE_VERSION(text)		extern int shim_unused
#define MODULE_PARM_DESC(name, text)	extern int shim_unused
#define KBUILD_MODNAME			"nbqlock"

struct kernel_param {
	const char *name;
	void *arg;
};

struct kernel_param_ops {
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
};

int param_get_uint(char *buffer, const struct kernel_param *param);
/* Used, and at its default. */
#define module_param_cb(name, ops, arg, mode)	\
	static __maybe_unused const void *const param_##name[] = { (ops), (arg) }
#define module_param_named(name, variable, type, mode)	extern int shim_unused
#define module_param(name, type, mode)			extern int shim_unused

/* The start: at these levels, one after another. */
enum shim_initcall {
	SHIM_EARLY,
	SHIM_SUBSYS,
	SHIM_DEVICE,
	SHIM_INITCALLS
};

void shim_add_initcall(enum shim_initcall level, int (*function)(void));
void shim_boot(void);

#define SHIM_INITCALL(level, function)						\
static void __attribute__((__constructor__)) add_##function(void)		\
{										\
	shim_add_initcall(level, function);					\
}

#define early_initcall(function)	SHIM_INITCALL(SHIM_EARLY, function)
#define subsys_initcall(function)	SHIM_INITCALL(SHIM_SUBSYS, function)
#define device_initcall(function)	SHIM_INITCALL(SHIM_DEVICE, function)

/* Each CPU is prepared at once: all are online. */
enum cpuhp_state {
	CPUHP_BP_PREPARE_DYN,
};

int cpuhp_setup_state(enum cpuhp_state state, const char *name, int (*prepare)(unsigned int cpu),
		      int (*teardown)(unsigned int cpu));
#define cpuhp_remove_state_nocalls(state)	((void)(state))

struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long event, void *message);
	int priority;
};

#define NOTIFY_DONE	0
extern int panic_notifier_list;

#define atomic_notifier_chain_register(chain, block)	((void)(chain), (void)(block))

/* Files: none is opened. */

struct dentry;
struct file;
struct inode;

struct seq_file {
	FILE *file;
};

#define seq_printf(m, ...)	((void)fprintf((m)->file, __VA_ARGS__))
#define seq_puts(m, text)	seq_printf((m), "%s", (text))
#define seq_putc(m, letter)	seq_printf((m), "%c", (letter))

struct file_operations {
	void *owner;
	int (*open)(struct inode *inode, struct file *file);
	ssize_t (*write)(struct file *file, const char *buffer, size_t size, loff_t *position);
	int (*show)(struct seq_file *m, void *unused);
};

#define simple_open		NULL
#define DEFINE_SHOW_ATTRIBUTE(name)	\
	static const struct file_operations name##_fops = { .show = name##_show }
#define debugfs_create_dir(name, parent)	((void)(parent), (struct dentry *)NULL)
#define debugfs_create_file(name, mode, parent, data, fops)	\
	((void)(parent), (void)(data), (void)(fops))
#define kvcalloc(number, size, gfp)		kcalloc((number), (size), (gfp))

#endif
