# SPDX-License-Identifier: GPL-2.0
"""What becomes of a command of the project up to where it would install what it needs."""

import contextlib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
import io
import sys
from unittest import mock

from base.common import PROJECT, Failure


class Accepted(BaseException):
    """It has come there, with these words for tools/setup: its arguments were found to be good."""


def program_of(name):
    """A program, as a module."""
    loader = SourceFileLoader(name.replace("/", "_"), str(PROJECT / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def accept(words):
    raise Accepted(words)


def started(words):
    """(why a command is refused, such as ["tools/nbq", "stress", "--cpus", "0"], or nothing; its
    words for tools/setup). One that installs nothing is run.
    """
    said = io.StringIO()
    with mock.patch.object(sys, "argv", list(words)), \
            mock.patch("base.setup.run_setup", side_effect=accept), \
            contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            program_of(words[0]).body()
        except Accepted as accepted:
            return "", accepted.args[0]
        except Failure as failure:
            return str(failure), []
        except SystemExit as end:
            return said.getvalue() if end.code else "", []
    return "", []


def refusal(words):
    return started(words)[0]
