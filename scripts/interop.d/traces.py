"""Receives the spans of a purchase, and reads them with the messages of OpenTelemetry's own package for Python."""

import base64
import hashlib
import json
import os
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from google.protobuf import json_format
from openapi import call, wallet
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from processes import answers, free_port, process, wait_until

ARRIVAL_PATIENCE_S = 20
NAMES = {"purchase", "request", "customer check", "reserve", "lane: wait", "lane: commit", "provider send", "record"}
KINDS = {"request": Span.SPAN_KIND_SERVER, "provider send": Span.SPAN_KIND_CLIENT, "record": Span.SPAN_KIND_INTERNAL}


def check_traces(facts: dict, place: Path) -> list[str]:
    with receiver() as (endpoint, bodies), server(place, endpoint) as base_url:
        session = call(f"{base_url}/public/v1/auth/login", body={**facts["credentials"], "grant_type": "password"})
        bought = call(f"{base_url}/public/v1/purchases/confirm", order(base_url, facts), session["access_token"])
        ends = time.monotonic() + ARRIVAL_PATIENCE_S
        while NAMES - {span.name for span in spans(bodies)} and time.monotonic() < ends:
            time.sleep(0.1)
        return complaints(spans(bodies), bought)


def complaints(found: list, bought: dict) -> list[str]:
    trace = hashlib.sha256(bought["reference"].encode()).digest()[:16]
    missing = NAMES - {span.name for span in found}
    wrong = [f"there is no span {name!r}" for name in sorted(missing)]
    wrong += [f"{span.name!r} is of another trace" for span in found if span.trace_id != trace]
    wrong += [f"{span.name!r} ends before it begins" for span in found if span.end_time_unix_nano < span.start_time_unix_nano]
    wrong += [f"{span.name!r} is of kind {span.kind}" for span in found if KINDS.get(span.name, span.kind) != span.kind]
    known = {span.span_id for span in found} | {b""}
    wrong += [f"{span.name!r} has an unknown parent" for span in found if span.parent_span_id not in known]
    numbers = {value.value.int_value for span in found for value in span.attributes if value.key == "vendgate.purchase"}
    return wrong + ([] if numbers == {bought["id"]} else [f"the spans are about the purchases {numbers}"])


def spans(bodies: list[bytes]) -> list:
    """A name or a type that the messages do not have is an error."""
    requests = [json_format.ParseDict(in_base64(json.loads(body)), ExportTraceServiceRequest()) for body in list(bodies)]
    scopes = [scope for request in requests for resource in request.resource_spans for scope in resource.scope_spans]
    return [span for scope in scopes for span in scope.spans]


def in_base64(value):
    """OTLP writes ids in hexadecimal, where the usual JSON of such messages has base64."""
    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {name: base64.b64encode(bytes.fromhex(it)).decode() if name in ids else in_base64(it) for name, it in value.items()}
    return [in_base64(it) for it in value] if isinstance(value, list) else value


@contextmanager
def receiver():
    bodies: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_arguments):
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}/v1/traces", bodies
    listening.shutdown()


@contextmanager
def server(place: Path, endpoint: str):
    base_url = f"http://127.0.0.1:{free_port()}"
    settings = {
        "HTTP__LISTEN": base_url.removeprefix("http://"),
        "OBSERVE__LISTEN": f"127.0.0.1:{free_port()}",
        "WEB__PUBLIC_URL": base_url,
        "TRACES__ENDPOINT": endpoint,
    }
    environment = {**os.environ, **{f"VENDGATE__{name}": value for name, value in settings.items()}}
    command = ["target/debug/api-server", str(place / "sandbox" / "api-server.toml")]
    with process(command, place / "traced-server.log", environment) as running:
        wait_until("the traced server answers", running, lambda: answers(f"{base_url}/docs"))
        yield base_url


def order(base_url: str, facts: dict) -> dict:
    return {
        "source_channel": "POS", "language": "en-BW", "product_type": "ELECTRICITY", "provider_code": "BPC",
        "debited_account_id": wallet(base_url, facts["credentials"]), "beneficiary_phone_number": "26771234567",
        "subscriber_identifier": facts["subscribers"]["electricity"]["active_13_digit"], "amount": 50, "currency": "BWP",
        "external_reference": "traced-1",
    }
