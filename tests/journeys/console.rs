//! Operators in a browser: signing in with a link, pages, forms, and whose act it is.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use local_postgres::LocalDatabase;
use purchase::Handling;
use reqwest::{
    Client, Method, RequestBuilder, Url,
    header::{ACCEPT_LANGUAGE, CONTENT_TYPE, COOKIE, LOCATION, SET_COOKIE},
};
use sandbox::{WalletPlan, http_client};
use serde_json::Value;

use crate::{
    env::{directory, env},
    operator::Operator,
};

/// A running console. It ends with the test.
pub struct Console {
    child: Child,
    pub address: String,
    pub client: Client,
}

/// A person who is signed in.
pub struct Browser<'a> {
    pub console: &'a Console,
    pub cookie: String,
}

/// What a browser gets.
pub struct Seen {
    pub status: u16,
    pub text: String,
    pub location: String,
}

impl Console {
    /// A console with a login of its own, of this database.
    pub fn of(database: &LocalDatabase) -> Self {
        let login = "CREATE ROLE console_login LOGIN PASSWORD 'console_login' IN ROLE vendgate_console";
        made_once(database, login);
        let url = database.url_as("console_login", "console_login");
        Self::with(&[("CONSOLE__DATABASE_URL", &url)], Stdio::inherit())
    }

    /// A console with these settings, and where its log goes.
    pub fn with(settings: &[(&str, &str)], log: Stdio) -> Self {
        let settings = settings.iter().map(|(name, value)| (format!("VENDGATE__{name}"), *value));
        let mut child = Command::new(env!("CARGO_BIN_EXE_acceptance-console"))
            .env_clear()
            .envs(settings)
            .env("VENDGATE__CONSOLE__LISTEN", "127.0.0.1:0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let client = http_client().unwrap();
        Self { child, address: address.trim().to_owned(), client }
    }

    /// Signs in with what `console link` printed.
    pub async fn signs_in(&self, link: &Value) -> Browser<'_> {
        let signed_in = self.uses(&secret(link)).await;
        assert_eq!(signed_in.status, 303, "{}", signed_in.text);
        Browser { console: self, cookie: signed_in.location }
    }

    /// Sends the form of the page that a link opens. The `location` of the answer is the cookie.
    async fn uses(&self, secret: &str) -> Seen {
        let request = self.client.post(format!("{}/sign-in", self.address));
        let answer = filled_in(request, &[("link", secret)]).send().await.unwrap();
        let cookie = answer.headers().get(SET_COOKIE).map(|cookie| cookie.to_str().unwrap().to_owned());
        let cookie = cookie.unwrap_or_default();
        assert!(cookie.is_empty() || cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        let location = cookie.split(';').next().unwrap_or_default().to_owned();
        Seen { status: answer.status().as_u16(), text: answer.text().await.unwrap(), location }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
    }
}

impl Browser<'_> {
    pub async fn opens(&self, path: &str) -> Seen {
        self.sends(self.request(Method::GET, path)).await
    }

    /// Fills in a form, with the session's token from a page.
    pub async fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let page = self.opens("/audit").await.text;
        let token = page.split("name=\"form_token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        self.posts_without_token(path, &[fields, &[("form_token", token)]].concat()).await
    }

    async fn posts_without_token(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        self.sends(filled_in(self.request(Method::POST, path), fields)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.console.address);
        self.console.client.request(method, url).header(COOKIE, &self.cookie)
    }

    async fn sends(&self, request: RequestBuilder) -> Seen {
        let answer = request.send().await.unwrap();
        for (header, part) in
            [("content-security-policy", "default-src 'none'"), ("cache-control", "no-store")]
        {
            assert!(answer.headers()[header].to_str().unwrap().contains(part), "{header}");
        }
        let location = answer.headers().get(LOCATION).map(|to| to.to_str().unwrap().to_owned());
        let (status, location) = (answer.status().as_u16(), location.unwrap_or_default());
        Seen { status, text: answer.text().await.unwrap(), location }
    }
}

/// A request with the fields of a form, as a browser sends them.
fn filled_in(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let url = Url::parse_with_params("http://form", fields).unwrap();
    let form = url.query().unwrap_or_default().to_owned();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form)
}

fn secret(link: &Value) -> String {
    link["link"].as_str().unwrap().split_once("?link=").unwrap().1.to_owned()
}

