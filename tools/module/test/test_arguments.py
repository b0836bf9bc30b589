# SPDX-License-Identifier: GPL-2.0
"""Arguments are checked before anything is installed; what is announced is what is needed."""

import fnmatch
import os
import shlex
import subprocess
from unittest import mock

from base.commands import refusal, started
from base.common import PROJECT
from base.test import InFolder

# A command, and what it must say. FOLDER has a file "file", and a folder "full" with another.
REFUSED = """
tools/nbq stress --locks nonsense | no lock type "nonsense"
tools/nbq stress --locks all,clh_nb; | takes names
tools/nbq stress --testbed debian-6.12 --locks rqspinlock | no lock type
tools/nbq stress --testbed simulated --locks raw_trylock,hybrid | no lock type "hybrid"
tools/nbq stress --cpus 65 | 64 at most
tools/nbq stress --cpus 0 | from 1 on
tools/nbq stress --testbed debian-6.1 --cpus 17 | 16 at most
tools/nbq stress --patience 5-1 | LOW-HIGH
tools/nbq stress --set cs_ns=10000001 | takes a number from 0 to 10000000
tools/nbq stress --set nonsense=1 | no file nonsense
tools/nbq stress --set retry=never | takes give_up, at_once, back_off
tools/nbq stress --set sockets=2 | is one of the simulation
tools/nbq stress --testbed simulated --set chain=2 | is one of the stress driver
tools/nbq stress --seconds 0 | not from 0.001
tools/nbq stress --rounds 1001 | more than 1000
tools/nbq stress --json FOLDER/file | is there already
tools/nbq stress --csv FOLDER/none/file | no folder to write to
tools/nbq stress --json FOLDER/a --csv FOLDER/a | name the same file
tools/nbq stress --folder FOLDER | goes with --here
tools/nbq bench nonsense | no scenario "nonsense"
tools/nbq bench FOLDER/none.ini | none.ini
tools/nbq bench --locks nonsense figure5 | no lock type "nonsense"
tools/nbq bench --locks clh_nb kernel | no lock type "clh_nb"
tools/nbq bench --locks -clh_nb figure5 | expected one argument
tools/nbq bench --testbed nowhere figure5 | invalid choice
tools/nbq bench --testbed icount FOLDER/two.ini | 2 CPUs are more than
tools/nbq bench --out FOLDER/file figure5 | no folder to write to
tools/nbq bench --share FOLDER/file figure5 | is there already
tools/nbq top --try --set lock=nonsense | no lock type "nonsense"
tools/nbq top --try --set sockets=2 | no file sockets
tools/nbq top --try --set duration_ms=5 | is set by --interval
tools/nbq top --try --cpus 17 | 16 at most
tools/nbq top --try --sort nonsense | invalid choice
tools/nbq top --set cs_ns=5 | are for a guest
tools/nbq guest --cpus 65 true | at most 64
tools/nbq guest --file FOLDER/none true | No such file
tools/nbq guest --build FOLDER true | has no Kbuild
tools/nbq guest --log FOLDER/none/log true | no folder to write to
tools/nbq guest --timeout 0 true | from 1 on
tools/nbq guest | required
tools/nbq debian-guest --series six true | not of the form
tools/nbq debian-guest --cpus 256 true | at most 255
tools/nbq kernel kunit nonsense* | no suite nonsense
tools/nbq kernel nonsense | invalid choice
tools/nbq whole-kernel --part nonsense | no such part: nonsense
tools/nbq whole-kernel --testbed debian --part kunit | not for --testbed debian
tools/nbq whole-kernel --cpus 1,65 | 1 to 64
tools/nbq whole-kernel --seconds 0 | from 1 on
tools/nbq whole-kernel --nmi | is for --testbed qemu
tools/nbq whole-kernel --testbed qemu --nmi --stock | no other option
tools/nbq rqspinlock nonsense | no such test: nonsense
tools/nbq rqspinlock selftest | no such test: selftest
tools/nbq arena --rounds 0 | from 1 on
tools/nbq nolock nonsense | no such load: nonsense
tools/nbq nolock --cpus 65 | 64 at most
tools/nbq console --figure FOLDER/a.pdf | .svg or .png
tools/nbq console --figure FOLDER/none/a.svg | no folder to write to
tools/nbq panic --panics 251 | 250 delays
tools/nbq tutorial nonsense | no such command: nonsense
tools/nbq verify nonsense | no such part: nonsense
tools/nbq verify --report FOLDER/file/report.rst | no folder to write to
tools/nbq series --author me | no author
tools/nbq series --output FOLDER/file | no folder to write to
tools/nbq deb --output FOLDER/full | holds other files
tools/nbq docs nonsense | unrecognized
tools/nbq compare FOLDER/none FOLDER/full | none
tools/nbq nonsense | invalid choice
tools/check nonsense | no such step: nonsense
tools/check --all tools | name none
tools/check --jobs 0 | from 1 on
tools/host/simulate/simulate --locks nonsense | no lock type "nonsense"
tools/host/simulate/simulate --cpus 257 | from 1 to 256
tools/host/simulate/simulate --sockets 8 --cpus 4 | more sockets than CPUs
tools/host/simulate/simulate --set nonsense=1 | no setting nonsense
tools/host/simulate/simulate --set slice_ns=a | takes a number
tools/host/simulate/simulate --json FOLDER/file | is there already
tools/host/simulate/rules --only nonsense | no rule has
tools/host/simulate/rules --seeds 0 | from 1 on
tools/studies/moving/convert --lock a.b.c FOLDER/file | neither STRUCT.FIELD
tools/studies/moving/convert --lock a.b FOLDER/none | No such file
tools/host/mutate/mutate nonsense | no mutant is called
tools/host/mutate/mutate (( | missing )
tools/host/mutate/mutate --changed nonsense | no commit
tools/host/mutate/mutate --jobs 0 | from 1 on
"""
ACCEPTED = """
tools/nbq stress
tools/nbq stress --locks all,raw_trylock --cpus 64 --set cs_ns=10000000 --json FOLDER/new
tools/nbq stress --testbed simulated --cpus 256 --set sockets=8 --patience 200*cpus
tools/nbq bench
tools/nbq bench --quick --locks clh_nb figure5
tools/nbq bench --locks qspinlock,qspinlock_again kernel kernel-others
tools/nbq top --try --set patience_ns=max --set lock=raw_trylock
tools/nbq guest --file FOLDER/file --build Documentation/example true
tools/nbq kernel kunit nbq_d*.a
tools/nbq rqspinlock --x86-64 selftest
tools/nbq deb --output FOLDER/new
tools/host/simulate/simulate --locks nbq_spin,broken --set patience_ns=5-7
tools/host/mutate/mutate clh_nb.c
"""
# A command, what it has tools/setup install, and patterns of what it is said to make.
ANNOUNCED = """
tools/nbq stress | run | source guest/*
tools/nbq stress --testbed simulated | simulate |
tools/nbq stress --testbed debian-6.1 | debian-guest | debian/6.1/*
tools/nbq bench --quick figure5 | figures run simulate | source guest/*
tools/nbq bench --testbed simulated figure5 | figures simulate |
tools/nbq bench table1-instructions | figures debian-guest | debian/6.12/*
tools/nbq bench --locks qspinlock,qspinlock_again kernel | figures run | source *kernel-qspinlock-*
tools/nbq bench kernel | figures run | source *qspinlock-* *nbq-spin-* *virt-spin-lock-*
tools/nbq bench kernel-others | figures run | source *qspinlock-* *nbq-spin-* others/*
tools/nbq guest true | run | source guest/*
tools/nbq debian-guest --series 6.1 true | debian-guest | debian/6.1/*
tools/nbq top --testbed uml | run | source trace/*
tools/nbq kernel source | source | source
tools/nbq kernel kunit | run | source copy/*kunit-*
tools/nbq whole-kernel | run | source *kernel-nbq-spin-*
tools/nbq whole-kernel --stock | run | source *kernel-qspinlock-*
tools/nbq rqspinlock --only stock | run | source guest/*
tools/nbq rqspinlock --x86-64 | bpf | source bpf/* copy-rqspinlock/* bpf-tools/*
tools/nbq arena | bpf | source bpf/* bpf-tools/*
tools/nbq nolock | run | source *kernel-qspinlock-nolock-* *kernel-nbq-spin-nolock-*
tools/nbq console | run | source copy-console/*
tools/nbq console --figure FOLDER/a.svg | figures run | source copy-console/*
tools/nbq panic | debian-guest | debian/6.12/*
tools/nbq verify litmus | verify | verify
tools/nbq verify mixtures | verify |
tools/nbq docs | docs | source
tools/nbq deb --output FOLDER/new | deb | source
tools/check tools | check |
tools/check host ordering | host |
tools/check host tools | check |
tools/check | check | check
tools/check --all | check-all | check-all
"""
TWO_CPUS = """
[scenario]
title = Two
source = nobody
locks = clh_nb
[sweep]
cpus = 2
"""
ENVIRONMENTS = (("KSRC", "FOLDER", "not a Linux source tree"), ("NBQ_KERNEL", "seven", "form 7.2"),
                ("NBQ_CACHE", "FOLDER/file", "cannot be made"))


