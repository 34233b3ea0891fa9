# SPDX-License-Identifier: MIT
"""A browser without a window, driven over the W3C WebDriver protocol by the standard library alone.

Browser(width, height) starts chromedriver on a free port of the loopback interface and a headless
Chromium with a profile of its own in a temporary directory; close() ends both and removes it.  No
process stays behind: this one adopts what those two leave (PR_SET_CHILD_SUBREAPER), and waits for it.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

DRIVERS = ("chromedriver", "/usr/lib/chromium/chromedriver")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Tab": "\ue004", "Backspace": "\ue003"}


def missing():
    """What is not there, in words; "" when a browser can be started."""
    for what, names in (("chromedriver", DRIVERS), ("chromium", BROWSERS)):
        if not any(shutil.which(name) for name in names):
            return f"no {what} (Debian: chromium, chromium-driver)"
    return ""


PR_SET_CHILD_SUBREAPER = 36


def adopt():
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap(seconds=5):
    """Waits for every child there is; only to be called where all of them are a browser's."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
        except ChildProcessError:
            return


class WebDriverError(Exception):
    pass


class Browser:
    def __init__(self, width=1400, height=900, dark=False):
        self.profile = tempfile.mkdtemp(prefix="pxtrace-browser-")
        self.driver = None
        self.session = ""
        adopt()
        try:
            self._start_driver()
            self._start_session(width, height, dark)
        except BaseException:
            self.close()
            raise

    def _start_driver(self):
        driver = next(filter(None, map(shutil.which, DRIVERS)))
        # HOME too: whatever they keep goes away with the profile.
        environment = dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile,
                           XDG_CACHE_HOME=self.profile, TMPDIR=self.profile)
        # A session of its own, so that all its processes can be ended together.
        self.driver = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=environment, text=True,
                                       start_new_session=True)
        for line in self.driver.stdout:
            match = re.search(r"started successfully on port (\d+)", line)
            if match:
                self.base = f"http://127.0.0.1:{match[1]}"
                return
        raise WebDriverError("chromedriver did not start")

    def _start_session(self, width, height, dark):
        browser = next(filter(None, map(shutil.which, BROWSERS)))
        arguments = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-sync",
                     "--disable-background-networking", "--disable-component-update",
                     "--disable-default-apps", "--disable-dev-shm-usage", "--disable-extensions",
                     "--hide-scrollbars", "--force-device-scale-factor=1", "--lang=en-US",
                     f"--user-data-dir={self.profile}/profile", f"--window-size={width},{height}"]
        if os.getuid() == 0:
            arguments.append("--no-sandbox")
        if dark:
            arguments.append("--force-dark-mode")
        # An empty first window, not the browser's own page of news.
        options = {"binary": browser, "args": arguments, "prefs": {
            "session": {"restore_on_startup": 4, "startup_urls": ["about:blank"]}}}
        answer = self._request("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "pageLoadStrategy": "normal",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]

    def _request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise WebDriverError(f"{value['error']}: {value['message']}") from None

    def post(self, path, **body):
        return self._request("POST", self.session + path, body)

    def get(self, path):
        return self._request("GET", self.session + path)

    # ---- What tests do ----

    def open(self, url):
        if "#" in url:
            # A fragment alone would not load the page again.
            self.post("/url", url="about:blank")
        self.requests()
        self.post("/url", url=url)

    def run(self, script, *arguments):
        """Runs "return ..." in the page."""
        return self.post("/execute/sync", script=script, args=list(arguments))

    def wait(self, script, *arguments, seconds=20):
        """Until an expression is true; its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.run("return " + script, *arguments)
            if value:
                return value
            time.sleep(0.03)
        raise WebDriverError("never became true: " + script)

    def keys(self, *keys, hold=None):
        actions = [{"type": "keyDown", "value": KEYS[hold]}] if hold else []
        for key in keys:
            for letter in [KEYS[key]] if key in KEYS else key:
                actions += [{"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter}]
        if hold:
            actions.append({"type": "keyUp", "value": KEYS[hold]})
        self.post("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])

    def wheel(self, x, y, by, shift=False):
        actions = [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by}]}]
        if shift:
            actions.append({"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS["Shift"]}]})
        self.post("/actions", actions=actions)
        self.release()

    def drag(self, x, y, to_x, to_y, shift=False):
        move = {"type": "pointerMove", "x": int(to_x), "y": int(to_y), "duration": 40}
        pointer = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0},
                   {"type": "pointerDown", "button": 0}, move, {"type": "pointerUp", "button": 0}]
        actions = [{"type": "pointer", "id": "mouse", "actions": pointer}]
        if shift:
            actions.insert(0, {"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS["Shift"]}]})
        self.post("/actions", actions=actions)
        self.release()

    def click(self, x, y, times=1):
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}] + press * times}])

    def hover(self, x, y):
        self.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [
            {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}]}])

    def release(self):
        self._request("DELETE", self.session + "/actions")

    def size(self, width, height):
        self.post("/window/rect", width=width, height=height)

    def messages(self):
        """What the console got since the last time."""
        return self.post("/se/log", type="browser")

    def requests(self):
        """Addresses that the page asked for since the last time."""
        found = []
        for entry in self.post("/se/log", type="performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def close(self):
        try:
            if self.session:
                self._request("DELETE", self.session)
        except (OSError, WebDriverError):
            pass
        if self.driver:
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.stdout.close()
            self.driver.wait()
            reap()
        shutil.rmtree(self.profile, ignore_errors=True)
