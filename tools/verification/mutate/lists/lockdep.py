# SPDX-License-Identifier: GPL-2.0
"""Mistakes in what lockdep is told; the host has none."""

from verification.mutate.mutant import mutants

LOCKDEP = {"kunit": ("nbq_clh_lockdep",)}

LOCK_STAT = "shows in /proc/lock_stat only, which the step \"debug\" reads"
ANNOUNCE = "		spin_acquire_nest(waits, subclass, 0, nest_lock, ip);\n"
RECORD = "		spin_acquire_nest(dep_map_of(lock), subclass, 1, nest_lock, ip);\n"
FOR_EVER = ("	begin_verb();\n"
            "	spin_acquire_nest(dep_map_of(lock), subclass, 0, nest_lock, ip);\n")

MUTANTS = [*mutants("define_verbs.h", LOCKDEP, (
    ("lockdep: wait with a patience is not announced", ANNOUNCE, "		{ }\n"),
    ("lockdep: wait with a patience is announced as a try",
     ANNOUNCE, ANNOUNCE.replace("subclass, 0", "subclass, 1")),
    ("lockdep: wait with a patience is of no subclass",
     ANNOUNCE, ANNOUNCE.replace("subclass, 0", "0, 0")),
    ("lockdep: wait with a patience is below no other lock",
     ANNOUNCE, ANNOUNCE.replace("nest_lock", "NULL")),
    ("lockdep: wait that failed is not forgotten",
     "			spin_release(waits, ip);\n", "			{ }\n"),
    ("lockdep: wait that failed is forgotten twice",
     "			spin_release(waits, ip);\n",
     "		{\n			spin_release(waits, ip);\n"
     "			spin_release(waits, ip);\n		}\n"),
    ("lockdep: lock that a wait got is not marked as acquired",
     "	if (waits)\n		lock_acquired(waits, ip);\n	else\n", "	if (!waits)\n", LOCK_STAT),
    ("lockdep: lock that a try got is not recorded", RECORD, ""),
    ("lockdep: lock that a try got is recorded as a wait",
     RECORD, RECORD.replace("subclass, 1", "subclass, 0")),
    ("lockdep: try is announced as a wait",
     "	if (!is_wait(&deadline) || !is_tracked(waits))\n", "	if (!is_tracked(waits))\n"),
    ("lockdep: wait for ever is not announced", FOR_EVER, "	begin_verb();\n"),
    ("lockdep: wait for ever is announced as a try",
     FOR_EVER, FOR_EVER.replace("subclass, 0", "subclass, 1")),
    ("lockdep: wait for ever is of no subclass",
     FOR_EVER, FOR_EVER.replace("subclass, 0", "0, 0")),
    ("lockdep: wait for ever is below no other lock",
     FOR_EVER, FOR_EVER.replace("nest_lock", "NULL")),
    ("lockdep: locks that are not tracked are marked as acquired",
     "	return map->key != &__lockdep_no_track__;\n", "	return true;\n"),
    ("lockdep: an NMI's wait is announced",
     "	return deadline->at == KTIME_MAX || !in_nmi();\n", "	return true;\n"),
)), *mutants("define_lock_type.h", LOCKDEP, (
    ("lockdep: release is not told",
     "	spin_release(dep_map_of(lock), _RET_IP_);\n", ""),
    ("lockdep: lock is one that sleeps",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);\n",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SLEEP);\n"),
    ("lockdep: lock has no class",
     "	lockdep_init_map_wait(&lock->dep_map, name, key, 0, LD_WAIT_SPIN);\n", ""),
))]
