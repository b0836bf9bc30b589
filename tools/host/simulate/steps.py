# SPDX-License-Identifier: GPL-2.0
"""The simulation of many processors: that it can be trusted, and what the locks cost there."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import mean, median
import tempfile

from base.case import MORE, NO_KERNEL, Case, extent, step
from base.common import cores
from base.driver import OURS
from host.mutate.edits import copy_with
from host.simulate import policy_rules, program, without

SEEDS_AGREE = 0.05		# two seeds differ by no more than that
FLAT = 0.02			# the same, of flat locks at different numbers of CPUs
MANY = (4, 16, 64, 256)
# What is known of the plain locks: Mellor-Crummey and Scott 1991; Craig 1993; Magnusson,
# Landin, Hagersten 1994. The numbers are of this model: every store to another CPU's node,
# every poll that finds a change, and the tail are a transfer each.
KNOWN_MISSES = {"mcs": 6.0, "clh": 5.0}
# Misses of an acquisition and its release of our locks, with patience without end: today's figure,
# the median of three seeds, with 1 and with 8 sockets. A lock may make a tenth more. A change that
# makes a lock better lowers its figure.
LIMITED = {"clh_nb": {1: 7.0, 8: 7.0}, "mcs_nb": {1: 10.0, 8: 10.0}, "swap_nb": {1: 10.0, 8: 10.0},
           "nbq_spin": {1: 14.0, 8: 13.9}, "nbq_spin_sockets": {8: 12.3}}
LIMITED_CPUS = 64
# Acquisitions, saturated, as a share of those of the plain lock, with 1 and with 8 sockets: today's
# figure; a lock may make a hundredth less. A release that touches the tail costs CLH-NB a tenth and
# more; one that does not find its node in the cache costs as much to the others.
SHARES = {"clh_nb": ("clh", {1: 0.93, 8: 0.95}), "mcs_nb": ("mcs", {1: 0.89, 8: 0.93}),
          "swap_nb": ("mcs", {1: 0.89, 8: 0.93})}
# For how long two seeds run that must agree. With turns of sockets the hybrid goes on for some
# milliseconds with newcomers that steal on the holder's socket, until its waiters have waited
# for long: sooner or later, by the seed.
# In one queue it settles into one of several orders, by the seed, and keeps it, however long it
# runs: the medians of seven seeds each are compared.
SEEDS_US = {"clh_nb": (1000, 1), "nbq_spin": (5000, 7), "nbq_spin_sockets": (20000, 1),
            "mcs": (1000, 1)}
# One access more to the line of the tail, by each waiter that gets the lock.
WASTE = ("clh_nb.c", "	nbq_count_skipped(node->pool, skipped);\n",
         "	nbq_count_skipped(node->pool, skipped);\n"
         "	READ_ONCE(((struct nbq_clh *)wait->lock)->tail);\n")


class Runs:
    """Runs of one program, as many at a time as there are cores."""

    def __init__(self, built):
        self.built = built

    def texts(self, many_settings):
        with ThreadPoolExecutor(cores()) as pool:
            return list(pool.map(partial(program.run, self.built), many_settings))

    def values(self, many_settings):
        return [program.values_of(text) for text in self.texts(many_settings)]


def settings_of(lock, cpus, **more):
    return {"lock": lock, "cpus": cpus, "duration_us": 500, "warmup_us": 100, **more}


def misses(values):
    return values["success_misses"] / max(values["success_misses_of"], 1)


def differ(one, other):
    return abs(one - other) / max(one, other, 1)


def exclusion(runs):
    """Every lock type, with and without end of patience, its CPUs taken away or not."""
    names = [name for name, _ in program.lock_types(runs.built) if name != "broken"]
    loads = {"patience without end": {},
             "patience of 2 us": {"patience_ns": 2000},
             "preempted CPUs": {"patience_ns": 50000, "away_every_ns": 300000,
                                          "away_ns": 100000},
             "CPUs that share cores": {"cores": 3, "slice_ns": 20000, "sockets": 1}}
    for words, load in loads.items():
        wanted = [settings_of(name, 12, **{"sockets": 3, **load}) for name in names]
        for name, values in zip(names, runs.values(wanted)):
            yield Case(f"simulation: {name} excludes, {words}", values["verdict"] == "PASS",
                       values["verdict"])
    found = runs.values([settings_of("broken", 4)])[0]
    yield Case("simulation: a lock that does not exclude is caught",
               found["verdict"] == "FAIL two holders were seen", found["verdict"])


def plain_locks(runs):
    """The known behaviour of MCS, CLH and test-and-set."""
    for lock, known in KNOWN_MISSES.items():
        found = runs.values([settings_of(lock, cpus) for cpus in MANY])
        numbers = [misses(values) for values in found]
        rates = [values["acquisitions_per_second"] for values in found]
        yield Case(f"simulation: {lock} makes {known} misses an acquisition at 4 to 256 CPUs",
                   all(abs(number - known) < 0.05 for number in numbers), f"{numbers}")
        yield Case(f"simulation: {lock} is flat from 4 to 256 CPUs",
                   differ(min(rates), max(rates)) < FLAT, f"{rates}")
    few, many = runs.values([settings_of("tas_b", cpus) for cpus in (4, 256)])
    yield Case("simulation: test-and-set falls to a quarter or less at 256 CPUs",
               4 * many["acquisitions"] < few["acquisitions"],
               f"{few['acquisitions']}, {many['acquisitions']}")


def seeds(runs):
    """A seed says all; another one says the same."""
    wanted = settings_of("nbq_spin", 16, patience_ns="1000-5000", sockets=2, seed=7)
    first, again = runs.texts([wanted, wanted])
    yield Case("simulation: the same seed gives the same run", first == again,
               f"{first}\n{again}")
    for lock, (duration, many) in SEEDS_US.items() if extent.is_long else ():
        found = [values["acquisitions_per_second"] for values in runs.values(
            [settings_of(lock, 32, sockets=4, seed=seed, duration_us=duration)
             for seed in range(1, 2 * many + 1)])]
        rates = [median(found[:many]), median(found[many:])]
        yield Case(f"simulation: two seeds agree, {lock}", differ(*rates) < SEEDS_AGREE,
                   f"{rates}")


def shares(runs):
    """Each strict lock makes nearly as many acquisitions as the plain one."""
    for lock, (plain, figures) in SHARES.items():
        for sockets, figure in figures.items():
            mine, its = (values["acquisitions"] for values in runs.values(
                [settings_of(name, LIMITED_CPUS, sockets=sockets) for name in (lock, plain)]))
            yield Case(f"simulation: {lock} makes {figure} of the acquisitions of {plain} at "
                       f"{LIMITED_CPUS} CPUs, {sockets} sockets", mine > (figure - 0.01) * its,
                       f"{mine}, {its}")


def limited(runs):
    """No lock of ours has become dearer."""
    for sockets in (1, 8):
        for lock, figures in LIMITED.items():
            if sockets not in figures:
                continue
            most = round(1.1 * figures[sockets], 1)
            made = runs.values([{"lock": lock, "cpus": LIMITED_CPUS, "sockets": sockets,
                                 "seed": seed, "duration_us": 1500} for seed in (1, 2, 3)])
            found = median(map(misses, made))
            yield Case(f"simulation: {lock} makes at most {most:g} misses an acquisition at "
                       f"{LIMITED_CPUS} CPUs, {sockets} sockets",
                       found <= most and all(values["verdict"] == "PASS" for values in made),
                       f"{found:.1f}; it was {figures[sockets]:g}")
    without_limit = sorted(set(OURS) - set(LIMITED))
    yield Case("simulation: every lock type of ours has such a limit", not without_limit,
               ", ".join(without_limit))


def wasted(runs):
    """One access too many shows."""
    wanted = [settings_of("clh_nb", 16)]
    before = misses(runs.values(wanted)[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_with(folder, [WASTE])
        wasteful = Runs(program.build(folder, folder / "build"))
        after = misses(wasteful.values(wanted)[0])
    yield Case("simulation: one wasted access to a shared line shows", after > before + 0.5,
               f"{before:.2f} misses an acquisition before, {after:.2f} with it")


def of_seeds(built, point):
    """{figure: its mean over twelve seeds, which differ by a tenth}, with no rule out."""
    found = [without.run(built, 0, None, {**point, "seed": seed}) for seed in range(1, 13)]
    return {name: mean(figures[name] for figures in found) for name in ("rate", "misses")}


def ruled(runs):
    """Each rule of the hybrid's policy is noticed where it has its experiment."""
    with tempfile.TemporaryDirectory() as folder:
        built = without.build(policy_rules.RULES, Path(folder))
        point = policy_rules.POINTS["24/8/mixed"]
        shipped, whole = of_seeds(runs.built, point), of_seeds(built, point)
        # Not to the byte: the program's other variables share other lines.
        yield Case("simulation: with no rule out the policy is the shipped one",
                   all(differ(shipped[name], whole[name]) < SEEDS_AGREE for name in shipped),
                   f"{shipped}\n{whole}")
        for rule, noticed, words in without.checked(
                built, dict(enumerate(policy_rules.RULES, 1))):
            yield Case(f"simulation: a rule is noticed: {rule.name}", noticed, words)


def overtaken(runs):
    """A waiter of one of two locks that share queues, which come and go, is not left behind."""
    values = runs.values([settings_of("nbq_spin", 64, locks=2, shared_queue=1, alternate_us=200,
                                      cs_ns=2000, duration_us=800)])[0]
    yield Case("simulation: no attempt that begins 40 us later overtakes a waiter where two locks "
               "come and go", values["verdict"] == "PASS" and not values["passed_late_max"],
               f"{values['verdict']}; {values['passed_late_max']} did")


@step("simulation", MORE, NO_KERNEL)
def simulation():
    """the locks on 4 to 256 simulated CPUs, their cache misses: tools/host/simulate"""
    runs = Runs(program.build())
    for part in (exclusion, plain_locks, seeds, limited, shares, overtaken, wasted):
        yield from part(runs)
    if extent.is_long:
        yield from ruled(runs)
