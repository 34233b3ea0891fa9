#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads what `pxtrace export` wrote, by the formats' own rules and without the exporter's code.

usage: check_export.py csv FILE           columns, quoting, UTF-8, JSON, formulas; prints counts
       check_export.py perfetto FILE      packets, tracks, nesting, interned names; prints counts
Exit status 1 and a line for each finding.
"""
import collections
import csv
import io
import json
import re
import struct
import sys

findings = []


def check(truth, text):
    if not truth:
        findings.append(text)


# ---- CSV ----

COLUMNS = "target,stream,seq,ts_ns,event,event_id,pid,tid,cpu,lost_before".split(",")
NUMBERS = ("seq", "ts_ns", "event_id", "pid", "tid", "cpu", "lost_before")


def check_csv(data):
    text = data.decode("utf-8", "strict")
    for found in re.finditer("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]|\r(?!\n)|(?<!\r)\n", text):
        check(False, f"byte {found.start()}: {found.group(0)!r} in the output")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    head = rows.pop(0)
    check(head[:10] == COLUMNS, f"columns {head}")
    seen = set()
    lost = 0
    for number, row in enumerate(rows, 2):
        check(len(row) == len(head), f"row {number}: {len(row)} cells")
        cells = dict(zip(head, row))
        for name in NUMBERS:
            value = cells[name]
            check(value == "" or re.fullmatch(r"-?\d+", value), f"row {number}: {name}={value!r}")
            check(value == "" or -2**63 <= int(value) < 2**63, f"row {number}: {name} too large")
        for name, value in cells.items():
            plain = name in NUMBERS or re.fullmatch(r"-?(\d.*|inf)", value)
            check(plain or not value.startswith(("=", "+", "-", "@", "\t", "\r")),
                  f"row {number}: {name}={value!r} is a formula")
        if "payload" in cells:
            check(isinstance(json.loads(cells["payload"]), dict), f"row {number}: payload")
        key = (cells["target"], cells["stream"], cells["seq"])
        check(key not in seen, f"row {number}: {key} twice")
        seen.add(key)
        lost += int(cells["lost_before"])
    print(f"rows {len(rows)} lost {lost}")


# ---- Perfetto ----

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Number and value of each field of a message: the wire format, which needs no description."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if at > len(data):
                raise ValueError("a field runs beyond its message")
        else:
            raise ValueError(f"wire type {kind}")
        yield tag >> 3, value


def message(data):
    known = collections.defaultdict(list)
    for number, value in fields(data):
        known[number].append(value)
    return known


def text_of(value):
    text = value.decode("utf-8", "strict")
    check(not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", text), f"control characters: {text!r}")
    return text


class Sequence:
    """The state of one sequence of packets, as a reader keeps it."""

    def __init__(self):
        self.tracks = {}
        self.parents = {}
        self.open = collections.defaultdict(list)  # track -> (begin, name)
        self.last_end = {}
        self.events = self.notes = self.functions = self.files = self.frames = self.stacks = None
        self.clock = self.clocks = None
        self.counts = collections.Counter()

    def clear(self):
        self.events, self.notes, self.clock = {}, {}, None
        self.functions, self.files, self.frames, self.stacks = {}, {}, {}, {}

    def packet(self, packet):
        flags = packet[13][0]
        check(packet[10] == [1], "a packet of another sequence")
        if flags & 1:
            self.clear()
        check(self.events is not None, "a packet before the first that clears")
        if packet[42]:
            check(flags & 1, "a loss that does not clear what was interned")
            self.counts["dropped"] += 1
        for defaults in packet[59]:
            self.clock = message(defaults)[58][0]
        for interned in packet[12]:
            self.intern(message(interned))
        for descriptor in packet[60]:
            self.track(message(descriptor))
        for event in packet[11]:
            self.event(packet[8][0], message(event))
        for snapshot in packet[6]:
            self.snapshot(message(snapshot))
        for task in packet[117]:
            task = message(task)
            check(task[3] and task[4], "a task without thread or state")
            print(f"task {task[3][0]} {task[4][0]}")
            self.counts["tasks"] += 1
        for system in packet[45]:
            print("machine", text_of(message(system)[17][0]))

    def intern(self, data):
        for names, number in ((self.events, 2), (self.notes, 3)):
            for entry in data[number]:
                entry = message(entry)
                iid, name = entry[1][0], text_of(entry[2][0])
                check(names.get(iid, name) == name, f"name {iid} is {name} and {names.get(iid)}")
                names[iid] = name
        for texts, number in ((self.functions, 5), (self.files, 18)):
            for entry in data[number]:
                entry = message(entry)
                texts[entry[1][0]] = text_of(entry[2][0])
        for frame in data[6]:
            frame = message(frame)
            place = "".join(f" ({self.files[iid]}:{frame[6][0]})" for iid in frame[5])
            self.frames[frame[1][0]] = self.functions[frame[2][0]] + place
        for stack in data[7]:
            stack = message(stack)
            self.stacks[stack[1][0]] = ";".join(self.frames[iid] for iid in stack[2])

    def snapshot(self, data):
        clocks = {message(clock)[1][0]: message(clock)[2][0] for clock in data[1]}
        check(1 in clocks, "a reading of the clocks without REALTIME")
        if self.clocks is None:
            self.clocks = clocks
        print("clocks", *(f"{k}={v}" for k, v in sorted(clocks.items())))

    def track(self, data):
        uuid = data[1][0]
        check(uuid not in self.tracks, f"track {uuid} twice")
        for parent in data[5]:
            check(parent in self.tracks, f"track {uuid} below {parent}, which is unknown")
        kind = "process" if data[3] else "thread" if data[4] else "counter" if data[8] else "lane"
        name = data[2] or (message(data[4][0])[5] if data[4] else [])
        self.tracks[uuid] = kind, text_of(name[0]) if name else ""
        self.counts[kind] += 1
        print("track", *self.tracks[uuid])

    def event(self, time, data):
        kind, track = data[9][0], data[11][0]
        check(self.clock is not None, "an event without a clock")
        check(track in self.tracks, f"an event on track {track}, which is unknown")
        name = text_of(data[23][0]) if data[23] else None
        for iid in data[10]:
            check(iid in self.events, f"event name {iid} is unknown")
            name = self.events.get(iid)
        for note in data[4]:
            note = message(note)
            check(note[10] or note[1][0] in self.notes, "an annotation whose name is unknown")
            check(sum(len(note[n]) for n in range(2, 8)) == 1, "an annotation without one value")
            for text in note[6]:
                text_of(text)
        for iid in data[56]:
            check(iid in self.stacks, f"call stack {iid} is unknown")
            print("stack", name, self.stacks.get(iid))
        for flow in data[47]:
            check(flow and kind != 2, "a flow without number, or of an end")
            print("flow", struct.pack("<d", flow).hex())
        stack = self.open[track]
        check(kind == 4 or self.tracks[track][0] != "counter", "an event on a counter's track")
        if kind == 1:
            check(name, "a bar without a name")
            check(not stack or time >= stack[-1][0], "a bar that begins before the one around it")
            check(time >= self.last_end.get(track, 0), "a bar that begins inside the one before")
            stack.append((time, name))
        elif kind == 2:
            check(stack, f"an end without a begin on {self.tracks[track]}")
            if stack:
                begin, name = stack.pop()
                check(time >= begin, "a bar that ends before it begins")
                if not stack:
                    self.last_end[track] = time
                print(f"bar {name} {time - begin} on {self.tracks[track][0]} {self.tracks[track][1]}"
                      + (" cut" if b"cut_by_loss" in b"".join(data[4]) else ""))
        elif kind == 3:
            print(f"mark {name} at {time - self.clocks[self.clock] + self.clocks[1]}")
        elif kind == 4:
            check(self.tracks[track][0] == "counter", "a value on a track that is no counter's")
            check(len(data[30]) + len(data[44]) == 1, "a counter without one value")
        self.counts["events" if kind != 4 else "values"] += 1


def check_perfetto(data):
    state = Sequence()
    for number, packet in fields(data):
        check(number == 1, f"field {number} in the trace")
        state.packet(message(packet))
    state.counts["unfinished"] = sum(len(stack) for stack in state.open.values())
    print(*(f"{name} {count}" for name, count in sorted(state.counts.items())))


# ---- CTF 2, as CTF2-SPEC-2.0 says: the trace is decoded by its own metadata ----

# What the specification lets an object of each type have, beside "type": it must have those of the first text.
FRAGMENTS = {
    "preamble": ("version", "uuid attributes extensions"),
    "trace-class": ("", "namespace name uid packet-header-field-class environment attributes extensions"),
    "clock-class": ("id frequency", "namespace name uid description origin offset-from-origin precision accuracy "
                    "attributes extensions"),
    "data-stream-class": ("", "id namespace name uid default-clock-class-id packet-context-field-class "
                          "event-record-header-field-class event-record-common-context-field-class attributes "
                          "extensions"),
    "event-record-class": ("", "id data-stream-class-id namespace name uid specific-context-field-class "
                           "payload-field-class attributes extensions"),
    "structure": ("", "member-classes minimum-alignment"),
    "fixed-length-unsigned-integer": ("length byte-order", "roles mappings preferred-display-base alignment"),
    "fixed-length-signed-integer": ("length byte-order", "mappings preferred-display-base alignment"),
    "fixed-length-floating-point-number": ("length byte-order", "alignment"),
    "static-length-string": ("length", "encoding"),
    "static-length-blob": ("length", "roles media-type"),
    "dynamic-length-string": ("length-field-location", "encoding"),
    "dynamic-length-blob": ("length-field-location", "media-type"),
}


def check_properties(thing):
    wanted, allowed = (text.split() for text in FRAGMENTS[thing["type"]])
    check(all(name in thing for name in wanted), f"{thing}: lacks one of {wanted}")
    check(all(name in wanted + allowed + ["type"] for name in thing), f"{thing}: has more than {wanted + allowed}")


class Stream:
    def __init__(self, data):
        self.data, self.at, self.roles = data, 0, {}

    def take(self, count):
        self.at += count
        check(self.at <= len(self.data), "the stream ends inside a field")
        return self.data[self.at - count:self.at]

    def field(self, kind, payload):
        check_properties(kind)
        name = kind["type"]
        if name == "structure":
            value = {}
            for member in kind["member-classes"]:
                value[member["name"]] = self.field(member["field-class"], value)
        elif "dynamic" in name:
            where = kind["length-field-location"]
            check(where["origin"] == "event-record-payload", where)
            value = self.take(payload[where["path"][0]])
        elif "static" in name:
            value = self.take(kind["length"])
        else:
            value = self.take(kind["length"] // 8)
            order = kind["byte-order"].split("-")[0]
            if "float" in name:
                value, = struct.unpack("<>"[order == "big"] + "fd"[len(value) == 8], value)
            else:
                value = int.from_bytes(value, order, signed="-signed-" in name)
        if name.endswith("string"):
            value = value.split(b"\0")[0].decode()
        elif name.endswith("blob"):
            value = value.hex()
        for role in kind.get("roles", []):
            self.roles[role] = value
        return value


def check_packet(stream, trace, classes):
    start = stream.at
    head = stream.field(trace["trace-class"]["packet-header-field-class"], {})
    check(stream.roles["packet-magic-number"] == 0xc1fc1fc1, head)
    check(stream.roles["metadata-stream-uuid"] == bytes(trace["preamble"]["uuid"]).hex(), head)
    kind = trace["data-stream-class"]
    stream.field(kind["packet-context-field-class"], {})
    end = start + stream.roles["packet-content-length"] // 8
    first, newest = stream.roles["default-clock-timestamp"], stream.roles["packet-end-default-clock-timestamp"]
    print(f"packet {stream.roles['packet-sequence-number']} discarded "
          f"{stream.roles['discarded-event-record-counter-snapshot']}")
    while stream.at < end:
        stream.field(kind["event-record-header-field-class"], {})
        check(first <= stream.roles["default-clock-timestamp"] <= newest, "a stamp outside of its packet")
        context = stream.field(kind["event-record-common-context-field-class"], {})
        event = classes[stream.roles["event-record-class-id"]]
        payload = stream.field(event["payload-field-class"], {})
        print(stream.roles["default-clock-timestamp"], context["vtid"], context["procname"] or "-", event["name"],
              json.dumps(payload))
    check(stream.at == end, "an event reaches behind its packet")


def check_ctf2(folder):
    with open(folder + "/metadata", encoding="utf-8") as file:
        texts = file.read().split("\x1e")
    check(texts[0] == "", "metadata does not begin with a record separator")
    fragments = [json.loads(text) for text in texts[1:]]
    check(fragments[0]["type"] == "preamble" and fragments[0]["version"] == 2, "no preamble of version 2")
    for fragment in fragments:
        check_properties(fragment)
    classes = {fragment["id"]: fragment for fragment in fragments if fragment["type"] == "event-record-class"}
    trace = {fragment["type"]: fragment for fragment in fragments}
    check(trace["data-stream-class"]["default-clock-class-id"] == trace["clock-class"]["id"], "another clock")
    with open(folder + "/stream", "rb") as file:
        stream = Stream(file.read())
    while stream.at < len(stream.data):
        check_packet(stream, trace, classes)


def main():
    if sys.argv[1] == "ctf2":
        check_ctf2(sys.argv[2])
        return show()
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    {"csv": check_csv, "perfetto": check_perfetto}[sys.argv[1]](data)
    return show()


def show():
    for finding in findings[:20]:
        print("FINDING:", finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
