/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states that have been seen, as fingerprints.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void seen_clear(void);
/* Return: false if it had been added before. */
bool seen_add(uint64_t fingerprint);
size_t seen_number(void);

#endif
