# SPDX-License-Identifier: GPL-2.0
"""gnuplot's SVG in fewer bytes: what is drawn and where stays the same."""

import re
import unittest
from xml.etree import ElementTree

from bench.svg import smaller

HEAD = """<?xml version="1.0" encoding="utf-8"  standalone="no"?>
<svg 
 width="200" height="100"
 viewBox="0 0 200 100"
 xmlns="http://www.w3.org/2000/svg"
 xmlns:xlink="http://www.w3.org/1999/xlink"
>
<title>Gnuplot</title>
<g id="gnuplot_canvas">
<rect x="0" y="0" width="200" height="100" fill="#ffffff"/>
<defs>
	<circle id='gpPt5' stroke-width='0.232' stroke='currentColor' cx='0' cy='0' r='1'/>
	<use xlink:href='#gpPt5' id='gpPt6' fill='currentColor' stroke='none'/>
	<path id='gpPt7' stroke-width='0.232' stroke='currentColor' d='M0,-1 L-1,1 L1,1 z'/>
</defs>
<g fill="none" color="black" stroke="currentColor" stroke-width="{width}" stroke-linecap="butt" \
stroke-linejoin="miter">
"""
COLOUR = "rgb(  0, 114, 178)"
PLACES = ((10, 20), (30.04, 40.06), (50.08, 40.06))
PATH = 'd="m10 20l20 20.1h20.1"/>'		# through these
DASH = "stroke-dasharray='2,4'"


def line(*vertices, more=""):
    path = " L".join(f"{x:.2f},{y:.2f}" for x, y in vertices)
    return f"<path stroke='{COLOUR}' {more} d='M{path}  '/>"


def symbol(x, y, name="gpPt6"):
    return (f"<use xlink:href='#{name}' transform='translate({x:.2f},{y:.2f}) scale(4.74)' "
            f"color='{COLOUR}'/>")


def text(words, x, y, more=""):
    return (f'<g transform="translate({x:.2f},{y:.2f}){more}" stroke="none" fill="black" '
            f'font-family="DejaVu Sans" font-size="11.50"  text-anchor="middle">\n'
            f"\t\t<text>{words}</text>\n\t</g>\n")


SOLID, SYMBOLS = line((0, 0), (1, 0)), [symbol(*place) for place in PLACES]
MARKER = ('<marker id="m0" markerUnits="userSpaceOnUse"><use xlink:href="#gpPt6" class="s0" '
          'transform="scale(4.74)"/></marker>')
# What gnuplot has drawn, and the lines of what is written.
DRAWN = (
    # In steps, to a tenth of a pixel.
    ([line((1.04, 2), (1.08, 2), (1.12, 2), (1.12, 5.51), (0.5, 6))],
     ['<path class="s0" d="m1 2h.1h0v3.5l-.6 .5"/>']),
    # An outline that gnuplot 6.0 closes.
    ([line((0, 0), (1, 0), (1, 1)).replace("  '/>", " Z  '/>")],
     ['<path class="s0" d="m0 0h1v1l-1-1"/>']),
    # Lines of one style are a path.
    ([SOLID, line((5, 5), (5, 6)), line((0, 9), (1, 9), more=DASH), SOLID],
     ['<path class="s0" d="m0 0h1m4 5v1"/>', '<path class="s1" d="m0 9h1"/>',
      '<path class="s0" d="m0 0h1"/>']),
    # Symbols at the vertices of a line are its markers; elsewhere their path is not seen.
    ([line(*PLACES), *SYMBOLS], [MARKER, f'<path class="s1" {PATH}']),
    ([line(*PLACES), *SYMBOLS[1:]],
     [MARKER, f'<path class="s1" {PATH}', '<path class="s2" d="m30 40.1h20.1"/>']),
    # So are letters, which are below.
    ([line(*PLACES), *(text("Q", x, y + 3.74) for x, y in PLACES)],
     ['<marker id="m0" markerUnits="userSpaceOnUse"><text class="s0" x="0" y="3.7">Q</text>'
      '</marker>', f'<path class="s1" {PATH}']),
    *(([text("a &lt; b", 7, 8, f" rotate({angle})")],
       ['<text class="s0" x="7" y="8" transform="rotate(270,7,8)">a &lt; b</text>'])
      for angle in ("270", "270.00")),		# gnuplot 5.4, 6.0
    # These show nothing.
    ([line((3, 3), (3, 3)), text("", 1, 2)], []),
)
UNKNOWN = (
    "<polygon points='1,2 3,4'/>", line((0, 0), (1, 1), more="opacity='0.5'"),
    "<path stroke='red' d='M0,0 C1,1 2,2 3,3'/>",
    "<rect x='5' y='5' width='9' height='9' fill='red'/>", symbol(1, 2, "gpPt99"),
    "<use xlink:href='#gpDot' x='1' y='2'/>",
    "<use xlink:href='#gpPt5' transform='translate(1,2)'/>", text("a", 1, 2, " scale(2)"),
    f'<g transform="translate(1,2)">{SOLID}</g>')


def made(*inner, width="1.00"):
    return HEAD.format(width=width) + "\n".join(inner) + "</g>\n</g>\n</svg>\n"


class SmallerTest(unittest.TestCase):
    def test_what_is_drawn_stays(self):
        for inner, wanted in DRAWN:
            with self.subTest(inner):
                whole = smaller(made(*inner))
                ElementTree.fromstring(whole)
                self.assertEqual(re.sub(r"(?s).*</style>\n|</svg>\n", "", whole).splitlines(),
                                 wanted)
                self.assertEqual(smaller(whole), whole)		# once is enough

    def test_a_style_says_what_is_not_the_default(self):
        for inner, options, style in (
                ([SOLID], {"width": "3.00"}, "s0{stroke:#0072b2;stroke-width:3.00}"),
                ([SOLID], {}, "s0{stroke:#0072b2}"),
                (["<path d='M0,0 L1,0'/>"], {}, "s0{stroke:black}"),	# that of the group
                ([line(*PLACES), *SYMBOLS[1:]], {}, "s2{marker:url(#m0)}")):
            self.assertIn(f"\n.{style}\n", smaller(made(*inner, **options)))

    def test_symbols_that_are_not_used_go(self):
        whole = smaller(made(symbol(1, 2)))
        self.assertIn("id='gpPt5'", whole)	# what gpPt6 is made of
        self.assertNotIn("gpPt7", whole)

    def test_an_unknown_element_or_attribute_leaves_all_as_it_is(self):
        for inner in UNKNOWN:
            self.assertEqual(smaller(made(inner)), made(inner))
