# SPDX-License-Identifier: GPL-2.0
"""What keeps a kept figure from being read is found."""

import unittest

from measure.bench.readable import faults

GOOD = """<svg width="880" height="400" xmlns="http://www.w3.org/2000/svg" font-size="12.5">
<title>How fast each lock is</title>
<desc>Acquisitions per second, by CPUs. Lines: clh_nb, nbq_spin. On 2 cores.</desc>
<style>@media(prefers-color-scheme:dark){svg{fill:#fff}[fill="#fff"]{fill:#000}\
[fill="#c08"]{fill:#f8c}[stroke="#c08"]{stroke:#f8c}[color="#c08"]{color:#f8c}}</style>
<rect width="880" height="400" fill="#fff"/>
<g transform="translate(12 30)"><text font-size="17">How fast each lock is</text></g>
<g text-anchor="middle"><g transform="translate(20,200) rotate(-90)"><text>per second</text></g></g>
<g fill="#c08"><text x="700" y="50">nbq_spin</text><text x="700" y="65">clh_nb</text></g>
<path stroke="#c08" d="m1 1h9"/>
</svg>"""
NAMES = "".join(f'<text x="700" y="{80 + 15 * number}">{name}</text>' for number, name in
                enumerate(("mcs", "clh", "tas_b", "hmcs")))
# What is changed, into what; what is said then.
FAULTS = (
    ("<title>How fast each lock is", "<title>Gnuplot", "its <title> has less than 4 words"),
    ("Acquisitions per second, by CPUs. Lines: ", "", "its <desc> has less than 8 words"),
    ("(prefers-color-scheme:dark)", "(print)", "no other colour on a dark page: fill #c08"),
    ('[stroke="#c08"]{stroke:#f8c}', "", "no other colour on a dark page: stroke #c08"),
    ("</svg>", f"{NAMES}</svg>", "6 names: clh, clh_nb, hmcs, mcs, nbq_spin, tas_b"),
    ('font-size="12.5"', 'font-size="11.9"', "letters of 11.9 pixels where it is 880 wide"),
    ('width="880" height="400" x', 'width="1760" height="400" x', "letters of 6.2 pixels"),
    ('x="700" y="50"', 'x="830" y="50"', '"nbq_spin" is cut off'),
    ('x="700" y="50"', 'x="700" y="9"', '"nbq_spin" is cut off'),
    ("translate(20,200)", "translate(20,30)", '"per second" is cut off'),
    ("translate(20,200)", "translate(9,200)", '"per second" is cut off'),
    ('y="65"', 'y="58"', '"clh_nb" is on "nbq_spin"'),
    ('x="700" y="65"', 'x="20" y="200"', '"clh_nb" is on "per second"'))


class Faults(unittest.TestCase):
    def test_a_figure_that_can_be_read_has_none(self):
        self.assertEqual(faults(GOOD), [])

    def test_each_is_said(self):
        for old, new, said in FAULTS:
            with self.subTest(old=old, new=new):
                self.assertIn(old, GOOD)
                found = faults(GOOD.replace(old, new))
                self.assertTrue(any(said in each for each in found), found)
