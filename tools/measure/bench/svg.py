# SPDX-License-Identifier: GPL-2.0
"""What gnuplot's SVG lacks: a title, a description, colours for a dark page; scour makes it small.
"""

import re
import subprocess
from xml.sax.saxutils import escape

from base.common import Failure

FONT, TEXT = "DejaVu Sans", 12.5	# in pixels: of all text but the title
PAPER, INK, DIM, FAINT, RULED = "#ffffff", "#000000", "#555555", "#999999", "#dddddd"
# What stands on a dark page for each colour of a figure.
DARK = {PAPER: "#0d1117", INK: "#f0f6fc", DIM: "#a3adb8", FAINT: "#6e7681", RULED: "#30363d",
        "#0072b2": "#58a6ff", "#c24e00": "#ff8a4c", "#00805c": "#3fca9b", "#cc0188": "#ff6ac1",
        "#6f4fbf": "#b39dff", "#0a7e8c": "#4fc8d6", "#a87400": "#e3b341", "#7f4a10": "#d2a679",
        "#6b6b00": "#c5c54a", "#a5123c": "#ff7b8a", "#3d5a73": "#a9c1d6", "#4b3fc0": "#9a93ff"}
COLOUR = re.compile(r"rgb\( *(\d+), *(\d+), *(\d+)\)")
# Names that say nothing, attributes that nothing heeds or all have, and the discs behind the
# marks of bars, which have none.
LOST = re.compile(r"""<title>gnuplot_.*?</title>| (?:class|color|font-family)="[^"]*"|"""
                  r"""<use [^>]*color='#FFFFFF'/>""" + f'| font-size="{TEXT:.2f}"')
SCOUR = ("scour", "-q", "--set-precision=4", "--strip-xml-prolog", "--enable-id-stripping",
         "--shorten-ids", "--create-groups", "--indent=none", "--no-line-breaks")


def short(colour):
    """#ddd for #dddddd, as scour writes it."""
    return "#" + colour[1::2] if colour[1::2] == colour[2::2] else colour


def scoured(text):
    try:
        done = subprocess.run(SCOUR, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
    except OSError:
        raise Failure("scour is not installed; tools/setup bench installs it "
                      "(Debian: scour)") from None
    if done.returncode or not done.stdout:
        raise Failure(f"scour ended with status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def dark(text):
    """The style sheet of a dark page, for the colours that there are."""
    rules = [f'[{name}="{light}"]{{{name}:{colour}}}'
             for light, colour in ((short(light), colour) for light, colour in DARK.items())
             for name in ("fill", "stroke", "color") if f'{name}="{light}"' in text]
    rules.insert(0, f"svg{{fill:{DARK[INK]};color:{DARK[INK]}}}")	# what scour leaves out
    return f"<style>@media(prefers-color-scheme:dark){{{''.join(rules)}}}</style>"


def finished(text, title, words):
    """title: of the figure; words: what is in it."""
    text = re.sub(r"<title>Gnuplot</title>\s*<desc>.*?</desc>", lambda _:
                  f"<title>{escape(title)}</title><desc>{escape(words)}</desc>", text, 1, re.S)
    text = COLOUR.sub(lambda found: short(f"#{bytes(map(int, found.groups())).hex()}"), text)
    text = LOST.sub("", text)
    text = text.replace("<svg", f'<svg font-family="{FONT},sans-serif" font-size="{TEXT}"', 1)
    text = scoured(text)
    return text.replace("</desc>", f"</desc>{dark(text)}", 1)
