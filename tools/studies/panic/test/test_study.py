# SPDX-License-Identifier: GPL-2.0
"""Panics: what is read from the records that a guest has sent."""

import errno
from types import SimpleNamespace
import unittest

from studies.frame import Made
from studies.panic.study import (FROM_PANIC, HEAD, IGNORE, LOST, ONE, RING, SKIP, STEPS, TAKEOVER,
                                 TORN, WHOLE, delays, read_records, rows, sum_of)


def sent(way, *entries, first=0, last=0, begin=0, cut=0, positions=None):
    """The lines of a record. entries: (a flag, a text); cut: bytes that the last one lacks."""
    ring, at = bytearray(RING), begin
    for flag, text in entries:
        length = flag | len(text)
        for byte in HEAD.pack(length, sum_of(at, length, text)) + text:
            ring[at % RING] = byte
            at += 1
    for place in range(at - cut, at):
        ring[place % RING] = 0
    begin, at = positions or (begin, at)
    return (f"{way}.first {first}\n{way}.last {last}\n{way}.begin {begin}\n{way}.end {at}\n"
            f"{way}.ring x{ring.hex()}\n")


def fate(*arguments, **options):
    return read_records(sent(*arguments, **options))[0].fate


class RecordTest(unittest.TestCase):
    def test_whole_record_ends_with_the_entry_of_the_panic(self):
        record, = read_records(sent(TAKEOVER, (0, b"one"), (FROM_PANIC, b"end"),
                                    first=-errno.EOWNERDEAD))
        self.assertEqual((record.fate, record.text), (WHOLE, "end"))

    def test_entries_go_on_at_the_start_of_the_ring(self):
        self.assertEqual(fate(SKIP, (0, b"x" * 150), (FROM_PANIC, b"end"), begin=RING - 70), WHOLE)

    def test_entry_of_an_earlier_lap_does_not_count(self):
        self.assertEqual(fate(SKIP, (FROM_PANIC, b"end"), positions=(RING, RING + 7)), TORN)

    def test_lost(self):
        self.assertEqual(fate(SKIP, (0, b"half"), first=-16, last=-16, cut=2), LOST)
        self.assertEqual(fate(TAKEOVER, (0, b"one")), LOST)
        self.assertEqual(fate(TAKEOVER), LOST)

    def test_torn(self):
        self.assertEqual(fate(IGNORE, (FROM_PANIC, b"end"), first=-16, last=-16, cut=2), TORN)
        self.assertEqual(fate(SKIP, (FROM_PANIC, b"end"), positions=(0, 6)), TORN)

    def test_ignored_lock(self):
        self.assertEqual(fate(IGNORE, (FROM_PANIC, b"end"), first=-16, last=-16), WHOLE)

    def test_record_that_was_not_sent_to_its_end_is_none(self):
        text = sent(SKIP, (FROM_PANIC, b"end"))
        self.assertEqual(read_records(text[:-2]), [])
        self.assertEqual(len(read_records(text + sent(TAKEOVER)[:-2])), 1)


class TableTest(unittest.TestCase):
    def test_counts_fates(self):
        made = Made()
        for text in (sent(SKIP, (FROM_PANIC, b"end")), sent(SKIP, first=-16, last=-16)):
            made.add(*ONE, SimpleNamespace(records=read_records(text)))
        self.assertEqual(rows(made, None)[0][1], ("skip", "2", "1", "1", "0", "1"))

    def test_each_delay_is_another_one(self):
        self.assertEqual(len(set(delays(100))), 100)
        self.assertEqual(delays(STEPS), list(range(1, STEPS + 1)))
