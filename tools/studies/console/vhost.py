# SPDX-License-Identifier: GPL-2.0
"""A virtio console device for user-mode Linux: a process of the host on a vhost-user socket.

It can stop consuming the guest's output and still send it input, as a hypervisor does whose
console has a reader that is slow.

The protocol is that of QEMU's docs/interop/vhost-user.rst, as far as arch/um/drivers/virtio_uml.c
speaks it; queues are split virtqueues. Accesses to them are ordered by the host's processor,
which is x86: user-mode Linux runs on no other.
"""

import array
import contextlib
import mmap
import os
import socket
import struct
import threading

VIRTIO_ID = 3			# a console's
# What a request is called in the protocol.
GET_FEATURES, SET_MEM_TABLE, SET_VRING_ADDR = 1, 5, 9
SET_VRING_NUM, SET_VRING_KICK, SET_VRING_CALL = 8, 12, 13
GET_PROTOCOL_FEATURES, SET_VRING_ENABLE = 15, 18
HEADER = struct.Struct("<III")
REPLY = 0x5			# a flag, and the version
FEATURES = 1 << 32 | 1 << 30	# VIRTIO_F_VERSION_1, VHOST_USER_F_PROTOCOL_FEATURES
INPUT, OUTPUT = 0, 1		# queues of a console without further ports
DESCRIPTOR = struct.Struct("<QIHH")
ONE = struct.pack("<Q", 1)	# an event, for an eventfd or a pipe
CONNECT_SECONDS = 3600


class Memory:
    """The guest's, by its physical addresses."""

    def __init__(self, payload, fd):
        _, _, self.start, size, _, offset = struct.unpack("<IIQQQQ", payload)
        with contextlib.closing(os.fdopen(fd, "r+b")) as file:
            self.data = mmap.mmap(file.fileno(), offset + size)
        self.offset = offset

    def place(self, address):
        return address - self.start + self.offset

    def read(self, form, address):
        return struct.unpack_from(form, self.data, self.place(address))

    def write(self, form, address, *values):
        struct.pack_into(form, self.data, self.place(address), *values)


class Queue:
    """A split virtqueue, the device's side."""

    def __init__(self):
        self.size = 0
        self.descriptors = self.used = self.available = 0	# addresses
        self.kick = self.call = -1				# file descriptors
        self.taken = self.given = 0				# buffers so far

    def take(self, memory):
        """The next buffer that the guest has made available, or nothing."""
        newest, = memory.read("<H", self.available + 2)
        if newest == self.taken & 0xffff:
            return None
        number, = memory.read("<H", self.available + 4 + 2 * (self.taken % self.size))
        self.taken += 1
        address, length, _, _ = memory.read("<QIHH", self.descriptors + number * DESCRIPTOR.size)
        return number, address, length

    def give(self, memory, number, length):
        """Return a buffer, and interrupt the guest."""
        memory.write("<II", self.used + 4 + 8 * (self.given % self.size), number, length)
        self.given += 1
        memory.write("<H", self.used + 2, self.given & 0xffff)
        # A full pipe has interrupts for the guest to take; a broken one has no guest.
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self.call, ONE)


class Console:
    """The device.

    consume(text): called with each buffer of output; the guest gets it back when that returns.
    """

    def __init__(self, path, consume):
        self.path = path
        self.consume = consume
        self.queues = [Queue(), Queue()]
        self.memory = None
        self.ready = threading.Event()		# the guest's driver is up
        self.gone = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.threads = [threading.Thread(target=run, daemon=True)
                        for run in (self.serve, self.drain)]

    @property
    def word(self):
        """For the kernel's command line."""
        return f"virtio_uml.device={self.path}:{VIRTIO_ID}"

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.gone.set()
        self.listener.close()
        if self.ready.is_set():		# drain() waits for output, or for the driver
            os.write(self.queues[OUTPUT].kick, ONE)
        self.ready.set()

    def send(self, text):
        """Give the guest input, with an interrupt. False if it has no buffer for it."""
        queue = self.queues[INPUT]
        buffer = queue.take(self.memory)
        if not buffer:
            return False
        number, address, length = buffer
        data = text.encode()[:length]
        self.memory.write(f"{len(data)}s", address, data)
        queue.give(self.memory, number, len(data))
        return True

    # The two threads

    def serve(self):
        """Answer the driver's requests."""
        self.listener.settimeout(CONNECT_SECONDS)
        with contextlib.suppress(OSError):
            peer, _ = self.listener.accept()
            with peer:
                while self.answer(peer):
                    pass
        self.gone.set()

    def answer(self, peer):
        head, fds = received(peer, HEADER.size)
        if len(head) < HEADER.size:
            return False
        request, _, size = HEADER.unpack(head)
        payload, more = received(peer, size) if size else (b"", [])
        self.obey(peer, request, payload, fds + more)
        return True

    def obey(self, peer, request, payload, fds):
        if request in (GET_FEATURES, GET_PROTOCOL_FEATURES):
            value = FEATURES if request == GET_FEATURES else 0
            peer.sendall(HEADER.pack(request, REPLY, 8) + struct.pack("<Q", value))
        elif request == SET_MEM_TABLE:
            self.memory = Memory(payload, fds[0])
        elif request in (SET_VRING_CALL, SET_VRING_KICK):
            queue = self.queues[struct.unpack("<Q", payload)[0] & 0xff]
            setattr(queue, "call" if request == SET_VRING_CALL else "kick", fds[0])
        elif request == SET_VRING_NUM:
            number, self.queues[number].size = struct.unpack("<II", payload)
        elif request == SET_VRING_ADDR:
            number, _, *addresses, _ = struct.unpack("<IIQQQQ", payload)
            queue = self.queues[number]
            queue.descriptors, queue.used, queue.available = addresses
        elif request == SET_VRING_ENABLE and struct.unpack("<II", payload) == (OUTPUT, 1):
            self.ready.set()

    def drain(self):
        """Consume output."""
        queue = self.queues[OUTPUT]
        self.ready.wait()
        while not self.gone.is_set():
            os.read(queue.kick, len(ONE))
            while (buffer := queue.take(self.memory)) is not None:
                number, address, length = buffer
                text, = self.memory.read(f"{length}s", address)
                self.consume(text.decode(errors="replace"))
                queue.give(self.memory, number, 0)


def received(peer, size):
    """(all of so many bytes, the file descriptors with them); fewer at the end."""
    data, ancillary, _, _ = peer.recvmsg(size, socket.CMSG_SPACE(8 * 4), socket.MSG_WAITALL)
    fds = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
    return data, list(fds)
