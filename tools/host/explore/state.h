/* SPDX-License-Identifier: GPL-2.0 */
/*
 * States: saving, putting back, telling whether two are alike.
 *
 * A state is all that the future can depend on: the locks; the pools in use and their
 * nodes, without the counters for people; the statics of the shipped files; the
 * registers and the stack of each context, above what it does not need any more;
 * and what is known of each context beyond that (context.h).
 *
 * CPUs whose contexts have the same programs are interchangeable: with such CPUs
 * exchanged everywhere, in every pointer to a node, pool or stack, too, a state
 * has the same future with these exchanged. So states that differ in nothing else
 * are taken for one: the CPUs are put into an order that does not depend on
 * their numbers, and pointers are counted from there. Where two CPUs cannot be
 * told apart that way, they keep their order; then some states are explored twice.
 * The shipped text gives no CPU's number a meaning but that of being another. Where it
 * stores one, alone or in an encoded context or node, the number can be told from all
 * others (cpu_numbers.h) and is exchanged, too. In an arena it cannot: no CPU is exchanged there.
 *
 * A state is kept as a fingerprint of 64 bits. Of two states that have the same by
 * chance one is not explored; how probable it is that there was one in a run is
 * printed with its results.
 */
#ifndef STATE_H
#define STATE_H

#include <stddef.h>
#include <stdint.h>

/* What is part of the state, once the roles and pools are there. */
void state_begin(void);
/* No state needs more memory. */
size_t state_size(void);
/* Return: the size used. */
size_t state_save(char *memory);
void state_restore(const char *memory);
/* To be called when a context has stopped. */
void state_summarize(unsigned int context);
/* Never 0. */
uint64_t state_fingerprint(void);

#endif
