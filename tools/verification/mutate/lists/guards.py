# SPDX-License-Identifier: GPL-2.0
"""Mistakes in the guards, and in the operations that turn interrupts or bottom halves off."""

from verification.mutate.mutant import mutants

GUARDS = {"kunit": ("nbq_clh_guards",)}
OPERATIONS = {"kunit": ("nbq_clh_operations",)}


def form(operation, release):
    """What a class that may fail is made of, and its release."""
    return f"			{operation},\n			{release},"


def releases(name, operation, release, wrong):
    return (f"guard: {name}", form(operation, release), form(operation, wrong))


MUTANTS = [*mutants("guard.h", GUARDS, (
    ("guard: releases nothing",
     "	     __nbq_guard_end(&_T) ? _release : (void)0,			\\\n",
     "	     (void)__nbq_guard_end(&_T),				\\\n"),
    ("guard: releases what it did not acquire", "	return !guard->err;\n", "	return true;\n"),
    ("guard: counts as held although it failed",
     "	return guard->err ? NULL : guard;\n", "	return guard;\n"),
    ("guard: forgets its error",
     "	guard->checked = true;\n	return guard->err;\n",
     "	guard->checked = true;\n	return guard->err ? -EBUSY : 0;\n"),
)), *mutants("clh.h", GUARDS, (
    releases("patience, interrupts are not restored",
             "nbq_clh_lock_timeout_irqsave(lock, patience, _T.flags)",
             "nbq_clh_unlock_irqrestore(_T.lock, _T.flags)", "nbq_clh_unlock(_T.lock)"),
    releases("patience, interrupts come on that were off",
             "nbq_clh_lock_timeout_irqsave(lock, patience, _T.flags)",
             "nbq_clh_unlock_irqrestore(_T.lock, _T.flags)", "nbq_clh_unlock_irq(_T.lock)"),
    ("guard: no wait, the wrong way round",
     form("__nbq_try_err(nbq_clh_trylock(lock))", "nbq_clh_unlock(_T.lock)"),
     form("__nbq_try_err(!nbq_clh_trylock(lock))", "nbq_clh_unlock(_T.lock)")),
    ("guard: patience taken for a deadline",
     "			nbq_clh_lock_timeout(lock, patience),\n",
     "			nbq_clh_lock_until(lock, patience),\n"),
    ("guard: for ever, interrupts stay off",
     "nbq_clh_lock_irq(_T->lock), nbq_clh_unlock_irq(_T->lock)",
     "nbq_clh_lock_irq(_T->lock), nbq_clh_unlock(_T->lock)"),
    ("guard: for ever, interrupts do not go off",
     "nbq_clh_lock_irq(_T->lock), nbq_clh_unlock_irq(_T->lock)",
     "nbq_clh_lock(_T->lock), nbq_clh_unlock_irq(_T->lock)"),
    ("guard: for ever, interrupts are not restored",
     "nbq_clh_unlock_irqrestore(_T->lock, _T->flags), unsigned long flags)",
     "nbq_clh_unlock(_T->lock), unsigned long flags)"),
    ("guard: for ever, bottom halves stay off",
     "nbq_clh_lock_bh(_T->lock), nbq_clh_unlock_bh(_T->lock)",
     "nbq_clh_lock_bh(_T->lock), nbq_clh_unlock(_T->lock)"),
)), *mutants("clh.h", OPERATIONS, (
    ("operations: a try that failed leaves interrupts off",
     "	local_irq_disable();\n	ret = nbq_clh_trylock(lock);\n	if (!ret)\n"
     "		local_irq_enable();\n",
     "	local_irq_disable();\n	ret = nbq_clh_trylock(lock);\n"),
    ("operations: a try that failed does not restore interrupts",
     "	ret = nbq_clh_trylock(lock);\n	if (!ret)\n		local_irq_restore(*flags);\n",
     "	ret = nbq_clh_trylock(lock);\n"),
    ("operations: a try that acquired the lock turns interrupts on",
     "	local_irq_disable();\n	ret = nbq_clh_trylock(lock);\n	if (!ret)\n",
     "	local_irq_disable();\n	ret = nbq_clh_trylock(lock);\n	if (ret)\n"),
    ("operations: patience that is over does not restore interrupts",
     "	ret = nbq_clh_lock_timeout(lock, patience);\n	if (ret)\n"
     "		local_irq_restore(*flags);\n",
     "	ret = nbq_clh_lock_timeout(lock, patience);\n"),
    ("operations: patience that is over leaves bottom halves off",
     "	ret = nbq_clh_lock_timeout(lock, patience);\n	if (ret)\n		local_bh_enable();\n",
     "	ret = nbq_clh_lock_timeout(lock, patience);\n"),
    ("operations: deadline that has passed leaves bottom halves off",
     "	ret = nbq_clh_lock_until(lock, deadline);\n	if (ret)\n		local_bh_enable();\n",
     "	ret = nbq_clh_lock_until(lock, deadline);\n"),
    ("operations: release leaves bottom halves off",
     "	nbq_clh_unlock(lock);\n	local_bh_enable();\n", "	nbq_clh_unlock(lock);\n"),
    ("operations: release leaves interrupts off",
     "	nbq_clh_unlock(lock);\n	local_irq_enable();\n", "	nbq_clh_unlock(lock);\n"),
    ("operations: release does not restore interrupts",
     "	nbq_clh_unlock(lock);\n	local_irq_restore(flags);\n", "	nbq_clh_unlock(lock);\n"),
))]
