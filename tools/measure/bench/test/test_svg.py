# SPDX-License-Identifier: GPL-2.0
"""gnuplot's SVG with a title, a description and colours for a dark page."""

import shutil
import unittest
from unittest import mock
from xml.etree import ElementTree

from base.common import Failure
from measure.bench import svg

# As gnuplot writes it.
DRAWN = """<?xml version="1.0" encoding="utf-8"  standalone="no"?>
<svg 
 width="200" height="100"
 viewBox="0 0 200 100"
 xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink"
>
<title>Gnuplot</title>
<desc>Produced by GNUPLOT 5.4 patchlevel 4 </desc>
<g id="gnuplot_canvas">
<rect x="0" y="0" width="200" height="100" fill="#ffffff"/>
<defs><circle id='gpPt6' r='1' stroke='currentColor' fill='currentColor'/></defs>
<g id="gnuplot_plot_1a" ><title>gnuplot_plot_1a</title>
<g fill="none" color="gray" stroke="currentColor" stroke-width="1.00">
	<path stroke='rgb(  0, 114, 178)' class="gridline" d='M10.00,20.00 L30.04,40.06'/>
	<use xlink:href='#gpPt6' transform='translate(10.00,20.00) scale(4)' color='#FFFFFF'/>
	<use xlink:href='#gpPt6' transform='translate(10.00,20.00) scale(4)' \
color='rgb(221, 221, 221)'/>
	<g transform="translate(7,8)" stroke="none" fill="black" font-family="DejaVu Sans" \
font-size="12.50" text-anchor="end"><text>a &lt; b</text></g>
</g></g></g></svg>
"""


@unittest.skipUnless(shutil.which("scour"), "scour is not installed")
class Finished(unittest.TestCase):
    def setUp(self):
        self.text = svg.finished(DRAWN, "A <title>", "Words & more")
        self.root = ElementTree.fromstring(self.text)

    def test_it_says_what_it_is_in_front_of_all(self):
        self.assertEqual([each.text for each in self.root[:2]], ["A <title>", "Words & more"])
        self.assertNotIn("gnuplot", self.text.lower())

    def test_each_colour_has_another_one_on_a_dark_page(self):
        style = self.root[2].text
        self.assertTrue(style.startswith("@media(prefers-color-scheme:dark){"))
        for rule in ('[fill="#fff"]{fill:#0d1117}', '[stroke="#0072b2"]{stroke:#58a6ff}',
                     '[color="#ddd"]{color:#30363d}', "svg{fill:#f0f6fc;color:#f0f6fc}"):
            self.assertIn(rule, style)
        self.assertNotIn("#c24e00", style)	# which is not in it

    def test_what_is_drawn_stays_and_discs_behind_marks_go(self):
        self.assertIn('d="m10 20 20.04 20.06"', self.text)
        self.assertEqual(self.text.count("<use"), 1)
        self.assertIn(">a &lt; b</text>", self.text)
        self.assertEqual(self.root.get("font-size"), "12.5")
        self.assertNotIn("font", self.text.partition("<rect")[2])


class Scour(unittest.TestCase):
    def test_none_or_one_that_fails_is_a_sentence(self):
        for done, words in (({"side_effect": FileNotFoundError}, "not installed"),
                            ({"return_value": mock.Mock(returncode=3, stdout="", stderr="no")},
                             "ended with status 3: no")):
            with mock.patch("subprocess.run", **done):
                self.assertRaisesRegex(Failure, words, svg.scoured, "<svg/>")
