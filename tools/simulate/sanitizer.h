/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stand-ins for the thread sanitizer's calls: see sanitizer.c.
 */
#ifndef SIMULATE_SANITIZER_H
#define SIMULATE_SANITIZER_H

/* Before the first access. */
void sanitizer_start(void);

#endif
