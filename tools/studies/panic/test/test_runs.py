# SPDX-License-Identifier: GPL-2.0
"""Panics: what is read from the records that a guest has sent."""

import errno
import unittest

from studies.panic.command import table
from studies.panic.runs import (FROM_PANIC, HEAD, IGNORE, LOST, MAGIC, POSITIONS, RING, SKIP, STEPS,
                                TAKEOVER, TORN, VERDICT, WAYS, WHOLE, delays, read_records, sum_of)


def sent(way, *entries, first=0, last=0, begin=0, cut=0):
    """The bytes of a record. entries: (a flag, a text); cut: bytes that the last one lacks."""
    ring, at = bytearray(RING), begin
    for flag, text in entries:
        length = flag | len(text)
        for byte in HEAD.pack(length, sum_of(at, length, text)) + text:
            ring[at % RING] = byte
            at += 1
    for place in range(at - cut, at):
        ring[place % RING] = 0
    return (VERDICT.pack(MAGIC, WAYS.index(way), first, last, 0) + POSITIONS.pack(begin, at) +
            bytes(ring))


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
        data = bytearray(sent(SKIP, (FROM_PANIC, b"end")))
        data[VERDICT.size:VERDICT.size + POSITIONS.size] = POSITIONS.pack(RING, RING + 7)
        self.assertEqual(read_records(data)[0].fate, TORN)

    def test_lost(self):
        self.assertEqual(fate(SKIP, (0, b"half"), first=-16, last=-16, cut=2), LOST)
        self.assertEqual(fate(TAKEOVER, (0, b"one")), LOST)
        self.assertEqual(fate(TAKEOVER), LOST)

    def test_torn(self):
        self.assertEqual(fate(IGNORE, (FROM_PANIC, b"end"), first=-16, last=-16, cut=2), TORN)
        data = bytearray(sent(SKIP, (FROM_PANIC, b"end")))
        data[VERDICT.size:VERDICT.size + POSITIONS.size] = POSITIONS.pack(0, 6)
        self.assertEqual(read_records(data)[0].fate, TORN)

    def test_ignored_lock(self):
        self.assertEqual(fate(IGNORE, (FROM_PANIC, b"end"), first=-16, last=-16), WHOLE)

    def test_noise_is_no_record(self):
        data = sent(SKIP, (FROM_PANIC, b"end"))
        self.assertEqual(read_records(b"x" + data), [])
        self.assertEqual(len(read_records(data + data[:-1])), 1)


class TableTest(unittest.TestCase):
    def test_counts_fates(self):
        class Three:
            def of(self, way):
                data = sent(way, (FROM_PANIC, b"end")) + sent(way, first=-16, last=-16)
                return read_records(data)
        self.assertEqual(table(Three())[1].split(), ["skip", "2", "1", "1", "0", "1"])

    def test_each_delay_is_another_one(self):
        self.assertEqual(len(set(delays(100))), 100)
        self.assertEqual(delays(STEPS), list(range(1, STEPS + 1)))


if __name__ == "__main__":
    unittest.main()
