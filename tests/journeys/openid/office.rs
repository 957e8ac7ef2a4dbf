//! A console with an OpenID provider, on a database whose server knows the console.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use reqwest::{
    RequestBuilder,
    header::{COOKIE, LOCATION, SET_COOKIE},
};
use serde_json::Value;
use test_kit::{
    openid_provider::{CLIENT_ID, CLIENT_SECRET, OpenIdProvider, Signer},
    tls_server::{ClientFiles, TlsServer},
};

use crate::{console::Console, env::directory, operator::Operator};

/// The operators, and their roles. Each test has its own, because identities are of the whole server.
const PEOPLE: [(&str, &str); 8] = [
    ("naledi", "vendgate_operator"),
    ("thabo", "vendgate_finance"),
    ("lesego", "vendgate_administrator"),
    ("kagiso", "vendgate_support"),
    ("sethunya", "vendgate_support"),
    ("dineo", "vendgate_support"),
    ("pule", "vendgate_support"),
    // The map of the server does not name him.
    ("mpho", "vendgate_finance"),
];

/// A database whose server lets the console be each person but one, by its certificate.
pub struct Town {
    pub server: TlsServer,
    certificate: ClientFiles,
}

pub fn town() -> &'static Town {
    static TOWN: OnceLock<Town> = OnceLock::new();
    TOWN.get_or_init(|| thread::spawn(Town::open).join().unwrap())
}

impl Town {
    fn open() -> Self {
        let people = PEOPLE.map(|(name, _)| name);
        let hba = [
            format!("hostssl all {} 127.0.0.1/32 cert map=console", people.join(",")),
            format!("hostssl all {} ::1/128 cert map=console", people.join(",")),
            // As the database sees programs of its own machine.
            "local all pule peer map=console".to_owned(),
        ];
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let mapped = people.iter().filter(|name| **name != "mpho");
        let mut ident: Vec<String> = mapped.map(|name| format!("console vendgate-console {name}")).collect();
        ident.push(format!("console {} pule", user.trim()));
        let [hba, ident] =
            [&hba[..], &ident].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
        let server = TlsServer::start("localhost", &directory(), &hba, &ident);
        let people =
            PEOPLE.iter().map(|(name, role)| (*name, *role)).chain([("console_login", "vendgate_console")]);
        for (name, role) in people {
            let login = format!("CREATE ROLE {name} LOGIN PASSWORD '{name}' IN ROLE {role}");
            server.database.run_sql(&login).unwrap();
        }
        let certificate = server.certifies("vendgate-console").unwrap();
        Self { server, certificate }
    }

    /// Where the console connects: over TLS and with its certificate, although its own login has a password.
    pub fn url(&self) -> String {
        let url = self.server.database.url_as("console_login", "console_login");
        format!("{}?{}", url.replace("127.0.0.1", "localhost"), self.server.parameters(&self.certificate))
    }

    pub fn asks(&self, sql: &str) -> String {
        self.server.database.run_sql(sql).unwrap()
    }

    /// The person at a prompt, with a password.
    pub fn at_the_prompt(&self, person: &str) -> Operator {
        Operator::with(self.server.database.url_as(person, person))
    }
}

/// A console, its provider and its log.
pub struct Office {
    pub console: Console,
    pub provider: OpenIdProvider,
    pub log: PathBuf,
}

/// A browser in front of the provider.
pub struct AtProvider<'a> {
    office: &'a Office,
    /// Where the console has sent it.
    pub address: String,
    pub cookie: String,
}

impl Office {
    pub fn open() -> Self {
        Self::connecting_to(&town().url())
    }

    pub fn connecting_to(database_url: &str) -> Self {
        static OPENED: AtomicUsize = AtomicUsize::new(0);
        let provider = OpenIdProvider::open().unwrap();
        let log = directory().join(format!("openid-console-{}.log", OPENED.fetch_add(1, Ordering::Relaxed)));
        let settings = [
            ("CONSOLE__DATABASE_URL", database_url),
            ("OPENID__ISSUER", &provider.issuer),
            ("OPENID__CLIENT_ID", CLIENT_ID),
            ("OPENID__CLIENT_SECRET", CLIENT_SECRET),
            ("TELEMETRY__FILTER", "trace"),
        ];
        let console = Console::with(&settings, File::create(&log).unwrap().into());
        Self { console, provider, log }
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.console.client.get(format!("{}{path}", self.console.address))
    }

    /// Presses "Sign in with your account".
    pub async fn begins(&self) -> AtProvider<'_> {
        let answer =
            self.get("/sign-in/openid").header("Sec-Fetch-Site", "same-origin").send().await.unwrap();
        assert_eq!(answer.status(), 303);
        let address = answer.headers()[LOCATION].to_str().unwrap().to_owned();
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
        let (cookie, rest) = cookie.split_once("; ").unwrap();
        assert_eq!(rest, "Path=/; HttpOnly; SameSite=Lax; Max-Age=600");
        AtProvider { office: self, address, cookie: cookie.to_owned() }
    }

    /// Signs in with this account.
    pub async fn signs_in(&self, account: &str) -> Answered {
        let browser = self.begins().await;
        let query = browser.signs_in(account);
        browser.comes_back(&query).await
    }

    /// What is in no log: the secrets and tokens of a sign-in.
    pub fn told_nothing_secret(&self) {
        let log = fs::read_to_string(&self.log).unwrap();
        for secret in [CLIENT_SECRET, "access-token-of-a-test", "eyJ", "code-0-of"] {
            assert!(!log.contains(secret), "{secret}: {log}");
        }
    }

    pub fn told(&self, sentence: &str) {
        let log = fs::read_to_string(&self.log).unwrap();
        assert!(log.contains(sentence), "{sentence}: {log}");
    }
}

/// What a browser gets when it comes back.
pub struct Answered {
    status: u16,
    pub text: String,
    /// The cookie of a session.
    pub session: Option<String>,
}

impl AtProvider<'_> {
    pub fn signs_in(&self, account: &str) -> String {
        self.office.provider.signs_in(&self.address, account, Signer::Provider, |_claims| {})
    }

    pub async fn comes_back(&self, query: &str) -> Answered {
        comes_back(self.office, &self.cookie, query).await
    }
}

pub async fn comes_back(office: &Office, cookie: &str, query: &str) -> Answered {
    let request = office.get(&format!("/sign-in/openid/done?{query}"));
    let answer = request.header(COOKIE, cookie).header("Sec-Fetch-Site", "cross-site").send().await.unwrap();
    let cookies = answer.headers().get_all(SET_COOKIE).iter().map(|cookie| cookie.to_str().unwrap());
    let session =
        cookies.filter_map(|cookie| cookie.split_once("; ")).find(|(pair, _)| pair.starts_with("console="));
    let session = session.map(|(pair, rest)| {
        assert_eq!(rest, "Path=/; HttpOnly; SameSite=Strict");
        pair.to_owned()
    });
    Answered { status: answer.status().as_u16(), text: answer.text().await.unwrap(), session }
}

impl Answered {
    pub fn is(&self, login: &str) {
        assert_eq!(self.status, 200, "{}", self.text);
        assert!(self.text.contains(&format!("You are signed in as {login}.")), "{}", self.text);
        assert!(self.session.is_some());
    }

    pub fn is_refused(&self, status: u16, sentence: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert!(self.text.contains(sentence), "{sentence}: {}", self.text);
        assert_eq!(self.session, None);
    }
}

impl Operator {
    /// Adds an account at the office's provider.
    pub fn adds(&self, office: &Office, account: &str) -> Value {
        self.does(&format!("console identity add {} {account}", office.provider.issuer))
    }
}
