# SPDX-License-Identifier: GPL-2.0
"""Which room of tools/ may import which, and that no import goes round in a circle.

By the syntax trees of all Python files, and the includes of the C files. CONTRIBUTING.md has the
rooms.
"""

import ast
from pathlib import Path
import re

# Each may import those before it.
ROOMS = ("base", "guest", "host", "measure", "studies")
# These may import all of them, and not each other.
OUTER = ("module", "ship")
STUDIES = "studies"
# No circle of files in these.
WITHOUT_CIRCLES = ("base", "guest", "measure")
SHIM = re.compile(r'^#\s*include\s+"(.*\bshim/.*)"', re.MULTILINE)


def is_python(path):
    if path.suffix == ".py":
        return True
    return not path.suffix and path.is_file() and b"python3" in path.read_bytes()[:200]


class Import:
    """Of a file: module; whether it stands at the top of the file, without a condition."""

    def __init__(self, path, module, at_top):
        self.path = path
        self.module = module
        self.at_top = at_top


def imports_of(tools, path, modules):
    """What a file imports of tools/. modules: {name: path} of all there are."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{each.name}" for each in node.names]
            names = [name if name in modules else node.module for name in names]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        else:
            continue
        for name in dict.fromkeys(names):
            if name.partition(".")[0] in (*ROOMS, *OUTER):
                yield Import(path.relative_to(tools), name, node in tree.body)


def room_of(path):
    return path.parts[0] if len(path.parts) > 1 else None


def wrong(found):
    """What is wrong with an import, as text; or nothing."""
    here, there = room_of(found.path), found.module.partition(".")[0]
    if not found.at_top:
        return "not at the top of the file"
    if here is None or here == there:
        study = found.module.split(".")[1:2]
        if here == STUDIES and study and study[0] not in (found.path.parts[1], "frame"):
            return "a study imports another"
        return ""
    allowed = ROOMS if here in OUTER else ROOMS[:ROOMS.index(here)] if here in ROOMS else ()
    return "" if there in allowed else f"{here}/ may not import {there}/"


def circle_in(arrows):
    """Some circle of {module: set of modules}, as a list; or nothing."""
    done = set()

    def search(module, path):
        if module in path:
            return [*path[path.index(module):], module]
        if module in done:
            return []
        for other in sorted(arrows.get(module, ())):
            if found := search(other, [*path, module]):
                return found
        done.add(module)
        return []

    for module in sorted(arrows):
        if found := search(module, []):
            return found
    return []


def breaches(tools):
    """All that is against the rules, as texts."""
    tools = Path(tools)
    files = [path for path in sorted(tools.rglob("*")) if is_python(path)]
    modules = {".".join(path.relative_to(tools).with_suffix("").parts): path for path in files}
    texts, arrows = [], {}
    for name, path in modules.items():
        for found in imports_of(tools, path, modules):
            if why := wrong(found):
                texts.append(f"{found.path} imports {found.module}: {why}")
            room = room_of(found.path)
            if room in WITHOUT_CIRCLES and found.module.startswith(f"{room}."):
                arrows.setdefault(name, set()).add(found.module)
    if circle := circle_in(arrows):
        texts.append(f"in a circle: {', '.join(circle)}")
    for path in sorted(tools.rglob("*.[ch]")):
        for included in SHIM.findall(path.read_text(encoding="utf-8", errors="replace")):
            if room_of(path.relative_to(tools)) != "host":
                texts.append(f"{path.relative_to(tools)} includes {included}: only host/ may")
    return texts
