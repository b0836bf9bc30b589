# SPDX-License-Identifier: GPL-2.0
"""tools/setup, on a machine that has no python3 and an apt that only takes notes."""

import os
import pwd
import re
import shutil
import subprocess

from base.common import PROJECT
from base.test import InFolder

SETUP = PROJECT / "tools/setup"
# What every Debian has, as far as it is used.
ESSENTIAL = ("bash", "sh", "env", "sed", "grep", "cut", "tr", "xargs", "awk", "nproc",
             "cat", "cp")
PURPOSES = ("python", "source", "run", "debian-guest", "simulate", "figures", "bench", "bpf",
            "whole-kernel", "host", "check", "check-all", "verify", "mutate", "docs", "series",
            "moving", "deb")
# A kernel, for --makes.
ROW = "kernel/7.2-*/.sealed|10|200|30|the kernel \"own\""

DPKG_QUERY = """#!/bin/sh
# dpkg-query -W -f FORMAT PACKAGE...
shift 3
status=0
for package; do
	if grep -qx "$package" "$FOLDER/installed"; then echo "installed:$package"
	else status=1; fi
done
exit $status
"""
APT_GET = """#!/bin/sh
echo "$*" >>"$FOLDER/said"
case "$*" in
*update)
	printf '%b' "$UPDATE_SAYS"
	test -z "$UPDATE_SAYS" ;;
*print-uris*) test "$KEPT" || echo "'http://deb.invalid/one.deb' one.deb 1" ;;
*-s*install*)
	echo 'Inst one [1.0] (1.1 Debian:12/stable [amd64])'
	echo 'Inst two (2.0-1 Debian:12/stable [amd64])'
	echo 'Conf two (2.0-1 Debian:12/stable [amd64])' ;;
*install*)
	test ! -e "$FOLDER/python3" || cp "$FOLDER/python3" "$FOLDER/bin"
	exit "${INSTALL_STATUS-0}" ;;
esac
"""
APT_CACHE = """#!/bin/sh
test "$*" = "show one=1.1 two=2.0-1" || exit 1
printf 'Package: one\\nSize: 1600000\\nInstalled-Size: 1000\\n\\n'
printf 'Package: two\\nInstalled-Size: 9000\\nSize: 2000000\\n\\n'
"""


