"""Receives webhooks and verifies them with the libraries of Standard Webhooks for Python and Node, and their second signature
with the `cryptography` package."""

import base64
import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema_rs
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from openapi import call
from standardwebhooks import Webhook, WebhookVerificationError

NODE_PROGRAM = Path(__file__).parent / "contract" / "webhooks.mjs"
PATIENCE_S = 30
# For calls without a body: `call` posts only if there is one.
NOTHING = {"language": "en"}


def check_webhooks(base_url: str, facts: dict, place: Path) -> list[str]:
    """The sandbox's own worker sends. `place` has the packages of package.json in `contract/node_modules`."""
    session = call(f"{base_url}/public/v1/auth/login", body={**facts["credentials"], "grant_type": "password"})
    endpoints = f"{base_url}/public/v1/webhook-endpoints"

    def post(path: str, body: dict) -> dict:
        return call(f"{endpoints}/{path}", body=body, access_token=session["access_token"])

    with Receiver() as receiver:
        first = post("create", {"url": receiver.url})
        post(f"{first['id']}/test", NOTHING)
        receiver.wait_for(1)
        second = post(f"{first['id']}/rotate-secret", {"overlap_hours": 1})
        post(f"{first['id']}/test", NOTHING)
        receiver.wait_for(2)
        post(f"{first['id']}/delete", NOTHING)
    # The second message is signed by both keys.
    expected = [(0, first, True), (0, second, False), (1, first, True), (1, second, True)]
    complaints = []
    for number, endpoint, is_right in expected:
        message = receiver.received[number]
        verdicts = {
            "Python": in_python(endpoint["secret"], message),
            "Node": in_node(endpoint["secret"], message, place),
            "Ed25519": by_public_key(endpoint["public_keys"][0], message),
        }
        complaints += [
            f"message {number} with {'the right' if is_right else 'another'} key: {reader} says {verdict}"
            for reader, verdict in verdicts.items()
            if verdict != is_right
        ]
    changed = {**receiver.received[0], "body": receiver.received[0]["body"].replace("test", "text")}
    if in_python(first["secret"], changed) or in_node(first["secret"], changed, place):
        complaints.append("a changed body is accepted")
    form = form_of_deliveries(call(f"{base_url}/public/v1/openapi.json"))
    for message in receiver.received:
        faults = [fault.message for fault in form.iter_errors(json.loads(message["body"]))]
        complaints += [f"{message['body']} has not the form that the document gives to deliveries: {fault}" for fault in faults]
    if form.is_valid({**json.loads(receiver.received[0]["body"]), "type": "webhook.text"}):
        complaints.append("the document allows a type that it does not name")
    return complaints


def form_of_deliveries(document: dict) -> jsonschema_rs.Validator:
    body = document["webhooks"]["event"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**body, "components": document["components"]})


def in_python(secret: str, message: dict) -> bool:
    try:
        Webhook(secret).verify(message["body"], message["headers"])
    except WebhookVerificationError:
        return False
    return True


def in_node(secret: str, message: dict, place: Path) -> bool:
    directory = place.resolve() / "contract"
    (directory / NODE_PROGRAM.name).write_bytes(NODE_PROGRAM.read_bytes())
    asked = json.dumps({"secret": secret, **message})
    run = subprocess.run(["node", NODE_PROGRAM.name], check=True, cwd=directory, input=asked, capture_output=True, text=True)
    return json.loads(run.stdout)


def by_public_key(key: str, message: dict) -> bool:
    headers = message["headers"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{message['body']}".encode()
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key.removeprefix("whpk_")))
    for signature in headers["webhook-signature"].split():
        scheme, _, value = signature.partition(",")
        try:
            if scheme == "v1a":
                public.verify(base64.b64decode(value), signed)
                return True
        except InvalidSignature:
            continue
    return False


class Receiver:
    """Accepts everything that is posted to it."""

    def __init__(self) -> None:
        self.received: list[dict] = []
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                received.append({"headers": headers, "body": body.decode()})
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/webhooks"

    def __enter__(self) -> "Receiver":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.server.shutdown()

    def wait_for(self, messages: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while len(self.received) < messages:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self.received)} of {messages} webhooks arrived in {PATIENCE_S} s")
            time.sleep(0.05)
