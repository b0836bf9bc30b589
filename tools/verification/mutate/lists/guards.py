# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the guards, and in the verbs that turn interrupts or bottom halves off."""

from verification.mutate.kinds import HostTests
from verification.mutate.mutant import mutants

GUARDS = {"kunit": ("nbq_clh_guards",)}
VERBS = {"host": HostTests("smoke TYPE gcc asan"), "kunit": ("nbq_clh_verbs",)}
LOCKDEP = {"kunit": ("nbq_clh_lockdep",)}


def form(verb, release):
    """What a class that may fail is made of, and its release."""
    return f"		      {verb},\n		      {release},\n"


def releases(name, verb, release, wrong):
    return (f"guard: {name}", form(verb, release), form(verb, wrong))


MUTANTS = [*mutants("guards.h", GUARDS, (
    ("guard: releases nothing",
     "	     __nbq_guard_end(&_T) ? _release : (void)0,			\\\n",
     "	     (void)__nbq_guard_end(&_T),				\\\n"),
    ("guard: releases what it did not get", "	return !guard->err;\n", "	return true;\n"),
    ("guard: holds the lock although it failed",
     "	return guard->err ? NULL : guard;\n", "	return guard;\n"),
    ("guard: forgets why it failed",
     "	guard->seen = true;\n	return guard->err;\n",
     "	guard->seen = true;\n	return guard->err ? -EBUSY : 0;\n"),
    releases("patience, interrupts stay off", "nbq_X_lock_timeout_irq(lock, patience)",
             "nbq_X_unlock_irq(_T.lock)", "nbq_X_unlock(_T.lock)"),
    releases("deadline, interrupts stay off", "nbq_X_lock_until_irq(lock, deadline)",
             "nbq_X_unlock_irq(_T.lock)", "nbq_X_unlock(_T.lock)"),
    releases("patience, interrupts are not put back",
             "__nbq_X_lock_timeout_irqsave(lock, patience, &_T.flags)",
             "nbq_X_unlock_irqrestore(_T.lock, _T.flags)", "nbq_X_unlock(_T.lock)"),
    releases("patience, interrupts come on that were off",
             "__nbq_X_lock_timeout_irqsave(lock, patience, &_T.flags)",
             "nbq_X_unlock_irqrestore(_T.lock, _T.flags)", "nbq_X_unlock_irq(_T.lock)"),
    releases("patience, bottom halves stay off", "nbq_X_lock_timeout_bh(lock, patience)",
             "nbq_X_unlock_bh(_T.lock)", "nbq_X_unlock(_T.lock)"),
    ("guard: no wait, the wrong way round",
     form("nbq_X_trylock(lock) ? 0 : -EBUSY", "nbq_X_unlock(_T.lock)"),
     form("nbq_X_trylock(lock) ? -EBUSY : 0", "nbq_X_unlock(_T.lock)")),
    ("guard: deadline taken for a patience",
     "		      nbq_X_lock_until(lock, deadline),\n",
     "		      nbq_X_lock_timeout(lock, deadline),\n"),
    ("guard: patience taken for a deadline",
     "		      nbq_X_lock_timeout_bh(lock, patience),\n",
     "		      nbq_X_lock_until_bh(lock, patience),\n"),
    ("guard: for ever, interrupts stay off",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock_irq(_T->lock))",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock(_T->lock))"),
    ("guard: for ever, interrupts do not go off",
     "__nbq_guard_took(_T->lock, nbq_X_lock_irq(_T->lock))",
     "__nbq_guard_took(_T->lock, nbq_X_lock(_T->lock))"),
    ("guard: for ever, interrupts are not put back",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock_irqrestore(_T->lock, _T->flags))",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock(_T->lock))"),
    ("guard: for ever, bottom halves stay off",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock_bh(_T->lock))",
     "__nbq_guard_gives(_T->lock, nbq_X_unlock(_T->lock))"),
)), *mutants("lock_type.h", VERBS, (
    ("verbs: a try that failed leaves interrupts off",
     "	local_irq_disable();\n	ret = nbq_X_trylock(lock);\n	if (!ret)\n		local_irq_enable();\n",
     "	local_irq_disable();\n	ret = nbq_X_trylock(lock);\n"),
    ("verbs: a try that failed does not put interrupts back",
     "	ret = nbq_X_trylock(lock);\n	if (!ret)\n		local_irq_restore(*flags);\n",
     "	ret = nbq_X_trylock(lock);\n"),
    ("verbs: a try that got the lock turns interrupts on",
     "	local_irq_disable();\n	ret = nbq_X_trylock(lock);\n	if (!ret)\n",
     "	local_irq_disable();\n	ret = nbq_X_trylock(lock);\n	if (ret)\n"),
    ("verbs: patience that is over does not put interrupts back",
     "	ret = nbq_X_lock_timeout_nested(lock, patience, subclass);\n	if (ret)\n"
     "		local_irq_restore(*flags);\n",
     "	ret = nbq_X_lock_timeout_nested(lock, patience, subclass);\n"),
    ("verbs: patience that is over leaves bottom halves off",
     "	ret = nbq_X_lock_timeout(lock, patience);\n	if (ret)\n		local_bh_enable();\n",
     "	ret = nbq_X_lock_timeout(lock, patience);\n"),
    ("verbs: deadline that has passed leaves bottom halves off",
     "	ret = nbq_X_lock_until(lock, deadline);\n	if (ret)\n		local_bh_enable();\n",
     "	ret = nbq_X_lock_until(lock, deadline);\n"),
    ("verbs: release leaves bottom halves off",
     "	nbq_X_unlock(lock);\n	local_bh_enable();\n", "	nbq_X_unlock(lock);\n"),
    ("verbs: release leaves interrupts off",
     "	nbq_X_unlock(lock);\n	local_irq_enable();\n", "	nbq_X_unlock(lock);\n"),
    ("verbs: release does not put interrupts back",
     "	nbq_X_unlock(lock);\n	local_irq_restore(flags);\n", "	nbq_X_unlock(lock);\n"),
)), *mutants("lock_type.h", LOCKDEP, (
    ("verbs: patience with interrupts off forgets the subclass",
     "	ret = nbq_X_lock_timeout_nested(lock, patience, subclass);\n",
     "	ret = nbq_X_lock_timeout_nested(lock, patience, 0);\n"),
    ("verbs: deadline with interrupts off forgets the subclass",
     "	ret = nbq_X_lock_until_nested(lock, deadline, subclass);\n",
     "	ret = nbq_X_lock_until_nested(lock, deadline, 0);\n"),
    ("verbs: waiting for ever with interrupts off forgets the subclass",
     "	nbq_X_lock_nested(lock, subclass);\n", "	nbq_X_lock_nested(lock, 0);\n"),
))]
