# SPDX-License-Identifier: GPL-2.0
"""The version of the project, in each place that states it."""

import re

from base.common import INSTALLED, PROJECT

# (file, what stands around a version there). A file that is not there states none.
PLACES = (
    ("CHANGELOG.md", r"\A(?:(?!^## \d).*\n)*## (\d[\w.~-]*)"),
    ("README.md", r"^Version (\d[\w.~-]*\w)"),
    ("nbqlock/main.c", r'^MODULE_VERSION\("([^"]*)"\)'),
    ("nbqlock/stress/main.c", r'^MODULE_VERSION\("([^"]*)"\)'),
    ("dkms.conf", r'^PACKAGE_VERSION="([^"]*)"'),
    ("dkms.conf", r"\bnbqlock[-/](\d[\w.~]*\w)"),
    ("tools/ship/packages/recipes/nbqlock.spec", r"^Version: +(\S+)"),
    ("tools/ship/packages/recipes/PKGBUILD", r"^pkgver=(\S+)"),
    # Without the revision of the package.
    ("debian/changelog", r"\A\S+ \((?:\d+:)?([^)]*?)(?:-[\w.+~]+)?\)"),
)


def stated(root=PROJECT):
    """[(file, version)]; the version is None where the file states none."""
    found = []
    for name, pattern in PLACES:
        path = root / name
        if path.exists():
            versions = re.findall(pattern, path.read_text(), re.MULTILINE)
            found += [(name, version) for version in versions or [None]]
    return found


def version(root=PROJECT):
    """That of the modules; of an installed nbq, that with which it was installed."""
    if root == PROJECT and INSTALLED:
        return (PROJECT / "nbqlock/version").read_text().strip()
    return dict(stated(root))["nbqlock/main.c"]


def set_version(root, number):
    """Give a copy of the project another version, in all places that state it."""
    for name, pattern in PLACES:
        path = root / name
        text = path.read_text()
        for found in reversed(list(re.finditer(pattern, text, re.MULTILINE))):
            text = text[:found.start(1)] + number + text[found.end(1):]
        path.write_text(text)


def disagreements(root=PROJECT):
    """Which files state which version, if it is not the same everywhere; else nothing."""
    found = stated(root)
    if len({version for _, version in found}) == 1 and found[0][1]:
        return ""
    return "".join(f"{name}: {version}\n" for name, version in found)
