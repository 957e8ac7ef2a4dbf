#!/usr/bin/env python3
"""A complete Vendgate client in one file, with nothing but Python's standard library (3.9 or newer). Copy it.

    client = Vendgate(base_url, credentials, Journal("sales.journal"))
    client.settle_open_sales()                   # first of all: what an earlier run left open
    purchase = client.buy(order)                 # returns a purchase, or raises NotBought or Unsettled

Its one concern beside the calls themselves: a confirm whose answer is lost is never simply sent again. What becomes
of a sale is written to a journal before anything is sent, and is asked for until there is a final answer, at the pace
that the answers ask for. Only a sale that is known not to have been made is tried again, under a new reference.
"""

from __future__ import annotations

import argparse
import email.utils
import http.client
import itertools
import json
import os
import random
import sys
import threading
import time
import urllib.parse
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Iterator, NamedTuple, Optional


class VendgateError(Exception):
    """Everything that this client raises on purpose."""


class ApiError(VendgateError):
    """The service refused, and said why. Branch on `type`, then on `code`."""

    def __init__(self, status: int, error: dict, advice: Advice):
        super().__init__(f"{error['code']}: {error['message']} (request {error['request_id']})")
        self.status = status
        self.type, self.code, self.message = error["type"], error["code"], error["message"]
        self.param, self.retryable, self.request_id = error["param"], error["retryable"], error["request_id"]
        failure = error.get("failure")
        # A purchase was made and has failed for good; what else is refused is not about the end of a purchase.
        self.purchase_failed = isinstance(failure, dict)
        self.buy_again = self.purchase_failed and failure.get("buy_again") is True
        self.advice = advice


class NoAnswer(VendgateError):
    """Nothing came back, or something that is not from the service: a timeout, a lost connection, a proxy's page."""


class NotBought(VendgateError):
    """Final: nothing was vended under this reference and nothing was charged.

    `buy_again` says whether the same may be bought, under a new reference, with a chance of success.
    """

    def __init__(self, reference: str, reason: object):
        super().__init__(f"{reference} was not bought: {reason}")
        self.reference, self.reason = reference, reason
        self.buy_again = not isinstance(reason, ApiError) or reason.buy_again or reason.retryable


class Unsettled(VendgateError):
    """The outcome is not known yet. The sale stays in the journal; settle it later. Do not sell it again.

    `resolved_by` is the moment by which it is known in the worst case; None where the service cannot tell.
    """

    def __init__(self, reference: str, reason: object, resolved_by: Optional[str] = None):
        known = f"; it is known by {resolved_by} at the latest" if resolved_by else ""
        super().__init__(f"{reference} is not settled yet: {reason}{known}")
        self.reference, self.reason, self.resolved_by = reference, reason, resolved_by


class Advice(NamedTuple):
    """What an answer says about the next call."""

    # In seconds; None where the answer asks for no pause.
    pause: Optional[float] = None
    resolved_by: Optional[str] = None

    @classmethod
    def read(cls, response: http.client.HTTPResponse, recovery: Optional[dict]) -> Advice:
        recovery = recovery if isinstance(recovery, dict) else {}
        seconds = response.getheader("Retry-After", "")
        pause = float(seconds) if seconds.isdigit() else None
        if pause is None and recovery.get("not_before"):
            # By the clock of the service alone: that of this machine may be wrong.
            now = email.utils.parsedate_to_datetime(response.getheader("Date", ""))
            not_before = datetime.fromisoformat(recovery["not_before"].replace("Z", "+00:00"))
            pause = max((not_before - now).total_seconds(), 0.0)
        return cls(pause, recovery.get("resolved_by"))


class Money(NamedTuple):
    """What the service writes as `BWP 100.00`."""

    currency: str
    amount: Decimal

    @classmethod
    def parse(cls, text: str) -> Money:
        currency, amount = text.split(" ")
        return cls(currency, Decimal(amount))

    def __str__(self) -> str:
        return f"{self.currency} {self.amount:.2f}"


class MeterToken(NamedTuple):
    """What is typed into a meter."""

    description: Optional[str]
    digits: str


def parse_tokens(text: str) -> list[MeterToken]:
    """The tokens of `product.token`, in the order in which the meter wants them."""
    if "|" not in text:
        return [MeterToken(None, text)]
    pairs = (pair.partition(":") for pair in text.split("|"))
    return [MeterToken(description.strip(), digits.strip()) for description, _, digits in pairs]


