# SPDX-License-Identifier: GPL-2.0
"""What users of nbqlock can rely on, as lines: declarations, exported symbols, parameters."""

import difflib
import re

from base.c_text import arguments_at, without_comments
from base.common import PROJECT
from base.lock_types import NBQ

RECORD = PROJECT / "Documentation/ABI/symbols"
HEAD = """\
# The interface of nbqlock: what its public headers declare, what it exports, its parameters.
# Written by tools/ship/record --write. CHANGELOG.md says what a change asks for.
"""
HEADERS = ("nbqlock.h", "types.h", "spin_types.h", "guard.h", *(f"{word}.h" for word in NBQ),
           "bare_spin_types.h", "bare_spin.h")
# Whose fields are for users. Those of the others are private.
OPEN = ("enum", "struct nbq_timeout")

DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
MACRO = re.compile(r"\s*#\s*define\s+([A-Za-z]\w*(?:\([^)]*\))?)")
GUARD = re.compile(r"^(DEFINE_LOCK_GUARD_1|__NBQ_DEFINE_GUARD_COND|DECLARE_LOCK_GUARD_1_ATTRS)(?=\()",
                   re.MULTILINE)
# What is said to the compiler and to checkers.
ATTRIBUTE = re.compile(r"\b(?:static|inline|extern|__always_inline|__must_check"
                       r"|__(?:nbq_(?:cond_)?acquires|nbq_releases|compiletime_error)"
                       r"\s*\((?:[^()]|\([^()]*\))*\))\s*")
PRIVATE = re.compile(r"__|DECLARE_PER_CPU$")
LOCK_STRUCT = re.compile(r"__nbq_lock_struct\((\w+)\)")
EXPORT = re.compile(r"^EXPORT_SYMBOL(?:_GPL)?\((\w+)\)", re.MULTILINE)
QUEUE_LOCK = re.compile(r"^NBQ_DEFINE_QUEUE_LOCK\(", re.MULTILINE)
PARAMETER = re.compile(r"^module_param\w*\((\w+), .*, (0\d+)\);", re.MULTILINE)


def guards_of(code):
    """The classes of guards with their parameters, and the code without them."""
    found, place = [], 0
    while match := GUARD.search(code, place):
        arguments, end = arguments_at(code, match.end())
        if match[1] == "DEFINE_LOCK_GUARD_1":
            found.append(f"guard {arguments[0]}({arguments[1]} *lock)")
        elif match[1] == "__NBQ_DEFINE_GUARD_COND":
            found.append(f"guard {arguments[0]}({', '.join(arguments[4:])})")
        code = code[:match.start()] + code[end:]
        place = match.start()
    return found, code


def statements(code):
    """The statements outside of all braces: (head, body in braces or "")."""
    depth, begin, head, body = 0, 0, "", ""
    for place, letter in enumerate(code):
        if letter == "{" and not depth:
            head, begin = code[begin:place], place + 1
        elif letter == "}" and depth == 1:
            body, begin = code[begin:place], place + 1
            if head.rstrip().endswith(")") and not LOCK_STRUCT.match(head.strip()):
                yield head, ""
                head = body = ""
        elif letter == ";" and not depth:
            yield head or code[begin:place], body
            begin, head, body = place + 1, "", ""
        depth += (letter == "{") - (letter == "}")


def declared(head, body):
    """A declaration as a line; nothing if it is not for users."""
    head = " ".join(LOCK_STRUCT.sub(r"struct \1", head).split())
    head = ATTRIBUTE.sub("", head).strip()
    name = re.search(r"(\w+) ?\(|(\w+)$", head)
    if not name or PRIVATE.match(name[1] or name[2]):
        return None
    return f"{head} {{ {' '.join(body.split())} }}" if body and head.startswith(OPEN) else head


def interface_of(text):
    """The lines of a header."""
    code = without_comments(text)
    macros = [MACRO.match(line[0]) for line in DIRECTIVE.finditer(code)]
    found = [f"define {macro[1]}" for macro in macros
             if macro and not macro[1].startswith("class_")]
    guards, code = guards_of(DIRECTIVE.sub("", code))
    found += guards
    return found + [line for line in (declared(*parts) for parts in statements(code)) if line]


def exported(code):
    """The symbols that the text of a file exports; queue_lock.h exports those of its macro."""
    yield from EXPORT.findall(code)
    for match in QUEUE_LOCK.finditer(code):
        yield from arguments_at(code, match.end() - 1)[0][2:]


def exports(folder):
    code = {path: without_comments(path.read_text()) for path in sorted(folder.rglob("*.c"))}
    return [*(f"export {name}" for text in code.values() for name in exported(text)),
            *(f"parameter {name} {mode}" for text in code.values()
              for name, mode in PARAMETER.findall(text))]


def interface():
    """All lines, sorted."""
    folder = PROJECT / "nbqlock"
    found = exports(folder)
    for header in HEADERS:
        found += [f"{header}: {line}" for line in interface_of((folder / header).read_text())]
    return sorted(set(found))


def recorded():
    """The record as it should be."""
    return HEAD + "".join(f"{line}\n" for line in interface())


def differences():
    """What has changed since it was recorded, as a text; empty: nothing."""
    old = RECORD.read_text().splitlines() if RECORD.exists() else []
    changed = [line for line in difflib.unified_diff(old, recorded().splitlines(), n=0,
                                                     lineterm="")
               if not line.startswith(("---", "+++", "@@"))]
    if not changed:
        return ""
    return "\n".join([*changed, "the interface has changed: say so in CHANGELOG.md, then run "
                      "tools/ship/record --write"])
