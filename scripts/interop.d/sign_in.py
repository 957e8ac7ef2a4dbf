"""Signs in to the operators' console with an account at a certified OpenID provider, oidc-provider, in a real browser. The console knows
the database by TLS, and the database the console by its certificate and a map of the logins that it may be (pg_ident.conf)."""

import json
import os
import re
import shlex
import subprocess
from contextlib import contextmanager
from pathlib import Path

import trustme
from browser import Page, chromium
from processes import answers, free_port, process, sql, wait_until

PROGRAM = Path(__file__).parent / "contract" / "openid.mjs"
CLIENT, SECRET = "vendgate-console", "secret-of-the-interop-check"
# The certificate of the console has this name.
CONSOLE = "vendgate-console"
PERSON, OTHER = "sign_in_person", "sign_in_other"


def check_sign_in(facts: dict, program: str, place: Path) -> list[str]:
    directory = place / "sign-in"
    directory.mkdir(exist_ok=True)
    database = Database(facts["database_url"], directory)
    with provider_and_console(place, directory, database) as console, chromium(program, place) as page:
        browser = Browser(page, console, database, place)
        browser.signs_in_with_an_account()
        browser.is_another_person()
        browser.declines()
        page.close()
    told = (directory / "console.log").read_text()
    secrets = [word for word in (SECRET, "eyJ", "access_token") if word in told]
    return browser.complaints + [f"the console's log has {word!r}" for word in secrets]


class Database:
    """The sandbox's database, which now also takes certificates."""

    def __init__(self, url: str, directory: Path):
        self.url = url
        authority = trustme.CA()
        server = authority.issue_cert("localhost", "127.0.0.1")
        # `pg_stat_ssl` shows 63 characters of a name.
        client = authority.issue_cert(common_name=CONSOLE, organization_name="Vendgate", organization_unit_name="interop")
        self.authority, self.certificate, self.key = (directory / name for name in ("authority.pem", "console.pem", "console.key"))
        authority.cert_pem.write_to_path(str(self.authority))
        client.cert_chain_pems[0].write_to_path(str(self.certificate))
        self.key.touch(mode=0o600)
        client.private_key_pem.write_to_path(str(self.key))
        self.sql("CREATE ROLE sign_in_console LOGIN IN ROLE vendgate_console")
        for person in (PERSON, OTHER):
            self.sql(f"CREATE ROLE {person} LOGIN PASSWORD '{person}' IN ROLE vendgate_finance")
        self.write("server.crt", server.cert_chain_pems[0].bytes().decode())
        self.write("server.key", server.private_key_pem.bytes().decode())
        self.write("clients.crt", authority.cert_pem.bytes().decode())
        # The map has no line for the other person.
        self.write("pg_ident.conf", f"console {CONSOLE} sign_in_console\nconsole {CONSOLE} {PERSON}\n")
        before = self.sql("SELECT pg_read_file(current_setting('hba_file'))")
        self.write("pg_hba.conf", f"hostssl all sign_in_console,{PERSON},{OTHER} 127.0.0.1/32 cert map=console\n{before}\n")
        for setting in ("ssl_ca_file = 'clients.crt'", "ssl = on"):
            self.sql(f"ALTER SYSTEM SET {setting}")
        self.sql("SELECT pg_reload_conf()")

    def sql(self, statement: str) -> str:
        return sql(self.url, statement)

    def write(self, file: str, text: str) -> None:
        """In the directory of the server, which must own its files."""
        lines = [line.replace("\t", " ") for line in text.splitlines() if line.strip() and not line.startswith("#")]
        values = ", ".join(f"('{line}')" for line in lines)
        self.sql(f"COPY (VALUES {values}) TO PROGRAM 'cat > {file} && chmod 600 {file}'")

    def of(self, login: str) -> str:
        return re.sub(r"//[^@]*@", f"//{login}:{login}@", self.url)

    def of_the_console(self) -> str:
        files = f"sslrootcert={self.authority.absolute()}&sslcert={self.certificate.absolute()}&sslkey={self.key.absolute()}"
        return re.sub(r"//[^@]*@", "//sign_in_console@", self.url) + f"?sslmode=verify-full&{files}"


