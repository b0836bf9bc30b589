# SPDX-License-Identifier: GPL-2.0
"""Mistakes in what lockdep records; the host has none."""

from verification.mutate.mutant import mutants

LOCKDEP = {"kunit": ("nbq_clh_lockdep",)}

LOCK_STAT = "shows in /proc/lock_stat only, which the step \"debug\" reads"
ANNOUNCE = "	spin_acquire(map, subclass, 0, ip);\n"
RECORD = "		spin_acquire(map, subclass, 1, ip);\n"

UNTIMED = "	waits = nbq_attempt_begin(map, &never, subclass, ip);\n"

MUTANTS = [*mutants("attempt.h", LOCKDEP, (
    ("lockdep: wait with a patience is not announced", ANNOUNCE, ""),
    ("lockdep: wait with a patience is announced as a try",
     ANNOUNCE, ANNOUNCE.replace("subclass, 0", "subclass, 1")),
    ("lockdep: wait with a patience is of no subclass",
     ANNOUNCE, ANNOUNCE.replace("subclass, 0", "0, 0")),
    ("lockdep: wait that failed is not released",
     "			spin_release(waits, ip);\n", "			{ }\n"),
    ("lockdep: wait that failed is released twice",
     "			spin_release(waits, ip);\n",
     "		{\n			spin_release(waits, ip);\n"
     "			spin_release(waits, ip);\n		}\n"),
    ("lockdep: acquisition of a wait is not recorded",
     "	if (waits)\n		lock_acquired(waits, ip);\n	else\n", "	if (!waits)\n", LOCK_STAT),
    ("lockdep: acquisition of a try is not recorded", RECORD, "		{ }\n"),
    ("lockdep: acquisition of a try is recorded as a wait",
     RECORD, RECORD.replace("subclass, 1", "subclass, 0")),
    ("lockdep: try is announced as a wait",
     "	if (!nbq_attempt_waits(deadline) || ", "	if ("),
    ("lockdep: locks that are not tracked are marked as acquired",
     "	return map->key != &__lockdep_no_track__;\n", "	return true;\n"),
    ("lockdep: an NMI's wait is announced",
     "	return deadline->at == KTIME_MAX || !in_nmi();\n", "	return true;\n"),
)), *mutants("queue_lock.h", LOCKDEP, (
    ("lockdep: release is not recorded",
     "	spin_release(nbq_dep_map_of(lock), ip);\n", ""),
    ("lockdep: lock has the wait type of one that sleeps",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);\n",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SLEEP);\n"),
    ("lockdep: lock has no class",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);\n", ""),
)), *mutants("queue_lock.h", LOCKDEP, (
    ("lockdep: wait for ever is not announced",
     UNTIMED, "	waits = NULL;\n"),
    ("lockdep: wait for ever is of no subclass",
     UNTIMED, UNTIMED.replace("subclass", "0")),
))]
