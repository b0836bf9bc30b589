/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run has found, as text.
 */
#ifndef SIMULATE_REPORT_H
#define SIMULATE_REPORT_H

#include <stdbool.h>

/* Print "name value" lines, the verdict last. Return: whether it is PASS. */
bool report_print(void);

#endif
