# SPDX-License-Identifier: GPL-2.0
"""gnuplot's SVG in fewer bytes: what is drawn and where stays the same."""

import re
import unittest
from xml.etree import ElementTree

from bench.svg import smaller

GROUP = ('<g fill="none" color="black" stroke="currentColor" stroke-width="{width}" '
         'stroke-linecap="butt" stroke-linejoin="miter">\n{inner}</g>\n')
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
	<rect id='gpPt4' fill='currentColor' x='-1' y='-1' width='2' height='2'/>
	<circle id='gpPt5' stroke-width='0.232' stroke='currentColor' cx='0' cy='0' r='1'/>
	<use xlink:href='#gpPt5' id='gpPt6' fill='currentColor' stroke='none'/>
	<path id='gpPt7' stroke-width='0.232' stroke='currentColor' d='M0,-1 L-1,1 L1,1 z'/>
</defs>
"""
COLOUR = "rgb(  0, 114, 178)"
PLACES = ((10, 20), (30.04, 40.06), (50.08, 40.06))


def line(*vertices, dash=""):
    path = " L".join(f"{x:.2f},{y:.2f}" for x, y in vertices)
    return f"<path stroke='{COLOUR}' {dash} d='M{path}  '/>"


def symbol(x, y, name="gpPt6", size=4.74, colour=COLOUR):
    return (f"<use xlink:href='#{name}' transform='translate({x:.2f},{y:.2f}) scale({size:.2f})' "
            f"color='{colour}'/>")


def text(words, x, y, more=""):
    return (f'<g transform="translate({x:.2f},{y:.2f}){more}" stroke="none" fill="black" '
            f'font-family="DejaVu Sans" font-size="11.50"  text-anchor="middle">\n'
            f"\t\t<text>{words}</text>\n\t</g>\n")


def made(*inner, width="1.00"):
    return HEAD + GROUP.format(width=width, inner="\n".join(inner)) + "</g>\n</svg>\n"


def drawn(*inner, **more):
    """The lines of the elements that draw."""
    whole = smaller(made(*inner, **more))
    ElementTree.fromstring(whole)
    return re.sub(r"(?s).*</style>\n|</svg>\n", "", whole).splitlines()


class SmallerTest(unittest.TestCase):
    def test_a_line_goes_in_steps_to_a_tenth_of_a_pixel(self):
        self.assertEqual(drawn(line((1.04, 2), (1.08, 2), (1.12, 2), (1.12, 5.51), (0.5, 6))),
                         ['<path class="s0" d="m1 2h.1h0v3.5l-.6 .5"/>'])

    def test_lines_of_one_style_are_one_path_those_of_two_are_not(self):
        solid, dashed = line((0, 0), (1, 0)), line((0, 9), (1, 9), dash="stroke-dasharray='2,4'")
        self.assertEqual(drawn(solid, line((5, 5), (5, 6)), dashed, solid),
                         ['<path class="s0" d="m0 0h1m4 5v1"/>', '<path class="s1" d="m0 9h1"/>',
                          '<path class="s0" d="m0 0h1"/>'])

    def test_a_style_says_what_is_not_the_default(self):
        self.assertIn("\n.s0{stroke:#0072b2;stroke-width:3.00}\n",
                      smaller(made(line((0, 0), (1, 0)), width="3.00")))
        self.assertIn("\n.s0{stroke:#0072b2}\n", smaller(made(line((0, 0), (1, 0)))))

    def test_a_colour_may_be_that_of_the_group(self):
        self.assertIn("\n.s0{stroke:black}\n", smaller(made("<path d='M0,0 L1,0'/>")))

    def test_symbols_at_the_vertices_of_a_line_are_its_markers(self):
        marker, path = drawn(line(*PLACES), *(symbol(*place) for place in PLACES))
        self.assertIn('<use xlink:href="#gpPt6" class="s0" transform="scale(4.74)"/>', marker)
        self.assertEqual(path, '<path class="s1" d="m10 20l20 20.1h20.1"/>')

    def test_letters_below_the_vertices_are_markers_too(self):
        marker, path = drawn(line(*PLACES), *(text("Q", x, y + 3.74) for x, y in PLACES))
        self.assertIn('<text class="s0" x="0" y="3.7">Q</text>', marker)
        self.assertEqual(path, '<path class="s1" d="m10 20l20 20.1h20.1"/>')

    def test_symbols_at_other_places_have_a_path_that_is_not_seen(self):
        marker, path, points = drawn(line(*PLACES), *(symbol(*place) for place in PLACES[1:]))
        self.assertEqual(path, '<path class="s1" d="m10 20l20 20.1h20.1"/>')
        self.assertEqual(points, '<path class="s2" d="m30 40.1h20.1"/>')
        self.assertIn('id="m0"', marker)
        self.assertIn("\n.s2{marker:url(#m0)}\n", smaller(
            made(line(*PLACES), *(symbol(*place) for place in PLACES[1:]))))

    def test_symbols_that_are_not_used_go(self):
        whole = smaller(made(symbol(1, 2)))
        self.assertIn("id='gpPt5'", whole)	# what gpPt6 is made of
        self.assertNotIn("gpPt7", whole)

    def test_a_text_stays_turned_and_escaped(self):
        self.assertEqual(drawn(text("a &lt; b", 7, 8, " rotate(270)")), [
            '<text class="s0" x="7" y="8" transform="rotate(270,7,8)">a &lt; b</text>'])

    def test_what_shows_nothing_goes(self):
        self.assertEqual(drawn(line((3, 3), (3, 3)), text("", 1, 2)), [])

    def test_an_unknown_element_or_attribute_leaves_all_as_it_is(self):
        for inner in ("<polygon points='1,2 3,4'/>", line((0, 0), (1, 1), dash="opacity='0.5'"),
                      "<path stroke='red' d='M0,0 C1,1 2,2 3,3'/>",
                      "<rect x='5' y='5' width='9' height='9' fill='red'/>",
                      symbol(1, 2, "gpPt99"), "<use xlink:href='#gpDot' x='1' y='2'/>",
                      "<use xlink:href='#gpPt5' transform='translate(1,2)'/>",
                      text("a", 1, 2, " scale(2)"),
                      '<g transform="translate(1,2)">' + line((0, 0), (1, 1)) + "</g>"):
            self.assertEqual(smaller(made(inner)), made(inner))

    def test_a_second_time_changes_nothing(self):
        once = smaller(made(line(*PLACES), *(symbol(*place) for place in PLACES)))
        self.assertEqual(smaller(once), once)


if __name__ == "__main__":
    unittest.main()
