"""Schemathesis: sends valid and invalid requests made from the served OpenAPI document, and checks the answers."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

# The number of examples for each operation. 100 take two minutes on one processor.
EXAMPLES = os.environ.get("VENDGATE_EXAMPLES", "100")

# Meters that answer at once with a final outcome. An open outcome would be a 504.
AT_ONCE = ("active_11_digit", "active_13_digit", "tariff_charge", "fixed_charge", "blocked_customer", "not_found")
# How a request that the schema allows may be answered, because it may still be refused.
ANSWERS = ["2xx", 400, 401, 402, 403, 404, 409, 422]


def check_openapi(base_url: str, facts: dict, place: Path) -> list[str]:
    place = place.resolve()
    settings = place / "schemathesis.toml"
    # The first organisation is not used: its purchases belong to the tour, and a retry of one may meet a lost reply.
    credentials = facts["second_organisation"]
    settings.write_text(settings_for(credentials, wallet(base_url, credentials), facts["subscribers"]["electricity"]))
    command = [
        str(Path(sys.executable).absolute().with_name("schemathesis")),
        f"--config-file={settings}",
        "run",
        f"{base_url}/public/v1/openapi.json",
        f"--max-examples={EXAMPLES}",
        "--seed=1",
        "--request-timeout=30",
        "--no-color",
    ]
    sold_before = vends(facts)
    notes = {"HYPOTHESIS_STORAGE_DIRECTORY": str(place / "hypothesis")}
    # Schemathesis writes files into its working directory. Other checks print meanwhile, so its report is printed at its end.
    outcome = subprocess.run(
        command, check=False, cwd=place, env={**os.environ, **notes}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    print(outcome.stdout, flush=True)
    complaints = [] if outcome.returncode == 0 else [f"schemathesis ended with {outcome.returncode}"]
    if vends(facts) == sold_before:
        complaints.append("schemathesis bought nothing, so it has seen no confirm succeed")
    return complaints


def wallet(base_url: str, credentials: dict) -> int:
    """The account that can be debited."""
    session = call(f"{base_url}/public/v1/auth/login", body={**credentials, "grant_type": "password"})
    accounts = call(f"{base_url}/public/v1/accounts", access_token=session["access_token"])
    return next(account["id"] for account in accounts if account["category"] == "CURRENT")


def vends(facts: dict) -> int:
    """The number of vends that the utility has really made."""
    return sum(vend["outcome"] == "vended" for vend in call(f"{facts['simulator_url']}/vends"))


def call(url: str, body: object = None, access_token: str = ""):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {access_token}"}
    request = urllib.request.Request(url, data=json.dumps(body).encode() if body else None, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def settings_for(credentials: dict, account_id: int, subscribers: dict) -> str:
    """Schemathesis logs in by itself and mostly uses existing values. Requests of random values alone would only be
    answered 400."""
    known = {
        "product_type": ["ELECTRICITY"],
        "provider_code": ["BPC"],
        "debited_account_id": [account_id],
        "subscriber_identifier": [subscribers[name] for name in AT_ONCE],
        "beneficiary_phone_number": ["26771234567", "+26771234567"],
        "amount": [25, 100.5, 1500],
        "currency": ["BWP"],
        "language": ["en-BW", "fr-FR", "pt-MZ"],
        "url": ["https://till.example/webhooks"],
        "event_id": ["evt_1_1"],
    }
    login = {**credentials, "grant_type": "password"}
    return "\n".join(
        [
            "[auth.dynamic.openapi.access_token]",
            'path = "/public/v1/auth/login"',
            'method = "post"',
            'extract_from = "body"',
            'extract_selector = "/access_token"',
            "[auth.dynamic.openapi.access_token.payload]",
            *(f"{name} = {json.dumps(value)}" for name, value in login.items()),
            *(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}" for name, values in known.items()),
            "[parameters]",
            *(f'"body.{name}" = {{ dictionary = "{name}", probability = 0.95 }}' for name in known),
            "[checks]",
            "# The specification requires 400 here, where most APIs answer 405.",
            "unsupported_method.enabled = false",
            "# A request that the schema allows may still be refused. Each of these statuses is documented with its codes.",
            f"positive_data_acceptance.expected-statuses = {json.dumps(ANSWERS)}",
            "# The message of a purchase is sent again a few times in a day, and here it is asked for more often.",
            '[[operations]]\ninclude-name = "POST /public/v1/purchases/{id}/messages"',
            f"checks.positive_data_acceptance.expected-statuses = {json.dumps([*ANSWERS, 429])}",
            "",
        ]
    )
