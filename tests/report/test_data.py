#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pxtrace report writes, without a browser.  usage: test_data.py PXTRACE MKLOG [TEST...]"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages  # noqa: E402

make = None
HOSTILE = ["</script><script>window.pwned=1</script>", "\"><img src=x onerror=window.pwned=1>",
           "a'b\"c&amp;<!--", "\u202eright-to-left\u2066", "new\nline\ttab\x1b[31m", "\u2028\u2029",
           "]]>--></title></style>", "\x00x\xff" * 3]


def escaped(text):
    """For a recipe: every byte as \\xNN."""
    return "".join(f"\\x{byte:02x}" for byte in text.encode("utf-8", "surrogateescape") if byte)


def random_recipe(amount, seed=7):
    """The recipe, and what a page must say of it: time, type, thread, length, kept data."""
    chance = random.Random(seed)
    lines, wanted, at = [], [], 0
    for _ in range(amount):
        at += chance.choice([0, 1, 127, 128, 16384, 10 ** 6, 5 * 10 ** 9])
        kind = chance.choice([32, 33, 36])
        data = {32: lambda: struct.pack("=I", chance.randrange(2 ** 32)),
                33: lambda: struct.pack("=Iq", chance.randrange(9), chance.randrange(-99, 99)),
                36: lambda: bytes(chance.randrange(256) for _ in range(chance.choice(
                    [0, 1, 7, 8, 9, 30, 255, 256, 257, 600])))}[kind]()
        thread = chance.choice([0, 1, 2])
        lines.append(f"event {at} {kind} {thread} 0 " + (f"hex:{data.hex()}" if data else ""))
        wanted.append((at, kind, thread, len(data), data[:256]))
    return "\n".join(lines) + "\n", wanted


