// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the frequency of the time-stamp counter in kHz, by the host's clock.
 *
 * QEMU hands the host's counter to the guest. A guest that calibrates it on a busy host against
 * timers that QEMU emulates is wrong by factors, and so is its clock.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define NSEC_PER_SEC	1000000000LL
#define TRIES		1000
#define SPAN_NS		200000000

struct moment {
	long long ns;
	unsigned long long ticks;
};

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

/* Both clocks at once: of many tries that between whose reads of the counter the least passed. */
static struct moment moment(void)
{
	unsigned long long least = ~0ULL;
	struct moment best = { 0 };

	for (int number = 0; number < TRIES; number++) {
		unsigned long long before = __rdtsc();
		long long ns = now_ns();
		unsigned long long gap = __rdtsc() - before;

		if (gap < least) {
			least = gap;
			best = (struct moment){ ns, before + gap / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct timespec span = { 0, SPAN_NS };
	struct moment begin = moment(), end;

	nanosleep(&span, NULL);
	end = moment();
	printf("%.0f\n", (end.ticks - begin.ticks) * 1e6 / (end.ns - begin.ns));
	return 0;
}