@contextmanager
def provider_and_console(place: Path, directory: Path, database: Database):
    """Yields where the console is."""
    port = free_port()
    console, issuer = f"http://127.0.0.1:{port}", f"http://localhost:{free_port()}"
    installed = place / "contract" / PROGRAM.name
    installed.write_text(PROGRAM.read_text())
    run = ["node", str(installed), issuer.rsplit(":", 1)[1], CLIENT, SECRET, f"{console}/sign-in/openid/done"]
    settings = directory / "console.toml"
    settings.write_text(
        f'[console]\ndatabase_url = "{database.of_the_console()}"\nlisten = "127.0.0.1:{port}"\npublic_url = "{console}"\n\n'
        f'[openid]\nissuer = "{issuer}"\nclient_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
    )
    settings.chmod(0o600)
    with process(run, directory / "provider.log") as provider:
        wait_until("the provider answers", provider, lambda: answers(f"{issuer}/jwks"))
        # It ends with its standard input, so it gets one of its own.
        command = ["target/debug/sandbox", "console", str(settings)]
        with process(command, directory / "console.log", stdin=subprocess.PIPE) as running:
            wait_until("the console answers", running, lambda: answers(f"{console}/style.css"))
            yield console


class Browser:
    """A person in front of the console, and at times of the provider."""

    def __init__(self, page: Page, console: str, database: Database, place: Path):
        self.page, self.console, self.database, self.pictures = page, console, database, place / "sign-in"
        self.axe = (place / "contract" / "node_modules" / "axe-core" / "axe.min.js").read_text()
        self.complaints: list[str] = []

    def signs_in_with_an_account(self) -> None:
        self.page.open(self.console)
        self.must("both ways are offered", "Sign in with your account" in self.page.text() and "vendctl console link" in self.page.text())
        self.examines("both-ways")
        self.clicks('a[href="/sign-in/openid"]')
        self.logs_in_at_the_provider("account-17")
        self.must("an account that nobody has added is refused", "No operator has added this account" in self.page.text())
        self.examines("unknown-account")
        # As the page says it, by the person at a prompt.
        command = shlex.split(self.page.evaluate("document.querySelector('pre').innerText"))
        self.must("the command is complete", command[:4] == ["vendctl", "console", "identity", "add"])
        environment = {"VENDGATE__OPERATOR__DATABASE_URL": self.database.of(PERSON)}
        done = subprocess.run(["target/debug/vendctl", *command[1:]], env=environment, capture_output=True, text=True)
        self.must(f"the command succeeds: {done.stderr}", done.returncode == 0)
        self.clicks('a[href="/sign-in/openid"]')
        self.must("the account signs in", f"You are signed in as {PERSON}." in self.page.text())
        self.examines("signed-in")
        self.clicks('main a[href="/"]')
        self.must("the session is the person's", f"{PERSON} (finance)" in self.page.text())
        how = "SELECT DISTINCT client_dn FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND usename = '%s'"
        known = self.database.sql(how % PERSON)
        self.must(f"the server knows the console by its certificate, and not by {known!r}", f"CN={CONSOLE}" in known)

    def is_another_person(self) -> None:
        """A login that the map does not name."""
        issuer = json.loads(self.vendctl(PERSON, "console", "identity", "list"))[0]["issuer"]
        self.vendctl(OTHER, "console", "identity", "add", issuer, "account-18", "--reason", "my account")
        self.page.call("Network.clearBrowserCookies")
        self.page.open(self.console)
        self.clicks('a[href="/sign-in/openid"]')
        self.logs_in_at_the_provider("account-18")
        self.must("the map of the server decides", f"does not let the console be {OTHER}" in self.page.text())

    def declines(self) -> None:
        self.page.call("Network.clearBrowserCookies")
        self.page.open(self.console)
        self.clicks('a[href="/sign-in/openid"]')
        self.clicks('a[href$="/abort"]')
        self.must("who declines is told so", "has not signed you in" in self.page.text())
        self.page.open(f"{self.console}/audit")
        self.must("nobody is signed in", "You are not signed in" in self.page.text())

    def logs_in_at_the_provider(self, account: str) -> None:
        self.page.act(
            f"""const form = document.querySelector('form');
            form.elements.login.value = {json.dumps(account)}; form.elements.password.value = 'any';
            form.querySelector('button').click();"""
        )
        self.must("the provider asks for consent", self.page.evaluate("!!document.querySelector('input[value=consent]')"))
        self.clicks("form button")

    def clicks(self, selector: str) -> None:
        self.page.act(f"document.querySelector({json.dumps(selector)}).click();")

    def vendctl(self, login: str, *words: str) -> str:
        environment = {**os.environ, "VENDGATE__OPERATOR__DATABASE_URL": self.database.of(login)}
        command = ["target/debug/vendctl", "--json", *words]
        return subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout

    def must(self, what: str, is_so: bool) -> None:
        if not is_so:
            self.complaints.append(f"{what}: {self.page.evaluate('location.href')} shows {self.page.text()[:400]!r}")

    def examines(self, name: str) -> None:
        self.page.screenshot(self.pictures / f"{name}.png")
        self.complaints += [f"{name}: {violation}" for violation in self.page.violations(self.axe)]
