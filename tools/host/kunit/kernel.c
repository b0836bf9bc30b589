// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel that the suites run in: see shim/kernel.h. With what host.c has for the other host
 * programs, but for what nbqlock's own files do here.
 */
#include <kernel.h>

_Thread_local unsigned int shim_count;
struct task_struct shim_task = { .comm = "kunit", .pid = 1 };
int panic_notifier_list;

/* Memory */

void *shim_alloc(size_t size, size_t align)
{
	void *memory;

	if (is_power_of_2(size) && size > align)
		align = size;
	if (posix_memalign(&memory, max(align, sizeof(void *)), max(size, (size_t)1)))
		return NULL;
	return memset(memory, 0, size);
}

struct kmem_cache *kmem_cache_create(const char *name, size_t size, size_t align,
				     unsigned int flags, void (*constructor)(void *memory))
{
	struct kmem_cache *cache = shim_alloc(sizeof(*cache), 8);

	if (cache)
		*cache = (struct kmem_cache){ .size = size, .align = align };
	return cache;
}

__attribute__((__no_sanitize__("thread")))
void shim_read_racing(void *to, const void *word, size_t size)
{
	if (size == sizeof(u64))
		*(u64 *)to = *(const volatile u64 *)word;
	else if (size == sizeof(u32))
		*(u32 *)to = *(const volatile u32 *)word;
	else
		abort();
}

/* Numbers and texts */

u64 int_sqrt64(u64 value)
{
	u64 root = 0, bit;

	for (bit = 1ULL << 31; bit; bit >>= 1) {
		if ((root | bit) * (root | bit) <= value)
			root |= bit;
	}
	return root;
}

int kstrtoll(const char *text, unsigned int base, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, base);
	return errno || *end || end == text ? -EINVAL : 0;
}

int param_get_uint(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%u\n", *(unsigned int *)param->arg);
}

void prandom_seed_state(struct rnd_state *random, u64 seed)
{
	random->state = seed;
}

/* Knuth's MMIX, its upper half */
u32 prandom_u32_state(struct rnd_state *random)
{
	random->state = random->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return random->state >> 32;
}

int strscpy_size(char *to, const char *from, size_t size)
{
	int length = snprintf(to, size, "%s", from);

	return (size_t)length < size ? length : -E2BIG;
}

char *strreplace(char *text, char from, char to)
{
	char *letter;

	for (letter = text; *letter; letter++) {
		if (*letter == from)
			*letter = to;
	}
	return text;
}

unsigned int shim_ratelimit_epoch;

bool __ratelimit(struct ratelimit_state *state)
{
	if (state->epoch != shim_ratelimit_epoch)
		state->passed = 0;
	state->epoch = shim_ratelimit_epoch;
	return state->passed++ < state->burst;
}

/* Lockdep */

int shim_lockdep_depth;

void shim_lockdep_acquire(struct lockdep_map *map)
{
	__atomic_add_fetch(&map->held, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shim_lockdep_depth, 1, __ATOMIC_RELAXED);
}

void shim_lockdep_release(struct lockdep_map *map)
{
	WARN_ON(__atomic_fetch_sub(&map->held, 1, __ATOMIC_RELAXED) <= 0);
	__atomic_sub_fetch(&shim_lockdep_depth, 1, __ATOMIC_RELAXED);
}

/* Interrupts of this CPU, the next one first */

static _Thread_local struct irq_work *raised;

static void run_hardirqs(void)
{
	while (raised && !shim_irqs_off) {
		struct irq_work *work = raised;

		raised = work->next;
		work->pending = false;
		__preempt_count_add(HARDIRQ_OFFSET);
		local_irq_disable();
		work->func(work);
		shim_irqs_off = 0;
		__preempt_count_sub(HARDIRQ_OFFSET);
	}
}

bool irq_work_queue(struct irq_work *work)
{
	struct irq_work **end = &raised;

	if (work->pending)
		return false;
	work->pending = true;
	work->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = work;
	run_hardirqs();
	return true;
}

void shim_interrupts_on(void)
{
	shim_irqs_off = 0;
	run_hardirqs();
}

static _Thread_local struct tasklet_struct *scheduled;

static void run_softirqs(void)
{
	while (scheduled && !in_interrupt()) {
		struct tasklet_struct *tasklet = scheduled;

		scheduled = tasklet->next;
		__preempt_count_add(SOFTIRQ_OFFSET);
		tasklet->callback(tasklet);
		__preempt_count_sub(SOFTIRQ_OFFSET);
	}
}

void tasklet_schedule(struct tasklet_struct *tasklet)
{
	tasklet->next = scheduled;
	scheduled = tasklet;
	run_softirqs();
}

void shim_bottom_halves_on(void)
{
	__preempt_count_sub(SOFTIRQ_DISABLE_OFFSET);
	run_softirqs();
}

/* Other CPUs: a thread for each call, one at a time on each CPU. */

static struct remote {
	pthread_t thread;
	bool called;
	unsigned int cpu;
	call_single_data_t call;
} remotes[SHIM_CPUS];

static void *run_remote(void *arg)
{
	struct remote *remote = arg;

	shim_cpu = remote->cpu;
	shim_irqs_off = 1;
	shim_count = HARDIRQ_OFFSET;
	remote->call.function(remote->call.arg);
	return NULL;
}

static void wait_for_remote(struct remote *remote)
{
	if (remote->called)
		pthread_join(remote->thread, NULL);
	remote->called = false;
}

int smp_call_function_single_async(unsigned int cpu, call_single_data_t *csd)
{
	struct remote *remote = &remotes[cpu];

	wait_for_remote(remote);
	remote->cpu = cpu;
	remote->call = *csd;
	remote->called = true;
	return -pthread_create(&remote->thread, NULL, run_remote, remote);
}

int smp_call_function_single(unsigned int cpu, void (*function)(void *arg), void *arg, bool wait)
{
	call_single_data_t csd = { .function = function, .arg = arg };
	int ret = smp_call_function_single_async(cpu, &csd);

	if (wait)
		wait_for_remote(&remotes[cpu]);
	return ret;
}

/* Work: of one kind, that of growth.c. */

static struct work_struct *queued;

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags, int most)
{
	return shim_alloc(sizeof(struct workqueue_struct), 8);
}

void queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	if (queued && queued != work)
		abort();
	queued = work;
}

void flush_work(struct work_struct *work)
{
	if (queued == work)
		shim_work();
}

void shim_work(void)
{
	struct work_struct *work = queued;

	queued = NULL;
	if (work)
		work->func(work);
}

/* The start */

static struct {
	int (*functions[4])(void);
	unsigned int number;
} initcalls[SHIM_INITCALLS];

void shim_add_initcall(enum shim_initcall level, int (*function)(void))
{
	if (initcalls[level].number == ARRAY_SIZE(initcalls[level].functions))
		abort();
	initcalls[level].functions[initcalls[level].number++] = function;
}

void shim_boot(void)
{
	unsigned int level, i;

	for (level = 0; level < SHIM_INITCALLS; level++) {
		for (i = 0; i < initcalls[level].number; i++) {
			if (initcalls[level].functions[i]())
				abort();
		}
	}
}

int cpuhp_setup_state(enum cpuhp_state state, const char *name, int (*prepare)(unsigned int cpu),
		      int (*teardown)(unsigned int cpu))
{
	unsigned int cpu;
	int ret = 0;

	for (cpu = 0; cpu < nr_cpu_ids && !ret; cpu++)
		ret = prepare(cpu);
	return ret;
}