/// Creates a role, unless another test has.
fn made_once(database: &LocalDatabase, role: &str) {
    let once =
        format!("DO $$ BEGIN {role}; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$");
    database.run_sql(&once).unwrap();
}

/// A person with one role, at the prompt of the shared environment.
pub fn person(name: &str, role: &str) -> Operator {
    let database = env().sandbox.database();
    made_once(database, &format!("CREATE ROLE {name} LOGIN PASSWORD '{name}' IN ROLE {role}"));
    Operator::with(database.url_as(name, name))
}

#[tokio::test]
async fn a_link_signs_its_maker_in_once_and_for_five_minutes() {
    let console = Console::of(env().sandbox.database());
    let thato = person("thato", "vendgate_support");
    let link = thato.shows("console link");
    let secret = secret(&link);
    assert!(link["link"].as_str().unwrap().starts_with("http://127.0.0.1:8090/sign-in?link="));

    let anyone = Browser { console: &console, cookie: String::new() };
    assert_eq!(anyone.opens("/").await.status, 401);
    // Looking at the link does not use it up.
    assert!(anyone.opens(&format!("/sign-in?link={secret}")).await.text.contains(&secret));
    let browser = console.signs_in(&link).await;
    assert!(browser.opens("/").await.text.contains("thato (support)"));
    for wrong in [secret.as_str(), &"0".repeat(64), "x", ""] {
        let refused = console.uses(wrong).await;
        assert_eq!(refused.status, 422, "{wrong}");
        assert!(refused.text.contains("the link is not valid"), "{}", refused.text);
        assert!(refused.location.is_empty());
    }
    let late = self::secret(&thato.shows("console link"));
    env().asks_the_database("UPDATE console_links SET expires_at = now() WHERE login = 'thato'");
    assert_eq!(console.uses(&late).await.status, 422);
    assert_eq!(env().asks_the_database("SELECT count(*) FROM console_links WHERE login = 'thato'"), "0");

    assert_eq!(browser.posts("/sign-out", &[]).await.location, "/sign-in");
    assert_eq!(browser.opens("/").await.status, 401);
}

#[tokio::test]
async fn every_page_shows_what_a_role_may_see_and_escapes_it() {
    let console = Console::of(env().sandbox.database());
    let (kagiso, mpho) = (person("kagiso", "vendgate_support"), person("mpho", "vendgate_finance"));
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let bought = merchant.confirm(&merchant.order(&meter).amount("100.00")).await.expect(200);
    let number =
        env().asks_the_database(&format!("SELECT id FROM purchases WHERE subscriber_identifier = '{meter}'"));
    Operator::at_the_prompt().types(&[
        "provider",
        "declare",
        "ESCAPED",
        "--name",
        "<script>alert(1)</script>",
        "--reason",
        "contract 17",
    ]);

    let support = console.signs_in(&kagiso.shows("console link")).await;
    let (code, wallet) = (&merchant.code, merchant.account);
    for (path, part) in [
        ("/", "Open incidents".to_owned()),
        (&format!("/search?name={meter}"), format!("href=\"/purchases/{number}\"")),
        (&format!("/purchases/{number}"), "What happened".to_owned()),
        ("/providers", "&lt;script&gt;alert(1)&lt;/script&gt;".to_owned()),
        ("/providers/ESCAPED", "&lt;script&gt;alert(1)&lt;/script&gt;".to_owned()),
        ("/incidents", "Closed ones too".to_owned()),
        ("/organisations", format!("href=\"/organisations/{code}\"")),
        (&format!("/organisations/{code}"), format!("href=\"/wallets/{wallet}\"")),
        ("/review", "The worker keeps asking".to_owned()),
        ("/approvals", "Decided and expired".to_owned()),
        ("/wallets", "Organisations".to_owned()),
        (&format!("/wallets?organisation={code}"), format!("href=\"/wallets/{wallet}\"")),
        (&format!("/wallets/{wallet}"), format!("href=\"/purchases/{number}\"")),
        ("/audit?subject=provider:ESCAPED", "provider.declared".to_owned()),
        ("/style.css", "prefers-color-scheme".to_owned()),
    ] {
        let seen = support.opens(path).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.text);
        assert!(seen.text.contains(&part), "{path}: {}", seen.text);
        assert!(
            !seen.text.contains("<script") && !seen.text.contains("class=\"refused\""),
            "{path}: {}",
            seen.text
        );
    }
    for (page, form) in [
        (format!("/organisations/{code}"), "action=\"/organisations/"),
        ("/providers/ESCAPED".to_owned(), "action=\"/providers/"),
        (format!("/wallets/{wallet}"), "method=\"post\" action=\"/wallets"),
    ] {
        assert!(!support.opens(&page).await.text.contains(form), "support may not do it: {page}");
    }
    let token = bought.str("/product/token").to_owned();
    assert!(!support.opens(&format!("/purchases/{number}")).await.text.contains(&token));
    assert_eq!(support.opens("/nowhere").await.status, 404);

    let sales = "/sales?date=2026-01-01&to=2026-01-31&by=day";
    let refused = support.opens(sales).await.text;
    assert!(refused.contains("this needs the role finance; you have support. Nothing was done"), "{refused}");
    let finance = console.signs_in(&mpho.shows("console link")).await;
    let seen = finance.opens(sales).await.text;
    assert!(!seen.contains("class=\"refused\""), "{seen}");
    let books = finance.opens("/books?report=payable&date=2026-01-01&to=2026-01-31&by=day").await.text;
    assert!(books.contains("Owed and paid to providers") && !books.contains("class=\"refused\""), "{books}");
    let accounts = finance.opens("/books?report=accounts&date=today&by=day").await.text;
    assert!(accounts.contains("<td>FUNDING</td>") && !accounts.contains("class=\"refused\""), "{accounts}");
    let of_the_day = finance.opens(&format!("/wallets/{wallet}?date=2026-01-01")).await.text;
    assert!(!of_the_day.contains(&format!("href=\"/purchases/{number}\"")), "{of_the_day}");
}

