"""Sends our messages through independent gateways (text messages to Kannel, mail to aiosmtpd). Checks that they arrive
unchanged."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

from kannel import kannel
from mail_server import mail_server

USER, PASSWORD = "vendgate", "interop-s3cret"
ARRIVAL_PATIENCE_S = 20


def check_messages(place: Path, fake_centre: str) -> list[str]:
    with kannel(place, fake_centre, USER, PASSWORD) as (url, texts, access), mail_server(place, USER, PASSWORD) as (
        port,
        certificate,
        keeper,
    ):
        sent = letters(url, PASSWORD, port, certificate)
        expected = {(f"+{letter['to']}", letter["text"]) for letter in sent if is_text_message(letter)}
        ends = time.monotonic() + ARRIVAL_PATIENCE_S
        while (set(texts()) != expected or not keeper.kept) and time.monotonic() < ends:
            time.sleep(0.2)
        complaints = outcomes(sent) + compare(expected, texts()) + named(sent, access()) + mail(sent, keeper.arrived())
        complaints += refused_logins(letters(url, "wrong", port, certificate))
        return complaints + addresses((place / "smsbox.log").read_text(errors="replace"))


def letters(url: str, password: str, port: int, certificate: Path) -> list[dict]:
    """The outcome that our senders report for each letter."""
    command = ["target/debug/examples/letters", url, USER, password, str(port)]
    environment = {**os.environ, "SSL_CERT_FILE": str(certificate)}
    said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=60)
    return [json.loads(line) for line in said.stdout.splitlines()]


def is_text_message(letter: dict) -> bool:
    return letter["id"].endswith(".sms") and letter["to"].isdigit()


def outcomes(sent: list[dict]) -> list[str]:
    """Checks that every message is accepted, except the one without a valid number."""
    wanted = {letter["id"]: "refused: 400" if letter["to"] == "nowhere" else "sent" for letter in sent}
    return [
        f"{letter['id']} was {letter['outcome']!r} and not {wanted[letter['id']]!r}"
        for letter in sent
        if letter["outcome"] != wanted[letter["id"]]
    ]


def compare(expected: set[tuple[str, str]], came: list[tuple[str, str]]) -> list[str]:
    missing = [f"this text message did not arrive: {message!r}" for message in sorted(expected - set(came))]
    foreign = [f"this text message was not sent like that: {message!r}" for message in sorted(set(came) - expected)]
    twice = [] if len(came) == len(set(came)) else ["a text message arrived twice"]
    in_parts = [] if any(len(text) > 160 for _, text in came) else ["no text message came in parts"]
    script = [] if any(not text.isascii() and "é" not in text for _, text in came) else ["none came in UCS-2"]
    return missing + foreign + twice + in_parts + script


def named(sent: list[dict], access_log: str) -> list[str]:
    """Checks that Kannel logs each message under our id, which identifies repeats."""
    names = [letter["id"] for letter in sent if is_text_message(letter)]
    return [f"Kannel did not log {name}" for name in names if access_log.count(f"[ACT:{name}]") != 1]


def addresses(log: str) -> list[str]:
    """Checks that the request address, which Kannel logs, contains nothing of the message."""
    seen = set(re.findall(r"Got HTTP request <(.*?)> from", log))
    return [] if seen == {"/cgi-bin/sendsms"} else [f"Kannel was asked at {sorted(seen)!r}"]


def mail(sent: list[dict], kept) -> list[str]:
    [letter] = [letter for letter in sent if letter["id"].endswith(".email")]
    if len(kept) != 1:
        return [f"{len(kept)} mails arrived instead of one"]
    [(protected, to, message)] = kept
    came = {
        "protection": protected,
        "recipient": to,
        "From": message["From"],
        "To": message["To"],
        "Subject": message["Subject"],
        "Message-ID": message["Message-ID"],
        "Auto-Submitted": message["Auto-Submitted"],
        "text": message.get_content().replace("\r\n", "\n").rstrip(),
    }
    expected = {
        "protection": True,
        "recipient": [letter["to"]],
        "From": "Vendgate <receipts@operator.example>",
        "To": letter["to"],
        "Subject": letter["subject"],
        "Message-ID": f"<{letter['id']}@operator.example>",
        "Auto-Submitted": "auto-generated",
        "text": letter["text"].rstrip(),
    }
    return [f"the mail's {part} is {came[part]!r} and not {expected[part]!r}" for part in came if came[part] != expected[part]]


def refused_logins(sent: list[dict]) -> list[str]:
    """Checks that a message is not given up because the gateway refuses our password."""
    return [
        f"with a wrong password {letter['id']} was {letter['outcome']!r}"
        for letter in sent
        if not letter["outcome"].startswith("later: ")
    ]
