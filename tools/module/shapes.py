# SPDX-License-Identifier: GPL-2.0
"""The load shapes of the stress driver: what to run, and what must come of it."""

from base.driver import BROKEN, OURS, Run
from base.parameters import LISTED
from measure.stress import Unseen

# A setting stays until it is changed: each run says all that others change.
PLAIN = {name: each.initial for name, each in LISTED.items() if each.initial is not None}
CPUS = 2
MS = 1000000			# in ns
DRAWN = 30			# samples, for a median

# Other than the driver refuses: they need not touch a lock that they release last.
FREEABLE = {*OURS, "raw_spinlock", "raw_trylock", "rqspinlock", "tas_b", "tas_b_try",
            "clh", "mcs", "clh_try", "mcs_try"}
OWN_TIMEOUT = "rqspinlock"

# Combinations that a run refuses: the file that its message names, what was written.
REFUSED = (
    ("chain_order", {"lock": "tas_b", "chain": 2, "chain_order": "random"}),
    ("chain_order", {"lock": "clh_nb", "chain": 2, "chain_order": "random",
                     "patience_ns": "max"}),
    ("chain_order", {"lock": "clh_nb", "chain": 2, "chain_order": "random",
                     "patience_ns": "0-max"}),
    ("chain_order", {"lock": "clh_nb", "chain": 2, "chain_order": "random",
                     "impatient_permille": 1, "impatient_ns": "max"}),
    ("free_lock", {"lock": "mcs_nb_paper", "free_lock": 1}),
    ("free_lock", {"lock": "clh_nb_paper", "free_lock": 1}),
    ("free_lock", {"lock": "clh_nb", "free_lock": 1, "chain": 2}))


def shaped(name, lock, judge=None, duration_ms=120, cpus=CPUS, threads=None, cs_ns=500,
           ncs_ns=500, **shape):
    return Run(name, judge, **{**PLAIN, "lock": lock, "threads": threads or cpus,
                               "cpus": f"0-{cpus - 1}", "cs_ns": cs_ns, "ncs_ns": ncs_ns,
                               "duration_ms": duration_ms, **shape})


# What must come of a run that passed: each returns a complaint, or nothing. A busy host
# runs the guest's CPUs less, and in turn: no number of attempts for each acquisition, no
# time that a wait takes has a bound then. What has one is the number of attempts in the
# time that the run took; and a thing that must happen may do so in a longer run.

def acquires(run):
    """All threads have had the lock. (The driver itself fails a run in which a
    deadlock is reported where there can be none.)
    """
    return not run.number("thread_min") and Unseen("a thread never acquired the lock")


def acquires_somewhere(run):
    return not run.number("acquisitions") and Unseen("the lock was never acquired")


def acquires_chain(run):
    if run.number("locks_taken") < run.settings["chain"] * run.number("acquisitions"):
        return "fewer locks were taken than the acquisitions must have"
    # The holder of the first is uncontended at the others.
    if run.settings["chain_order"] == "fixed" and run.number("handoff_samples"):
        return "an uncontended lock was handed off"
    if run.settings["lock"] in OURS:
        return acquires(run)
    # Where there is no order, one thread may have the lock for the whole of the run.
    return acquires_somewhere(run)


def acquires_now_and_then(run):
    """Some attempts would not have ended, and did; others got through."""
    if run.settings["lock"] in OURS:
        # It may be noticed before their time, which is short here, is over.
        return acquires_somewhere(run)
    if not run.number("timeouts"):
        return Unseen("no attempt timed out in an order that deadlocks")
    return acquires_somewhere(run)


def sees_deadlocks(run):
    return not run.number("deadlocks") and Unseen("no deadlock was reported")


def ends_deadlocks_early(run):
    """Attempts that would have waited for the whole of their patience did not."""
    patience = run.settings["patience_ns"]
    if run.number("timeouts"):
        return "an attempt timed out: its deadlock was not noticed"
    # The host may take CPUs away meanwhile, but not for that long, nor most of the time.
    for figure, most in (("max", patience / 2), ("p50", patience / 20)):
        if run.number(f"failed_wait_ns_{figure}") > most:
            return f"a deadlock was noticed after more than {most / 1e9:g} s only ({figure})"
    return sees_deadlocks(run) or acquires(run)


def most_attempts(run, pause_ns, a_success=1):
    """So many are possible, of all threads, with a pause of that or more between them.

    a_success: so many for each acquisition may come after shorter pauses.
    """
    threads, pieces = run.settings["threads"], run.number("elapsed_ns") / pause_ns
    return threads * (pieces + 1) + a_success * (run.number("acquisitions") + threads)


def gives_up(run):
    # Work outside takes 1 ms or more of the CPU at its best; what is measured as its best
    # may have been slower, if the host had much to do.
    most = most_attempts(run, run.settings["ncs_ns"] / 8)
    if run.number("attempts") > most:
        return f"more attempts than {most:.0f}, without a retry"
    return acquires(run)


def tries_again(run):
    if run.number("attempts") < 20 * run.number("acquisitions"):
        return Unseen("there were few attempts for each acquisition, with retries at once")
    return acquires(run)


def backs_off(run):
    if not run.number("timeouts"):
        return Unseen("no attempt failed")
    # Pauses of 1, 2, 4 ... times 100 us, give or take half, are the longest after seven.
    most = most_attempts(run, run.settings["backoff_max_ns"] / 2, a_success=8)
    if run.number("attempts") > most:
        return f"more attempts than {most:.0f}, in spite of pauses"
    return acquires(run)