@dataclass(frozen=True)
class Order:
    """What a customer wants. It is the body of validate and of confirm."""

    product_type: str
    provider_code: str
    debited_account_id: int
    beneficiary_phone_number: str
    subscriber_identifier: str
    amount: Decimal
    currency: str = "BWP"
    charges_on_top_flag: bool = True
    language: str = "en-BW"
    source_channel: str = "POS"

    def __post_init__(self) -> None:
        amount = Decimal(self.amount)
        if not (amount.is_finite() and amount > 0 and amount == round(amount, 2)):
            raise ValueError(f"{self.amount} is not a positive amount with at most two decimals")
        object.__setattr__(self, "amount", amount)

    def body(self, **more: Any) -> str:
        fields = {**asdict(self), **more}
        amount = fields.pop("amount")
        # By hand, because json knows no decimals, and money does not go through a float.
        return f'{{"amount": {amount:.2f}, {json.dumps(fields)[1:]}'

    def question(self, reference: str) -> str:
        """The body of retry."""
        names = ("source_channel", "language", "subscriber_identifier")
        return json.dumps({**{name: getattr(self, name) for name in names}, "external_reference": reference})


@dataclass(frozen=True)
class Transaction:
    """A quote (`ON_GOING`) or a purchase. `reference` is the service's own; `external_reference` is what it was bought under."""

    id: int
    status: str
    reference: str
    external_reference: Optional[str]
    product_type: str
    total: Money
    subscriber_details: Optional[str]
    units: Optional[str]
    tokens: list[MeterToken]
    everything: dict

    @classmethod
    def read(cls, envelope: dict, external_reference: Optional[str] = None) -> Transaction:
        product = envelope["product"]
        return cls(
            id=envelope["id"],
            status=envelope["status"],
            reference=envelope["reference"],
            external_reference=external_reference,
            product_type=product["type"],
            total=Money.parse(envelope["total"]),
            subscriber_details=envelope.get("subscriber_details"),
            units=product.get("units"),
            tokens=parse_tokens(product["token"]) if product.get("token") else [],
            everything=envelope,
        )


