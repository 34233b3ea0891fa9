#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module of python/.  usage: test_module.py PXTRACE MKLOG PUBLIC-HEADERS VERSION [TEST...]"""
import contextlib
import ctypes
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
if sys.version_info < (3, 10):
    print("skipped: the module wants Python 3.10, this is", sys.version)
    sys.exit(77)
sys.path.insert(0, os.path.join(SOURCE, "python"))
import libptrace  # noqa: E402
from libptrace import _log, _native  # noqa: E402

pxtrace, mklog, public, version = sys.argv[1:5]

HEAD = r"""process 100 machine /usr/bin/sampler
thread 1 4096 101 sampler
thread 2 8192 102 saver
note version 1.2
type 32 reading u32 job, f64 celsius, char[4] who; job %u: %.1f degrees
type 33 said i8 much, text what
type 34 raw
"""
EVENTS = r"""event 1000 32 1 0 u32:1 f64:20.5 text:ab hex:0000
event 2000 33 2 0 hex:ff text:hello
event 3000 32 1 0 u32:2 f64:21.25 text:abcd
"""
OWN = ("reading", "said", "raw")


class Module(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        warnings.simplefilter("error")

    def make(self, recipe, name="run.ptl"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            subprocess.run([mklog], input=recipe.encode(), stdout=out, check=True)
        return path

    def own(self, log):
        return [event for event in log if event.name in OWN]

    def test_events_have_names_times_threads_and_fields(self):
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            start = log.info.start
            events = self.own(log)
        self.assertEqual([(e.time - start, e.name, str(e.thread), e.fields) for e in events], [
            (1000, "reading", "sampler", {"job": 1, "celsius": 20.5, "who": "ab"}),
            (2000, "said", "saver", {"much": -1, "what": "hello"}),
            (3000, "reading", "sampler", {"job": 2, "celsius": 21.25, "who": "abcd"})])
        self.assertEqual(events[0].message, "job 1: 20.5 degrees")
        self.assertIsNone(events[1].message)

    def test_a_log_is_read_from_its_beginning_each_time(self):
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            self.assertEqual([e.number for e in log], [e.number for e in log])

    def test_two_iterations_at_once_are_an_error(self):
        with libptrace.open(self.make(HEAD + EVENTS + "flush\n" + EVENTS.replace("00 3", "09 3"))) as log:
            first = iter(log)
            next(first)
            self.own(log)
            with self.assertRaisesRegex(RuntimeError, "by somebody else"):
                list(first)

    def test_a_log_knows_its_program_threads_notes_and_types(self):
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            self.assertEqual((log.info.host, log.info.executable, log.info.complete, log.info.lost),
                             ("machine", "/usr/bin/sampler", True, 0))
            self.assertEqual([(one.name, one.tid) for one in log.threads],
                             [("sampler", 101), ("saver", 102)])
            self.assertEqual(log.notes, [("version", "1.2")])
            self.assertEqual([(one.name, one.code) for one in log.types[32].fields],
                             [("job", "I"), ("celsius", "d"), ("who", None)])

    def test_fields_behind_a_cut_are_left_out(self):
        with libptrace.open(self.make(HEAD + "cut\nevent 1 32 1 0 u32:7 hex:0000\n")) as log:
            event, = self.own(log)
            self.assertEqual((event.fields, event.cut), ({"job": 7}, True))
            self.assertEqual(log.columns(type="reading")["celsius"], [None])

    def test_a_type_without_description_has_its_bytes(self):
        with libptrace.open(self.make(HEAD + "event 1 34 1 0 hex:00ff\n")) as log:
            event, = self.own(log)
            self.assertEqual((event.fields, event.data), ({}, b"\0\xff"))

    def test_columns_are_what_events_are(self):
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            events = list(log)
            names = ("time", "type", "thread", "pid", "cpu", "cut", "lost_before", "number", "ticks",
                     "bytes", "address")
            columns = log.columns(*names, data=True, numpy=False)
            rows = [(e.time, e.type.id, e.thread.entry if e.thread else _native.NO_ENTRY, e.pid, e.cpu,
                     e.cut, e.lost_before, e.number, e.ticks, len(e.data), e.address, e.data)
                    for e in events]
            self.assertEqual(list(zip(*(columns[name] for name in names + ("data",)))), rows)
            self.assertEqual(columns.rows, len(events))

    def test_columns_of_a_type_have_its_fields(self):
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            columns = log.columns("time", type="reading", numpy=False)
            self.assertEqual((list(columns["job"]), list(columns["celsius"]), columns["who"]),
                             ([1, 2], [20.5, 21.25], ["ab", "abcd"]))
            self.assertEqual(list(log.columns(type=33, numpy=False)["what"]), ["hello"])
            self.assertRaises(KeyError, log.columns, type="nothing")

    def test_a_field_called_as_a_column_is_told_apart(self):
        recipe = HEAD + "type 40 clash u32 time\nevent 5 40 1 0 u32:9\n"
        with libptrace.open(self.make(recipe)) as log:
            columns = log.columns("time", type="clash", numpy=False)
            self.assertEqual((list(columns), list(columns["field.time"])), (["time", "field.time"], [9]))

    def test_numpy_has_the_same_numbers(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not there")
        with libptrace.open(self.make(HEAD + EVENTS)) as log:
            mine, theirs = log.columns(numpy=False), log.columns(numpy=True)
            for name in mine:
                self.assertIsInstance(theirs[name], numpy.ndarray)
                self.assertEqual(list(theirs[name]), list(mine[name]))

    def test_lost_records_are_told_when_the_log_is_opened(self):
        with self.assertWarnsRegex(libptrace.LossWarning, "run.ptl: 5 records were lost"):
            log = libptrace.open(self.make(HEAD + "loss 5\n" + EVENTS))
        self.assertEqual([e.lost_before for e in self.own(log)], [5, 0, 0])
        log.close()

    def test_a_log_without_its_end_is_read_as_far_as_it_goes_and_told(self):
        path = self.make(HEAD + "loss 3\n" + EVENTS + "unfinished\n")
        with self.assertWarns(libptrace.IncompleteWarning):
            log = libptrace.open(path)
        with self.assertWarnsRegex(libptrace.LossWarning, "3 records"):
            self.assertEqual(len(self.own(log)), 3)
        log.close()
        with self.assertRaisesRegex(libptrace.LogError, r"run.ptl: .*\(byte \d+\)"):
            libptrace.open(path, strict=True)

    def test_damage_in_the_middle_is_passed_over_and_told(self):
        later = EVENTS.replace("event ", "event 1000")
        path = self.make(HEAD + EVENTS + "flush\n" + later + "unfinished\n")
        place = os.path.getsize(path) - 20
        path = self.make(HEAD + EVENTS + "flush\n" + later + "flush\nevent 200000000 34 1 0\n")
        with open(path, "r+b") as log:
            log.seek(place)
            spoilt = log.read(1)[0] ^ 0x55
            log.seek(place)
            log.write(bytes([spoilt]))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with libptrace.open(path) as log:
                self.assertEqual([e.name for e in self.own(log)], ["reading", "said", "reading", "raw"])
        self.assertIn(libptrace.DamageWarning, [one.category for one in told])
        self.assertEqual({one.filename for one in told}, {__file__})

    def test_what_is_no_log_is_an_error_with_the_librarys_words(self):
        path = os.path.join(self.folder, "text")
        with open(path, "w", encoding="utf-8") as out:
            out.write("no log at all\n" * 99)
        with self.assertRaises(libptrace.LogError) as caught:
            libptrace.open(path)
        self.assertTrue(caught.exception.strerror)
        self.assertIsInstance(caught.exception.offset, int)
        self.assertRaises(FileNotFoundError, libptrace.open, os.path.join(self.folder, "nothing"))

    def test_a_closed_log_says_so(self):
        log = libptrace.open(self.make(HEAD + EVENTS))
        log.close()
        log.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            list(log)
        self.assertRaises(ValueError, lambda: log.info)

    def test_structures_lie_as_the_headers_say(self):
        if not shutil.which(os.environ.get("CC", "cc")):
            self.skipTest("there is no C compiler")
        lines = []
        for kind in _native.STRUCTURES:
            lines.append(f'printf("%zu ", sizeof({kind._c_name_}));')
            lines += [f'printf("%zu %zu ", offsetof({kind._c_name_}, {name}), '
                      f'sizeof((({kind._c_name_} *)0)->{name}));' for name, _ in kind._fields_]
        program = os.path.join(self.folder, "layout")
        with open(program + ".c", "w", encoding="utf-8") as out:
            out.write("#include <stdio.h>\n#include <trace_np.h>\nint main(void)\n{\n"
                      + "\n".join(lines) + "\n}\n")
        subprocess.run([os.environ.get("CC", "cc"), "-w", "-I", os.path.join(SOURCE, "include"), "-I",
                        public, "-c", program + ".c", "-o", program + ".o"], check=True)
        subprocess.run([os.environ.get("CC", "cc"), program + ".o", "-o", program], check=True)
        said = subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout.split()
        own = []
        for kind in _native.STRUCTURES:
            own.append(ctypes.sizeof(kind))
            for name, _ in kind._fields_:
                own += [getattr(kind, name).offset, getattr(kind, name).size]
        self.assertEqual(own, [int(word) for word in said])

    def test_a_library_that_knows_more_stores_no_more(self):
        class Smaller(ctypes.Structure):
            _fields_ = _native.LogInfo._fields_[:-3]

        with libptrace.open(self.make(HEAD)) as log:
            room = (ctypes.c_ubyte * 2000)(*([0x5A] * 2000))
            size = ctypes.sizeof(Smaller)
            self.assertEqual(_native.library.posix_trace_log_getinfo_np(log._trid, room, size), 0)
            self.assertEqual(bytes(room[size:]), b"\x5A" * (2000 - size))
            self.assertEqual(Smaller.from_buffer(room).posix_format_major_np, log.info.format[0])

    def test_another_library_is_refused_when_it_is_loaded(self):
        run = subprocess.run([sys.executable, "-c", "import libptrace"], stderr=subprocess.PIPE, check=False,
                             env={**os.environ, "PXTRACE_LIBRARY": "libc.so.6",
                                  "PYTHONPATH": os.path.join(SOURCE, "python")})
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"LayoutError: libc.so.6 has no posix_trace_", run.stderr)

    def test_a_debuggers_module_ptrace_stands_beside_ours(self):
        with open(os.path.join(self.folder, "ptrace.py"), "w", encoding="utf-8") as other:
            other.write("MINE = False\n")
        paths = os.pathsep.join([os.path.join(SOURCE, "python"), self.folder])
        run = subprocess.run([sys.executable, "-c", "import libptrace, ptrace; print(ptrace.MINE, libptrace.open)"],
                             env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True)
        self.assertIn(b"False <function open", run.stdout)

    def late_log(self):
        jobs = "".join(f"event {n * 10**7} 40 1 0 u32:{n}\nevent {n * 10**7 + (9 * 10**6 if n == 7 else 10**6)}"
                       f" 41 1 0 u32:{n}\n" for n in range(20))
        return self.make(HEAD + "type 40 work_begin u32 job\ntype 41 work_end u32 job\n" + jobs)

    def test_answers_of_why_are_objects(self):
        answer = libptrace.why(self.late_log(), pxtrace=pxtrace)
        late = answer.late[0]
        self.assertEqual((late.kind, late.span, late.thread, late.length_ns, answer.more, late.more),
                         ("span", "work", "sampler", 9 * 10**6, {}, {}))
        self.assertIn("work", str(late))
        self.assertEqual(sum(cause.ns for cause in late.causes), late.length_ns)

    def test_why_says_what_the_tool_said(self):
        with self.assertRaisesRegex(libptrace.WhyError, "nothing.ptl"):
            libptrace.why(os.path.join(self.folder, "nothing.ptl"), pxtrace=pxtrace)
        self.assertRaises(FileNotFoundError, libptrace.why, "x", pxtrace="/nowhere/pxtrace")

    def test_the_manuals_programs_print_what_it_shows(self):
        with open(os.path.join(SOURCE, "docs", "python.md"), encoding="utf-8") as page:
            blocks = re.findall(r"```(python|text|console)?\n(.*?)```", page.read(), re.S)
        self.make(HEAD + EVENTS)
        os.rename(self.late_log(), os.path.join(self.folder, "late.ptl"))
        self.make(HEAD + EVENTS)
        old = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, old)
        os.environ["PATH"] = os.path.dirname(pxtrace) + os.pathsep + os.environ["PATH"]
        ran = 0
        for (language, text), (shown_as, shown) in zip(blocks, blocks[1:]):
            if language != "python" or shown_as != "text":
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "docs/python.md", "exec"), {})
            self.assertEqual(printed.getvalue(), shown)
            ran += 1
        self.assertGreaterEqual(ran, 3)

    def test_the_example_tells_lengths_of_spans_and_late_jobs(self):
        log = self.make("""process 100 machine /usr/bin/sampler
thread 1 4096 101 sampler
type 32 work_begin
type 33 work_end
type 34 deadline_miss u32 job, i64 late_ns
event 1000 32 1 0
event 3500 33 1 0
event 5000 32 1 0
event 9000 33 1 0
event 9500 34 1 0 u32:2 i64:3000000
""")
        run = subprocess.run([sys.executable, os.path.join(SOURCE, "examples", "analysis.py"), log], check=False,
                             env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python")},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual([line.split() for line in run.stdout.decode().splitlines()[1:]],
                         ["work 2 2.500 4.000 4.000".split(), "job 2 of thread 101 was late by 3.000 ms".split()])

    def test_the_module_has_the_projects_version(self):
        with open(os.path.join(SOURCE, "python", "pyproject.toml"), encoding="utf-8") as project:
            self.assertIn(f'\nversion = "{version}"\n', project.read())

    def test_a_wheel_for_all_machines_is_made(self):
        try:
            import wheel  # noqa: F401
            import setuptools  # noqa: F401
        except ImportError:
            self.skipTest("setuptools and wheel are not there")
        copy = os.path.join(self.folder, "python")
        shutil.copytree(os.path.join(SOURCE, "python"), copy)
        run = subprocess.run([sys.executable, "-W", "ignore", "-c",
                              "from setuptools import build_meta; print(build_meta.build_wheel('..'))"],
                             cwd=copy, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        self.assertIn(f"libptrace-{version}-py3-none-any.whl", run.stdout.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + ["Module." + name for name in sys.argv[5:]], verbosity=2)