class SetupTest(InFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        for name in ESSENTIAL:
            (self.folder / "bin" / name).symlink_to(shutil.which(name))
        self.program("dpkg-query", DPKG_QUERY)
        self.program("apt-get", APT_GET)
        self.program("apt-cache", APT_CACHE)
        self.program("sudo", '#!/bin/sh\nexec "$@"\n')
        (self.folder / "said").touch()
        self.installed()

    def program(self, name, text):
        (self.folder / "bin" / name).write_text(text)
        (self.folder / "bin" / name).chmod(0o755)

    def installed(self, *packages):
        (self.folder / "installed").write_text("".join(f"{name}\n" for name in packages))

    def keep(self, *names):
        """Have files in the cache."""
        for name in names:
            (self.folder / "cache" / name).parent.mkdir(parents=True)
            (self.folder / "cache" / name).touch()

    def setup_says(self, *words, program=SETUP, user=None, **environment):
        """(exit status, what it printed, what it told apt to install)."""
        (self.folder / "said").write_text("")
        (self.folder / "said").chmod(0o666)
        done = subprocess.run(
            [program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False, user=user,
            env={name: value for name, value in {
                "PATH": str(self.folder / "bin"), "FOLDER": str(self.folder),
                "HOME": "/nowhere", "NBQ_CACHE": str(self.folder / "cache"),
                **environment}.items() if value is not None})
        installs = [line for line in (self.folder / "said").read_text().splitlines()
                    if re.search(r"\binstall -y ", line)]
        self.assertLessEqual(len(installs), 1)
        return done.returncode, done.stdout, \
            re.sub(r".*--no-install-recommends ", "", installs[0]).split() if installs else []

    def rows(self, *purposes):
        """{package: its purposes}, as it lists them."""
        status, listed, _ = self.setup_says("--list", *purposes)
        self.assertEqual(status, 0)
        return {line.split()[0]: line.rsplit("(", 1)[1].rstrip(")").split()
                for line in listed.splitlines()}

    def test_a_purpose_installs_what_serves_it_and_nothing_else(self):
        table = self.rows()
        _, described, _ = self.setup_says("--help")
        for purpose in PURPOSES:
            self.assertRegex(described, rf"\n  {purpose} ")
            status, _, packages = self.setup_says(purpose)
            self.assertEqual((status, set(packages)), (0, {
                package for package, serves in table.items() if purpose in serves}), purpose)
            self.assertIn("python3", packages)
        for package, purposes in table.items():
            self.assertTrue(purposes and set(purposes) <= set(PURPOSES), package)
        self.assertEqual(set(self.setup_says()[2]), set(table))

    def test_a_larger_purpose_needs_all_of_the_smaller(self):
        for smaller, larger in (("source", "run"), ("run", "bench"), ("figures", "bench"),
                                ("bench", "check"), ("debian-guest", "bpf"),
                                ("bpf", "check-all"), ("check", "check-all")):
            self.assertLess(set(self.rows(smaller)), set(self.rows(larger)))
        # To run takes no emulator, no clang and no cross compiler.
        self.assertFalse(re.findall("qemu|clang|aarch64|gnuplot", " ".join(self.rows("run"))))
        self.assertIn("gcc", self.rows("run"))
        # What BPF programs are built with brings no other architecture.
        self.assertFalse(re.findall("riscv|aarch64|arm|mmdebstrap", " ".join(self.rows("bpf"))))

    def test_what_is_installed_is_not_installed_again(self):
        for installed, purpose, wanted in ((set(self.rows("run")) - {"bc"}, "run", ["bc"]),
                                           (["python3-minimal"], "python", ["python3"])):
            self.installed(*installed)
            self.assertEqual(self.setup_says(purpose)[2], wanted)

    def test_an_unknown_purpose_is_refused_with_those_that_there_are(self):
        status, said, packages = self.setup_says("run", "nonsense")
        self.assertEqual(status, 2)
        self.assertEqual(said, "tools/setup: no such purpose: nonsense; there are "
                         f"{' '.join(PURPOSES)}\n")
        self.assertFalse(packages)

    def test_it_says_before_what_will_be_done(self):
        _, said, _ = self.setup_says("run", "--makes", "run")
        self.assertIn("install   2 packages, 4 MB to download, 10 MB on disk: ", said)
        self.assertRegex(said, "download  the source of Linux: 1[0-9]+ MB\n")
        self.assertRegex(said, "build     user-mode Linux: [0-9]+ CPU-minutes\n")
        self.assertRegex(said, f"{self.folder}/cache: [0-9.]+ GB\n")

    def test_it_says_nothing_when_nothing_is_to_be_done(self):
        words = ("run", "--makes", "run")
        self.installed(*self.rows("run"))
        self.assertIn("user-mode Linux", self.setup_says(*words)[1])
        self.keep("guest/7.2-0123/.sealed")
        self.assertNotIn("user-mode Linux", self.setup_says(*words)[1])
        self.assertIn("source", self.setup_says(*words)[1])
        self.assertEqual(self.setup_says(*words, KSRC="/somewhere"), (0, "", []))
        self.keep("source/linux-source-7.2_7.2.1-1/.sealed")
        self.assertEqual(self.setup_says(*words), (0, "", []))
        self.assertIn("source", self.setup_says(*words, NBQ_KERNEL="6.19")[1])

    def test_it_says_of_what_is_made_what_the_caller_names_and_no_more(self):
        self.installed(*self.rows("check"))
        self.assertEqual(self.setup_says("check"), (0, "", []))
        _, said, _ = self.setup_says("run", "--makes", ROW, "--makes", ROW)
        self.assertEqual(re.findall("^  (?:build|download) .*", said, re.MULTILINE),
                         ["  download  the kernel \"own\": 10 MB"])
        cpus = len(os.sched_getaffinity(0))
        self.assertIn(f"takes     about {30 // cpus + 1} minute", said)
        self.keep("kernel/7.2-0123/.sealed")
        self.assertEqual(self.setup_says("run", "--makes", ROW), (0, "", []))
        # The time of what it is for is that of all of it.
        self.assertIn("then 12 for make check", self.setup_says("check", "--makes", "check")[1])
        self.assertNotIn("for make check", self.setup_says("check", "--makes", "source")[1])
        self.assertEqual(self.setup_says("run", "--makes", "nonsense")[0], 2)

    def test_without_home_it_says_what_it_says_with_the_home_of_the_password_file(self):
        listed = pwd.getpwuid(os.getuid()).pw_dir
        status, said, packages = self.setup_says("check-all", HOME=listed, NBQ_CACHE="")
        for unset in ({"HOME": ""}, {"HOME": None}):
            self.assertEqual(self.setup_says("check-all", NBQ_CACHE="", **unset),
                             (status, said, packages))
        self.assertNotIn("unbound", said)

    def test_a_command_is_run_after_it_and_does_not_repeat_it(self):
        status, said, packages = self.setup_says(
            "run", "--", SETUP, "run", "--", "sh", "-c", 'echo "did $1"; exit 7', "sh", "it")
        self.assertEqual(status, 7)
        self.assertEqual(said.count("to be done first"), 1)
        self.assertTrue(said.endswith("did it\n"))
        self.assertTrue(packages)

    def test_no_command_is_run_when_packages_lack(self):
        status, said, _ = self.setup_says("run", "--", "echo", "done", INSTALL_STATUS="100")
        self.assertEqual(status, 1)
        self.assertIn("could not install: python3 gcc", said)
        self.assertNotIn("done\n", said)

    def test_without_a_network_it_says_so_in_a_line_and_tries_no_more(self):
        error = "Err:1 http://deb.invalid bookworm InRelease\\n  {}\\nE: Some failed\\n"
        for reason in ("Temporary failure resolving 'deb.invalid'",
                       "Cannot initiate the connection to deb.invalid:80 (203.0.113.1). - "
                       "connect (101: Network is unreachable)",
                       "Could not connect to deb.invalid:80 (203.0.113.1), connection timed out"):
            says = error.format(reason)
            status, said, packages = self.setup_says("source", UPDATE_SAYS=says)
            self.assertEqual((status, packages), (1, []))
            self.assertEqual(said.splitlines()[1:], [
                f"tools/setup: no network: {reason}; install from elsewhere: apt-get install "
                f"{' '.join(self.rows('source'))}"])
            # Another source was reached.
            hit = "Hit:2 http://other.invalid bookworm InRelease\\n"
            self.assertTrue(self.setup_says("source", UPDATE_SAYS=hit + says)[2])
            # apt has all of it.
            self.assertTrue(self.setup_says("source", UPDATE_SAYS=says, KEPT="all")[2])
        # A list that is expired is no reason not to try.
        self.assertTrue(self.setup_says("source", UPDATE_SAYS=error.format("expired"))[2])

    def test_another_system_is_told_what_it_lacks(self):
        (self.folder / "bin/apt-get").unlink()
        status, said, _ = self.setup_says("figures")
        self.assertEqual(status, 1)
        self.assertIn("  gnuplot (Debian: gnuplot-nox; for the figures", said)
        self.assertNotIn("clang", said)

    def test_who_may_not_install_is_told_what_to_ask_for(self):
        (self.folder / "bin/sudo").unlink()
        (self.folder / "bin").chmod(0o755)
        self.folder.chmod(0o755)
        program = shutil.copy(SETUP, self.folder)
        status, said, packages = self.setup_says("python", program=program,
                                                 user=None if os.geteuid() else 65534)
        self.assertEqual((status, packages), (1, []))
        self.assertIn("as root:\n  apt-get install python3\n", said)

    def test_a_tool_gets_its_python_by_itself(self):
        # Each starts as a shell's program. Here python3 comes with its package.
        self.program("../python3", '#!/bin/sh\necho "python3 $*"\n')
        for name in ("nbq", "check", "ship/record"):
            (self.folder / "bin/python3").unlink(missing_ok=True)
            tool = PROJECT / "tools" / name
            _, said, packages = self.setup_says("--help", program=tool)
            self.assertEqual(packages, ["python3"])
            self.assertTrue(said.endswith(f"\npython3 {tool} --help\n"), said)
