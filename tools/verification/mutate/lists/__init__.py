# SPDX-License-Identifier: GPL-2.0
"""All mutants, by subject."""

from verification.mutate.lists import (clh, deadline, guards, held, lockdep, mcs, operations,
                                       orderings, pools, relax, resume, sockets, spin, swap,
                                       waits)

MUTANTS = [mutant for subject in (clh, mcs, swap, operations, held, pools, deadline, waits,
                                 lockdep, guards, orderings, spin, relax, resume, sockets)
           for mutant in subject.MUTANTS]
