#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The papers and the manual as HTML that needs no server and nothing from elsewhere.

    site.py OUT          writes OUT/index.html and all that can be reached from it
    site.py --check OUT  and exit status 77 where a tool is missing

cmark-gfm makes HTML of Markdown, mandoc of manual pages (scdoc makes those of section 1).  Every link
of a paper leads to a page of its own: another paper, a picture, or a file of the tree as text.  After
writing all links are followed, and what leads nowhere is said, with exit status 1.
"""
import functools
import html
import os
import re
import shutil
import subprocess
import sys

import manual

ROOT = manual.ROOT
STYLE = """
:root { --ink: #1c1e21; --paper: #fff; --soft: #f4f5f7; --line: #d5d9df; --link: #0b57a4; --dim: #5c6570;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe3e8; --paper: #16191d; --soft: #20252b; --line: #39414a; --link: #86b9f2; --dim: #9aa5b1; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.6 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
header { padding: .7rem 1.2rem; border-bottom: 1px solid var(--line); background: var(--soft); }
header a { margin-right: 1.1rem; white-space: nowrap; }
header a:first-child { font-weight: 700; color: var(--ink); }
.frame { display: flex; max-width: 84rem; margin: 0 auto; }
aside { flex: 0 0 15rem; padding: 1.4rem 1.2rem; border-right: 1px solid var(--line); font-size: .9rem; }
aside h2, details.pages h2 { font-size: .8rem; margin: 1.2rem 0 .2rem; color: var(--dim); text-transform: uppercase; }
aside h2:first-child { margin-top: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav [aria-current] { font-weight: 700; color: var(--ink); }
main { flex: 1; min-width: 0; padding: 1.2rem 2rem 4rem; }
main { overflow-wrap: anywhere; }
pre, td, th { overflow-wrap: normal; }
main > * { max-width: 50rem; }
main > .scroll, main > section > .scroll { max-width: 64rem; }
h1 { font-size: 1.8rem; line-height: 1.25; margin: .6rem 0 1rem; }
h2, h1.Sh { font-size: 1.3rem; line-height: 1.3; margin: 2.2rem 0 .7rem; }
h3, h2.Ss { font-size: 1.08rem; margin: 1.6rem 0 .5rem; overflow-wrap: anywhere; }
h1.Sh a, h2.Ss a { color: inherit; }
code, pre, .Nm, .Fn, .In, var { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .88em; }
code { overflow-wrap: anywhere; }
:not(pre) > code { background: var(--soft); padding: .08em .25em; border-radius: 3px; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 5px; padding: .8rem 1rem; overflow-x: auto;
  line-height: 1.45; }
pre code { overflow-wrap: normal; font-size: 1em; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; min-width: 3rem; }
th { background: var(--soft); }
td p { margin: 0; }
img { max-width: 100%; height: auto; background: #fff; border: 1px solid var(--line); }
dt { font-weight: 600; margin-top: .5rem; overflow-wrap: anywhere; }
dd { margin: 0 0 .3rem 1.6rem; }
details { margin: 0 0 1rem; }
details.pages { display: none; margin: 0; padding: .5rem 1.2rem; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; color: var(--dim); }
.contents ul { columns: 2; margin: .4rem 0 0; padding-left: 1.2rem; font-size: .92rem; }
.Bl-compact, .foot, .head { display: none; }
var { font-style: italic; }
@media (max-width: 56rem) {
  aside { display: none; } details.pages { display: block; }
  main { padding: 1rem 1rem 3rem; } h1 { font-size: 1.5rem; } .contents ul { columns: 1; } }
"""
NAVIGATION = (
    ("Begin", ("README.md", "docs/tutorial.md", "docs/overview.md", "examples/README.md", "docs/linking.md")),
    ("Use", ("docs/pxtrace.md", "docs/run.md", "docs/why.md", "docs/attach.md", "docs/kernel.md", "docs/boards.md",
             "docs/cpp.md", "docs/python.md")),
    ("Reference", ("man/index", "docs/standard.md", "FORMAT.md", "docs/units.md",
                   "SECURITY.md")),
    ("Figures", ("docs/bench.md",)),
    ("Inside", ("DESIGN.md", "docs/porting.md", "docs/decisions.md", "CONTRIBUTING.md",
                "CHANGELOG.md")),
)
SECTIONS = {1: "Commands", 3: "Functions", 5: "Formats", 7: "Overviews"}


def tool(*command, text=""):
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def slug(heading):
    """A heading's anchor, as forges make it."""
    return re.sub(r"[^\w\- ]", "", html.unescape(re.sub(r"<[^>]*>", "", heading)).lower()).replace(" ", "-")


def place_of(path):
    """Where a file of the tree stands in the site."""
    if path == "README.md":
        return "index.html"
    if path.endswith(".md"):
        return path[:-3] + ".html"
    return path if path.endswith((".png", ".svg")) else path.rstrip("/") + ".html"


@functools.lru_cache(maxsize=None)
def title_of(path):
    if path == "man/index":
        return "Manual"
    if path == "README.md":
        return "libptrace"
    return re.sub(r"[`*]", "", re.search(r"^# (.*)", manual.read(path), re.M)[1])


class Site:
    def __init__(self, out):
        self.out, self.waiting, self.done, self.complaints = out, [], set(), []
        self.manual = manual.Manual()
        self.pages, self.alias, self.about = {}, {}, {}
        for section, name, text in self.manual.pages():
            if text.startswith(".so "):
                self.alias[name, section] = os.path.basename(text.split()[1])[:-2]
            else:
                self.pages[name, section] = text
        if shutil.which("scdoc"):
            for source in sorted(os.listdir(os.path.join(ROOT, "docs/man"))):
                name, section, _ = source.rsplit(".", 2)
                self.pages[name, int(section)] = manual.scdoc(os.path.join(ROOT, "docs/man", source))
            for name, source in manual.commands().items():
                if (name, 1) not in self.pages:
                    self.alias[name, 1] = os.path.basename(source)[:-6]
        for (name, section), text in self.pages.items():
            described = re.search(r"^\.Nd (.*)$", text, re.M) or re.search(r"^\.SH NAME.*?\\?- (.*?)$", text, re.S | re.M)
            self.about[name, section] = re.sub(r"\\f.|\\&", "", described[1]).replace("\\", "")

    def man_place(self, name, section):
        name = self.alias.get((name, section), name)
        return f"man/{name}.{section}.html" if (name, section) in self.pages else None

    def write(self, place, text):
        path = os.path.join(self.out, place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def put(self, place, title, body):
        """A page with its navigation."""
        up = "../" * place.count("/")
        lists = []
        for heading, papers in NAVIGATION:
            items = "".join(f'<li><a href="{up}{place_of(paper)}"{" aria-current=page" if place_of(paper) == place else ""}>'
                            f'{html.escape(title_of(paper))}</a></li>' for paper in papers)
            lists.append(f"<h2>{heading}</h2><ul>{items}</ul>")
        lists = "".join(lists)
        body = re.sub(r"<table(?! class=\"(?:head|foot))", '<div class="scroll"><table', body)
        body = re.sub(r"(<div class=\"scroll\"><table.*?</table>)", r"\1</div>", body, flags=re.S)
        self.write(place, f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}{'' if title == 'libptrace' else ' - libptrace'}</title>
<link rel="stylesheet" href="{up}style.css"></head><body>
<header><a href="{up}index.html">libptrace</a><a href="{up}docs/tutorial.html">Tutorial</a><a href="{up}man/index.html">Manual</a></header>
<details class="pages"><summary>All pages</summary><nav>{lists}</nav></details>
<div class="frame"><aside><nav>{lists}</nav></aside>
<main>
{body}</main></div></body></html>
""")

    @staticmethod
    def contents(headings):
        if len(headings) < 5:
            return ""
        items = "".join(f'<li><a href="#{anchor}">{text}</a></li>' for anchor, text in headings)
        return f'<details class="contents"><summary>On this page</summary><ul>{items}</ul></details>\n'

    # ---- Papers ----

    def target(self, paper, link):
        """A link of a paper as a link of its page; what it leads to is made, too."""
        if re.match(r"[a-z]+:", link):
            return link
        path, _, anchor = link.partition("#")
        if not path:
            return link
        path = os.path.normpath(os.path.join(os.path.dirname(paper), path))
        full = os.path.join(ROOT, path)
        if os.path.isdir(full) and os.path.exists(os.path.join(full, "README.md")):
            path += "/README.md"
        if not os.path.exists(full):
            self.complaints.append(f"{paper}: {link} is not in the tree")
            return link
        self.waiting.append(path)
        place = os.path.relpath(place_of(path), os.path.dirname(place_of(paper)) or ".")
        return place + (f"#{anchor}" if anchor else "")

    def known(self, paper, match):
        """A name in backquotes that has a page in the manual."""
        words = html.unescape(match[1])
        name = re.fullmatch(r"((?:posix_trace|POSIX_TRACE)_\w+)(?:\(\))?", words)
        command = re.match(r"pxtrace (\w+)$", words)
        place = self.man_place(name[1], 3) if name else self.man_place("pxtrace-" + command[1], 1) if command else None
        if not place:
            return match[0]
        return f'<a href="{os.path.relpath(place, os.path.dirname(place_of(paper)) or ".")}">{match[0]}</a>'

    def paper(self, paper):
        body = tool("cmark-gfm", "-e", "table", "--unsafe", text=re.sub(r"<!--.*?-->", "", manual.read(paper), flags=re.S))
        # Names first, outside of links and blocks.
        pieces = re.split(r"(<a .*?</a>|<pre>.*?</pre>)", body, flags=re.S)
        body = "".join(piece if number % 2 else re.sub(r"<code>([^<]*)</code>", lambda m: self.known(paper, m), piece)
                       for number, piece in enumerate(pieces))
        seen, headings = {}, []

        def anchored(match):
            anchor = slug(match[2])
            count = seen[anchor] = seen.get(anchor, -1) + 1
            anchor += f"-{count}" if count else ""
            if match[1] == "2":
                headings.append((anchor, re.sub(r"</?a[^>]*>", "", match[2])))
            return f'<h{match[1]} id="{anchor}">{match[2]}</h{match[1]}>'

        body = re.sub(r"<h(\d)>(.*?)</h\d>", anchored, body)
        own = re.compile(r'(href|src)="([^"]*)"')
        pieces = re.split(r"(<pre>.*?</pre>)", body, flags=re.S)
        body = "".join(piece if number % 2 else own.sub(lambda m: m[0] if "/man/" in m[2] or m[2].startswith("man/") else
                       f'{m[1]}="{self.target(paper, html.unescape(m[2]))}"', piece) for number, piece in enumerate(pieces))
        body = re.sub(r"</h1>\n", lambda m: "</h1>\n" + self.contents(headings), body, count=1)
        self.put(place_of(paper), title_of(paper), body)

    def file(self, path):
        """A picture as it is, another file as text, a folder as its names."""
        full = os.path.join(ROOT, path)
        if path.endswith((".png", ".svg")):
            os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
            shutil.copy(full, os.path.join(self.out, path))
            return
        text = "\n".join(sorted(os.listdir(full))) if os.path.isdir(full) else manual.read(path)
        self.put(place_of(path), path, f"<h1><code>{html.escape(path)}</code></h1>\n<pre>{html.escape(text)}</pre>\n")

    # ---- The manual ----

    def man(self, name, section):
        body = tool("mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", text=self.pages[name, section])

        def link(word, number, shown):
            place = self.man_place(word, int(number))
            return f'<a class="Xr" href="{os.path.basename(place)}">{shown}</a>' if place else shown

        body = re.sub(r'<a class="Xr" href="[^"]*">([\w.-]+)\((\d)\)</a>', lambda m: link(m[1], m[2], f"{m[1]}({m[2]})"), body)
        body = re.sub(r"<(?:b|code class=\"Nm\")>([\w.-]+)</(?:b|code)>\((\d)\)",
                      lambda m: link(m[1], m[2], f"{m[1]}({m[2]})"), body)
        body = re.sub(r"</?section[^>]*>\n?|<!--.*?-->", "", body)
        headings = [(anchor, text) for anchor, text in
                    re.findall(r'<h1 class="Sh" id="([^"]*)"><a[^>]*>(.*?)</a>', body, flags=re.S)]
        body = f"<h1>{name}({section})</h1>\n" + self.contents(headings) + re.sub(r"</?div[^>]*manual-text[^>]*>", "", body, count=1)
        body = body[:body.rfind("</div>")] + body[body.rfind("</div>") + 6:] if "manual-text" not in body else body
        self.put(self.man_place(name, section), f"{name}({section})", body)

    def index(self):
        """All pages by section; a function's own page or that which has it."""
        names = sorted([*self.pages, *self.alias], key=lambda page: (page[1], page[0].lower()))
        body = "<h1>Manual</h1>\n"
        for section, heading in SECTIONS.items():
            rows = []
            for name, number in names:
                if number == section:
                    page = self.alias.get((name, number), name)
                    rows.append(f'<tr><td><a href="{os.path.basename(self.man_place(name, number))}">{name}</a></td>'
                                f"<td>{html.escape(self.about[page, number])}</td></tr>\n")
            if rows:
                body += f'<h2 id="{slug(heading)}">{heading} ({section})</h2>\n<table>\n{"".join(rows)}</table>\n'
        self.put("man/index.html", "Manual", body)

    # ---- All of it ----

    def make(self):
        shutil.rmtree(self.out, ignore_errors=True)
        self.write("style.css", STYLE.lstrip())
        for name, section in self.pages:
            self.man(name, section)
        self.index()
        self.waiting = [paper for _, papers in NAVIGATION for paper in papers if paper.endswith(".md")]
        while self.waiting:
            path = self.waiting.pop()
            if path not in self.done:
                self.done.add(path)
                self.paper(path) if path.endswith(".md") else self.file(path)

    def follow(self):
        """Links and pictures that lead nowhere, and anything that would be fetched from elsewhere."""
        anchors, links = {}, []
        for folder, _, names in os.walk(self.out):
            for name in names:
                if name.endswith(".html"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        text = file.read()
                    anchors[path] = set(re.findall(r'\bid="([^"]*)"', text))
                    links += [(path, kind, html.unescape(link)) for kind, link in re.findall(r'\b(href|src)="([^"]*)"', text)]
        for path, kind, link in links:
            where = os.path.relpath(path, self.out)
            if re.match(r"[a-z]+:", link):
                if kind == "src" or not re.match(r"https?://|mailto:", link):
                    self.complaints.append(f"{where}: {kind} {link} is not ours")
                continue
            target, _, anchor = link.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.isfile(full):
                self.complaints.append(f"{where}: {link} leads nowhere")
            elif anchor and full in anchors and anchor not in anchors[full]:
                self.complaints.append(f"{where}: {link}: no such place on that page")
        return len(anchors), len(links)


def main():
    missing = [name for name in ("cmark-gfm", "mandoc") if not shutil.which(name)]
    if missing:
        print(f"not found: {', '.join(missing)} (Debian: packages of the same names): no site")
        return 77 if "--check" in sys.argv else 1
    site = Site(os.path.abspath([word for word in sys.argv[1:] if word != "--check"][0]))
    site.make()
    pages, links = site.follow()
    print("\n".join([*sorted(set(site.complaints)), f"{pages} pages, {links} links, {len(set(site.complaints))} findings"]))
    return 1 if site.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
