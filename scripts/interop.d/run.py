"""Starts a sandbox and one more API server, and runs every check against that server."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from books import check_books
from certificates import check_certificates
from console import check_console
from contract import check_contract
from dashboards import check_dashboards
from docs_pages import check_docs_pages
from messages import check_messages
from openapi import check_openapi
from postman import check_postman
from processes import answers, free_port, process, wait_until
from security_module import check_security_module
from sign_in import check_sign_in
from traces import check_traces
from webhooks import check_webhooks


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--place", type=Path, required=True, help="where everything is written")
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--fake-smsc", required=True, help="Kannel's own fake SMS centre")
    parser.add_argument(
        "--only", choices=["openapi", "contract", "books", "certificates", "postman", "webhooks", "docs", "messages", "security-module", "dashboards", "traces", "sign-in", "console"], help="leave the other checks out")
    arguments = parser.parse_args()
    with sandbox(arguments.place) as facts, server(arguments.place) as base_url:
        checks = {
            "openapi": lambda: check_openapi(base_url, facts, arguments.place),
            "contract": lambda: check_contract(base_url, arguments.place),
            "books": lambda: check_books(base_url, facts, arguments.place),
            "certificates": lambda: check_certificates(base_url, facts, arguments.place),
            "postman": lambda: check_postman(base_url, facts, arguments.place),
            "webhooks": lambda: check_webhooks(base_url, facts, arguments.place),
            "docs": lambda: check_docs_pages(base_url, arguments.chromium, arguments.place),
            "messages": lambda: check_messages(arguments.place, arguments.fake_smsc),
            "security-module": lambda: check_security_module(arguments.place),
            "dashboards": check_dashboards,
            "traces": lambda: check_traces(facts, arguments.place),
            "sign-in": lambda: check_sign_in(facts, arguments.chromium, arguments.place),
            # The last one, because it changes what is declared about a provider.
            "console": lambda: check_console(base_url, facts, arguments.chromium, arguments.place),
        }
        chosen = {name: check for name, check in checks.items() if arguments.only in (None, name)}
        complaints = run(chosen)
    for complaint in complaints:
        print(f"interop: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


def run(checks: dict[str, Callable[[], list[str]]]) -> list[str]:
    """Runs the checks one after the other, and the longest beside them: it keeps one processor busy, and they mostly wait."""
    beside = checks.pop("openapi", None)
    # It changes what is declared about a provider, which the others rely on.
    last = checks.pop("console", None)
    with ThreadPoolExecutor() as threads:
        longest = threads.submit(timed, "openapi", beside) if beside else None
        complaints = [complaint for name, check in checks.items() for complaint in timed(name, check)]
        complaints += longest.result() if longest else []
    return complaints + (timed("console", last) if last else [])


def timed(name: str, check: Callable[[], list[str]]) -> list[str]:
    began = time.monotonic()
    found = check()
    print(f"interop: {name}: {'FAILED' if found else 'passed'} in {time.monotonic() - began:.0f} s", flush=True)
    return [f"{name}: {complaint}" for complaint in found]


@contextmanager
def sandbox(place: Path):
    """Starts database, simulated utility, organisations and their meters. Yields the content of sandbox.json."""
    directory = place / "sandbox"
    facts = directory / "sandbox.json"
    facts.unlink(missing_ok=True)
    command = ["target/debug/sandbox", "--port", "0", "--directory", str(directory)]
    with process(command, place / "sandbox.log") as running:
        wait_until("the sandbox is up", running, facts.exists)
        yield json.loads(facts.read_text())


@contextmanager
def server(place: Path):
    """One more API server with the same database, with limits that no test reaches and with the times of tests."""
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    watched = f"127.0.0.1:{free_port()}"
    overrides = {"HTTP__LISTEN": f"127.0.0.1:{port}", "OBSERVE__LISTEN": watched, "WEB__PUBLIC_URL": base_url, **RAISED}
    environment = {**os.environ, **{f"VENDGATE__{name}": value for name, value in overrides.items()}}
    command = ["target/debug/api-server", str(place / "sandbox" / "api-server.toml")]
    with process(command, place / "api-server.log", environment) as running:
        wait_until("the server answers", running, lambda: answers(f"{base_url}/docs"))
        yield base_url


# The checks send thousands of requests from one client. None may wait as long as in production.
RAISED = {
    "WEB__LIMITS__CLIENT__PER_SECOND": "100000",
    "WEB__LIMITS__CLIENT__BURST": "100000",
    **{
        f"WEB__LIMITS__{counted}__{setting}": "100000"
        for counted in ("LOGIN", "REFRESH", "UNKNOWN_TOKEN", "MALFORMED")
        for setting in ("PER_SECOND", "BURST")
    },
    "WEB__LIMITS__GUESS_DELAY_MS": "0",
    "IDENTITY__REFUSAL_FLOOR_MS": "0",
    "VENDING__GATE_MS": "5000",
    "VENDING__LEASE_MS": "6000",
    "VENDING__INTAKE_MS": "11000",
    "VENDING__PROVIDER_TIMEOUT_MS": "12000",
    "VENDING__NOT_FOUND_GAP_MS": "1000",
    "VENDING__PATIENCE_MS": "5000",
}


if __name__ == "__main__":
    sys.exit(main())
