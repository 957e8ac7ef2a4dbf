"""Reads the dashboards with Grafana's own model (the SDK of Grafana Labs). What the model does not know, it drops."""

import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

DASHBOARDS = Path(__file__).parents[2] / "docs" / "operations" / "dashboards"


def check_dashboards() -> list[str]:
    complaints = []
    files = sorted(DASHBOARDS.glob("*.json"))
    for file in files:
        written = json.loads(file.read_text())
        # Also what is wrong on purpose must be noticed.
        strange = {**written, "schemaVersoin": 39}
        complaints += [f"{file.name}: {what}" for what in differences(written, through_the_model(written))]
        if not list(differences(strange, through_the_model(strange))):
            complaints.append(f"{file.name}: a member that the model does not know is not noticed")
    return complaints if files else ["there are no dashboards"]


def through_the_model(written: dict) -> dict:
    return json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(written)))


def differences(written, read, path: str = ""):
    """What of `written` the model has dropped or changed. It may add its defaults."""
    if isinstance(written, dict) and isinstance(read, dict):
        for name, value in written.items():
            if name in read:
                yield from differences(value, read[name], f"{path}/{name}")
            else:
                yield f"{path}/{name} is not in the model"
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for place, (one, other) in enumerate(zip(written, read)):
            yield from differences(one, other, f"{path}/{place}")
    elif written != read:
        yield f"{path} is {written!r}, and the model reads {read!r}"