#[tokio::test]
async fn sales_are_shown_as_bars_beside_their_table() {
    let console = Console::of(env().sandbox.database());
    let sethunya = person("sethunya", "vendgate_finance");
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    merchant.confirm(&merchant.order(&meter).amount("100.00")).await.expect(200);
    let day = |back: &str| {
        let sql = format!("SELECT ((now() AT TIME ZONE 'Africa/Gaborone') - interval '{back}')::date");
        env().asks_the_database(&sql).trim().to_owned()
    };
    let (first, last) = (day("2 days"), day("0 days"));
    let browser = console.signs_in(&sethunya.shows("console link")).await;
    let page = format!("/sales?date={first}&to={last}&by=day&organisation={}", merchant.code);
    let seen = browser.opens(&page).await.text;
    // The purchase may be on the other side of midnight, and the days without sales have a place, too.
    assert_eq!(seen.matches("<rect").count(), 3, "{seen}");
    assert_eq!(seen.matches("height=\"0\"").count(), 2, "{seen}");
    let (_, row) = seen.split_once("<td>BWP</td>").unwrap();
    let amount = row.split("<td>").nth(2).unwrap().split('<').next().unwrap();
    assert!(seen.contains(&format!("Bars. The greatest is BWP {amount}")), "{amount}: {seen}");
}

