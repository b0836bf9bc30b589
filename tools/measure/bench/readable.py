# SPDX-License-Identifier: GPL-2.0
"""Kept figures: whether each can be read, on a light and a dark page and where it is not seen."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

from base.case import Case
from measure.bench import svg
from measure.bench.figure import STYLES
from measure.scenario import MOST_DRAWN

SPACE = "{http://www.w3.org/2000/svg}"
WIDTH = 880			# pixels that a page has for a figure
LEAST_FONT = 12			# pixels, in that width
FEWEST_WORDS = 4		# of a title
NEUTRAL = {svg.short(colour) for colour in (svg.INK, svg.DIM)}
COLOURED = ("fill", "stroke", "color")
MOVED = re.compile(r"translate\(([-.\d]+)[ ,]([-.\d]+)\)")
TURNED = re.compile(r"rotate\((-90|270)")


class Text(NamedTuple):
    """A text, and the pixels that it covers, about."""
    words: str
    size: float
    colour: str
    left: float
    top: float
    right: float
    bottom: float

    def is_on(self, other):
        return (min(self.right, other.right) - max(self.left, other.left) > 1 and
                min(self.bottom, other.bottom) - max(self.top, other.top) > 2)


def width_of(words, size):
    """As DejaVu Sans has it, about."""
    return size * sum(0.64 if letter.isdigit() or letter.isupper() else 0.54 for letter in words)


def text_of(element, said):
    """A <text>; said: the attributes of it and of all that it is in."""
    words, size = "".join(element.itertext()).strip(), float(said["font-size"])
    x, y = float(said["x"]), float(said["y"])
    length = width_of(words, size)
    before = length * {"middle": 0.5, "end": 1}.get(said.get("text-anchor"), 0)
    if TURNED.search(said["transform"]):
        box = x - 0.8 * size, y - length + before, x + 0.2 * size, y + before
    else:
        box = x - before, y - 0.8 * size, x - before + length, y + 0.2 * size
    return Text(words, size, said.get("fill", svg.short(svg.INK)), *box)


def texts_in(element, outer):
    """Those of an element and of all in it."""
    said = {**outer, **element.attrib}
    moved = MOVED.search(element.get("transform", ""))
    said["x"], said["y"] = (
        float(outer[axis]) + float(element.get(axis, 0)) + (float(moved[number]) if moved else 0)
        for number, axis in enumerate("xy", 1))
    said["transform"] = outer["transform"] + element.get("transform", "")
    if element.tag == f"{SPACE}text":
        yield text_of(element, said)
    for inner in element:
        yield from texts_in(inner, said)


def without_dark(root):
    """Colours that a dark page has no others for."""
    style = "".join(each.text or "" for each in root.iter(f"{SPACE}style"))
    dark = style.partition("@media(prefers-color-scheme:dark)")[2]
    used = {(name, each.get(name)) for each in root.iter() for name in COLOURED
            if each.get(name) not in (None, "none", "currentColor")}
    return sorted(f"{name} {colour}" for name, colour in used
                  if f'[{name}="{colour}"]' not in dark)


def described(root):
    """What is lacking for those who do not see it."""
    for tag, least in (("title", FEWEST_WORDS), ("desc", 2 * FEWEST_WORDS)):
        found = root.find(f"{SPACE}{tag}")
        if found is None or len((found.text or "").split()) < least:
            yield f"its <{tag}> has less than {least} words"


def faults(text):
    """Sentences on what keeps a figure from being read."""
    root = ElementTree.fromstring(text)
    width, height = float(root.get("width")), float(root.get("height"))
    texts = list(texts_in(root, {"x": 0, "y": 0, "transform": "", "font-size": "16"}))
    found = list(described(root))
    found += [f"no other colour on a dark page: {colour}" for colour in without_dark(root)]
    names = {each.words for each in texts if each.words in STYLES or each.colour not in NEUTRAL}
    if len(names) > MOST_DRAWN:
        found.append(f"{len(names)} names: {', '.join(sorted(names))}")
    least = min((each.size for each in texts), default=0) * min(1, WIDTH / width)
    if least < LEAST_FONT:
        found.append(f"letters of {least:.1f} pixels where it is {WIDTH} wide")
    found += [f"\"{each.words}\" is cut off" for each in texts
              if min(each.left, each.top) < 0 or each.right > width or each.bottom > height]
    found += [f"\"{each.words}\" is on \"{other.words}\"" for number, each in enumerate(texts)
              for other in texts[:number] if each.is_on(other)]
    return found


def kept_figures(folder):
    """A case for each."""
    for path in sorted(folder.rglob("*.svg")):
        found = faults(path.read_text(encoding="utf-8"))
        yield Case(f"docs: {path.relative_to(folder)} can be read", not found,
                   "\n".join(found[:10]))
