"""Works in the operators' console with a real browser: signs in by link, opens every page in every language, wide and narrow, light
and dark, does one act of each kind, and is refused what a role may not do. axe-core must find nothing on any page."""

import json
import re
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from browser import Page, chromium
from openapi import call
from processes import sql

# The day of the service, which is that of Gaborone: between 22:00 and midnight UTC it is the next one.
TODAY = datetime.now(timezone(timedelta(hours=2))).date()
YESTERDAY = TODAY - timedelta(days=1)
REASON = "the interop check"
PATIENCE_S = 60

# Language, width and height of the window, colours. Together they meet every language, and both widths with both colours.
LOOKS = [("en", 1280, 1000, "light"), ("en", 390, 844, "dark"), ("fr", 1280, 1000, "dark"), ("pt", 390, 844, "light")]

TOO_WIDE = "document.documentElement.scrollWidth - %d"
# What our own words say in no other language than English. The sentences of vendctl are marked, and are not headings.
UNTRANSLATED = "JSON.stringify([...document.querySelectorAll('th[lang=en], dt[lang=en]')].map(one => one.textContent))"


def check_console(base_url: str, facts: dict, program: str, place: Path) -> list[str]:
    pictures = place / "console"
    pictures.mkdir(exist_ok=True)
    axe = (place / "contract" / "node_modules" / "axe-core" / "axe.min.js").read_text()
    world = World(base_url, facts, place)
    with chromium(program, place) as page:
        browser = Browser(page, world, pictures, axe)
        browser.signs_in_with_links()
        browser.opens_every_page()
        browser.chooses_a_language()
        browser.pauses_and_resumes()
        browser.rejects_and_approves()
        browser.resolves()
        browser.closes_a_discrepancy()
        browser.is_refused()
        browser.signs_out()
        page.close()
    return browser.complaints


