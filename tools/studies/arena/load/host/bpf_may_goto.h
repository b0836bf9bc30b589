/* SPDX-License-Identifier: GPL-2.0 */
/* Loops of libarena's locks, without the verifier's budget. */
#ifndef ARENA_HOST_BPF_MAY_GOTO_H
#define ARENA_HOST_BPF_MAY_GOTO_H

#define cond_break_label(label)			\
do {						\
	if (0)					\
		goto label;			\
} while (0)

#endif /* ARENA_HOST_BPF_MAY_GOTO_H */
