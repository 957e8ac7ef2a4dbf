"""A private Kannel on loopback: bearerbox, smsbox, and Kannel's fake SMS centre, which logs what it receives."""

import re
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote_to_bytes

from processes import free_port, listens, process, wait_until

CONFIGURATION = """
group = core
admin-port = {admin}
admin-password = interop
admin-interface = 127.0.0.1
smsbox-port = {smsbox}
smsbox-interface = 127.0.0.1
access-log = {place}/kannel-access.log
log-level = 1

group = smsc
smsc = fake
smsc-id = fake
port = {centre}
connect-allow-ip = 127.0.0.1

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {sendsms}
sendsms-interface = 127.0.0.1
log-level = 1

group = sendsms-user
username = {user}
password = {password}
concatenation = true
max-messages = 10

group = sms-service
keyword = default
text = "nobody reads this"
"""

# One text message, or one part of it: recipient, user data header if there is one, kind, and text.
SAID = re.compile(r"^VENDGATE (?P<to>\S+) (?:udh (?P<header>\S+) )?(?P<kind>text|data|ucs-2) (?P<text>.*)$", re.DOTALL)


@contextmanager
def kannel(place: Path, fake_centre: str, user: str, password: str):
    """Yields the address of sendsms, a function that returns the received messages as pairs of number and text, and one
    that returns the access log."""
    ports = {name: free_port() for name in ("admin", "smsbox", "centre", "sendsms")}
    configuration = place / "kannel.conf"
    configuration.write_text(CONFIGURATION.format(place=place.resolve(), user=user, password=password, **ports))
    access = place / "kannel-access.log"
    access.unlink(missing_ok=True)
    with process(["bearerbox", str(configuration)], place / "bearerbox.log") as bearerbox:
        wait_until("bearerbox listens", bearerbox, lambda: listens(ports["smsbox"]) and listens(ports["centre"]))
        with process(["smsbox", str(configuration)], place / "smsbox.log") as smsbox:
            wait_until("smsbox listens", smsbox, lambda: listens(ports["sendsms"]))
            # The fake centre sends nothing (-m 0), but requires a message as an argument.
            nothing = ["-m", "0", "100 200 text nothing"]
            command = [fake_centre, "-H", "127.0.0.1", "-r", str(ports["centre"]), *nothing]
            log = place / "fakesmsc.log"
            with process(command, log) as centre:
                wait_until("the fake SMS centre is connected", centre, lambda: "Connecting" in log.read_text())
                url = f"http://127.0.0.1:{ports['sendsms']}/cgi-bin/sendsms"
                yield url, lambda: arrived(log.read_text(errors="replace")), lambda: access.read_text(errors="replace")


def arrived(log: str) -> list[tuple[str, str]]:
    """The fake centre reads lines, so a text of several lines arrives as several messages. A line without a head
    continues the message before it."""
    said: list[str] = []
    for line in re.findall(r"Got message \d+: <(.*)>$", log, re.MULTILINE):
        if line.startswith("VENDGATE "):
            said.append(line)
        elif said:
            said[-1] += "\n" + line
    whole: list[tuple[str, bytes | str]] = []
    for message in said:
        part = SAID.match(message)
        if part is None:
            whole.append(("", message))
            continue
        continues = part["header"] is not None and not is_first(part["header"])
        text = part["text"] if part["kind"] == "text" else unquote_to_bytes(part["text"].replace("+", "%20"))
        if continues:
            to, beginning = whole.pop()
            whole.append((to, beginning + text))
        else:
            whole.append((part["to"], text))
    return [(to, text if isinstance(text, str) else decoded(text)) for to, text in whole]


def is_first(header: str) -> bool:
    """A concatenation header (3GPP TS 23.040, 9.2.3.24.1): length, element, length, reference, parts, number."""
    return unquote_to_bytes(header)[5] == 1


def decoded(data: bytes) -> str:
    """The parts of a long message are bytes: UCS-2, or else UTF-8."""
    return data.decode("utf-16-be") if 0 in data else data.decode()