class World:
    """What the pages show, made with vendctl and over the API."""

    def __init__(self, base_url: str, facts: dict, place: Path):
        self.console, self.database = facts["console_url"], facts["database_url"]
        self.settings = place / "sandbox" / "vendctl.toml"
        self.logins: dict[str, str] = {}
        for login, role in (("console_support", "support"), ("console_finance", "finance"), ("console_second", "finance")):
            self.logins[login] = self.add_login(login, role)
        self.vendctl("approvals", "require", "top-up", "--above", "1000.00")
        requests = [self.request(facts["account_id"], f"INTEROP-{nth}") for nth in (1, 2)]
        self.rejected, self.approved = requests
        self.run = self.reconcile(place)
        self.account, self.meter = facts["account_id"], facts["subscribers"]["electricity"]["active_11_digit"]
        self.organisation = facts["credentials"]["org_code"]
        self.sold = self.vendctl("purchases", "search", self.meter, by="")[0]["id"]
        self.waiting = self.leave_in_review(base_url, facts)

    def add_login(self, login: str, role: str) -> str:
        self.sql(f"CREATE ROLE {login} LOGIN PASSWORD '{login}' IN ROLE vendgate_{role}")
        return re.sub(r"//[^@]*@", f"//{login}:{login}@", self.database)

    def sql(self, statement: str) -> str:
        return sql(self.database, statement)

    def vendctl(self, *words: str, by: str = REASON, login: str = ""):
        reason = ["--reason", by] if by else []
        environment = {"VENDGATE__OPERATOR__DATABASE_URL": self.logins[login]} if login else {}
        command = ["target/debug/vendctl", "--json", "--settings", str(self.settings), *words, *reason]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        # 3 is a request that waits for another person, 4 a statement that differs from the books.
        if done.returncode not in (0, 3, 4):
            raise RuntimeError(f"{words}: {done.stderr}")
        return json.loads(done.stdout)

    def link(self, login: str = "") -> str:
        return self.vendctl("console", "link", by="", login=login)["link"]

    def request(self, account: int, name: str) -> int:
        words = ["wallet", "top-up", str(account), "2000.00", "--currency", "BWP", "--id", name]
        return self.vendctl(*words, login="console_finance")["request"]

    def reconcile(self, place: Path) -> int:
        """A statement with a vend that the books do not have."""
        statement = place / "console" / "statement.csv"
        statement.write_text(
            "reference,transaction,time,product,subscriber,amount,currency\n"
            f"INTEROP-NOWHERE,9911,{YESTERDAY}T08:00:00Z,ELECTRICITY,04257670465,10.00,BWP\n"
        )
        found = self.vendctl("reconcile", "BPC", str(statement), "--date", str(YESTERDAY), login="console_finance")
        return found["reconciliation"]

    def leave_in_review(self, base_url: str, facts: dict) -> int:
        """A purchase whose provider never answers, at the end of its window: the worker leaves it to a person."""
        self.vendctl("provider", "declare", "BPC", "--not-found-counts", "off", "--repeat-is-safe", "off")
        meter = facts["subscribers"]["electricity"]["lost_request"]
        session = call(f"{base_url}/public/v1/auth/login", body={**facts["credentials"], "grant_type": "password"})
        order = {
            "source_channel": "WEB", "language": "en", "product_type": "ELECTRICITY", "provider_code": "BPC",
            "debited_account_id": self.account, "beneficiary_phone_number": "26771400001", "subscriber_identifier": meter,
            "amount": 50, "currency": "BWP", "external_reference": "interop-console",
        }
        try:
            call(f"{base_url}/public/v1/purchases/confirm", body=order, access_token=session["access_token"])
        except OSError:
            pass  # It is answered 504: the outcome is unknown.
        of = f"subscriber_identifier = '{meter}' AND external_reference = 'interop-console'"
        self.sql(f"UPDATE purchases SET window_closes_at = now(), due_at = now() WHERE {of}")
        found = int(self.sql(f"SELECT max(id) FROM purchases WHERE {of}"))
        ends = time.monotonic() + PATIENCE_S
        while self.vendctl("purchases", "show", str(found), by="")["state"] != "REVIEW":
            if time.monotonic() > ends:
                raise RuntimeError(f"purchase {found} is not in review")
            time.sleep(0.5)
        return found

    def pages(self) -> dict[str, str]:
        """Every page by the name of its picture."""
        days = f"date={TODAY - timedelta(days=6)}&to={TODAY}"
        return {
            "overview": "/",
            "search": "/search",
            "found": f"/search?name={self.meter}",
            "purchase": f"/purchases/{self.sold}",
            "purchase-in-review": f"/purchases/{self.waiting}",
            "providers": "/providers",
            "provider": "/providers/BPC",
            "review": "/review",
            "incidents": "/incidents?all=yes",
            "messages": "/messages?which=given-up",
            "approvals": "/approvals?all=yes",
            "request": f"/approvals/{self.approved}",
            "organisations": "/organisations",
            "organisation": f"/organisations/{self.organisation}",
            "wallets": "/wallets",
            "wallets-of-one": f"/wallets?organisation={self.organisation}",
            "wallet": f"/wallets/{self.account}",
            "sales-by-day": f"/sales?{days}&by=day",
            "sales-by-product": f"/sales?{days}&by=product",
            "sales-by-day-and-provider": f"/sales?{days}&by=day%2Cprovider",
            "payable": f"/books?report=payable&{days}",
            "fees": f"/books?report=fees&{days}",
            "commission": f"/books?report=commission&{days}",
            "reconciliation": "/reconciliation?all=yes",
            "statement": f"/reconciliation/{self.run}",
            "audit": "/audit",
            "no-page": "/nowhere",
        }


