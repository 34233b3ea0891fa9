#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""analysis.py - reads a log in Python: how long did spans take, and which jobs were late?

usage: analysis.py [--babeltrace] LOG

Through the module `libptrace` (docs/python.md), or through babeltrace2's bindings (Debian: python3-bt2) and the
plugin for these logs.  Both give the same events: name, time in nanoseconds, thread, fields by their names.
"""
import argparse
import math
import numbers
import sys
from collections import defaultdict
from typing import NamedTuple


class Event(NamedTuple):
    name: str
    ns: int
    thread: str
    fields: dict


def events_by_babeltrace(path):
    """Every event as the plugin source.ptrace.log gives it; the plugin is found by babeltrace2."""
    import bt2  # pylint: disable=import-error,import-outside-toplevel
    if "ptrace" not in {plugin.name for plugin in bt2.find_plugins()}:
        sys.exit("analysis.py: babeltrace2 has no plugin for these logs")
    for message in bt2.TraceCollectionMessageIterator(path):
        if not isinstance(message, bt2._EventMessageConst):  # pylint: disable=protected-access
            continue
        event = message.event
        payload = event.payload_field
        fields = {key: plain(payload[key]) for key in payload} if payload is not None else {}
        yield Event(event.name, message.default_clock_snapshot.ns_from_origin, thread_of(event),
                    fields)


def plain(value):
    """A Python number or text instead of a field of bt2."""
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else str(value)


def thread_of(event):
    context = event.common_context_field
    return str(int(context["vtid"])) if context is not None and "vtid" in context else ""


def events_by_module(path):
    import libptrace  # pylint: disable=import-error,import-outside-toplevel
    with libptrace.open(path) as log:
        for event in log:
            yield Event(event.name, event.time, str(event.thread and event.thread.tid), event.fields)


def stem(name, *suffixes):
    """The name without one of the suffixes, or None."""
    return next((name[:-len(suffix)] for suffix in suffixes if name.endswith(suffix)), None)


def measure(events):
    """Lengths of spans by name, and the deadlines missed: (late_ns, thread, job)."""
    begun = defaultdict(list)
    lengths = defaultdict(list)
    late = []
    for event in events:
        if event.name.startswith("posix_trace_"):
            continue
        if (span := stem(event.name, "_begin", "_start")) is not None:
            begun[event.thread, span].append(event.ns)
        elif (span := stem(event.name, "_end", "_stop")) is not None:
            if begun[event.thread, span]:
                lengths[span].append(event.ns - begun[event.thread, span].pop())
        elif event.name == "deadline_miss":
            late.append((event.fields["late_ns"], event.thread, event.fields["job"]))
    return lengths, late


def quantile(values, share):
    """The smallest value that so large a share of all does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--babeltrace", action="store_true", help="read by babeltrace2's bindings")
    parser.add_argument("log")
    options = parser.parse_args()
    events = events_by_babeltrace if options.babeltrace else events_by_module
    try:
        lengths, late = measure(events(options.log))
    except (ImportError, OSError) as error:
        sys.exit(f"analysis.py: {error}")
    print(f"{'span':12} {'count':>6} {'median (us)':>12} {'p99 (us)':>12} {'max (us)':>12}")
    for span, values in sorted(lengths.items()):
        print(f"{span:12} {len(values):6} {quantile(values, 0.5) / 1e3:12.3f}"
              f" {quantile(values, 0.99) / 1e3:12.3f} {max(values) / 1e3:12.3f}")
    for late_ns, thread, job in sorted(late, reverse=True)[:3]:
        print(f"job {job} of thread {thread} was late by {late_ns / 1e6:.3f} ms")


if __name__ == "__main__":
    main()