class Arguments(InFolder):
    def setUp(self):
        super().setUp()
        self.write("file")
        self.write("full/file")
        self.write("two.ini", TWO_CPUS)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(PROJECT)

    def refusal(self, command):
        return refusal(shlex.split(command.replace("FOLDER", str(self.folder)), comments=False))

    def test_what_cannot_be_is_refused_before_anything_is_installed(self):
        for line in REFUSED.strip().splitlines():
            command, _, words = line.partition(" | ")
            with self.subTest(command):
                self.assertIn(words, self.refusal(command))

    def test_what_can_be_is_accepted(self):
        for command in ACCEPTED.strip().splitlines():
            with self.subTest(command):
                self.assertEqual(self.refusal(command), "")

    def test_what_is_announced_is_what_is_needed(self):
        for line in ANNOUNCED.strip().splitlines():
            command, purposes, patterns = line.split(" |")
            refused, words = started(shlex.split(command.replace("FOLDER", str(self.folder))))
            made = [words[place + 1].partition("|")[0]
                    for place, word in enumerate(words) if word == "--makes"]
            with self.subTest(command):
                self.assertEqual(refused, "")
                self.assertEqual(sorted(words[:len(words) - 2 * len(made)]),
                                 sorted(purposes.split()))
                self.assertEqual(len(made), len(patterns.split()), made)
                for pattern in patterns.split():
                    self.assertTrue(fnmatch.filter(made, pattern), (pattern, made))

    def test_so_is_what_the_environment_names(self):
        for name, value, words in ENVIRONMENTS:
            with self.subTest(name), mock.patch.dict(
                    os.environ, {name: value.replace("FOLDER", str(self.folder))}):
                self.assertIn(words, self.refusal("tools/nbq stress"))

    def test_setup_and_make_refuse_too(self):
        for command, words in (("tools/setup run nonsense", "no such purpose: nonsense"),
                               ("make bench BENCH_OPTIONS=nonsense", "no scenario"),
                               ("make run STRESS_OPTIONS=--nonsense", "unrecognized"),
                               ("make check CHECK_OPTIONS=nonsense", "no such step"),
                               ("make mutate MUTATE_OPTIONS=--nonsense", "unrecognized"),
                               ("make series SERIES_OPTIONS=--author=x", "no author")):
            done = subprocess.run(shlex.split(command), cwd=PROJECT, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            with self.subTest(command):
                self.assertTrue(done.returncode)
                self.assertIn(words, done.stdout)
                self.assertNotIn("to be done first", done.stdout)
