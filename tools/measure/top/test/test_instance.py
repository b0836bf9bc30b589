# SPDX-License-Identifier: GPL-2.0
"""What is switched on is taken back."""

import errno
import os
from unittest import mock

from base.common import Failure
from base.test import InFolder
from measure.top import instance
from measure.top.events import BEGIN, END, PREFIX, guest_start, triggers
from measure.top.test.samples import FakeTracefs

TRIGGER = f"events/nbqlock/{END}/trigger"


class TestInstance(InFolder):
    def setUp(self):
        super().setUp()
        root = mock.patch.object(os, "geteuid", lambda: 0)
        root.start()
        self.addCleanup(root.stop)

    def test_histograms_are_made_and_removed(self):
        with FakeTracefs(self.folder) as fake:
            self.assertEqual(fake.folders, [f"{PREFIX}{os.getpid()}"])
            made = [text for file, text in fake.written if file.endswith("trigger")]
            self.assertEqual(made, [text for _, text in triggers(os.getpid())])
            fake.written.clear()
        self.assertEqual(fake.folders, [])
        self.assertEqual([text for _, text in fake.written],
                         [f"!{text}" for text in reversed(made)])

    def test_events_are_recorded_without_histograms(self):
        with FakeTracefs(self.folder, has_histograms=False) as fake:
            self.assertIn((f"events/nbqlock/{BEGIN}/enable", "1"), fake.written)
            self.assertFalse([text for _, text in fake.written if "hist" in text])
            (fake.folder / "trace").write_text("an event\n")
            self.assertEqual(fake.parts()["trace"], "an event\n")
            self.assertEqual((fake.folder / "trace").read_text(), "")
        self.assertIn((f"events/nbqlock/{END}/enable", "0"), fake.written)
        self.assertEqual(fake.folders, [])

    def test_removed_after_any_error_inside(self):
        for error in (KeyboardInterrupt, Failure, BrokenPipeError, ZeroDivisionError):
            fake = FakeTracefs(self.folder / error.__name__)
            with self.assertRaises(error), fake:
                raise error
            self.assertEqual(fake.folders, [])

    def test_removed_when_the_kernel_refuses_a_trigger(self):
        fake = FakeTracefs(self.folder)
        fake.refused = TRIGGER
        with self.assertRaisesRegex(Failure, f"{TRIGGER}: Invalid argument"), fake:
            pass
        self.assertEqual(fake.folders, [])

    def test_removed_when_stopped_while_it_starts(self):
        fake = FakeTracefs(self.folder)
        with mock.patch.object(instance, "setup", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt), fake:
            pass
        self.assertEqual(fake.folders, [])

    def test_left_over_of_a_killed_one_is_removed_with_a_message(self):
        fake = FakeTracefs(self.folder)
        fake.make_folder(fake.tracefs / "instances" / f"{PREFIX}77777777")
        (fake.tracefs / "instances/theirs").mkdir()
        with mock.patch.object(instance, "say") as say, fake:
            self.assertEqual(fake.folders, [f"{PREFIX}{os.getpid()}", "theirs"])
        self.assertIn("killed", say.call_args[0][0])
        self.assertEqual(fake.folders, ["theirs"])

    def test_instance_of_another_that_runs_stays(self):
        fake = FakeTracefs(self.folder)
        other = fake.tracefs / "instances" / f"{PREFIX}5"
        fake.make_folder(other)
        (fake.proc / "5").mkdir()
        (fake.proc / "5/cmdline").write_bytes(b"python3\0tools/nbq\0top\0")
        with fake:
            pass
        self.assertEqual(fake.folders, [other.name])

    def test_busy_instance_is_tried_again(self):
        fake = FakeTracefs(self.folder)
        remove = fake.remove_folder
        answers = [OSError(errno.EBUSY, "busy"), None]

        def busy_first(folder):
            answer = answers.pop(0)
            if answer:
                raise answer
            remove(folder)

        with mock.patch.object(instance, "BUSY_SECONDS", 0), fake:
            fake.remove_folder = busy_first
        self.assertEqual((fake.folders, answers), ([], []))

    def failure(self, fake):
        with self.assertRaises(Failure) as caught, fake:
            pass
        return str(caught.exception)

    def test_what_is_missing_is_said_with_what_to_do(self):
        fake = FakeTracefs(self.folder)
        with mock.patch.object(os, "geteuid", lambda: 1000):
            self.assertIn("root", self.failure(fake))
        (self.folder / f"tracing/events/nbqlock/{BEGIN}").rmdir()
        self.assertIn("older than this tool", self.failure(fake))
        (self.folder / f"tracing/events/nbqlock/{END}").rmdir()
        (self.folder / "tracing/events/nbqlock").rmdir()
        self.assertIn("CONFIG_EVENT_TRACING", self.failure(fake))
        (self.folder / "module").rmdir()
        self.assertIn("insmod nbqlock.ko", self.failure(fake))
        (self.folder / "tracing/events").rmdir()
        self.assertIn("mount -t tracefs", self.failure(fake))

    def test_instance_that_goes_away_is_a_failure(self):
        with FakeTracefs(self.folder) as fake:
            fake.remove_folder(fake.folder)
            with self.assertRaisesRegex(Failure, "is gone"):
                fake.parts()

    def test_guest_does_the_same_without_truncating_triggers(self):
        script = guest_start()
        for event, text in triggers(1):
            self.assertIn(f"top_write events/nbqlock/{event}/trigger '{text}'", script)
            self.assertIn(f"top_write events/nbqlock/{event}/trigger '!{text}'", script)
        self.assertNotIn("@HISTOGRAMS@", script)
        self.assertIn('echo "$2" >>$I/$1', script)
