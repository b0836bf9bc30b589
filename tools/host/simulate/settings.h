/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a run is asked to be: the words KEY=VALUE of the command line. Those that the
 * stress driver has, too, mean the same.
 */
#ifndef SIMULATE_SETTINGS_H
#define SIMULATE_SETTINGS_H

#include <linux/ktime.h>
#include <linux/types.h>

struct stress_ops;

enum retry {
	GIVE_UP,	/* the attempt is over, its work is not done */
	AT_ONCE,
	BACK_OFF,
};

/**
 * struct settings - of a run; numbers: settings_list.h
 * @lock: the lock type
 * @patience_ns: of an attempt, at least
 * @patience_most_ns: at most; each is drawn anew between the two
 * @retry: after a timeout
 */
struct settings {
	const struct stress_ops *lock;
	ktime_t patience_ns;
	ktime_t patience_most_ns;
	enum retry retry;
#define NUMBER(key, ...)	u64 key;
#include "settings_list.h"
#undef NUMBER
};

extern struct settings settings;

/* Also reads the cost table. A mistake ends the program with a sentence. */
void settings_read(char **words);
/* As lines "key value". */
void settings_print(void);

#endif
