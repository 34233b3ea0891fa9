#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A page of pxtrace report in headless Chromium (the HTML report and graphical display of LPTRACE METRICS).

usage: test_page.py PXTRACE MKLOG [TEST...]
Exit status 77, with the reason, where there is no browser.
"""
import base64
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402
import webdriver  # noqa: E402

make = None
browser = None

# Where things stand on the page, and what colour is there.
AT = """
const r = document.getElementById("tracks").getBoundingClientRect();
const p = window.pxtrace, t = p.tracks.findIndex((each) => each.name.startsWith(arguments[0]));
const ruler = p.layout.ruler;
const track = p.tracks[t];
const lane = track.pointsHeight + 3 + (arguments[2] < 0 ? -7 : arguments[2] * p.layout.lane + 6);
const x = p.plot.x(arguments[1]), y = ruler + track.y - p.view.top + lane;
"""
COLOUR = AT + """
const copy = document.createElement("canvas");
copy.width = copy.height = 1;
copy.getContext("2d", {willReadFrequently: true}).drawImage(document.getElementById("tracks"), -Math.round(x), -Math.round(y));
const d = copy.getContext("2d").getImageData(0, 0, 1, 1).data;
return "#" + [d[0], d[1], d[2]].map((v) => v.toString(16).padStart(2, "0")).join("");
"""
SWATCH = """
const k = window.pxtrace.kinds.findIndex((each) => each.name === arguments[0]);
const rgb = getComputedStyle(document.querySelector(`.swatch[data-kind="${k}"]`)).backgroundColor.match(/\\d+/g);
return "#" + rgb.map((v) => Number(v).toString(16).padStart(2, "0")).join("");
"""


def place(thread, ns, lane):
    """On the screen: the middle of a lane of a thread's track (-1: its single events), at a time."""
    return browser.run(AT + "return [r.left + x, r.top + y];", thread, ns, lane)


def colour(thread, ns, lane):
    return browser.run(COLOUR, thread, ns, lane)


def settle():
    """Until everything that was asked for is drawn."""
    browser.post("/execute/async", script="const done = arguments[0]; "
                 "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)));", args=[])


def view():
    return browser.run("return [window.pxtrace.view.from, window.pxtrace.view.to]")


def show(start, end):
    browser.run("window.pxtrace.show(arguments[0], arguments[1])", start, end)
    settle()


def visit(path, fragment="#t=all"):
    """The whole run, unless the address says something else."""
    browser.open("file://" + path + fragment)
    browser.wait("document.documentElement.dataset.ready")
    settle()


def text(selector):
    return browser.run("return document.querySelector(arguments[0]).innerText", selector)


# As it was opened: loading it anew for each test would take most of the time of all of them.
RESET = """
const p = window.pxtrace;
document.activeElement.blur();
document.getElementById("scope-all").click();
p.view.measure = null;
p.search("");
p.select(null);
p.pick(0, -1);
p.show(-1e18, 1e18);
if (document.documentElement.dataset.theme === "dark") document.getElementById("theme").click();
window.scrollTo(0, 0);
"""