class Browser:
    """A person in front of the console."""

    def __init__(self, page: Page, world: World, pictures: Path, axe: str):
        self.page, self.world, self.pictures, self.axe = page, world, pictures, axe
        self.complaints: list[str] = []
        self.looks(*LOOKS[0])

    def looks(self, language: str, width: int, height: int, colours: str) -> None:
        self.language, self.width, self.colours = language, width, colours
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])
        self.page.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})

    def opens(self, path: str) -> None:
        self.page.open(path if path.startswith("http") else self.world.console + path)

    def presses(self, form: str, **fields: str) -> None:
        """Fills in the form whose action is this, and presses its last button."""
        self.page.act(
            f"""const form = document.querySelector('form[action="{form}"]');
            for (const [name, value] of Object.entries({json.dumps(fields)})) form.elements[name].value = value;
            form.querySelector('button').click();"""
        )

    def posts(self, path: str, **fields: str) -> None:
        """Sends a form that the page does not offer."""
        self.page.act(
            f"""const form = document.querySelector('form[action="/sign-out"]').cloneNode(true);
            form.action = {json.dumps(path)};
            for (const [name, value] of Object.entries({json.dumps(fields)})) {{
                const input = document.createElement('input');
                [input.name, input.value] = [name, value];
                form.append(input);
            }}
            document.body.append(form);
            form.submit();"""
        )

    def must(self, what: str, is_so: bool) -> None:
        if not is_so:
            self.complaints.append(f"{what}: {self.page.evaluate('location.pathname')} shows {self.page.text()[:400]!r}")

    def status(self) -> int:
        received = [event["params"] for event in self.page.events if event["method"] == "Network.responseReceived"]
        return next(told["response"]["status"] for told in reversed(received) if told["type"] == "Document")

    def examines(self, name: str, status: int = 200) -> None:
        """Looks at the open page."""
        label = f"{name}-{self.language}-{self.width}-{self.colours}"
        self.page.screenshot(self.pictures / f"{label}.png")
        found = [] if self.status() == status else [f"it is answered {self.status()}"]
        found += [mishap for mishap in self.page.mishaps() if status == 200 or str(status) not in mishap]
        found += [f"it asks {url}" for url in self.page.requested() if not url.startswith(self.world.console)]
        tag = self.page.evaluate("document.documentElement.lang")
        found += [] if tag == self.language else [f"it is in {tag!r}"]
        if self.language != "en":
            found += [f"the heading {heading!r} is English" for heading in json.loads(self.page.evaluate(UNTRANSLATED))]
        excess = self.page.evaluate(TOO_WIDE % self.width)
        found += [f"it is {excess} pixels too wide"] if excess > 0 else []
        found += self.page.violations(self.axe)
        self.complaints += [f"{label}: {complaint}" for complaint in found]

    def signs_in(self, login: str = "") -> None:
        self.opens(self.world.link(login))
        self.presses("/sign-in")

    def signs_in_with_links(self) -> None:
        for look in LOOKS:
            self.looks(*look)
            self.opens("/")
            self.examines("signed-out", 401)
            self.opens(self.world.link())
            self.examines("sign-in")
        link = self.world.link()
        self.looks(*LOOKS[0])
        self.opens(link)
        self.presses("/sign-in")
        self.must("the link signs in", "vendgate_operator_login" in self.page.text())
        self.opens(link)
        self.presses("/sign-in")
        self.examines("used-link", 422)

    def opens_every_page(self) -> None:
        for look in LOOKS:
            self.looks(*look)
            for name, path in self.world.pages().items():
                self.opens(path)
                self.examines(name, 404 if name == "no-page" else 200)
                self.must("no command is refused", self.page.evaluate("!document.querySelector('main .refused')") or name == "no-page")
                if name.startswith("sales-"):
                    bars = self.page.evaluate("document.querySelectorAll('svg.chart rect').length")
                    self.must("the chart has bars", bars >= 2)
        self.looks(*LOOKS[0])

    def chooses_a_language(self) -> None:
        for tag, heading in (("fr", "Rechercher"), ("pt", "Pesquisar"), ("en", "Search")):
            self.opens(f"/search?name={self.world.meter}")
            self.page.act(f"document.querySelector('footer a[lang={tag}]').click();")
            self.must(f"the link chooses {tag}", self.page.evaluate("document.querySelector('h1').textContent") == heading)
            self.must("it comes back to the page", self.page.evaluate("location.search") == f"?name={self.world.meter}")

    def pauses_and_resumes(self) -> None:
        # The other checks buy from this provider, so another one is paused.
        self.opens("/providers/RELOADLY")
        self.presses("/providers/RELOADLY/pause", notice="maintenance", reason=REASON)
        self.examines("rehearsed-pause")
        self.must("a pause is rehearsed first", "Nothing was done yet" in self.page.text())
        self.presses("/providers/RELOADLY/pause")
        self.examines("paused")
        self.must("the provider is paused", "until resumed" in self.page.text())
        self.presses("/providers/RELOADLY/resume", reason=REASON)
        self.presses("/providers/RELOADLY/resume")
        self.must("the sales go on", "until resumed" not in self.page.text())

    def rejects_and_approves(self) -> None:
        self.signs_in("console_second")
        self.opens(f"/approvals/{self.world.rejected}")
        self.presses(f"/approvals/{self.world.rejected}/reject", reason=REASON)
        self.must("the request is rejected", "REJECTED" in self.page.text())
        self.opens(f"/approvals/{self.world.approved}")
        approve = f"/approvals/{self.world.approved}/approve"
        self.presses(approve, reason=REASON)
        self.examines("rehearsed-approval")
        self.must("an approval is rehearsed first", "Nothing was done yet" in self.page.text())
        self.presses(approve)
        self.must("the request is approved", "APPROVED" in self.page.text() and "console_second" in self.page.text())

    def resolves(self) -> None:
        self.signs_in()
        path = f"/purchases/{self.world.waiting}"
        self.opens(path)
        self.presses(f"{path}/resolve", reason=REASON, **{"as": "not-vended"})
        ends = time.monotonic() + PATIENCE_S
        while "the worker asks about it right now" in self.page.text() and time.monotonic() < ends:
            self.opens(path)
            self.presses(f"{path}/resolve", reason=REASON, **{"as": "not-vended"})
        self.examines("rehearsed-decision")
        self.must("a decision is rehearsed first", "Nothing was done yet" in self.page.text())
        self.presses(f"{path}/resolve")
        self.must("the purchase is decided", "FAILED" in self.page.text())
        self.opens(path)
        self.must("it is not decided twice", self.page.evaluate(f"!document.querySelector('form[action=\"{path}/resolve\"]')"))

    def closes_a_discrepancy(self) -> None:
        self.signs_in("console_finance")
        found = self.world.vendctl("discrepancies", "list", "--provider", "BPC", by="")[0]["id"]
        self.opens("/reconciliation")
        self.presses("/reconciliation/close", discrepancies=str(found), reason=REASON)
        self.examines("rehearsed-closing")
        self.presses("/reconciliation/close")
        left = [one["id"] for one in self.world.vendctl("discrepancies", "list", by="")]
        self.must("the discrepancy is closed", found not in left)

    def is_refused(self) -> None:
        self.signs_in("console_support")
        self.opens("/providers/BPC")
        self.must("support is offered no pause", self.page.evaluate("!document.querySelector('form[action$=\"/pause\"]')"))
        self.posts("/providers/BPC/pause", reason=REASON)
        self.examines("refused", 422)
        self.must("support does not pause", "this needs the role administrator; you have support" in self.page.text())
        days = f"date={TODAY}&to={TODAY}"
        for path in (f"/sales?{days}", f"/books?{days}"):
            self.opens(path)
            self.must("support sees no books", "this needs the role finance; you have support" in self.page.text())
        named = self.world.sql("SELECT DISTINCT login FROM audit_log WHERE reason = 'the interop check' ORDER BY login")
        persons = ["console_finance", "console_second", "vendgate_operator_login"]
        if named.split() != persons:
            self.complaints.append(f"the audit log names {named.split()} and not {persons}")

    def signs_out(self) -> None:
        self.presses("/sign-out")
        self.opens("/")
        self.must("signing out ends the session", self.status() == 401)
