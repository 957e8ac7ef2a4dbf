"""Starts child processes, waits until they are ready, and always ends them."""

import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

START_PATIENCE_S = 90


@contextmanager
def process(command, log: Path, environment=None, stdin=None):
    with open(log, "wb") as output:
        running = subprocess.Popen(command, stdin=stdin, stdout=output, stderr=subprocess.STDOUT, env=environment)
    running.log = log
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(timeout=60)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def wait_until(what: str, running, is_so) -> None:
    ends = time.monotonic() + START_PATIENCE_S
    while not is_so():
        if running.poll() is not None or time.monotonic() > ends:
            last = running.log.read_text(errors="replace").splitlines()[-10:]
            sys.exit(f"interop: waited in vain until {what}; see {running.log}:\n" + "\n".join(last))
        time.sleep(0.2)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except OSError:
        return False


def listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def sql(url: str, statement: str) -> str:
    """What the database answers, without the form of a table."""
    command = ["psql", "--no-psqlrc", "--tuples-only", "--no-align", "-v", "ON_ERROR_STOP=1", "-c", statement, url]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
