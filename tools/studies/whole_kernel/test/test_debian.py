# SPDX-License-Identifier: GPL-2.0
"""How a Debian system is logged in to, and how its boot is judged."""

from pathlib import Path
import tempfile
from types import SimpleNamespace
import unittest

from studies.whole_kernel.debian_boot import OFF, DebianBoot, HotplugLock, script_of

# Says what a system says, runs no script but reports its end; STATUS of the named one.
SYSTEM = r"""
login() { printf '\033[0mguest login: '; read -r name; echo "Welcome, $name"; }
login
while printf 'root@guest:~# ' && read -r line; do
	echo "$line"
	case "$line" in
	"sh /root/parts/"*)
		name=$(grep "^${line##*/}	" "$1" | cut -f2)
		echo "nbqlock-part: begin $name"
		[ "$name" != "$2" ] || exit
		echo "nbqlock-part: end $name 0" ;;
	*"systemctl kexec") login ;;
	"systemctl poweroff") exit ;;
	esac
done
"""
GONE = "smpboot: CPU 2 is now offline\n"
SUCCESS = """\
Writes:  Total: 90  Max/Min: 50/40   Fail: 0
[ 1.0] --- End of test: SUCCESS: acq_writer_lim=0
"""


class Boots(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.boot = DebianBoot(SimpleNamespace(image=Path("bzImage")), False, 4, 1)

    def problem(self, ends_in="", log=OFF):
        """What is wrong with the boot of a system that ends in a part, and what was typed."""
        names = self.folder / "names"
        names.write_text("".join(f"{script_of(part)}\t{part.name}\n" for part in self.boot.typed))
        problem = self.boot.converse(["sh", "-c", SYSTEM, "sh", names, ends_in], 60)
        path = self.folder / "log"
        path.write_text(log)
        self.boot.take(path, problem)
        return self.boot.outcome.problem

    def test_all_parts_are_typed_in_turn(self):
        self.assertEqual(self.problem(), "")
        self.assertEqual([part.status for part in self.boot.typed], [0] * len(self.boot.typed))
        output = self.boot.outcome.output
        places = [output.index(f"/{script_of(part)}\n") for part in self.boot.typed]
        self.assertEqual(places, sorted(places))
        self.assertLess(output.index("systemctl kexec"), places[-1])

    def test_a_system_that_ends_within_a_part_is_a_problem(self):
        part = self.boot.first[2]
        self.assertIn("was not said", self.problem(part.name))
        self.assertEqual((part.begun, part.status), (True, None))
        self.assertFalse(self.boot.first[3].begun)

    def test_power_has_to_be_off(self):
        self.assertEqual(self.problem(log=""), "it did not power off")

    def test_scripts_have_names_of_their_own(self):
        self.assertEqual(len({script_of(part) for part in self.boot.typed}),
                         len(self.boot.typed))


class Offline(unittest.TestCase):
    @staticmethod
    def complaint(log):
        part = HotplugLock("spin_lock", 1)
        part.log, part.status = log, 0
        return part.complaint

    def test_some_cpu_has_to_go_offline(self):
        self.assertEqual(self.complaint(SUCCESS), "no CPU went offline")
        self.assertEqual(self.complaint(GONE + SUCCESS), "")

    def test_the_test_has_to_succeed(self):
        self.assertNotEqual(self.complaint(GONE), "")