class Page(unittest.TestCase):
    """Each test begins with the same page, as it is when it was just opened."""

    def setUp(self):
        self.path = make.path("story.html")
        if not os.path.exists(self.path):
            make.page("story", pages.story())
        if browser.run("return location.href.split('#')[0]") != "file://" + self.path:
            visit(self.path)
        else:
            # Where the pointer stands a line is drawn: off the tracks with it.
            browser.hover(1, 1)
            browser.run(RESET)
            settle()

    def tearDown(self):
        browser.release()
        # Whatever a test did: no error on the console, and no request but for the page itself.
        self.assertEqual([each for each in browser.messages() if each["level"] != "INFO"], [])
        self.assertEqual([each for each in browser.requests()
                          if not each.startswith(("file://" + make.folder, "about:", "data:", "chrome:"))], [])

    # ---- Drawing ----

    def test_spans_have_their_colour_where_their_times_say_and_none_elsewhere(self):
        show(12_000_000, 17_000_000)
        job, lock = (browser.run(SWATCH, name) for name in ("job", "mtx held"))
        self.assertNotEqual(job, lock)
        self.assertEqual(colour("sensor", 14_900_000, 0), job)
        self.assertEqual(colour("sensor", 15_350_000, 0), job)
        self.assertNotIn(colour("sensor", 12_950_000, 0), (job, lock))
        self.assertNotIn(colour("sensor", 15_450_000, 0), (job, lock))
        show(13_000_000, 13_100_000)
        self.assertEqual(colour("control", 13_058_000, 0), lock)
        self.assertNotIn(colour("control", 13_070_000, 0), (job, lock))
        # Two kinds in one lane.
        show(25_000_000, 26_000_000)
        self.assertEqual(colour("sensor", 25_480_000, 0), lock)

    def test_spans_before_the_start_stand_where_their_times_say(self):
        clock = "clock 1000000000 5000000000 1700000000000000000 5000000000\n"
        visit(make.page("early", "event -3000000 32 1 0 u32:1\nevent -1000000 33 1 0 u32:1 i64:0\nevent 2000000 36 1 0\n",
                        head=clock + pages.HEAD))
        job = browser.run(SWATCH, "job")
        self.assertEqual([colour("sensor", ns, 0) == job for ns in (-2_900_000, -1_100_000, -900_000, 500_000)],
                         [True, True, False, False])

    def test_a_loss_is_marked_where_it_happened_and_counted(self):
        self.assertIn("12 events lost", text("#chips"))
        show(15_000_000, 16_000_000)
        between, outside = (colour("control", ns, 0) for ns in (15_500_000, 15_950_000))
        reds = [int(each[1:3], 16) - int(each[3:5], 16) for each in (between, outside)]
        self.assertGreater(reds[0], reds[1] + 10, (between, outside))
        browser.keys("l")
        settle()
        self.assertIn("12 events lost", text("#details"))
        self.assertIn("12 events lost", text("#moments-table"))

    def test_stops_and_flushes_are_marked(self):
        show(21_900_000, 26_500_000)
        self.assertNotEqual(colour("stream", 22_200_000, 0), colour("stream", 22_600_000, 0))
        stopped = [colour("control", 23_500_000 + 20_000 * k, 0) for k in range(20)]
        running = [colour("control", 25_400_000 + 20_000 * k, 0) for k in range(20)]
        plain = max(running, key=running.count)
        self.assertLess(stopped.count(plain), 17, "hatched")
        self.assertGreater(running.count(plain), 17)
        for word in ("posix_trace_flush_start", "by call", "by itself: the stream was full"):
            self.assertIn(word, text("#moments-table"))

    def test_a_field_that_is_asked_for_is_a_curve_that_keeps_its_value(self):
        late = {1_000_000: 0, 4_000_000: 9_000_000, 8_000_000: -3_000_000}
        visit(make.page("curve", "".join(f"event {ns} 33 1 0 u32:1 i64:{value}\n" for ns, value in late.items())
                        + "event 9000000 36 1 0\n", "--counter", "job_end.late_ns"))
        curve = browser.run("const c = window.pxtrace.tracks.find((t) => t.curve).curve; "
                            "return [[...c.times], [...c.values], c.low, c.high]")
        self.assertEqual(curve, [list(late), list(late.values()), -3_000_000, 9_000_000])
        # Above zero, and below it, the curve is filled: there, and nowhere else.
        line = {at: [colour("late_ns of", ns, lane) for lane in (0, 1)] for at, ns in
                (("first", 2_300_000), ("high", 6_300_000), ("low", 8_600_000))}
        self.assertNotEqual(line["high"][0], line["first"][0])
        self.assertEqual(line["low"][0], line["first"][0])

    # ---- Moving ----

    def test_the_wheel_zooms_about_the_pointer(self):
        x, y = place("sensor", 13_000_000, 0)
        before = view()
        browser.wheel(x, y, -300)
        settle()
        after = view()
        self.assertLess(after[1] - after[0], 0.8 * (before[1] - before[0]))
        self.assertAlmostEqual(place("sensor", 13_000_000, 0)[0], x, delta=1.5)

    def test_a_drag_moves_the_window_and_on_the_ruler_it_zooms(self):
        show(10_000_000, 20_000_000)
        x, y = place("sensor", 17_000_000, 0)
        browser.drag(x, y + 8, x - 200, y + 8)
        settle()
        moved = view()
        self.assertAlmostEqual(moved[1] - moved[0], 10_000_000, delta=1)
        self.assertGreater(moved[0], 10_500_000)
        show(10_000_000, 20_000_000)
        (x, _), (x2, _) = place("sensor", 12_000_000, 0), place("sensor", 14_000_000, 0)
        top = browser.run("return document.getElementById('tracks').getBoundingClientRect().top")
        browser.drag(x, top + 8, x2, top + 8)
        settle()
        self.assertAlmostEqual(view()[0], 12_000_000, delta=30_000)
        self.assertAlmostEqual(view()[1], 14_000_000, delta=30_000)

    def test_keys_zoom_move_and_come_back(self):
        whole = view()
        browser.keys("+")
        zoomed = view()
        self.assertLess(zoomed[1] - zoomed[0], whole[1] - whole[0])
        browser.keys("d")
        self.assertGreater(view()[0], zoomed[0])
        browser.keys("a")
        browser.keys("0")
        self.assertEqual(view(), whole)
        browser.keys("b")
        self.assertNotEqual(view(), whole)

    # ---- Search ----

    def test_search_finds_by_field_and_leads_from_hit_to_hit(self):
        browser.keys("/")
        browser.keys("job=7")
        browser.keys("Enter")
        browser.wait("window.pxtrace.view.selected")
        self.assertEqual(browser.run("return window.pxtrace.found.list.length"), 1)
        self.assertIn("0.008000000 s", text("#details").replace("\u2009", ""))
        browser.run("window.pxtrace.search('event=mtx_lock')")
        browser.wait("window.pxtrace.found.done")
        self.assertEqual(browser.run("return window.pxtrace.found.list.length"), 20)
        browser.run("document.activeElement.blur()")
        browser.keys("n")
        first = browser.run("return window.pxtrace.view.selected.span")
        browser.keys("n")
        self.assertGreater(browser.run("return window.pxtrace.view.selected.span"), first)
        browser.keys("N")
        self.assertEqual(browser.run("return window.pxtrace.view.selected.span"), first)

    def test_search_understands_names_durations_threads_and_texts(self):
        for query, hits in (("job", 19), ("thread=control", 20), ("thread=4712 dur>2ms", 1), ("WARM", 1),
                            ("label=warm", 1), ("late_ns>1ms", 1), ("event~lock", 20), ("job>=17 event=job_begin", 3),
                            ("lock=0xdead", 19), ("nothing_like_this", 0), ("flags=7 value<1", 1)):
            browser.run("window.pxtrace.search(arguments[0])", query)
            browser.wait("window.pxtrace.found.done")
            self.assertEqual(browser.run("return window.pxtrace.found.list.length"), hits, query)

    def test_search_takes_fields_as_print_shows_them_and_times_in_seconds(self):
        for query, hits in (('event="mtx_lock"', 20), ('label="warm"', 1), ("event==mtx_lock", 20), ("time>0.025", 3),
                            ("t>25ms", 3), ("dur>0.002", 1), ("dur>2", 0), ('thread="sensor/4712" job=7', 1)):
            browser.run("window.pxtrace.search(arguments[0])", query)
            browser.wait("window.pxtrace.found.done")
            self.assertEqual(browser.run("return window.pxtrace.found.list.length"), hits, query)
        visit(make.page("words", 'event 1000 32 1 0 text:two\\x20words\nevent 2000 32 1 0 text:two\n',
                        head=pages.HEAD.split("type")[0] + "type 32 work string who\n"))
        browser.run("window.pxtrace.search('who=\"two words\"')")
        browser.wait("window.pxtrace.found.done")
        self.assertEqual(browser.run("return window.pxtrace.found.list.length"), 1)

    def test_a_search_that_means_nothing_says_so(self):
        for query, words in (("jbo=3", "no event has a field jbo"), ("job=abc", "abc is no number"), ("time>soon", "soon is no number")):
            browser.run("window.pxtrace.search(arguments[0])", query)
            browser.wait("window.pxtrace.found.done")
            self.assertEqual(text("#hits"), words)
            self.assertTrue(browser.run("return document.getElementById('query').classList.contains('wrong')"))

    def test_a_log_without_its_end_is_not_called_whole(self):
        self.assertIn("12 events lost", text("#chips"))
        make.log("cut.ptl", "event 1000 36 1 0\nunfinished\n")
        self.assertEqual(make.run("report", "--incomplete", make.path("cut.ptl"), "-o", make.path("cut.html"))[0], 0)
        visit(make.path("cut.html"))
        self.assertNotIn("nothing lost", text("#chips"))
        self.assertIn("events after the last flush: number unknown", text("#chips"))

    def test_the_head_says_the_length_without_its_margins(self):
        self.assertIn("26.0 ms", text("#range"))

    def test_long_names_of_threads_are_shown_whole(self):
        name = "a_long_name_123"
        visit(make.page("names", "event 1000 36 1 0\n", head=pages.HEAD.replace(" 4712 sensor", " 4712345 " + name)))
        found = browser.run("""const p = window.pxtrace; let texts = []; const old = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { texts.push(text); old.call(this, text, ...rest); };
            p.draw(); CanvasRenderingContext2D.prototype.fillText = old; return texts;""")
        self.assertIn(name + "/4712345", found)

    def test_pointing_at_one_of_two_near_losses_names_that_one(self):
        visit(make.page("near", "event 0 36 1 0\nloss 3\nevent 10 36 1 0\nevent 5000 36 1 0\nloss 4\nevent 5010 36 1 0\nevent 1000000 36 1 0\n"))
        x, y = browser.run("""const r = document.getElementById("tracks").getBoundingClientRect(), p = window.pxtrace;
            return [r.left + p.plot.x(5005), r.top + p.layout.ruler - 8];""")
        browser.hover(x, y)
        browser.wait("!document.getElementById('tip').hidden")
        self.assertIn("4 events lost", text("#tip"))

    # ---- Details ----

    def test_a_click_on_a_span_shows_thread_start_duration_and_fields(self):
        show(12_000_000, 17_000_000)
        browser.click(*place("sensor", 14_000_000, 0))
        settle()
        shown = text("#details").replace("\u2009", "")
        for part in ("job", "sensor/4712", "2.40 ms", "2,400,000 ns", "0.013000000 s", "0.015400000 s",
                     "2023-11-14", "the longest of 19", "late_ns", "1900000", "1.90 ms", "12"):
            self.assertIn(part, shown)
        self.assertIn("job in sensor/4712, 2.40 ms", text("#announce"))
        # Who held what meanwhile, in other threads.
        self.assertIn("control/4713: mtx held", shown)
        browser.keys("]")
        settle()
        self.assertIn("0.015600000 s", text("#details").replace("\u2009", ""))

    # ---- Answers and the scheduler ----

    def scheduled(self, loss=False):
        name = "lossy_cpu" if loss else "scheduled"
        visit(make.page(name, pages.scheduled(loss), head=pages.SCHEDULED_HEAD))

    def test_calls_and_locks_stand_in_the_lane_of_their_thread(self):
        visit(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        show(0, 10_000_000)
        wait, held, sleep = (browser.run(SWATCH, name) for name in ("mutex wait", "mutex held", "sleep"))
        self.assertEqual([colour("high", ns, 0) for ns in (1_600_000, 5_000_000)], [sleep, wait])
        self.assertEqual(colour("low", 5_000_000, 0), held)
        self.assertEqual(browser.run("return window.pxtrace.tracks[0].lanes.length"), 0)

    def test_other_processes_stand_below_the_program_and_are_folded(self):
        def heights():
            return browser.run("return window.pxtrace.tracks.map((each) => [each.kind, each.height > 0])")
        visit(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        own = [["stream", True], ["cpu", True], ["thread", True], ["thread", True]]
        self.assertEqual(heights(), own + [["process", False], ["process", False]])
        x, y = browser.run("""const r = document.getElementById("tracks").getBoundingClientRect(), p = window.pxtrace;
            return [r.left + 20, r.top + p.layout.ruler + p.tracks[4].y - p.view.top - 8]""")
        browser.click(x, y)
        settle()
        self.assertEqual(heights(), own + [["process", True], ["process", True]])
        browser.keys("o")
        settle()
        self.assertEqual(heights(), own + [["process", False], ["process", False]])
        # What is selected is shown.
        browser.run("const p = window.pxtrace; p.select({event: p.events.n - 1})")
        settle()
        self.assertEqual(heights()[-1], ["process", True])

    def test_of_other_processes_nobody_says_whether_they_could_run(self):
        visit(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        self.assertEqual(browser.run("return window.pxtrace.tracks.filter((each) => each.states).map((each) => each.name)"),
                         ["low/103"])

    def test_a_thread_that_has_ended_does_not_sleep(self):
        visit(make.page("ended", "event 0 19 3 0x401000 u8:10 u32:4711 u64:0 u64:1 text:/opt/app/rover\n" + "".join(
            f"event {ms}000000 38 0 0 u32:0 i32:{left} i64:{state} i32:{next} hex:6363310000000000\n"
            for ms, left, state, next in ((1, 0, 0, 103), (2, 103, 1, 0), (3, 0, 0, 103), (5, 103, 32, 0), (9, 0, 0, 101))),
            head=pages.TRACED_HEAD))
        self.assertEqual(browser.run("const s = window.pxtrace.tracks.find((each) => each.name === 'low/103').states; return [...s.end]"),
                         [2_000_000, 3_000_000, 5_000_000])

    def test_the_page_opens_where_its_first_answer_is(self):
        visit(self.path, "")
        start, end = view()
        self.assertTrue(0 < start < 13_000_000 < 15_400_000 < end < 17_000_000, (start, end))
        # The whole run, once chosen, is what the address keeps.
        browser.keys("0")
        browser.wait("location.hash.startsWith('#t=all')")

    def test_the_chain_of_an_answer_is_drawn_and_told(self):
        visit(make.page("held_up", pages.held_up(), head=pages.TRACED_HEAD), "")
        bad = browser.run("return getComputedStyle(document.documentElement).getPropertyValue('--bad')").strip()
        # The frame of the wait, at its left edge, and the dot where the arrow leaves who had the mutex.
        red = browser.run("""const p = window.pxtrace, copy = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
            const at = (x, y) => { copy.drawImage(document.getElementById("tracks"), -Math.round(x), -Math.round(y)); const d = copy.getImageData(0, 0, 1, 1).data;
                return "#" + [d[0], d[1], d[2]].map((v) => v.toString(16).padStart(2, "0")).join(""); };
            const [high, low] = ["high", "low"].map((name) => p.tracks.find((each) => each.name.startsWith(name)));
            const y = (track) => p.layout.ruler - p.view.top + track.y;
            return [at(p.plot.x(71700000), y(high) + high.height - 12), at(p.plot.x(121710000), y(low) + (low.height - 5) / 2)]""")
        self.assertEqual(red, [bad, bad])
        self.assertIn("high waited", text(".chain"))
        # Whom it is about stands above all others.
        visit(make.page("three", "event 0 20 2 0x401000 u16:6 u64:0 u64:1\n" + pages.held_up(),
                        head=pages.TRACED_HEAD + "thread 2 0x7f0000002000 102 middle\n"), "")
        self.assertEqual(browser.run("return window.pxtrace.tracks.filter((each) => each.kind === 'thread').map((each) => each.name)"),
                         ["high/101", "low/103", "middle/102"])
        self.assertEqual(browser.run("return document.querySelectorAll('.answer:first-child .chain li').length"), 2)

    def test_each_kind_has_a_colour_of_its_own(self):
        names = [f"part{k}" for k in range(20)]
        head = pages.HEAD + "".join(f"type {50 + 2 * k} {name}_begin\ntype {51 + 2 * k} {name}_end\n" for k, name in enumerate(names))
        visit(make.page("kinds", "".join(f"event {1000 * k} {50 + k} 1 0\n" for k in range(40)), head=head))
        for theme in range(2):
            colours = browser.run("""return [...document.querySelectorAll("#pairs .swatch[data-kind]")].map((each) => getComputedStyle(each).backgroundColor)""")
            self.assertEqual(len(set(colours)), 20, theme)
            browser.keys("t")

    def test_a_narrow_window_cuts_nothing(self):
        visit(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        try:
            browser.size(700, 900)
            settle()
            cut = browser.run("""return [...document.querySelectorAll("html, main, main *")].filter((each) => each.clientWidth > 1
                && each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX !== "visible").map((each) => each.outerHTML.slice(0, 80))""")
        finally:
            browser.size(1200, 800)
        self.assertEqual(cut, [])

    def test_the_head_names_the_program_that_was_traced(self):
        visit(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        self.assertEqual(text("#title"), "rover")
        self.assertIn("traced.ptl · pid 4711 · box", text("#subtitle"))

    def test_the_worst_span_is_explained_by_a_sentence_and_a_bar(self):
        self.scheduled()
        self.assertIn("Job 7 of high was late by 6.40 ms: it waited 8.50 ms for lock 1", text("#answers"))
        self.assertIn("A mutex with PTHREAD_PRIO_INHERIT lets low finish first", text("#answers"))
        self.assertEqual(text("#answers-title"), "Why was it late?")
        shares = browser.run("""const bar = document.querySelector(".causes");
            const all = bar.getBoundingClientRect().width;
            return [...bar.children].slice(0, 2).map((part) => part.getBoundingClientRect().width / all)""")
        self.assertAlmostEqual(shares[0], 8.0 / 10.399, delta=0.01)
        self.assertAlmostEqual(shares[1], 1.0 / 10.399, delta=0.01)
        browser.run("document.querySelector('#answers button').click()")
        settle()
        start, end = view()
        self.assertTrue(start < 2_001_000 < 12_400_000 < end, (start, end))
        self.assertIn("10.4 ms", text("#details"))

    def test_a_cpu_has_a_lane_with_who_ran_on_it(self):
        self.scheduled()
        found = browser.run("""const p = window.pxtrace, lane = p.tracks.find((each) => each.name === "CPU 0").runs;
            return Array.from(lane.id, (id, k) => [p.runners[id].name, lane.start[k], lane.end[k]])""")
        self.assertEqual(found, [["low/103", 500_000, 2_000_000], ["high/101", 2_000_000, 2_510_000],
                                 ["low/103", 2_510_000, 2_600_000], ["other/104", 2_600_000, 10_600_000],
                                 ["low/103", 10_600_000, 11_008_000], ["high/101", 11_008_000, 11_310_000],
                                 ["other/104", 11_310_000, 12_310_000], ["high/101", 12_310_000, 13_000_000],
                                 ["low/103", 14_000_000, 14_000_000]][:8])
        # The program's threads have colours of their own, all others are grey; who idles leaves it empty.
        grey = colour("CPU 0", 5_000_000, 0)
        self.assertNotIn(grey, (colour("CPU 0", 1_000_000, 0), colour("CPU 0", 13_500_000, 0)))
        self.assertNotEqual(colour("CPU 0", 1_000_000, 0), colour("CPU 0", 2_200_000, 0))
        # A colour of a thread means no kind of spans.
        kinds = {browser.run(SWATCH, name) for name in browser.run("return window.pxtrace.kinds.map((each) => each.name)")}
        self.assertFalse(kinds & {colour("CPU 0", ns, 0) for ns in (1_000_000, 2_200_000)})
        browser.hover(*place("CPU 0", 5_000_000, 0))
        browser.wait("!document.getElementById('tip').hidden")
        self.assertIn("other/104 runs on CPU 0 8.00 ms", text("#tip"))

    def states_of(self, name):
        return browser.run("""const lane = window.pxtrace.tracks.find((each) => each.name.startsWith(arguments[0])).states;
            return Array.from(lane.id, (id, k) => [["runs", "ready", "sleeps"][id], lane.start[k], lane.end[k]])""", name)

    def test_a_thread_shows_when_it_ran_could_run_and_slept(self):
        self.scheduled()
        self.assertEqual(self.states_of("high"), [
            ["runs", 2_000_000, 2_510_000], ["sleeps", 2_510_000, 11_005_000], ["ready", 11_005_000, 11_008_000],
            ["runs", 11_008_000, 11_310_000], ["ready", 11_310_000, 12_310_000], ["runs", 12_310_000, 13_000_000],
            ["sleeps", 13_000_000, 14_000_000]])
        browser.run("window.pxtrace.select({span: Array.from(window.pxtrace.spans.time).indexOf(10399000)})")
        settle()
        for part in ("ran\n901 µs, 8.7 %", "could run\n1.00 ms, 9.6 %", "slept\n8.49 ms, 81.7 %"):
            self.assertIn(part, text("#details"))

    def test_a_loss_leaves_empty_what_nobody_knows(self):
        self.scheduled(loss=True)
        self.assertEqual(self.states_of("high")[:3], [["runs", 2_000_000, 2_510_000], ["sleeps", 2_510_000, 2_600_000],
                                                     ["runs", 11_008_000, 11_310_000]])
        lane = browser.run("""const lane = window.pxtrace.tracks.find((each) => each.name === "CPU 0").runs;
            return Array.from(lane.start)""")
        self.assertNotIn(2_600_000, lane)

    # ---- Durations ----

    def test_percentiles_are_those_of_pxtrace_stat(self):
        wanted = make.durations(make.path("story.ptl"), "--by", "thread")
        rows = browser.run("""const p = window.pxtrace; return p.rows().flatMap((each) => each.inner).map((row) => [
            p.kinds[row.kind].begin + " .. " + p.kinds[row.kind].end + " " + row.name,
            {COUNT: row.n, MIN: row.least, MEDIAN: row.quantiles[0], P99: row.quantiles[2], "P99.9": row.quantiles[3], MAX: row.most}])""")
        self.assertEqual({name for name, _ in rows}, set(wanted))
        for name, row in rows:
            same = [head for head in row if head in wanted[name]]
            self.assertGreaterEqual(len(same), 5)
            self.assertEqual([row[head] for head in same], [wanted[name][head] for head in same], name)

    def test_a_bar_of_the_histogram_leads_to_its_spans(self):
        browser.run("window.pxtrace.pick(window.pxtrace.kinds.findIndex((each) => each.name === 'job'), -1)")
        browser.run("document.getElementById('histogram').scrollIntoView({block: 'center'})")
        settle()
        box = browser.run("const r = document.getElementById('histogram').getBoundingClientRect(); return [r.left, r.top, r.width]")
        browser.click(box[0] + box[2] - 10, box[1] + 120)
        settle()
        self.assertGreater(browser.run("return window.pxtrace.view.low"), 2_000_000)
        self.assertEqual(browser.run("return document.querySelectorAll('#distribution tbody tr').length"), 1)
        browser.run("document.querySelector('#distribution tbody .link').click()")
        settle()
        start, end = view()
        self.assertTrue(start < 13_000_000 < 15_400_000 < end < start + 20_000_000, (start, end))
        self.assertIn("2.40 ms", text("#details"))

    # ---- All of it ----

    def test_the_address_keeps_the_view(self):
        show(12_000_000, 17_000_000)
        browser.click(*place("sensor", 14_000_000, 0))
        browser.run("window.pxtrace.search('mtx')")
        browser.wait("location.hash.includes('span=') && location.hash.includes('q=mtx')")
        fragment = browser.run("return location.hash")
        visit(self.path, fragment)
        self.assertEqual([round(each) for each in view()], [12_000_000, 17_000_000])
        self.assertIn("2.40 ms", text("#details"))
        self.assertEqual(browser.run("return document.getElementById('query').value"), "mtx")
        visit(self.path, "#t=a,b&span=99999999&q=%E0%A4%A&d=77.x&b=-1,q")
        self.assertEqual(browser.run("return window.pxtrace.view.selected"), None)

    def test_light_and_dark_are_both_drawn_and_light_is_printed(self):
        light = colour("sensor", 500_000, 0)
        browser.keys("t")
        settle()
        dark = colour("sensor", 500_000, 0)
        self.assertGreater(int(light[1:3], 16), 200)
        self.assertLess(int(dark[1:3], 16), 60)
        # What a browser with a window does before it prints.
        browser.run("dispatchEvent(new Event('beforeprint'))")
        settle()
        self.assertEqual(colour("sensor", 500_000, 0), light)
        printed = base64.b64decode(browser.post("/print", background=True))
        self.assertTrue(printed.startswith(b"%PDF") and len(printed) > 20_000)

    def test_everything_that_can_be_pressed_has_a_name(self):
        unnamed = browser.run("""return [...document.querySelectorAll("button, input, canvas, a, table, section, dialog")].filter((node) =>
            !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length || node.getAttribute("aria-labelledby"))).map((node) => node.outerHTML)""")
        self.assertEqual(unnamed, [])
        self.assertEqual(browser.run("return document.documentElement.lang"), "en")
        self.assertIn("events", browser.run("return document.getElementById('tracks').getAttribute('aria-label')"))

    # ---- Other pages ----

    def test_hostile_names_and_texts_are_shown_as_text(self):
        bad = "".join(f"\\x{byte:02x}" for byte in "</script><img src=x onerror=pwned()>\u202eevil".encode())
        head = f"process 1 {bad} {bad}\nthread 1 0x1000 5 {bad[:60]}\ntype 32 {bad} string what\ntype 33 {bad[:120]}_begin\ntype 34 {bad[:120]}_end\n"
        visit(make.page("hostile", f"event 1000 32 1 0 text:{bad}\nevent 2000 33 1 0\nevent 3000 34 1 0\n", head=head))
        self.assertEqual(browser.run("return document.querySelectorAll('img, iframe').length"), 0)
        browser.run("window.pxtrace.select({event: 0}, 'zoom')")
        settle()
        self.assertIn("</script><img src=x", text("#details"))
        self.assertNotIn("\u202e", browser.run("return document.body.textContent"))
        self.assertIn("<img", text("#types-table"))

    def test_the_page_forbids_every_script_but_its_own(self):
        # What somebody might get into the page by a mistake of ours would still not run.
        browser.run("""const node = document.createElement("script"); node.textContent = "window.pwned = 1"; document.body.append(node);
            const div = document.createElement("div"); div.innerHTML = "<img src=data:, onerror='window.pwned = 2'>"; document.body.append(div);""")
        time.sleep(0.2)
        self.assertIsNone(browser.run("return window.pwned"))
        refused = [each["message"] for each in browser.messages()]
        self.assertTrue(refused and all("Content Security Policy" in each for each in refused), refused)

    def test_several_logs_stand_below_each_other(self):
        one, two = make.log("one.ptl", pages.story()), make.log("two.ptl", pages.story().replace(" 32 1 ", " 32 2 "))
        status, _, messages = make.run("report", one, two, "-o", make.path("both.html"))
        self.assertEqual(status, 0, messages)
        visit(make.path("both.html"))
        self.assertEqual(browser.run("return window.pxtrace.tracks.map((each) => each.log)"), [0, 0, 0, 1, 1, 1])
        self.assertIn("two.ptl", text("#about"))


if __name__ == "__main__":
    reason = webdriver.missing()
    if reason:
        print(reason + ": skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        make = pages.Maker(sys.argv[1], sys.argv[2], folder)
        browser = webdriver.Browser(1200, 800)
        try:
            done = unittest.main(argv=sys.argv[:1] + sys.argv[3:], exit=False)
        finally:
            browser.close()
    sys.exit(0 if done.result.wasSuccessful() else 1)
