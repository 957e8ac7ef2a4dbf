"""Verifies certificates of outcomes offline, with the libraries `joserfc` for Python and `jose` for Node, and runs the examples of
the guide."""

import base64
import json
import re
import subprocess
from pathlib import Path

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from openapi import call, wallet

GUIDE = Path(__file__).parents[2] / "docs" / "INTEGRATING.md"
NODE_PROGRAM = Path(__file__).parent / "contract" / "certificate.mjs"


def check_certificates(base_url: str, facts: dict, place: Path) -> list[str]:
    """`place` has the packages of package.json in `contract/node_modules`."""
    credentials = facts["credentials"]
    session = call(f"{base_url}/public/v1/auth/login", body={**credentials, "grant_type": "password"})
    token = session["access_token"]
    bought = call(f"{base_url}/public/v1/purchases/confirm", order(base_url, facts), token)
    proof = call(f"{base_url}/public/v1/purchases/{bought['id']}/certificate", access_token=token)
    keys = call(f"{base_url}/.well-known/jwks.json")

    # From here on nothing is asked of the service.
    certificate = proof["certificate"]
    expected = json.loads(decoded(certificate.split(".")[1]))
    complaints = []
    if canonical(expected) != decoded(certificate.split(".")[1]).decode():
        complaints.append("the payload is not canonical")
    if (expected["outcome"], expected["purchase_id"]) != ("SOLD", bought["id"]):
        complaints.append(f"the certificate says {expected}")
    verifiers = {"Python": in_python, "Node": lambda *asked: in_node(*asked, place)}
    for reader, verify in verifiers.items():
        if verify(certificate, keys) != expected:
            complaints.append(f"{reader} does not verify the certificate")
        for what, changed in changes(certificate).items():
            if verify(changed, keys) is not None:
                complaints.append(f"{reader} accepts a certificate with {what}")
        if verify(certificate, {"keys": []}) is not None:
            complaints.append(f"{reader} accepts a certificate without a key")
    return complaints + run_the_guide(base_url, proof, bought, place)


def order(base_url: str, facts: dict) -> dict:
    return {
        "source_channel": "POS", "language": "en-BW", "product_type": "ELECTRICITY", "provider_code": "BPC",
        "debited_account_id": wallet(base_url, facts["credentials"]), "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": facts["subscribers"]["electricity"]["active_13_digit"], "amount": 50, "currency": "BWP",
        "external_reference": "certificate-1",
    }


def changes(certificate: str) -> dict[str, str]:
    """Certificates that were tampered with."""
    header, payload, signature = certificate.split(".")
    says_other = encoded(decoded(payload).replace(b'"SOLD"', b'"NOT_SOLD"'))
    unsigned = encoded(json.dumps({**json.loads(decoded(header)), "alg": "none"}).encode())
    return {
        "another outcome": f"{header}.{says_other}.{signature}",
        "no signature": f"{unsigned}.{payload}.",
        "another signature": f"{header}.{payload}.{encoded(bytes(64))}",
    }


def in_python(certificate: str, keys: dict) -> dict | None:
    try:
        return json.loads(jws.deserialize_compact(certificate, KeySet.import_key_set(keys), algorithms=["EdDSA"]).payload)
    except (JoseError, ValueError):
        return None


def in_node(certificate: str, keys: dict, place: Path) -> dict | None:
    asked = json.dumps({"certificate": certificate, "keys": keys})
    return json.loads(node(NODE_PROGRAM.read_text(), asked, place))


def node(program: str, asked: str, place: Path) -> str:
    directory = place.resolve() / "contract"
    (directory / NODE_PROGRAM.name).write_text(program)
    run = subprocess.run(["node", NODE_PROGRAM.name], check=True, cwd=directory, input=asked, capture_output=True, text=True)
    return run.stdout


def run_the_guide(base_url: str, proof: dict, bought: dict, place: Path) -> list[str]:
    """The examples of the guide, as they are there, with this server's address."""
    chapter = GUIDE.read_text().split("## Proof of an outcome")[1].split("\n## ")[0].replace("https://api.example.com", base_url)
    blocks = {language: re.findall(rf"```{language}\n(.*?)```", chapter, re.DOTALL) for language in ("py", "js")}
    if [len(found) for found in blocks.values()] != [2, 1]:
        return ["the guide has other examples of certificates than expected"]
    names = {**proof, "token": bought["product"]["token"], "meter": bought["subscriber_identifier"]}
    for block in blocks["py"]:
        exec(block, names)
    program = f'{blocks["js"][0].replace("certificate,", json.dumps(proof["certificate"]) + ",")}\nconsole.log(JSON.stringify(statement));'
    in_javascript = json.loads(node(program, "", place))
    return [] if in_javascript == names["statement"] else ["the examples of the guide read other statements"]


def canonical(value: dict) -> str:
    """RFC 8785, for an object whose names are ASCII and whose values are texts and small whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
