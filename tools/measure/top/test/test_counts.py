# SPDX-License-Identifier: GPL-2.0
import errno
import unittest

from measure.top.counts import Histograms, Parts, Recording, counter_for, plain_symbol, signed
from measure.top.test import samples

DEV, OTHER = "dev_lock+0x0/0x8 [drv]", "table+0x40/0x100 [drv]"


def parts(**more):
    return {"time": "7.5 3.0\n", "total": samples.total(timeouts=3),
            "begin": samples.waiters((DEV, 2), (OTHER, -1)) +
            samples.holders((DEV, 3, 6), (DEV, -1, 2), (OTHER, 0, 1)),
            "end": samples.waiters((DEV, 2), (OTHER, -1)) +
            samples.results((DEV, 0, "drv_write [drv]", 4, 8000),
                            (DEV, -errno.ETIMEDOUT, "drv_irq [drv]", 2, 40000),
                            (DEV, -errno.EDEADLK, "drv_irq [drv]", 1, 0), dropped=5) +
            samples.times((DEV, 11, 4), (DEV, 15, 2)), **more}


class TestHistograms(unittest.TestCase):
    def setUp(self):
        self.sample = Histograms().sample(parts())
        self.dev = self.sample.locks["dev_lock [drv]"]

    def test_locks_are_named_by_symbol_and_offset(self):
        self.assertEqual(set(self.sample.locks), {"dev_lock [drv]", "table+0x40 [drv]"})
        # One of its waiters had begun before it was counted.
        self.assertEqual(self.sample.locks["table+0x40 [drv]"].waiters, 0)

    def test_waiters_that_had_begun_before_put_the_sum_right(self):
        counter = Histograms()
        shown = [counter.sample({"begin": samples.waiters((DEV, number)), "end": "",
                                 "time": "1", "total": ""}).locks["dev_lock [drv]"].waiters
                 for number in (-3, -2, -5, -3, 1)]
        self.assertEqual(shown, [0, 1, 0, 2, 6])

    def test_counts_of_a_lock(self):
        dev = self.dev
        self.assertEqual((dev.waiters, dev.waits, dev.holder), (2, 8, (3, 0.75)))
        self.assertEqual((dev.acquired, dev.timeouts, dev.deadlocks), (4, 2, 1))
        self.assertEqual(dev.failures, {("drv_irq [drv]", -errno.ETIMEDOUT): 2,
                                        ("drv_irq [drv]", -errno.EDEADLK): 1})
        self.assertEqual((dev.mean_ns, dev.percentile_ns(0.5), dev.percentile_ns(0.99)),
                         (8000, 2048, 32768))
        # Four of its six waits were no longer than 2^11 ns.
        self.assertEqual((dev.percentile_ns(4 / 6), dev.percentile_ns(0.67)), (2048, 32768))

    def test_lost_entries_total_and_time(self):
        self.assertEqual((self.sample.lost, self.sample.total["timeouts"], self.sample.seconds),
                         (5, 3, 7.5))

    def test_address_without_symbol_and_nothing_yet(self):
        sample = Histograms().sample(parts(begin=samples.holders(("0xffff888003a01040", 1, 1))))
        self.assertIn("0xffffffffc0a01040", sample.locks)
        self.assertEqual(Histograms().sample(parts(begin="", end="")).locks, {})

    def test_since(self):
        more = Histograms().sample(parts(end=samples.results(
            (DEV, 0, "drv_write [drv]", 10, 20000)))).locks["dev_lock [drv]"]
        new = more.since(self.dev)
        self.assertEqual((new.waits, new.acquired, new.timeouts), (0, 6, 0))
        self.assertEqual(new.waiters, 2)


class TestRecording(unittest.TestCase):
    def sample(self, recording, trace=samples.TRACE, lost="overrun: 2\ndropped events: 1\n"):
        return recording.sample({"time": "1.0", "total": "", "trace": trace, "lost": lost})

    def test_events(self):
        sample = self.sample(counter_for({"trace": ""}))
        dev = sample.locks["dev_lock [drv]"]
        self.assertEqual((dev.waits, dev.timeouts, dev.waiters), (1, 1, 0))
        self.assertEqual(dev.percentile_ns(0.99), 8192)
        self.assertEqual(dev.failures, {("drv_irq [drv]", -errno.ETIMEDOUT): 1})
        self.assertEqual(sample.lost, 3)
        self.assertTrue(sample.is_part)

    def test_wait_goes_on_over_samples(self):
        recording = Recording()
        heap = "0xffff888003a01040"
        self.assertEqual(self.sample(recording).locks[heap].waiters, 1)
        self.assertEqual(self.sample(recording, "").locks[heap].waiters, 1)
        later = samples.TRACE.replace("[000]", "[002]").splitlines()
        sample = self.sample(recording, "\n".join(later[:4]))
        self.assertEqual(sample.locks[heap].waiters, 0)

    def test_same_lock_in_a_later_sample_is_another_count(self):
        recording = Recording()
        first, second = self.sample(recording), self.sample(recording)
        self.assertEqual([sample.locks["dev_lock [drv]"].waits
                          for sample in (first, second)], [1, 2])


class TestWords(unittest.TestCase):
    def test_signed(self):
        for number in (-110, -1, 0, 7):
            self.assertEqual(signed(number % (1 << 64)), number)
            self.assertEqual(signed(number % (1 << 32)), number)

    def test_symbols(self):
        self.assertEqual(plain_symbol("a+0x0/0x8 [m]"), "a [m]")
        self.assertEqual(plain_symbol("a+0x40/0x80"), "a+0x40")
        self.assertEqual(plain_symbol("0xffff888003a01040"), "0xffff888003a01040")

    def test_parts_of_a_guest(self):
        heard = []
        taken = Parts(heard.append)
        taken.write(b"@refused events/x: y\nnoise\n@part time\n1.5 2\n@part to")
        self.assertEqual(heard, [])
        taken.write(b"tal\ntimeouts 1\n@over\n@part time\n2.5 3\n@over\n")
        self.assertEqual(heard, [{"time": "1.5 2\n", "total": "timeouts 1\n"},
                                 {"time": "2.5 3\n"}])
        self.assertEqual(taken.refused, ["refused events/x: y"])
