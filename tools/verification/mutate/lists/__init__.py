# SPDX-License-Identifier: GPL-2.0
"""All mutants, by subject."""

from verification.mutate.lists import (clh, deadline, guards, held, lockdep, mcs, orderings, pools,
                                       relax, resume, sockets, spin, swap, verbs, waits)

MUTANTS = [mutant for subject in (clh, mcs, swap, verbs, held, pools, deadline, waits,
                                 lockdep, guards, orderings, spin, relax, resume, sockets)
           for mutant in subject.MUTANTS]
