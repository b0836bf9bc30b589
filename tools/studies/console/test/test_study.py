# SPDX-License-Identifier: GPL-2.0
"""A console whose device stalls: the device's queues and messages, and what is read from a run."""

import os
import socket
import struct
import tempfile
import unittest

from base.common import PROJECT
from base.test import InFolder
from studies.console.study import (INPUTS, INTERRUPT, PATIENCE_US, OrderRun, Seen, TimedRun,
                                   handler_times, wanted_output)
from studies.console.vhost import (GET_FEATURES, HEADER, INPUT, OUTPUT, SET_MEM_TABLE,
                                   SET_VRING_ADDR, SET_VRING_CALL, SET_VRING_ENABLE, SET_VRING_KICK,
                                   SET_VRING_NUM, Console)

START = 0x2000			# the guest's memory, by its physical addresses
OFFSET = 0x1000			# and in its file
DESCRIPTORS, AVAILABLE, USED, BUFFER = START, START + 0x100, START + 0x200, START + 0x300
QUEUE_SIZE = 4

TRACE = f"""\
1.000010 entry irq=9 name=virtio-uml.0-output
1.000012 exit irq=9 ret=unhandled
1.000020 entry irq=9 name={INTERRUPT}
1.000070 exit irq=9 ret=handled
1.000100 entry irq=9 name={INTERRUPT}
1.200100 exit irq=9 ret=handled
"""


class Driver:
    """The guest's side: one queue whose first buffer is available, in a file."""

    def __init__(self, path, queue):
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.connect(str(path))
        self.file = tempfile.TemporaryFile()
        self.file.truncate(OFFSET + 0x1000)
        self.called, call = os.pipe()
        self.kick = os.eventfd(0)
        self.write(DESCRIPTORS, struct.pack("<QIHH", BUFFER, 16, 0, 0))
        self.write(AVAILABLE, struct.pack("<HHH", 0, 1, 0))
        self.request(SET_MEM_TABLE, struct.pack("<IIQQQQ", 1, 0, START, 0x1000, START, OFFSET),
                     self.file.fileno())
        self.request(SET_VRING_NUM, struct.pack("<II", queue, QUEUE_SIZE))
        self.request(SET_VRING_ADDR, struct.pack("<IIQQQQ", queue, 0, DESCRIPTORS, USED,
                                                 AVAILABLE, 0))
        self.request(SET_VRING_CALL, struct.pack("<Q", queue), call)
        self.request(SET_VRING_KICK, struct.pack("<Q", queue), self.kick)
        if queue == OUTPUT:
            self.request(SET_VRING_ENABLE, struct.pack("<II", OUTPUT, 1))
        self.features = self.ask(GET_FEATURES)	# all before is done then

    def write(self, address, data):
        os.pwrite(self.file.fileno(), data, address - START + OFFSET)

    def read(self, form, address):
        return struct.unpack(form, os.pread(self.file.fileno(), struct.calcsize(form),
                                            address - START + OFFSET))

    def request(self, number, payload, *fds):
        socket.send_fds(self.peer, [HEADER.pack(number, 1, len(payload)) + payload], fds)

    def ask(self, number):
        self.request(number, b"")
        return self.peer.recv(HEADER.size + 8, socket.MSG_WAITALL)

    def close(self):
        self.peer.close()
        self.file.close()
        for end in (self.called, self.kick):
            os.close(end)


