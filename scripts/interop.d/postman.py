"""Runs the served collection for Postman with Postman's own runner, newman: it reads the format, and its requests sell."""

import json
import subprocess
import urllib.request
from pathlib import Path

# Requests that must be answered 200 when the collection is run from its first request to its last.
MUST_SUCCEED = {
    "login", "accounts", "vas-products", "validate", "confirm", "retry", "certificate", "receipt", "statement", "create",
}


def check_postman(base_url: str, facts: dict, place: Path) -> list[str]:
    """`place` has newman in `contract/node_modules`."""
    directory = place.resolve() / "contract"
    with urllib.request.urlopen(f"{base_url}/docs/postman.json", timeout=10) as answer:
        (directory / "postman.json").write_bytes(answer.read())
    credentials = facts["credentials"]
    variables = {
        **{name: credentials[name] for name in ("client_id", "client_secret", "identifier", "secret_pass", "org_code")},
        "meter": facts["subscribers"]["electricity"]["active_11_digit"],
    }
    set_variables = [part for name, value in variables.items() for part in ("--env-var", f"{name}={value}")]
    report = directory / "postman-report.json"
    report.unlink(missing_ok=True)
    command = [
        directory / "node_modules" / ".bin" / "newman", "run", "postman.json", "--reporters=json",
        f"--reporter-json-export={report}", "--suppress-exit-code", *set_variables,
    ]
    run = subprocess.run(command, check=False, cwd=directory, capture_output=True, text=True)
    if not report.exists():
        return [f"newman does not run the collection: {run.stdout}{run.stderr}"]
    return judged(json.loads(report.read_text())["run"])


def judged(run: dict) -> list[str]:
    complaints = [f"{failure['error']['message']} at {failure['source'].get('name')}" for failure in run["failures"]]
    succeeded = set()
    for execution in run["executions"]:
        path, status = execution["request"]["url"]["path"], execution.get("response", {}).get("code")
        if status == 200:
            succeeded.add(path[-1])
        # What another run has used up, or what does not exist here, is refused; nothing is misunderstood or fails.
        if status in (401, 405, 415) or status is None or status >= 500:
            complaints.append(f"{execution['item']['name']} is answered {status}")
    return complaints + [f"{name} does not succeed" for name in sorted(MUST_SUCCEED - succeeded)]
