# SPDX-License-Identifier: GPL-2.0
"""Configurations in which no spinlock of the kernel can be the hybrid: Kconfig says why."""

from pathlib import Path
import tempfile
from typing import NamedTuple

from base.building import compiler_environment, run_logged
from base.common import PROJECT
from guest.hybrid import CHANGES, HYBRID, QEMU, recipe_of
from guest.kernel_copy import changed_files, make_shadow
from guest.source import get_source

CPUS = "arch/x86/Kconfig"	# where the most CPUs stand
MOST_CPUS = 8192


class Choice(NamedTuple):
    """What is set besides CONFIG_NBQ_SPINLOCKS, and the words of the refusal, or nothing.

    most_cpus: how many the architecture takes, in place of MOST_CPUS.
    """
    name: str
    settings: tuple
    reason: str = ""
    most_cpus: int = MOST_CPUS


CHOICES = (
    Choice("nbqlock as a module", ("CONFIG_NBQLOCK=m",), "it has to be built in"),
    Choice("the suites of nbqlock",
           ("CONFIG_NBQLOCK_STRESS=y", "CONFIG_NBQLOCK_KUNIT_TEST=y"), "replace the clock"),
    Choice("PREEMPT_RT", ("CONFIG_EXPERT=y", "CONFIG_PREEMPT_RT=y"), "sleeps with PREEMPT_RT"),
    Choice("more CPUs than a lock can name",
           ("CONFIG_CPUMASK_OFFSTACK=y", "CONFIG_DEBUG_PER_CPU_MAPS=y", "CONFIG_NR_CPUS=16384"),
           "14 bits for a CPU", 2 * MOST_CPUS),
    Choice("as many CPUs as a lock can name",
           ("CONFIG_CPUMASK_OFFSTACK=y", "CONFIG_DEBUG_PER_CPU_MAPS=y", "CONFIG_NR_CPUS=16383"),
           "", 2 * MOST_CPUS),
    Choice("qspinlock, and its paravirtual form",
           ("CONFIG_QUEUED_SPINLOCKS=y", "CONFIG_PARAVIRT_SPINLOCKS=y")),
)


def write(folder, texts):
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def configured(choice, folder, recipe, cpus):
    """The lines of the .config that comes of it, in a tree that lies in the folder."""
    write(folder / "changed", {CPUS: cpus.replace(f"default {MOST_CPUS} if  SMP",
                                                  f"default {choice.most_cpus} if  SMP")})
    settings = folder / "settings"
    settings.write_text(recipe.settings + "".join(f"{line}\n" for line in choice.settings))
    run_logged(["make", "-C", folder / "tree", f"O={folder / 'obj'}", *recipe.options,
                f"KCONFIG_ALLCONFIG={settings}", "allnoconfig"], folder / "log",
               "configuring a kernel", env=compiler_environment())
    return (folder / "obj/.config").read_text().splitlines()


def judged():
    """Each Choice, and what is wrong with the .config that comes of it, or nothing."""
    recipe = recipe_of(HYBRID, QEMU)
    tree = get_source().path
    texts = changed_files(tree, CHANGES)
    with tempfile.TemporaryDirectory(prefix="nbq-kconfig-") as name:
        folder = Path(name)
        write(folder / "changed", texts)
        make_shadow(tree, folder / "tree", {**{path: folder / "changed" / path for path in texts},
                                            "nbq": PROJECT})
        for choice in CHOICES:
            yield choice, wrong_with(choice, configured(choice, folder, recipe, texts[CPUS]))


def wrong_with(choice, lines):
    """What is wrong with that .config, or nothing."""
    lacking = [line for line in choice.settings if line not in lines]
    chosen = [name for name in ("NBQ", "QUEUED", "PARAVIRT")
              if f"CONFIG_{name}_SPINLOCKS=y" in lines]
    if not choice.reason:
        return "" if chosen == ["NBQ"] else f"spinlocks: {chosen}"
    if lacking:
        return f"this Linux does not take {', '.join(lacking)}"
    if chosen != ["QUEUED"]:
        return f"spinlocks: {chosen}"
    said = [line for line in lines if line.startswith("# No spinlocks by nbqlock: ")]
    return "" if len(said) == 1 and choice.reason in said[0] else f"reasons: {said}"