#[tokio::test]
async fn pages_are_in_the_language_of_the_browser_until_the_person_chooses() {
    let console = Console::of(env().sandbox.database());
    let dineo = person("dineo", "vendgate_operator");
    let browser = console.signs_in(&dineo.shows("console link")).await;
    let asks = |path: &str, language: &str, cookie: &str| {
        let cookies = format!("{}; {cookie}", browser.cookie);
        let request = console.client.get(format!("{}{path}", console.address));
        request.header(COOKIE, cookies).header(ACCEPT_LANGUAGE, language)
    };
    let pages =
        [("/wallets", "Portefeuilles"), ("/audit", "Journal d&#39;audit"), ("/nowhere", "Page inconnue")];
    for (page, title) in pages {
        let seen = browser.sends(asks(page, "fr-CM, en;q=0.5", "")).await.text;
        let title = title.replace("&#39;", "'");
        assert!(seen.contains("<html lang=\"fr\"") && seen.contains(&format!("<h1>{title}</h1>")), "{seen}");
        assert!(!seen.contains("<th scope=\"col\" lang=\"en\""), "{seen}");
    }
    let chosen = asks("/language/pt?to=%2Faudit%3Flogin%3Ddineo", "fr", "").send().await.unwrap();
    assert_eq!(chosen.headers()[LOCATION], "/audit?login=dineo");
    let cookie = chosen.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap();
    let seen = browser.sends(asks("/providers", "fr", cookie)).await.text;
    assert!(seen.contains("<html lang=\"pt\"") && seen.contains("Fornecedores"), "{seen}");
    assert!(seen.contains("<td>sim</td>") && seen.contains("<td>não</td>"), "words in cells, too: {seen}");
    assert!(!seen.contains("<td>yes</td>") && !seen.contains("<td>no</td>"), "{seen}");
    // What vendctl says is English, and marked.
    let refused = browser.sends(asks("/providers/NOWHERE", "fr", cookie)).await;
    assert!(refused.text.contains("role=\"alert\" lang=\"en\""), "{}", refused.text);

    let elsewhere = asks("/language/pt?to=%2F%2Fevil.example", "fr", "").send().await.unwrap();
    assert_eq!(elsewhere.headers()[LOCATION], "/");
    assert_eq!(browser.sends(asks("/language/xx", "fr", "")).await.status, 404);
}

#[tokio::test]
async fn a_discrepancy_is_closed_in_the_console_after_a_rehearsal() {
    let console = Console::of(env().sandbox.database());
    let amantle = person("amantle", "vendgate_finance");
    let declare = ["provider", "declare", "CLOSING", "--name", "Closing", "--reason", "contract 17"];
    Operator::at_the_prompt().types(&declare);
    let statement = directory().join("console-statement.csv");
    let lines = "reference,transaction,time,product,subscriber,amount,currency\n\
                 NOWHERE,9911,2026-01-05T08:00:00Z,ELECTRICITY,04257670465,10.00,BWP\n";
    fs::write(&statement, lines).unwrap();
    let reconcile = format!("reconcile CLOSING {} --date 2026-01-05", statement.display());
    let run = amantle.does(&reconcile)["reconciliation"].to_string();
    let found = amantle.shows("discrepancies list --provider CLOSING")[0]["id"].to_string();

    let browser = console.signs_in(&amantle.shows("console link")).await;
    let page = browser.opens("/reconciliation?provider=CLOSING").await.text;
    assert!(page.contains(&format!("href=\"/reconciliation/{run}\"")) && page.contains("NOWHERE"), "{page}");
    assert!(browser.opens(&format!("/reconciliation/{run}")).await.text.contains("only theirs"));
    let fields = [("discrepancies", found.as_str()), ("reason", "their mail")];
    let rehearsed = browser.posts("/reconciliation/close", &fields).await;
    assert!(rehearsed.text.contains("Nothing was done yet"), "{}", rehearsed.text);
    let open = || amantle.shows("discrepancies list --provider CLOSING").as_array().unwrap().len();
    assert_eq!(open(), 1);
    let closed = browser.posts("/reconciliation/close", &[&fields[..], &[("step", "do")]].concat()).await;
    assert_eq!((closed.location.as_str(), open()), ("/reconciliation", 0), "{}", closed.text);
}

