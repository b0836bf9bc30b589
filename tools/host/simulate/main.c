// SPDX-License-Identifier: GPL-2.0
/*
 * Simulates one run of one lock type.
 *
 *	simulate KEY=VALUE...	see settings.h
 *	simulate locks		which lock types there are
 *
 * The exit status is 0 if the verdict is PASS, 1 if not, 2 for bad input.
 */
#include <string.h>

#include "locks.h"
#include "settings.h"
#include "workload.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "locks")) {
		locks_list();
		return 0;
	}
	settings_read(argv + 1);
	workload_run();
	return report_print() ? 0 : 1;
}
