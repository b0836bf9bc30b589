# SPDX-License-Identifier: GPL-2.0
"""Compiles uses of the guards that must compile, and misuses that must not.

Each claim is yielded as (what is claimed, whether it holds, a report).
"""

import re

from base.building import compiler_environment, locked
from base.common import BUILD, PROJECT, answer_of

HEAD = """// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
#include <nbqlock/nbqlock.h>

int work(void);
int use(struct nbq_clh *lock);

int use(struct nbq_clh *lock)
{
"""
TAIL = """
	return work();
}

MODULE_LICENSE("GPL");
"""

# What a newer kernel's <linux/cleanup.h> has, besides guard() and CLASS()
COND = "scoped_cond_guard"
ACQUIRE = "ACQUIRE"

# (what it is, what it needs, the function's body)
GOOD = (
    ("guard() without a patience", None,
     "guard(nbq_clh_irqsave)(lock);"),
    ("scoped_guard() without a patience", None,
     "scoped_guard(nbq_clh_bh, lock)\n\t\twork();"),
    ("CLASS() that is checked", None,
     "CLASS(nbq_clh_irqsave_timeout, held)(lock, 1000);\n"
     "\tint ret = nbq_guard_err(&held);\n\n\tif (ret)\n\t\treturn ret;"),
    ("scoped_cond_guard() that reads the error", COND,
     "scoped_cond_guard(nbq_clh_timeout, return nbq_guard_err(&scope), lock, 1000) {\n"
     "\t\tif (work())\n\t\t\treturn 1;\n\t\tif (work() == 2)\n\t\t\tbreak;\n"
     "\t\twork();\n\t}"),
    ("scoped_cond_guard() without waiting, with an error of its own", COND,
     "scoped_cond_guard(nbq_clh_try, return -EAGAIN, lock)\n\t\twork();"),
    ("scoped_guard() without waiting", COND,
     "scoped_guard(nbq_clh_irqsave_try, lock)\n\t\twork();"),
    ("ACQUIRE() that is checked", ACQUIRE,
     "ACQUIRE(nbq_clh_irqsave_timeout, held)(lock, 1000);\n"
     "\tint ret = ACQUIRE_ERR(nbq_clh_irqsave_timeout, &held);\n\n"
     "\tif (ret)\n\t\treturn ret;"),
)
BAD = (
    ("guard() with a patience", None,
     "guard(nbq_clh_timeout)(lock, 1000);"),
    ("guard() with a patience, interrupts off", None,
     "guard(nbq_clh_irqsave_timeout)(lock, 1000);"),
    ("guard() without waiting", None,
     "guard(nbq_clh_try)(lock);"),
    ("CLASS() that is not checked", None,
     "CLASS(nbq_clh_irqsave_timeout, held)(lock, 1000);"),
    ("CLASS() that is checked on one path only", None,
     "CLASS(nbq_clh_timeout, held)(lock, 1000);\n\n\tif (work())\n\t\treturn 1;\n"
     "\tif (nbq_guard_err(&held))\n\t\treturn 2;"),
    ("CLASS() whose error is ignored", None,
     "CLASS(nbq_clh_timeout, held)(lock, 1000);\n\n\tnbq_guard_err(&held);"),
    ("scoped_guard() with a patience", None,
     "scoped_guard(nbq_clh_timeout, lock, 1000)\n\t\twork();"),
    ("scoped_cond_guard() with a patience and an error of its own", COND,
     "scoped_cond_guard(nbq_clh_timeout, return -EBUSY, lock, 1000)\n\t\twork();"),
    ("ACQUIRE() that is not checked", ACQUIRE,
     "ACQUIRE(nbq_clh_timeout, held)(lock, 1000);"),
    ("ACQUIRE_ERR() whose error is ignored", ACQUIRE,
     "ACQUIRE(nbq_clh_timeout, held)(lock, 1000);\n\n"
     "\tACQUIRE_ERR(nbq_clh_timeout, &held);"),
)
REFUSED = re.compile(r"check nbq_guard_err\(\) of this guard|\[-W(error=)?unused-result\]")


LACKS = "this kernel lacks"


def source(needs, body):
    text = f"{HEAD}\t{body}{TAIL}"
    return f"{text}\n#ifndef {needs}\n#error {LACKS} {needs}\n#endif\n" if needs else text


def compile_all(kernel, folder, cases):
    """The output of the compiler for each, in order; None: it was not compiled."""
    for number, (_, needs, body) in enumerate(cases):
        (folder / f"case{number}.c").write_text(source(needs, body))
        (folder / f"case{number}.o").unlink(missing_ok=True)
    objects = [f"case{number}.o" for number in range(len(cases))]
    (folder / "Kbuild").write_text(
        f"obj-m := {' '.join(objects)}\nccflags-y := -I{PROJECT}\n")
    # Objects only, since work() is nowhere; one after the other, to tell them apart.
    said, _ = answer_of(["make", "-k", "-j1", "-C", kernel.build_dir, f"M={folder}",
                         *kernel.make_options, *objects], compiler_environment(), timeout=3600)
    parts = re.split(r"^  CC \[M\] +\S*?case(\d+)\.o$", said, flags=re.MULTILINE)
    texts = {int(number): text for number, text in zip(parts[1::2], parts[2::2])}
    return [texts.get(number) for number in range(len(cases))]


def guard_claims(kernel, whole):
    """What compiles for a kernel and what does not; all of it, if that is whole."""
    folder = BUILD / f"guards-{kernel.name}"
    with locked(BUILD / f"guards-{kernel.name}.lock", folder):
        folder.mkdir(parents=True, exist_ok=True)
        answers = compile_all(kernel, folder, GOOD + BAD)
    for number, (what, needs, _) in enumerate(GOOD + BAD):
        text = answers[number]
        if text is None:
            yield f"{what} is compiled", False, "the compiler was not started"
        elif needs and LACKS in text and not whole:
            continue
        elif number < len(GOOD):
            yield f"{what} compiles", not re.search(r"\b(warning|error):", text), text
        else:
            yield f"{what} is refused", bool(REFUSED.search(text)), text