class Data(unittest.TestCase):
    def test_events_of_a_page_are_those_of_the_log(self):
        # More than one chunk, so that what goes from one to the next is looked at, too.
        recipe, wanted = random_recipe(40000)
        meta, events, _ = pages.read(make.page("random", recipe))
        names = {"job_begin": 32, "job_end": 33, "note": 36}
        threads = {"-": 0, "sensor/4712": 1, "control/4713": 2}
        found = [(time, names[meta["types"][kind]["name"]], threads[meta["threads"][thread]["name"]],
                  length, data) for time, kind, thread, _, _, length, data in events]
        self.assertEqual(found, wanted)
        self.assertEqual(meta["events"], len(wanted))

    def test_events_before_the_start_keep_their_times(self):
        clock = "clock 1000000000 5000000000 1700000000000000000 5000000000\n"
        meta, events, _ = pages.read(make.page("early", "event -3000000000 36 1 0\nevent -7 36 1 0\nevent 5 36 1 0\n",
                                               head=clock + pages.HEAD))
        self.assertEqual([event[0] for event in events], [-3_000_000_000, -7, 5])
        self.assertEqual(meta["first"], -3_000_000_000)

    def test_spans_join_the_events_that_stat_pairs(self):
        meta, events, spans = pages.read(make.page("story", pages.story()))
        by_pair = {}
        for begin, end, pair in spans:
            name = meta["pairs"][[each["number"] for each in meta["pairs"]].index(pair)]["base"]
            by_pair.setdefault(name, []).append(events[end][0] - events[begin][0])
        wanted = {name.split("_")[0]: [row["COUNT"], row["MIN"], row["MAX"]]
                  for name, row in make.durations(make.path("story.ptl")).items()}
        self.assertEqual({name: [len(each), min(each), max(each)] for name, each in by_pair.items()}, wanted)

    def test_a_page_has_nothing_that_leads_out_of_it(self):
        with open(make.page("story", pages.story()), encoding="utf-8") as file:
            text = file.read()
        self.assertNotRegex(text, r"(?i)(https?:|ftp:|//[a-z0-9.-]+\.[a-z]{2,}/|@import|<link|<iframe|<object|url\()")
        self.assertIn("default-src 'none'", text)

    def test_hostile_names_and_texts_stay_inside_their_elements(self):
        texts = [escaped(text) for text in HOSTILE]
        head = f"system 3 {texts[0][:39]}\n"
        head += f"process 4711 {escaped('<b>host</b>' + chr(27) + chr(0x202e))} {texts[4]}{texts[0]}\n"
        head += "".join(f"thread {k + 1} {0x1000 * (k + 1)} {k + 5} {text[:60]}\n"
                        for k, text in enumerate(texts))
        head += "".join(f"type {32 + k} {text[:240]} string what\n" for k, text in enumerate(texts))
        head += f"module 0 0x1000 0x2000 00ff {texts[0]}\n"
        recipe = "".join(f"event {k} {32 + k} {k + 1} 0 text:{text}\n" for k, text in enumerate(texts))
        with open(make.page("hostile", recipe, head=head), encoding="utf-8") as file:
            text = file.read()
        with open(make.page("harmless", ""), encoding="utf-8") as file:
            plain = file.read()
        # The same elements as a page without events has, and its one chunk of data.
        tags = re.compile(r"<(/?[a-zA-Z!][^\s>]*)")
        self.assertEqual([tag for tag in tags.findall(text) if tag not in ("script", "/script")],
                         [tag for tag in tags.findall(plain) if tag not in ("script", "/script")])
        self.assertEqual(text.count("<script"), plain.count("<script") + 1)
        self.assertNotRegex(text, "[\u202a-\u202e\u2066-\u2069\u2028\u2029\x00-\x08\x0b-\x1f\x7f]")

    def test_beyond_its_limit_a_page_counts_on(self):
        meta, events, spans = pages.read(make.page("limited", pages.story(), "--max-events", "10"))
        whole, all_events, all_spans = pages.read(make.page("whole", pages.story()))
        self.assertEqual((len(events), meta["shown"]), (10, 10))
        self.assertEqual(events, all_events[:10])
        self.assertEqual(meta["events"], whole["events"])
        self.assertEqual(meta["logs"][0]["losses"], whole["logs"][0]["losses"])
        self.assertEqual([each["count"] for each in meta["pairs"]], [each["count"] for each in whole["pairs"]])
        self.assertLess(len(spans), len(all_spans))
        self.assertEqual(sum(each["count"] for each in meta["types"]), whole["events"])

    def test_many_losses_are_joined_and_their_sum_stays(self):
        recipe = "".join(f"loss {k % 7 + 1}\nevent {1000 * k} 36 1 0\n" for k in range(9001))
        meta, _, _ = pages.read(make.page("lossy", recipe))
        losses = meta["logs"][0]["losses"]
        self.assertLessEqual(len(losses), 4096)
        self.assertEqual(sum(loss[2] for loss in losses), sum(k % 7 + 1 for k in range(9001)))
        self.assertEqual(sum(loss[3] for loss in losses), 9001)
        for one, next_one in zip(losses, losses[1:]):
            self.assertLessEqual(one[1], next_one[0] + 1000)

    def test_what_no_event_tells_of_is_marked_at_the_end(self):
        meta, _, _ = pages.read(make.page("untold", "event 1000 36 1 0\nlost 9\nevent 5000 36 1 0\n"))
        self.assertEqual(meta["logs"][0]["losses"], [[5000, 5000, 9, 1]])
        self.assertEqual(meta["logs"][0]["lostUntold"], 9)

    def test_losses_show_where_other_events_were_chosen(self):
        meta, events, _ = pages.read(make.page("chosen", pages.story(), "--event", "mtx_*"))
        self.assertEqual({meta["types"][event[1]]["name"] for event in events}, {"mtx_lock", "mtx_unlock"})
        self.assertEqual(sum(loss[2] for loss in meta["logs"][0]["losses"]), 12)
        self.assertTrue(meta["chosen"])

    def test_numbers_beyond_what_a_script_counts_exactly_are_texts(self):
        meta, _, _ = pages.read(make.page("huge", f"loss {2 ** 60}\nevent 1000 36 1 0\n"))
        self.assertEqual(meta["logs"][0]["losses"][0][2], str(2 ** 60))
        self.assertEqual(meta["logs"][0]["lostAll"], str(2 ** 60))

    def test_the_answers_are_those_of_pxtrace_why(self):
        meta, _, _ = pages.read(make.page("scheduled", pages.scheduled(), head=pages.SCHEDULED_HEAD))
        _, text, _ = make.run("why", make.path("scheduled.ptl"))
        found = meta["why"]["list"]
        self.assertEqual([meta["why"]["by"], len(found)], ["misses", 1])
        self.assertEqual(found[0]["answer"] + " " + found[0]["help"], " ".join(text.split("\n\n")[0].split()))
        _, told, _ = make.run("why", "--json", make.path("scheduled.ptl"))
        late = json.loads(told)["late"][0]
        self.assertEqual([[each["ns"], each["text"]] for each in found[0]["causes"]],
                         [[each["ns"], each["text"]] for each in late["causes"]])
        self.assertEqual(sum(each["ns"] for each in found[0]["causes"]), found[0]["length"])

    def test_an_answer_has_its_chain_of_threads(self):
        meta, _, _ = pages.read(make.page("held_up", pages.held_up(), head=pages.TRACED_HEAD))
        chain = meta["why"]["list"][0]["chain"]
        self.assertEqual([[each["thread"], each["tid"], each.get("by", {}).get("tid")] for each in chain],
                         [["high", 101, 103], ["low", 103, None]])
        # The wait, and in it what the other one did while it had the lock.
        self.assertEqual([[each["begin"], each["end"]] for each in chain],
                         [[71_700_000, 121_710_000], [71_700_000, 121_700_000]])
        self.assertTrue(all(each["text"] in meta["why"]["list"][0]["answer"] for each in chain))

    def test_the_answer_of_a_span_and_of_a_wait_have_their_chain_too(self):
        for name, recipe, head, links in (
                ("scheduled", pages.scheduled(), pages.SCHEDULED_HEAD, [["high", "low"], ["low", "other"]]),
                ("traced", pages.traced(), pages.TRACED_HEAD, [["high", "low"], ["low", None]])):
            meta, _, _ = pages.read(make.page(name, recipe, head=head))
            answer = meta["why"]["list"][0]
            self.assertEqual([[each["thread"], each.get("by", {}).get("thread")] for each in answer["chain"]], links)
            # The wait that the answer names, inside of the span.
            self.assertTrue(answer["release"] <= answer["chain"][0]["begin"] < answer["chain"][0]["end"] <= answer["end"])

    def test_an_answer_that_no_link_leads_to_has_none(self):
        meta, _, _ = pages.read(make.page("story", pages.story()))
        self.assertEqual([each["chain"] for each in meta["why"]["list"]], [[]])

    def test_without_deadlines_the_longest_beyond_the_usual_are_explained(self):
        lines = [f"event {1000 * (100 * k + at)} {kind} 1 0 u32:{k}" + (" i64:0" if kind == 33 else "")
                 for k in range(40) for at, kind in ((0, 32), (90 if k in (7, 30) else 10, 33))]
        meta, _, _ = pages.read(make.page("unusual", "\n".join(lines) + "\n", "--worst", "2"))
        self.assertEqual(meta["why"]["by"], "unusual")
        self.assertEqual({each["begin"] for each in meta["why"]["list"]}, {700_000, 3_000_000})

    def test_without_spans_the_longest_waits_are_explained(self):
        lines = ["event 1000 39 2 0 u64:1", "event 1100 34 2 0 u64:1", "event 2000 39 1 0 u64:1",
                 "event 9000 35 2 0 u64:1", "event 9100 34 1 0 u64:1"]
        meta, _, _ = pages.read(make.page("waits", "\n".join(lines) + "\n", head=pages.HEAD + "type 39 mtx_wait x64 lock\n"))
        self.assertEqual(meta["why"]["by"], "waits")
        self.assertEqual(meta["why"]["list"][0]["length"], 7100)
        self.assertIn(" waited 7.10 us for mtx 0x1, which control had.", meta["why"]["list"][0]["answer"])

    def test_many_causes_end_in_one_that_has_the_rest_of_the_time(self):
        lines = ["event 1000 32 1 0 u32:1"]
        for k in range(60):
            lines += [f"event {10_000 * k + 2000} 34 1 0 u64:{k}", f"event {10_000 * k + 3000 + k} 35 1 0 u64:{k}"]
        lines += ["event 700000 33 1 0 u32:1 i64:0", "event 700001 38 1 0 u32:1"]
        meta, _, _ = pages.read(make.page("causes", "\n".join(lines) + "\n"))
        answer = meta["why"]["list"][0]
        self.assertEqual(len(answer["causes"]), 25)
        self.assertRegex(answer["causes"][-1]["text"], "^[0-9]+ other causes$")
        self.assertEqual(sum(each["ns"] for each in answer["causes"]), answer["length"])

    def test_who_wants_no_answers_gets_none(self):
        meta, events, _ = pages.read(make.page("silent", pages.story(), "--worst", "0"))
        self.assertEqual(meta["why"]["list"], [])
        _, all_events, _ = pages.read(make.page("story", pages.story()))
        self.assertEqual(events, all_events)

    def test_calls_and_locks_are_deeds_of_their_threads_and_no_word_of_the_stream(self):
        meta, _, _ = pages.read(make.page("traced", "event 0 2 0 0\n" + pages.traced(), head=pages.TRACED_HEAD))
        roles = {each["name"]: each["role"] for each in meta["types"]}
        self.assertEqual(roles.pop("posix_trace_start"), "start")
        self.assertIn("posix_trace_mutex_wait", roles)
        self.assertEqual(set(roles.values()), {""})

    def test_the_page_knows_which_programs_were_traced(self):
        meta, _, _ = pages.read(make.page("traced", pages.traced(), head=pages.TRACED_HEAD))
        self.assertEqual(meta["logs"][0]["programs"], [[4711, "/opt/app/rover"]])
        # Also where other events were chosen.
        meta, _, _ = pages.read(make.page("locks", pages.traced(), "--event", "*mutex*", head=pages.TRACED_HEAD))
        self.assertEqual(meta["logs"][0]["programs"], [[4711, "/opt/app/rover"]])

    def test_types_say_which_fields_are_the_schedulers(self):
        meta, _, _ = pages.read(make.page("scheduled", pages.scheduled(), head=pages.SCHEDULED_HEAD))
        told = {each["name"]: {what: place if what == "deed" else each["fields"][place][0]
                               for what, place in each["scheduler"].items()}
                for each in meta["types"] if "scheduler" in each}
        self.assertEqual(told, {
            "sched_switch": {"deed": "switch", "cpu": "cpu", "from": "prev_tid", "to": "next_tid",
                             "state": "prev_state", "toName": "next_comm"},
            "sched_wakeup": {"deed": "wake", "thread": "tid"}})

    def test_the_same_log_gives_the_same_page(self):
        both = []
        for _ in range(2):
            with open(make.page("story", pages.story()), "rb") as file:
                both.append(file.read())
        self.assertEqual(both[0], both[1])

    def test_memory_does_not_follow_the_log(self):
        with open(make.pxtrace, "rb") as file:
            if re.search(rb"__[at]san_init", file.read()):
                self.skipTest("a sanitizer's own memory follows everything")
        peaks = []
        for amount in (20000, 120000):
            recipe = "".join(f"event {1000 * k} {32 + k % 2} 1 0 u32:{k // 2}\n" for k in range(amount))
            log = make.log("memory.ptl", recipe)
            code = ("import resource,subprocess,sys\nsubprocess.run(sys.argv[1:],check=True)\n"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            done = subprocess.run([sys.executable, "-c", code, make.pxtrace, "report", log, "-o",
                                   make.path("memory.html")], capture_output=True, text=True, check=True)
            peaks.append(int(done.stdout))
        self.assertLess(peaks[1], peaks[0] + 2048, f"KiB at 20,000 and 120,000 events: {peaks}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        make = pages.Maker(sys.argv[1], sys.argv[2], folder)
        unittest.main(argv=sys.argv[:1] + sys.argv[3:])