#[tokio::test]
async fn a_pause_from_the_console_is_the_act_of_the_person() {
    let console = Console::of(env().sandbox.database());
    let (neo, lorato) = (person("neo", "vendgate_administrator"), person("lorato", "vendgate_support"));
    neo.types(&["provider", "declare", "PAUSED", "--name", "Paused", "--reason", "contract 17"]);
    let pauses =
        || env().asks_the_database("SELECT count(*) FROM provider_pauses WHERE provider_code = 'PAUSED'");
    let fields = [("product", ""), ("from", ""), ("until", ""), ("notice", ""), ("reason", "their mail")];

    let support = console.signs_in(&lorato.shows("console link")).await;
    assert!(
        !support.opens("/providers/PAUSED").await.text.contains("/providers/PAUSED/pause"),
        "no form to be refused"
    );
    let refused = support.posts("/providers/PAUSED/pause", &fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("this needs the role administrator; you have support"), "{}", refused.text);

    let browser = console.signs_in(&neo.shows("console link")).await;
    for token in [&[][..], &[("form_token", "")], &[("form_token", "0")]] {
        let foreign =
            browser.posts_without_token("/providers/PAUSED/pause", &[&fields[..], token].concat()).await;
        assert_eq!(foreign.status, 403);
    }
    let unreasoned = browser.posts("/providers/PAUSED/pause", &[("reason", "")]).await;
    assert_eq!((unreasoned.status, unreasoned.text.contains("--reason")), (422, true), "{}", unreasoned.text);
    assert_eq!(pauses(), "0");

    let doing = [&fields[..], &[("step", "do")]].concat();
    let unseen = browser.posts("/providers/PAUSED/pause", &doing).await;
    assert_eq!((unseen.status, pauses()), (409, "0".to_owned()), "nothing is done that was not rehearsed");
    let rehearsed = browser.posts("/providers/PAUSED/pause", &fields).await;
    assert!(rehearsed.text.contains("Nothing was done yet"), "{}", rehearsed.text);
    let changed = [&doing[..4], &[("reason", "another mail"), ("step", "do")]].concat();
    assert_eq!(browser.posts("/providers/PAUSED/pause", &changed).await.status, 409, "it is another act");
    assert_eq!(pauses(), "0");
    assert_eq!(browser.posts("/providers/PAUSED/pause", &doing).await.location, "/providers/PAUSED");
    assert_eq!(browser.posts("/providers/PAUSED/pause", &doing).await.status, 409, "it is done already");
    assert_eq!(pauses(), "1");
    let resuming = [("reason", "they are back"), ("step", "do")];
    browser.posts("/providers/PAUSED/resume", &resuming[..1]).await;
    let resumed = browser.posts("/providers/PAUSED/resume", &resuming).await;
    assert_eq!((resumed.status, pauses()), (303, "0".to_owned()), "{}", resumed.text);
    let audited = env().asks_the_database(
        "SELECT login, actor, action, reason, details ? 'on_behalf_of' FROM audit_log
         WHERE subject = 'provider:PAUSED' AND action <> 'provider.declared' ORDER BY id",
    );
    let expected = "neo|neo|provider.paused|their mail|f\nneo|neo|provider.resumed|they are back|f";
    assert_eq!(audited.trim(), expected);
}

#[tokio::test]
async fn a_request_is_approved_in_the_console_by_another_person_only() {
    let console = Console::of(env().sandbox.database());
    let (tebogo, pule) = (person("tebogo", "vendgate_finance"), person("pule", "vendgate_finance"));
    // More than any other test pays.
    Operator::at_the_prompt().does("approvals require top-up --above 9000000.00");
    let merchant = env()
        .open_merchant_with(WalletPlan { minor: 0, ..WalletPlan::loaded("Wallet", Handling::SelfManaged) })
        .await;
    let payment = format!("wallet top-up {} 9500000.00 --currency BWP --id CONSOLE-1", merchant.account);
    let request = tebogo.does(&payment)["request"].to_string();
    let (approve, reason) = (format!("/approvals/{request}/approve"), [("reason", "seen at the bank")]);

    let own = console.signs_in(&tebogo.shows("console link")).await;
    assert_eq!(own.posts(&approve, &reason).await.status, 422);
    let browser = console.signs_in(&pule.shows("console link")).await;
    assert!(browser.opens("/approvals").await.text.contains(&format!("href=\"/approvals/{request}\"")));
    let rehearsed = browser.posts(&approve, &reason).await;
    assert!(rehearsed.text.contains("Nothing was done yet"), "{}", rehearsed.text);
    assert_eq!(merchant.balance().await, "BWP 0.00");
    let approved = browser.posts(&approve, &[reason[0], ("step", "do")]).await;
    assert_eq!(approved.location, format!("/approvals/{request}"), "{}", approved.text);
    assert_eq!(merchant.balance().await, "BWP 9500000.00");
    let shown = browser.opens(&format!("/approvals/{request}")).await.text;
    assert!(shown.contains("APPROVED") && shown.contains("pule"), "{shown}");

    let second = tebogo.does(&payment.replace("CONSOLE-1", "CONSOLE-2"))["request"].to_string();
    let rejected = browser.posts(&format!("/approvals/{second}/reject"), &reason).await;
    assert_eq!(rejected.status, 303, "{}", rejected.text);
    assert!(browser.opens("/approvals?all=yes").await.text.contains("REJECTED"));
}