class DeviceTest(InFolder):
    def setUp(self):
        super().setUp()
        self.consumed = []
        self.device = Console(self.folder / "console", self.consumed.append)
        self.device.__enter__()
        self.addCleanup(self.device.__exit__)

    def driver(self, queue):
        driver = Driver(self.device.path, queue)
        self.addCleanup(driver.close)
        return driver

    def test_it_tells_its_features(self):
        reply = self.driver(INPUT).features
        self.assertEqual(HEADER.unpack(reply[:HEADER.size]), (GET_FEATURES, 5, 8))
        self.assertEqual(struct.unpack("<Q", reply[HEADER.size:])[0], 1 << 32 | 1 << 30)

    def test_input_comes_with_an_interrupt(self):
        driver = self.driver(INPUT)
        self.assertTrue(self.device.send("in 1\n"))
        self.assertEqual(len(os.read(driver.called, 8)), 8)
        self.assertEqual(driver.read("<HHII", USED), (0, 1, 0, 5))
        self.assertEqual(driver.read("5s", BUFFER), (b"in 1\n",))

    def test_input_without_a_buffer_is_refused(self):
        self.driver(INPUT)
        self.assertTrue(self.device.send("in 1\n"))
        self.assertFalse(self.device.send("in 2\n"))

    def test_output_is_consumed_before_its_buffer_is_returned(self):
        driver = self.driver(OUTPUT)
        used = []
        self.device.consume = lambda text: used.append((text, driver.read("<H", USED + 2)))
        driver.write(BUFFER, b"0123456789abcdef")
        os.eventfd_write(driver.kick, 1)
        self.assertEqual(len(os.read(driver.called, 8)), 8)
        self.assertEqual(used, [("0123456789abcdef", (0,))])
        self.assertEqual(driver.read("<HHII", USED), (0, 1, 0, 0))


class Device:
    """Takes input, and has so many handlers return."""

    def __init__(self, seen, handlers):
        self.seen = seen
        self.handlers = handlers
        self.lines = []

    def send(self, text):
        self.lines.append(text)
        if len(self.lines) <= self.handlers:
            self.seen.write(f"seen {len(self.lines)}\n".encode())
        return True


def order_run(stalls, handlers):
    run = OrderRun(None, stalls, 0)
    run.device = Device(run.seen, handlers)
    return run


class RunTest(unittest.TestCase):
    def test_what_was_seen_is_read_as_it_comes(self):
        seen = Seen()
        for part in (b"se", b"en 3\nseen", b" 4\r\nlate 5\n", b"seen 9"):
            seen.write(part)
        self.assertEqual((seen.count, seen.wait_beyond(3, 0), seen.wait_beyond(4, 0)),
                         (4, True, False))

    def test_a_stall_ends_when_all_inputs_were_handled_or_at_its_limit(self):
        for handlers, handled, sent in ((INPUTS, INPUTS, INPUTS), (0, 0, 1)):
            run = order_run(1, handlers)
            run.stall()
            self.assertEqual((run.handled, run.device.lines),
                             ([handled], [f"in {n + 1}\n" for n in range(sent)]))

    def test_stalls_are_apart_and_the_last_ends_the_input(self):
        for stalls, handlers, last in ((2, 0, "in 1\n"), (1, INPUTS, f"end {INPUTS}\n")):
            run = order_run(stalls, handlers)
            run.consume("out\n" * 49)
            self.assertEqual(run.stalled, 0)
            run.consume("out\n")
            self.assertEqual((run.stalled, run.lines, run.device.lines[-1]), (1, 0, last))

    def test_times_are_those_of_the_input_handler(self):
        self.assertEqual([round(time) for time in handler_times(TRACE)], [50, 200000])

    def test_the_patience_that_a_figure_marks_is_that_of_the_port(self):
        port = (PROJECT / "tools/studies/console/port/hvc.patch").read_text()
        self.assertIn(f"+#define HVC_LOCK_PATIENCE\t({PATIENCE_US} * NSEC_PER_USEC)\n", port)

    def test_all_output_is_wanted(self):
        self.assertEqual(wanted_output(2), "out 1\nout 2\nout end 2\n")

    def test_each_cpu_has_its_sleeper(self):
        run = TimedRun(None, 1, 0)
        run.outcome = type("Outcome", (), {"output": "seen 3\nlate.0 1500\nlate.2 7000\n"})
        self.assertEqual([run.late_us(cpu) for cpu in range(3)], [[1.5], [], [7]])
