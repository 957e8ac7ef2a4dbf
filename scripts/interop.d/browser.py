"""A headless Chromium, controlled over its DevTools protocol. It records all events of a page."""

import base64
import json
import shutil
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import websocket

PATIENCE_S = 30

AXE = "axe.run(document, {resultTypes: ['violations']}).then(found => JSON.stringify(found.violations.map(" \
    "one => one.id + ': ' + one.nodes.map(node => node.target.join(' ')).join(', '))))"


class Page:
    """One open page, and its events as reported by Chromium."""

    def __init__(self, address: str):
        self._socket = websocket.create_connection(address, suppress_origin=True, timeout=PATIENCE_S)
        self._calls = 0
        self.events: list[dict] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        # A cached asset causes no request, so a failure would go unnoticed.
        self.call("Network.setCacheDisabled", cacheDisabled=True)

    def call(self, method: str, **parameters) -> dict:
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._calls:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def open(self, url: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_until_loaded()

    def act(self, script: str) -> None:
        """Does something that opens another page, and waits for that page."""
        self.events.clear()
        self.evaluate(f"(() => {{ {script} }})()")
        self.wait_until_loaded()

    def wait_until_loaded(self) -> None:
        self.wait_for(lambda: any(event["method"] == "Page.loadEventFired" for event in self.events))

    def wait_for(self, is_so) -> bool:
        """Whether the condition became true in time. It calls the page repeatedly, so that new events are received."""
        ends = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > ends:
                return False
            time.sleep(0.1)
            self.evaluate("1")
        return True

    def evaluate(self, expression: str):
        outcome = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in outcome:
            raise RuntimeError(outcome["exceptionDetails"])
        return outcome["result"].get("value")

    def text(self) -> str:
        return self.evaluate("document.body.innerText")

    def violations(self, axe: str) -> list[str]:
        """What axe-core, whose source is given, finds wrong with the page."""
        self.evaluate(axe)
        return [f"axe: {violation}" for violation in json.loads(self.evaluate(AXE))]

    def screenshot(self, path: Path) -> None:
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def requested(self) -> list[str]:
        """The addresses of all network requests of the page."""
        of = "Network.requestWillBeSent"
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == of]

    def mishaps(self) -> list[str]:
        """All console errors and warnings, exceptions, failed requests and error responses."""
        return [mishap for event in self.events if (mishap := mishap_of(event["method"], event.get("params", {})))]

    def close(self) -> None:
        self._socket.close()


def mishap_of(method: str, told: dict):
    if method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
        said = " ".join(str(argument.get("value", argument.get("description"))) for argument in told["args"])
        return f"the console says {said!r}"
    if method == "Runtime.exceptionThrown":
        return f"a script failed: {told['exceptionDetails'].get('exception', {}).get('description')}"
    if method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
        return f"the browser says {told['entry']['text']!r} about {told['entry'].get('url')}"
    if method == "Network.loadingFailed" and not told.get("canceled"):
        return f"a request failed: {told['errorText']}"
    if method == "Network.responseReceived" and told["response"]["status"] >= 400:
        return f"{told['response']['url']} is {told['response']['status']}"
    return None


@contextmanager
def chromium(program: str, place: Path):
    """A browser with a new profile, listening on a port that it chose."""
    profile = place / "chromium"
    shutil.rmtree(profile, ignore_errors=True)
    command = [
        program,
        "--headless=new",
        "--no-sandbox",  # Required when running as root. The browser opens only our own pages.
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        "--window-size=1280,1000",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile.resolve()}",
        "about:blank",
    ]
    with open(place / "chromium.log", "wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield Page(address_of_the_page(running, profile))
    finally:
        running.terminate()
        try:
            running.wait(timeout=20)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def address_of_the_page(running, profile: Path) -> str:
    told = profile / "DevToolsActivePort"
    ends = time.monotonic() + PATIENCE_S
    while not (told.exists() and told.read_text().count("\n")):
        if running.poll() is not None or time.monotonic() > ends:
            raise RuntimeError("Chromium does not start: see chromium.log")
        time.sleep(0.1)
    port = told.read_text().splitlines()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S) as answer:
        pages = [page for page in json.load(answer) if page["type"] == "page"]
    return pages[0]["webSocketDebuggerUrl"]
