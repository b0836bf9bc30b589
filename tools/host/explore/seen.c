// SPDX-License-Identifier: GPL-2.0
/*
 * A set of fingerprints: one array, in which each stands at the first free place from
 * the one on that its value names. It doubles when three quarters are full.
 */
#include <stdio.h>
#include <stdlib.h>

#include "seen.h"

#define FIRST_PLACES	65536

static uint64_t *places;
static size_t places_number;
static size_t number;

static uint64_t *allocate(size_t size)
{
	uint64_t *memory = calloc(size, sizeof(*memory));

	if (!memory) {
		fprintf(stderr, "explore: no memory for %zu states\n", size);
		exit(2);
	}
	return memory;
}

/* Where it stands, or would. */
static uint64_t *find(uint64_t fingerprint)
{
	size_t place = fingerprint & (places_number - 1);

	while (places[place] && places[place] != fingerprint)
		place = (place + 1) & (places_number - 1);
	return &places[place];
}

static void grow(void)
{
	uint64_t *old = places;
	size_t i, old_number = places_number;

	places_number *= 2;
	places = allocate(places_number);
	for (i = 0; i < old_number; i++) {
		if (old[i])
			*find(old[i]) = old[i];
	}
	free(old);
}

void seen_clear(void)
{
	free(places);
	places_number = FIRST_PLACES;
	places = allocate(places_number);
	number = 0;
}

bool seen_add(uint64_t fingerprint)
{
	uint64_t *place = find(fingerprint);

	if (*place)
		return false;
	*place = fingerprint;
	if (++number > places_number / 4 * 3)
		grow();
	return true;
}

size_t seen_number(void)
{
	return number;
}
