// SPDX-License-Identifier: GPL-2.0
/*
 * As client.c, of nbqlock/bpf/nbq_arena_lock.h: T1, T2, T3, of the letters L, X and T. There is one
 * lock, and nothing is to be set up.
 */
#define NBQ_ARENA_CPUS		((unsigned int)SHIM_CPUS)
#include <nbqlock/bpf/nbq_arena_lock.h>

long __VERIFIER_thread_create(const void *attributes, void *(*body)(void *), void *argument);
int __VERIFIER_thread_join(long thread, void **result);
void __VERIFIER_assert_fail(const char *text, const char *file, int line);

#define check(condition)	\
	((condition) ? (void)0 : __VERIFIER_assert_fail(#condition, __FILE__, __LINE__))

_Thread_local unsigned int shim_cpu;
bool (*shim_loop_is_over)(void);

u64 bpf_ktime_get_ns(void)
{
	return 1ULL << 32;
}

u32 bpf_get_smp_processor_id(void)
{
	return shim_cpu;
}

void bpf_preempt_disable(void)
{
}

void bpf_preempt_enable(void)
{
}

static _Thread_local int polls_in_vain;

void shim_relax(void)
{
	if (++polls_in_vain >= LOOKS)
		__VERIFIER_assume(0);
}

static struct nbq_arena_lock lock;
static int counter;
static _Thread_local int mine;
static int sum[SHIM_CPUS];

static noinline bool acquire(char how)
{
	int ret;

	polls_in_vain = 0;
	if (how == 'T')
		return nbq_arena_trylock(&lock);
	/* Without end; or over at the first poll in vain. */
	ret = nbq_arena_lock(&lock, how == 'L' ? ~0ULL : 0);
	check(!ret || (how != 'L' && ret == -ETIMEDOUT));
	return !ret;
}

static void attempt(char how)
{
	if (!acquire(how))
		return;
	counter++;
	mine++;
	nbq_arena_unlock(&lock);
}

#define T		attempt('T');
#define L		attempt('L');
#define X		attempt('X');

#define THREAD(n, doing)							\
static void *thread_##n(void *unused)						\
{										\
	shim_cpu = n;								\
	doing									\
	sum[n] = mine;								\
	return NULL;								\
}

THREAD(1, T1)
THREAD(2, T2)
#if THREADS > 2
THREAD(3, T3)
#endif

int main(void)
{
	long first, second, third;
	unsigned int i;

	first = __VERIFIER_thread_create(NULL, thread_1, NULL);
	second = __VERIFIER_thread_create(NULL, thread_2, NULL);
#if THREADS > 2
	third = __VERIFIER_thread_create(NULL, thread_3, NULL);
#endif
	__VERIFIER_thread_join(first, NULL);
	__VERIFIER_thread_join(second, NULL);
#if THREADS > 2
	__VERIFIER_thread_join(third, NULL);
#endif
	/* It frees what the tail names, a node each time. */
	for (i = 0; !acquire('X'); i++)
		check(i < THREADS);
	nbq_arena_unlock(&lock);
	check(!lock.owner && !lock.tail);
	for (i = 0; i < SHIM_CPUS * NBQ_ARENA_NODES; i++)
		check(!nbq_arena_node[i]);
	check(counter == sum[1] + sum[2] + sum[3]);
	return 0;
}
