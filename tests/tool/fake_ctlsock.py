#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sockets that answer pxtrace as no stream's owner would, or as one would in the worst moment.

usage: fake_ctlsock.py FOLDER LOG FULL-LOG

Makes a socket FOLDER/WAY for each way to answer (below), says "ready", and answers until its standard
input ends.  Knows nothing of the C code; format/ctlsock.h says what it speaks.  LOG lacks its end, FULL-LOG
has it; a follower gets LOG, and the rest of FULL-LOG in pieces.
"""
import array
import mmap
import os
import selectors
import socket
import struct
import sys
import threading

MAGIC, VERSION = 0x44545850, 6
PIECE = 400000
ATTACH, STATUS, START, STOP, CLEAR, FLUSH, FILTER, SNAPSHOT, FOLLOW = range(1, 10)
REQUEST, REPLY = struct.Struct("=IIIiQII"), struct.Struct("=IIIi288sII")
STATUS_FORM = struct.Struct("=iIiIIIQQQQQQQqII64s128s")
assert REQUEST.size == 32 and REPLY.size == 312 and STATUS_FORM.size == 288


def status(pid=4711, state=1, policy=1, log=0, producers=2, filtered=3, slots=1000, used=500,
           counts=(100, 10, 20, 30, 40), name=b"machine", program=b"/opt/app/control"):
    return STATUS_FORM.pack(pid, state, policy, log, producers, filtered, slots, used, *counts,
                            1700000000, 5, 0, name, program)


def reply(what, error=0, state=None, text=b"", magic=MAGIC, version=VERSION, said=None):
    state = bytes(288) if error else state or status()
    return REPLY.pack(magic, version, what, error, state, len(text) if said is None else said,
                      0) + text


# Messages that are no answers: way -> what is sent, from the request's number.
STRANGE = {
    "one_byte": lambda what: b"x",
    "no_magic": lambda what: bytes(312),
    "only_magic": lambda what: struct.pack("=I", MAGIC),
    "short": lambda what: reply(what)[:311],
    "half": lambda what: reply(what)[:150],
    "long": lambda what: reply(what) + b"tail",
    "very_long": lambda what: reply(what, 5, text=bytes(8192)) + bytes(60000),
    "noise": lambda what: bytes((i * 37 + 11) % 256 for i in range(700)),
    "text_unterminated": lambda what: reply(what, 22, text=b"A" * 100),
    "text_largest_unterminated": lambda what: reply(what, 22, text=b"A" * 8192),
    "text_cut": lambda what: reply(what, 22, text=b"why\0", said=200),
    "text_negative": lambda what: reply(what, 22, text=b"why\0", said=0xFFFFFFFF),
    "text_more": lambda what: reply(what, 22, text=b"why\0", said=1),
    "other_question": lambda what: reply(what % 9 + 1),
    "no_question": lambda what: reply(0),
    "huge_question": lambda what: reply(0xFFFFFFFF),
    "error_negative": lambda what: reply(what, -22),
    "error_huge": lambda what: reply(what, 0x7FFFFFFF),
    "next_version": lambda what: reply(what, version=VERSION + 1),
    "last_version": lambda what: reply(0, 95, version=0xFFFFFFFF),
}
# Answers in the right form.
ANSWERS = {
    "good": lambda what: reply(what),
    "full": lambda what: reply(what, state=status(state=2, policy=2, log=1, used=1001)),
    "odd": lambda what: reply(what, state=status(
        pid=-5, state=99, policy=-7, log=0xFFFFFFFF, producers=0xFFFFFFFF, filtered=0xFFFFFFFF,
        slots=2**64 - 1, used=2**64 - 2, counts=(2**64 - 1,) * 5, name=b"\xff\x1b[31m" * 13,
        program=b"\x1b]0;title\x07" * 13)),
    "empty": lambda what: reply(what, state=bytes(288)),
    "refuses": lambda what: reply(what, 22, text=b"the stream \x1b[31mknows no type xyz\0"),
    "refuses_silently": lambda what: reply(what, 22),
    "not_understood": lambda what: reply(0, 71, text=b"an unknown request\0"),
    "longest_text": lambda what: reply(what, 22, text=b"A" * 8191 + b"\0"),
    "not_allowed": lambda what: reply(what, 13),
}


class CtlSock:
    def __init__(self, folder, log, full):
        self.folder, self.log, self.full = folder, log, full
        self.selector = selectors.DefaultSelector()
        self.kept = []

    def add(self, way, handler):
        path = os.path.join(self.folder, way)
        ctlsock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Nobody sees a socket that does not listen yet.
        ctlsock.bind(path + ".new")
        ctlsock.listen(8)
        os.rename(path + ".new", path)
        self.selector.register(ctlsock, selectors.EVENT_READ, (self.accept, handler))

    def accept(self, ctlsock, handler):
        caller, _ = ctlsock.accept()
        self.selector.register(caller, selectors.EVENT_READ, (self.hear, handler))

    def hear(self, caller, handler):
        try:
            data, extra, _, _ = caller.recvmsg(40 + 8192, socket.CMSG_SPACE(64))
        except OSError:
            data, extra = b"", []
        fds = array.array("i")
        for level, kind, sent in extra:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(sent[:len(sent) - len(sent) % 4])
        if len(data) < 32:
            self.close(caller)
            return
        try:
            handler(caller, data, fds)
        except BrokenPipeError:
            pass
        for fd in fds:
            os.close(fd)

    def close(self, caller):
        self.selector.unregister(caller)
        caller.close()

    # ---- Ways ----

    def say(self, answer):
        def handler(caller, data, fds):
            caller.send(answer(REQUEST.unpack(data[:32])[2]))
        return handler

    def after_status(self, act):
        """STATUS is answered; what comes then is answered by @act(caller, what, fds)."""
        def handler(caller, data, fds):
            what = REQUEST.unpack(data[:32])[2]
            if what == STATUS:
                caller.send(reply(what))
            else:
                act(caller, what, fds)
        return handler

    def with_descriptors(self, caller, data, fds):
        mine = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
        socket.send_fds(caller, [reply(REQUEST.unpack(data[:32])[2])], mine)
        for fd in mine:
            os.close(fd)

    def echo(self, caller, data, fds):
        """What it was asked, in the text of an error."""
        magic, version, what, how, hz, clock, text = REQUEST.unpack(data[:32])
        right = magic == MAGIC and version == VERSION and text == len(data) - 32
        words = data[32:].replace(b"\0", b";").decode()
        caller.send(reply(what, 22, text=f"{right} {what} {how} {len(fds)} {words}\0".encode()))

    def gives(self, content, error=0, then=None):
        def act(caller, what, fds):
            os.write(fds[0], content)
            caller.send(reply(what, error))
            if then:
                then(caller)
        return act

    def changes(self, caller, what, fds):
        """The log, and other bytes in its place when it was taken."""
        fd = os.dup(fds[0])
        self.gives(self.full)(caller, what, fds)

        def change():
            try:
                os.pwrite(fd, b"changed" * 99, 0)
            except OSError:
                pass
            with open(os.path.join(self.folder, "tried"), "w"):
                pass
        threading.Timer(1, change).start()

    def keeps(self, caller, what, fds):
        """The log, which stays where it can be changed."""
        os.ftruncate(fds[0], len(self.full))
        self.mapped = mmap.mmap(fds[0], len(self.full))
        self.mapped[:] = self.full
        caller.send(reply(what))

    def memory(self, caller, what, fds):
        """Follow: the whole log in pieces; the most memory that it took goes to the file "used"."""
        self.kept.append([caller, os.dup(fds[0]), 0, 0])
        caller.send(reply(what))

    def go_on(self):
        for kept in self.kept[:]:
            caller, fd, at, most = kept
            kept[3] = max(most, os.fstat(fd).st_blocks * 512)
            if at + PIECE >= len(self.full):
                with open(os.path.join(self.folder, "used"), "w") as used:
                    used.write(f"{at} {kept[3]}\n")
            kept[2] += os.write(fd, self.full[at:at + PIECE])
            if kept[2] == len(self.full):
                os.close(fd)
                self.kept.remove(kept)
                self.close(caller)


def main():
    folder = sys.argv[1]
    with open(sys.argv[2], "rb") as file:
        log = file.read()
    with open(sys.argv[3], "rb") as file:
        full = file.read()
    ctlsock = CtlSock(folder, log, full)
    for way, answer in {**STRANGE, **ANSWERS}.items():
        ctlsock.add(way, ctlsock.say(answer))
    ctlsock.add("hangs_up", lambda caller, data, fds: ctlsock.close(caller))
    ctlsock.add("mute", lambda caller, data, fds: None)
    ctlsock.add("descriptors", ctlsock.with_descriptors)
    ctlsock.add("echo", ctlsock.echo)
    ctlsock.add("snapshot", ctlsock.after_status(ctlsock.gives(full)))
    ctlsock.add("snapshot_cut", ctlsock.after_status(ctlsock.gives(log)))
    ctlsock.add("snapshot_noise", ctlsock.after_status(ctlsock.gives(b"\x1b[31mnoise" * 99)))
    ctlsock.add("snapshot_of_nothing", ctlsock.after_status(ctlsock.gives(b"")))
    ctlsock.add("snapshot_no_room", ctlsock.after_status(ctlsock.gives(log, 28)))
    ctlsock.add("snapshot_into_memory", ctlsock.after_status(
        lambda caller, what, fds: caller.send(reply(what, 5, text=b"that is a file\0"))
        if os.readlink(f"/proc/self/fd/{fds[0]}").startswith(os.path.realpath(folder))
        else ctlsock.gives(full)(caller, what, fds)))
    ctlsock.add("snapshot_changed", ctlsock.after_status(ctlsock.changes))
    ctlsock.add("snapshot_kept", ctlsock.after_status(ctlsock.keeps))
    ctlsock.add("follow_dies", ctlsock.after_status(ctlsock.gives(log, then=ctlsock.close)))
    ctlsock.add("follow_ends", ctlsock.after_status(ctlsock.gives(full, then=ctlsock.close)))
    ctlsock.add("follow_noise", ctlsock.after_status(ctlsock.gives(b"\x1b[31mnoise" * 999, then=ctlsock.close)))
    ctlsock.add("follow_silent", ctlsock.after_status(ctlsock.gives(b"")))
    ctlsock.add("follow_two", ctlsock.after_status(ctlsock.gives(log + full, then=ctlsock.close)))
    ctlsock.add("follow_nothing", ctlsock.after_status(ctlsock.gives(b"", then=ctlsock.close)))
    ctlsock.add("follow_memory", ctlsock.after_status(ctlsock.memory))
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    dead.bind(os.path.join(folder, "dead"))
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.bind(os.path.join(folder, "stream"))
    stream.listen(1)
    print("ready", flush=True)
    ctlsock.selector.register(sys.stdin, selectors.EVENT_READ, None)
    while True:
        for key, _ in ctlsock.selector.select(0.03 if ctlsock.kept else None):
            if key.data is None:
                return
            key.data[0](key.fileobj, key.data[1])
        ctlsock.go_on()


main()