def draws(run):
    """Patience is 1 to 4 ms, a holder stays for 8: most wait longer than the least."""
    if run.number("failed_wait_samples") < DRAWN:
        return Unseen(f"fewer than {DRAWN} attempts failed")
    if run.number("failed_wait_ns_p50") < 1.5 * MS:
        return "half of those that failed waited for less than 1.5 ms"
    return acquires(run)


def stalls(run):
    """Each tenth acquisition of a thread took 5 ms, so there is no time for more."""
    most = 10 * (run.number("elapsed_ns") / (5 * MS) + CPUS)
    if run.number("acquisitions") > most:
        return f"more acquisitions than {most:.0f}: holders did not stall"
    return run.number("wait_ns_max") < 4 * MS and \
        Unseen("no attempt waited for a stalled holder")


def stutters(run):
    """Each acquisition took 1 ms, and half of the time was pause."""
    piece = run.settings["stutter_ms"]
    pairs, rest = divmod(run.number("elapsed_ns") / MS, 2 * piece)
    most = pairs * piece + min(rest, piece) + pairs + 1
    if run.number("acquisitions") > most:
        return f"more acquisitions than {most:.0f}: there were no pauses"
    if run.number("longest_gap_ns") < 0.8 * piece * MS:
        return "no acquisition was a pause away from the one before"
    return acquires(run)


def frees(run):
    if not run.number("locks_freed"):
        return Unseen("no lock was freed")
    return acquires_somewhere(run)


# In the driver's words
TWO_HOLDERS = "two holders were seen"
FREED_WRITTEN = "the memory of a freed lock was written to"


class BrokenRun(Run):
    """Of the lock that does not exclude, which must be found out, for these reasons."""

    def __init__(self, name, *reasons, **settings):
        super().__init__(name, **settings)
        self.reasons = reasons

    @property
    def complaint(self):
        if self.verdict == "PASS":
            return Unseen("it has passed")
        if not self.verdict.startswith("FAIL"):
            return self.verdict
        missing = [reason for reason in self.reasons if reason not in self.verdict]
        return missing and Unseen(f"not found: {', '.join(missing)}") or ""


def chains(locks):
    for lock in locks:
        yield shaped(f"chain-{lock.name}", lock.name, acquires_chain, chain=4, patience_ns=MS)
        if lock.name == OWN_TIMEOUT:
            yield shaped(f"chain-random-{lock.name}", lock.name, sees_deadlocks, chain=8,
                         chain_order="random", duration_ms=300)
        elif lock.heeds_patience:
            yield shaped(f"chain-random-{lock.name}", lock.name, acquires_now_and_then, chain=4,
                         ncs_ns=0, chain_order="random", patience_ns="5000-50000",
                         duration_ms=250)


def deadlocks():
    """Threads that take locks in any order, with plenty of patience."""
    for lock in OURS:
        for retry in ("give_up", "back_off"):
            yield shaped(f"deadlocks-{retry}-{lock}", lock, ends_deadlocks_early, chain=4,
                         ncs_ns=0, chain_order="random", patience_ns=40000 * MS, retry=retry,
                         duration_ms=500, threads=2 * CPUS)


def retries():
    """A holder stays for 2 ms, no attempt waits for it."""
    load = {"patience_ns": 0, "cs_ns": 2 * MS, "ncs_ns": 2 * MS, "duration_ms": 200}
    for lock in OURS:
        yield shaped(f"retry-give_up-{lock}", lock, gives_up, **load)
        yield shaped(f"retry-at_once-{lock}", lock, tries_again, retry="at_once", **load)
        yield shaped(f"retry-back_off-{lock}", lock, backs_off, retry="back_off",
                     backoff_ns=100000, backoff_max_ns=8 * MS, **load)
    yield shaped(f"retry-back_off-briefly-{OURS[0]}", OURS[0], tries_again, retry="back_off",
                 backoff_ns=100000, backoff_max_ns=1000, **load)


def shape_runs(locks):
    """For a guest of CPUS CPUs."""
    yield from chains(locks)
    yield from deadlocks()
    yield from retries()
    for lock in locks:
        if lock.name in FREEABLE:
            yield shaped(f"free-{lock.name}", lock.name, frees, free_lock=1)
    yield shaped("patience-drawn", OURS[0], draws, patience_ns=f"{MS}-{4 * MS}", cs_ns=8 * MS,
                 ncs_ns=0, duration_ms=600)
    yield shaped("stall", OURS[0], stalls, patience_ns="max", stall_every=10, stall_ns=5 * MS,
                 duration_ms=300)
    # Other threads would only take the CPU from it.
    yield shaped("stutter", OURS[0], stutters, patience_ns="max", stall_every=1, stall_ns=MS,
                 cs_ns=0, ncs_ns=0, stutter_ms=80, duration_ms=400, threads=1)


def broken_run():
    """The lock that does not exclude, freed: still to be found out, in both ways."""
    plain = shaped("", BROKEN, free_lock=1, cs_ns=1000, duration_ms=500, log_ms=100)
    return BrokenRun("free-broken", TWO_HOLDERS, FREED_WRITTEN, **plain.settings)


def stock_runs(locks, judge=acquires_somewhere):
    """Some of each, for a kernel with CPUS CPUs that has other timing; threads share."""
    for lock in locks:
        for name, shape in (("chain", {"chain": 3, "chain_order": "random"}),
                            ("retry", {"retry": "at_once", "patience_ns": "0-5000"}),
                            ("free", {"free_lock": 1})):
            yield shaped(f"{lock}-{name}", lock, judge, duration_ms=200, threads=2 * CPUS,
                         **shape)


def logged_parameters(run):
    """What the kernel log must say when this run begins: all that it was run with."""
    parameters = run.text.partition("cpus_online")[0].splitlines()
    return "run begins: " + ", ".join(line for line in parameters if line[:1] != "@")
