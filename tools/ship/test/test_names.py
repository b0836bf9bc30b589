# SPDX-License-Identifier: GPL-2.0
"""Names that do not exist are found in pages, figures and reports; those that do are not."""

from pathlib import Path
import unittest

from ship.names import all_options, block_lines, commands_in, verbs, wrong_names

# (what is wrong, the page)
WRONG = (
    ("no verb watch", "Type ``tools/nbq watch``.\n"),
    ("no verb watch", "So::\n\n\tsudo nbq watch              what it does\n"),
    ("--fast", "``tools/nbq stress --fast``\n"),
    ("--fast", "::\n\n\ttools/nbq stress --locks all \\\n\t\t--fast\n"),
    ("--fast", "``tools/nbq share --fast FOLDER FILE``\n"),
    ("invalid choice: 'speed'", "``tools/nbq top --try --sort speed``\n"),
    ("no lock type \"nbq_spin_fifo\"", "``tools/nbq stress --locks nbq_spin_fifo``\n"),
    ("no lock type \"fifo\"", "``tools/host/simulate/simulate --locks fifo``\n"),
    ("no scenario \"figure9\"", "``tools/nbq bench figure5 figure9``\n"),
    ("no scenario \"figure9\"", ":Cores: 2\n:Command: nbq bench figure9\n"),
    ("no such test: abcd", "``tools/nbq rqspinlock abcd``\n"),
    ("no such step: speed", "``tools/check docs speed``\n"),
    ("no tools/measure/cost", "``tools/measure/cost``\n"),
    ("speed", "``make speed``\n"),
    ("--fast", "``tools/host/programs/run mixtures all gcc plain --fast``\n"),
    ("no option --fast", "With ``--fast`` it is.\n"),
    ("no symbol nbq_spin_lock_fair", "``nbq_spin_lock_fair()``\n"),
    ("no symbol nbq_X_lock_fair", "nbq_X_lock_fair() of each\n"),
    ("no symbol clh_nb_fair", "the lock ``clh_nb_fair``\n"),
)
RIGHT = """
``tools/nbq stress --locks all --cpus 8``, ``tools/nbq bench figure5 kernel``, ``tools/nbq VERB
--help``, ``make check CHECK_OPTIONS=--long``, ``make -C tools/host/programs check``,
``tools/check docs``, ``tools/nbq compare --relative-to raw_spinlock theirs.json ours.json``,
``tools/nbq guest --cpus 2 -- cat /proc/cmdline --fast``, ``tools/nbq kernel kunit 'nbq_d*'``,
``nbq_spin_lock_timeout()``, ``nbq_X_destroy()``, ``nbq_clh_*``, ``mokutil --fast``, ``--wide``,
``raw_spinlock_t``, ``tools/testing/selftests/bpf``, ``tools/measure/bench/scenarios``::

    sudo tools/nbq top --interval 5 --count 3 >top.txt
    tools/nbq stress --here --json here.json     into a file
    make deb && apt install linux-headers-amd64

make the best of it: ``tools/*/steps.py``
"""
REPORT = """
.. csv-table::
   :header-rows: 1
   :widths: 1 2

   "point","lock","2 CPUs"
   "2 CPUs","nbq_spin","5"
   "","{}","6"
"""
FIGURE = "<svg><style>.a_b{{fill:none}}</style><text x='1'>nbq_spin</text><text>8 CPUs</text>" \
    "<tspan>{}</tspan></svg>"


def wrong(name, text):
    return wrong_names(Path("Documentation") / name, text)


class Names(unittest.TestCase):
    def test_what_is_not_there_is_named(self):
        for words, text in WRONG:
            with self.subTest(text):
                found = wrong("page.rst", text)
                self.assertIn(words, " ".join(found))

    def test_what_is_there_is_not(self):
        self.assertEqual(wrong("page.rst", RIGHT), [])
        self.assertEqual(len(commands_in(RIGHT)), 15)
        self.assertIn("stress", verbs())
        self.assertIn("--runs", all_options())

    def test_markdown_has_commands_in_fences(self):
        for command, found in (("make run", 0), ("make speed", 1), ("tools/nbq watch", 1)):
            self.assertEqual(len(wrong("page.md", f"So:\n```\n{command}\n```\n")), found)
        self.assertEqual(list(block_lines("a::\n\n  b\n  c\nd\n```\ne\n```\nf\n")),
                         ["  b", "  c", "e"])

    def test_reports_and_figures_have_lock_types(self):
        for name, text in (("reference/report.rst", REPORT), ("reference/figures/a.svg", FIGURE)):
            for lock in ("qspinlock", "clh_nb_paper", "nbq_spin_pv"):
                self.assertEqual(wrong(name, text.format(lock)), [])
            for lock in ("nbq_spin_fifo", "clh_nb_fair", "turn_lock", "turnlock"):
                self.assertEqual(wrong(name, text.format(lock)), [f"no lock type {lock}"])

    def test_what_quotes_another_text_may(self):
        self.assertEqual(wrong("reference/mutants.json", "nbq_spin_fifo"), [])
        self.assertTrue(wrong("verification.rst", "nbq_spin_fifo"))