class Journal:
    """Which sales have begun and which have ended: a line of JSON each, on disk before anything is sent.

    One journal belongs to one running program. It holds no token: those can be asked for again.
    """

    def __init__(self, path: str):
        self._lock = threading.Lock()
        self._open: dict[str, Order] = {}
        self._used: set[str] = set()
        self._file = open(path, "a+", encoding="utf-8")
        directory = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        self._file.seek(0)
        whole = True
        for line in self._file:
            whole = line.endswith("\n")
            try:
                self._apply(json.loads(line))
            except ValueError:
                pass  # It broke off while it was written, so nothing was done about it yet.
        if not whole:
            self._file.write("\n")

    def begin(self, reference: str, order: Order) -> None:
        if reference in self._used:
            raise ValueError(f"{reference} has been used for another sale")
        fields = {**asdict(order), "amount": str(order.amount)}
        self._append({"begun": reference, "order": fields})

    def end(self, reference: str, outcome: str) -> None:
        self._append({"ended": reference, "outcome": outcome})

    def open_sales(self) -> dict[str, Order]:
        with self._lock:
            return dict(self._open)

    def _append(self, fact: dict) -> None:
        with self._lock:
            self._file.write(json.dumps(fact) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._apply(fact)

    def _apply(self, fact: dict) -> None:
        if "begun" in fact:
            self._open[fact["begun"]] = Order(**fact["order"])
            self._used.add(fact["begun"])
        else:
            self._open.pop(fact["ended"], None)


# With these, a confirm or a retry was not served just now.
NOT_NOW = {"transaction_pending", "rate_limited"}


class _Doubt(Exception):
    """A confirm or a retry after which nothing is certain."""

    def __init__(self, reason: object, advice: Advice = Advice()):
        super().__init__(str(reason))
        self.advice = advice


class _TurnedAway(_Doubt):
    """A confirm that was told to come again, because another purchase is open. Retry can say at once that it did nothing."""


class _NothingFound(Exception):
    """Retry knows no such purchase, and turns away any confirm of it that was still on its way."""


class _Patience:
    """Pauses until it is spent: those that an answer asks for, and growing ones where there was none."""

    def __init__(self, seconds: float):
        self._ends = time.monotonic() + seconds
        self._pause = 0.5

    def is_spent(self) -> bool:
        return time.monotonic() > self._ends

    def wait(self, advice: Advice) -> bool:
        """Sleeps; false if that would be longer than there is patience."""
        pause = advice.pause
        if not pause:
            pause = self._pause * random.uniform(0.8, 1.2)
            self._pause = min(self._pause * 2, 30.0)
        if time.monotonic() + pause > self._ends:
            return False
        time.sleep(pause)
        return True


def _references(first: str) -> Iterator[str]:
    """The names of a sale that is tried again and again: sale-1, sale-1/2, sale-1/3 …"""
    yield first
    for number in itertools.count(2):
        yield f"{first}/{number}"


class Vendgate:
    """The service, for one integration user. Its methods may be called from several threads.

    `credentials` are client_id, client_secret, org_code, identifier and secret_pass. `read_timeout` may be as short as
    your customers' patience: a confirm that it cuts off is settled. `patience` is how long buy and settle go on asking.
    """

    def __init__(
        self,
        base_url: str,
        credentials: dict[str, str],
        journal: Journal,
        read_timeout: float = 155.0,
        patience: float = 300.0,
    ):
        self._url = urllib.parse.urlsplit(base_url.rstrip("/"))
        self._credentials = credentials
        self.journal = journal
        self._read_timeout, self._patience = read_timeout, patience
        self._lock = threading.Lock()
        self._session: Optional[dict] = None
        self._renew_at = 0.0

    def me(self) -> dict:
        return self._call("GET", "/auth/me")

    def accounts(self) -> list[dict]:
        return self._call("GET", "/accounts")

    def products(self) -> list[dict]:
        return self._call("GET", "/vas-products")

    def validate(self, order: Order) -> Transaction:
        """A quote. Nothing happens by it, so it may be repeated after any error."""
        return Transaction.read(self._call("POST", "/purchases/validate", order.body()))

    def buy(self, order: Order, reference: Optional[str] = None) -> Transaction:
        """Buys once. `reference` must be new for every sale; raises NotBought or Unsettled.

        After the service has said that nothing was bought under a reference, that one rests, and the sale goes on under
        a new one: `reference` and /2, /3 … `external_reference` of the purchase says which it became.
        """
        reference = reference or str(uuid.uuid4())
        if len(reference) > 96 or not all("!" <= character <= "~" for character in reference):
            raise ValueError("a reference is at most 96 visible ASCII characters; four more are kept for /2, /3 …")
        self._access_token()  # A client that cannot even log in has begun nothing.
        patience = _Patience(self._patience)
        for attempt in _references(reference):
            self.journal.begin(attempt, order)
            try:
                return self._ended(attempt, *self._confirm(attempt, order))
            except _Doubt as doubt:
                reason = doubt  # `doubt` itself ends with its clause.
            is_turned_away = isinstance(reason, _TurnedAway)
            if not is_turned_away and not patience.wait(reason.advice):
                raise Unsettled(attempt, reason, reason.advice.resolved_by)
            try:
                return self._asked_until_settled(attempt, order, patience)
            except _NothingFound:
                outcome = self._not_bought(attempt, reason)
            # The one case in which confirm is sent again: it is known that nothing was bought.
            if patience.is_spent() or (is_turned_away and not patience.wait(reason.advice)):
                raise outcome
        raise AssertionError("there is always another reference")

    def settle(self, reference: str, order: Order) -> Transaction:
        """What became of a sale, however it was interrupted; raises NotBought or Unsettled. Never buys."""
        try:
            return self._asked_until_settled(reference, order, _Patience(self._patience))
        except _NothingFound:
            raise self._not_bought(reference, "there is no such purchase") from None

    def settle_open_sales(self) -> Iterator[tuple[str, object]]:
        """Every sale that the journal has as open, with the purchase that it became, or the error."""
        for reference, order in self.journal.open_sales().items():
            try:
                yield reference, self.settle(reference, order)
            except (NotBought, Unsettled) as outcome:
                yield reference, outcome

    def _asked_until_settled(self, reference: str, order: Order, patience: _Patience) -> Transaction:
        while True:
            try:
                return self._ended(reference, *self._retry(reference, order))
            except _Doubt as doubt:
                if not patience.wait(doubt.advice):
                    raise Unsettled(reference, doubt, doubt.advice.resolved_by) from None

    def _confirm(self, reference: str, order: Order) -> tuple[Any, Advice]:
        """Sends it, once. The key makes even a copy that a proxy sends again harmless."""
        body = order.body(external_reference=reference)
        try:
            return self._answer("POST", "/purchases/confirm", body, {"Idempotency-Key": reference})
        except ApiError as error:
            if error.purchase_failed or (error.status < 500 and error.code not in NOT_NOW):
                raise self._not_bought(reference, error) from None
            kind = _TurnedAway if error.code == "transaction_pending" else _Doubt
            raise kind(error, error.advice) from None
        except NoAnswer as silence:
            raise _Doubt(silence) from None

    def _retry(self, reference: str, order: Order) -> tuple[Any, Advice]:
        try:
            return self._answer("POST", "/purchases/retry", order.question(reference))
        except ApiError as error:
            if error.code == "transaction_not_found":
                raise _NothingFound from None
            if error.purchase_failed:
                raise self._not_bought(reference, error) from None
            if error.status >= 500 or error.code in NOT_NOW:
                raise _Doubt(error, error.advice) from None
            # About the question, and not about the purchase.
            raise Unsettled(reference, error) from None
        except NoAnswer as silence:
            raise _Doubt(silence) from None

    def _ended(self, reference: str, envelope: Any, advice: Advice) -> Transaction:
        status = envelope.get("status") if isinstance(envelope, dict) else None
        if status == "SUCCESSFUL":
            purchase = Transaction.read(envelope, reference)
            self.journal.end(reference, "SUCCESSFUL")
            return purchase
        if status == "FAILED":
            raise self._not_bought(reference, "the purchase failed")
        raise _Doubt(f"the purchase is {status}", advice)

    def _not_bought(self, reference: str, reason: object) -> NotBought:
        self.journal.end(reference, "NOT_BOUGHT")
        return NotBought(reference, reason)

    def _call(self, method: str, path: str, body: Optional[str] = None) -> Any:
        answer, _advice = self._answer(method, path, body)
        return answer

    def _answer(
        self, method: str, path: str, body: Optional[str] = None, headers: Optional[dict] = None
    ) -> tuple[Any, Advice]:
        """One authorised call. A 401 did nothing, so after it the same may be sent with a new token, once."""
        token = self._access_token()
        try:
            return self._exchange(method, path, body, {**(headers or {}), "Authorization": f"Bearer {token}"})
        except ApiError as error:
            if error.status != 401:
                raise
        token = self._access_token(rejected=token)
        return self._exchange(method, path, body, {**(headers or {}), "Authorization": f"Bearer {token}"})

    def _access_token(self, rejected: Optional[str] = None) -> str:
        """A token that will live for a while. It is renewed well before its end."""
        with self._lock:
            if self._session is None:
                self._log_in()
            elif rejected == self._session["access_token"] or time.monotonic() >= self._renew_at:
                self._refresh()
            return self._session["access_token"]

    def _log_in(self) -> None:
        self._open_session("/auth/login", {**self._credentials, "grant_type": "password", "source_channel": "POS"})

    def _refresh(self) -> None:
        client = {name: self._credentials[name] for name in ("client_id", "client_secret")}
        refresh_token = self._session["refresh_token"]
        try:
            self._open_session("/auth/refresh", {**client, "grant_type": "refresh_token", "refresh_token": refresh_token})
        except ApiError as error:
            if error.status != 401:
                raise
            self._log_in()

    def _open_session(self, path: str, body: dict) -> None:
        began = time.monotonic()
        self._session, _advice = self._exchange("POST", path, json.dumps(body), {})
        self._renew_at = began + 0.8 * self._session["access_in"]

    def _exchange(self, method: str, path: str, body: Optional[str], headers: dict) -> tuple[Any, Advice]:
        """One request on a connection of its own, since a kept one may be closed under a confirm. No redirects."""
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._url.netloc, timeout=self._read_timeout)
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        try:
            connection.request(method, f"{self._url.path}/public/v1{path}", body, headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as failure:
            raise NoAnswer(f"no answer: {failure!r}") from None
        finally:
            connection.close()
        return self._read(response, text)

    @staticmethod
    def _read(response: http.client.HTTPResponse, text: bytes) -> tuple[Any, Advice]:
        try:
            answer = json.loads(text)
            if response.status == 200:
                recovery = answer.get("recovery") if isinstance(answer, dict) else None
                return answer, Advice.read(response, recovery)
            error = answer["error"]
            refusal = ApiError(response.status, error, Advice.read(response, error.get("recovery")))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoAnswer(f"HTTP {response.status} with something that the service did not write") from None
        raise refusal


def main() -> int:
    """Ends with 0 if all went well, 1 if nothing was bought, 3 if that is not known yet."""
    arguments = parse_arguments()
    with open(arguments.settings, encoding="utf-8") as file:
        settings = json.load(file)
    client = Vendgate(
        settings["base_url"],
        settings["credentials"],
        Journal(arguments.journal),
        arguments.read_timeout,
        arguments.patience,
    )
    try:
        return arguments.run(client, settings, arguments)
    except Unsettled as outcome:
        print(outcome, file=sys.stderr)
        return 3
    except VendgateError as outcome:
        print(outcome, file=sys.stderr)
        return 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Sells electricity, water and airtime through Vendgate.")
    parser.add_argument("--settings", default="target/sandbox/sandbox.json", help="JSON: base_url, credentials, account_id")
    parser.add_argument("--journal", default="vendgate.journal", help="where sales under way are written")
    parser.add_argument("--read-timeout", type=float, default=155.0, metavar="SECONDS")
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS", help="how long to ask what became of a sale")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, about in [("quote", quote, "what would it cost"), ("buy", buy, "buy it, once")]:
        command = commands.add_parser(name, help=about)
        command.add_argument("subscriber", help="meter, account or phone number")
        command.add_argument("amount", type=Decimal)
        command.add_argument("--phone", required=True, help="the beneficiary's, who gets the SMS")
        command.add_argument("--product", default="ELECTRICITY", choices=["ELECTRICITY", "WATER", "AIRTIME"])
        command.add_argument("--provider", help="its code [default: the first that sells the product]")
        command.add_argument("--reference", help="of your own, new for every sale [default: a random one]")
        command.set_defaults(run=run)
    commands.add_parser("settle", help="ask what became of every open sale").set_defaults(run=settle)
    commands.add_parser("accounts", help="list the wallets").set_defaults(run=accounts)
    return parser.parse_args()


def quote(client: Vendgate, settings: dict, arguments: argparse.Namespace) -> int:
    show(client.validate(order_of(client, settings, arguments)))
    return 0


def buy(client: Vendgate, settings: dict, arguments: argparse.Namespace) -> int:
    show(client.buy(order_of(client, settings, arguments), arguments.reference))
    return 0


def settle(client: Vendgate, _settings: dict, _arguments: argparse.Namespace) -> int:
    code = 0
    for reference, outcome in client.settle_open_sales():
        if isinstance(outcome, Transaction):
            print(f"{reference} was bought:")
            show(outcome)
        else:
            print(outcome)
            code = 3 if isinstance(outcome, Unsettled) else code
    return code


def accounts(client: Vendgate, _settings: dict, _arguments: argparse.Namespace) -> int:
    for account in client.accounts():
        print(account["id"], account["category"], account["balance"], account["name"], sep="\t")
    return 0


def order_of(client: Vendgate, settings: dict, arguments: argparse.Namespace) -> Order:
    provider = arguments.provider
    if provider is None:
        sold = {product["product_type"]: product["providers"] for product in client.products()}
        provider = sold[arguments.product][0]["code"]
    return Order(
        product_type=arguments.product,
        provider_code=provider,
        debited_account_id=settings["account_id"],
        beneficiary_phone_number=arguments.phone,
        subscriber_identifier=arguments.subscriber,
        amount=arguments.amount,
    )


def show(transaction: Transaction) -> None:
    print(f"{transaction.status} {transaction.reference} {transaction.total}")
    if transaction.subscriber_details:
        print(f"Customer: {transaction.subscriber_details}")
    for token in transaction.tokens:
        print(f"{token.description or 'Token'}: {token.digits}")
    if transaction.units:
        print(f"Units: {transaction.units}")


if __name__ == "__main__":
    sys.exit(main())
