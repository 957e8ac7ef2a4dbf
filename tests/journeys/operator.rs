//! Actions of an operator at the command line, and their effects on an integrator.

use std::{
    process::{Command, Output},
    time::Duration,
};

use acceptance::surface::Surface;
use clock::{Clock, SystemClock};
use futures_util::{StreamExt, stream::FuturesUnordered};
use purchase::OrganisationId;
use sandbox::Credentials;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{
    env::{env, eventually},
    merchant::Merchant,
};

/// What docs/operations/VENDCTL.md promises.
const REVOKED_WITHIN: Duration = Duration::from_secs(5);

/// The operator Naledi. `vendctl` connects to the test database in the operator's role.
pub struct Operator {
    database_url: String,
}

impl Operator {
    pub fn at_the_prompt() -> Self {
        env().asks_the_database(
            "DO $$ BEGIN
                 CREATE ROLE naledi LOGIN PASSWORD 'naledi' IN ROLE vendgate_operator;
             EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
        );
        Self::with(env().sandbox.database().url_as("naledi", "naledi"))
    }

    /// The person who has this login.
    pub const fn with(database_url: String) -> Self {
        Self { database_url }
    }

    /// Runs a changing command with a reason and returns its result.
    pub fn does(&self, words: &str) -> Value {
        self.types(&[words.split(' ').collect::<Vec<_>>(), vec!["--reason", "contract 17"]].concat())
    }

    /// Runs a reading command.
    pub fn shows(&self, words: &str) -> Value {
        self.types(&words.split(' ').collect::<Vec<_>>())
    }

    /// Runs a changing command that is refused. Returns the line that says why.
    pub fn is_refused(&self, words: &str) -> String {
        let output =
            self.runs(&[words.split(' ').collect::<Vec<_>>(), vec!["--reason", "contract 17"]].concat());
        assert!(!output.status.success(), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn runs(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_acceptance-vendctl"))
            .env_clear()
            .env("VENDGATE__OPERATOR__DATABASE_URL", &self.database_url)
            .arg("--json")
            .args(words)
            .output()
            .unwrap()
    }

    pub fn types(&self, words: &[&str]) -> Value {
        let output = self.runs(words);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        // A request was made in place of the act, or a statement differs from the books.
        let is_meant = match output.status.code() {
            Some(0) => true,
            Some(3) => told["status"] == "WAITING",
            Some(4) => told["reconciliation"].is_i64(),
            _ => false,
        };
        assert!(is_meant, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!told.is_null(), "{words:?} printed no JSON");
        told
    }

    /// Onboards an organisation that can buy electricity for this meter, with `vendctl` commands only.
    async fn onboards(&self, code: &str, meter: &str) -> Merchant {
        self.onboards_with(code, meter, "BPC", "BWP").await
    }

    /// The same with this provider and a wallet in this currency.
    pub async fn onboards_with(&self, code: &str, meter: &str, provider: &str, currency: &str) -> Merchant {
        let organisation =
            self.does(&format!("organisation create {code} --name {code} --environment staging"));
        let account = self.does(&format!("account open -o {code} --name Wallet --currency {currency}"));
        self.does(&format!(
            "offer set -o {code} electricity {provider} --currency {currency} --fee 1.50 --commission-rate 0.01"
        ));
        self.does(&format!("allow-list add -o {code} {meter}"));
        let client = self.does(&format!("client create -o {code} --name tills"));
        let user = self.does(&format!(
            "user create till -o {code} --full-name Till --role integrator --phone 26771000001 --generate-password"
        ));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let credentials = Credentials {
            client_id: text(&client["client_id"]),
            client_secret: text(&client["client_secret"]),
            org_code: code.to_owned(),
            identifier: "till".to_owned(),
            secret_pass: text(&user["password"]),
        };
        let opened = sandbox::Merchant {
            organisation: OrganisationId(organisation["id"].as_i64().unwrap()),
            wallets: vec![ledger::AccountId(account["id"].as_i64().unwrap())],
            credentials,
        };
        Merchant::log_in(opened, &env().info().base_url).await
    }
}

impl Merchant {
    /// Logs in again with another client secret. Returns whether the login succeeds.
    async fn logs_in_with(&mut self, client_secret: &str) -> bool {
        client_secret.clone_into(&mut self.credentials.client_secret);
        self.post("/public/v1/auth/login", &self.login_body()).await.status == 200
    }
}

#[tokio::test]
async fn an_organisation_that_was_let_in_at_the_prompt_buys_and_its_statement_shows_it() {
    let (operator, meter) = (Operator::at_the_prompt(), env().meter());
    let merchant = operator.onboards("PROMPT1", &meter).await;
    assert_eq!(merchant.balance().await, "BWP 1000000.00");

    let bought = merchant.confirm(&merchant.order(&meter).amount("100.00")).await.expect(200);
    assert_eq!(bought.str("/status"), "SUCCESSFUL");
    merchant.has_spent(&["BWP 101.50"]).await;

    let (code, account) = (&merchant.code, merchant.account);
    let accounts = operator.shows(&format!("account list -o {code}"));
    assert_eq!(accounts[0]["available"].as_str().unwrap(), merchant.balance().await);
    assert_eq!(
        (&accounts[1]["category"], &accounts[1]["posted"]),
        (&"COMMISSION".into(), &"BWP 1.00".into())
    );
    let statement = operator.shows(&format!("wallet statement {account}"));
    let seen = statement.as_array().unwrap().iter().map(|line| {
        let field = |name: &str| line[name].as_str().unwrap();
        (field("kind"), field("amount"), field("counterpart"))
    });
    let expected = [
        ("SETTLE", "BWP -100.00", "PROVIDER_PAYABLE"),
        ("SETTLE", "BWP -1.50", "FEE_INCOME"),
        ("TOP_UP", "BWP 1000000.00", "FUNDING"),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
    assert_eq!(statement[0]["purchase"], bought.id());

    let audit = operator.shows(&format!("audit list -o {code}"));
    for (_, token) in bought.tokens() {
        for shown in [&accounts, &statement, &audit] {
            assert!(!shown.to_string().contains(token));
        }
    }
    for line in audit.as_array().unwrap() {
        assert_eq!((&line["actor"], &line["reason"]), (&"naledi".into(), &"contract 17".into()), "{line}");
    }
}

#[tokio::test]
async fn the_operator_sees_the_source_tag_of_a_purchase() {
    let (operator, merchant) = (Operator::at_the_prompt(), env().open_merchant_on(Surface::Current).await);
    let order = merchant.order(&env().meter());
    let tag = |tag: &str| order.clone().with("source_tag", &format!("\"{tag}\""));
    for (order, expected) in [(tag("ussd gateway 7"), "ussd gateway 7".into()), (order.clone(), Value::Null)]
    {
        let bought = merchant.confirm(&order).await.expect(200);
        let story = operator.shows(&format!("purchases show {}", bought.id()));
        assert_eq!(story["source_tag"], expected);
    }
    let versioned = merchant.on(Surface::V1);
    let order = versioned.order(&env().meter()).with("source_tag", "\"not a field there\"");
    let bought = versioned.confirm(&order).await.expect(200);
    let story = operator.shows(&format!("purchases show {}", bought.id()));
    assert_eq!(story["source_tag"], Value::Null);
}

#[tokio::test]
async fn a_rotated_secret_works_beside_the_old_one_until_the_overlap_ends() {
    let operator = Operator::at_the_prompt();
    let mut merchant = operator.onboards("PROMPT2", &env().meter()).await;
    let (client, first) =
        (merchant.credentials.client_id.clone(), merchant.credentials.client_secret.clone());
    let rotate = |overlap: &str| {
        let rotated = operator.does(&format!("secret rotate {client} --overlap {overlap}"));
        rotated["client_secret"].as_str().unwrap().to_owned()
    };
    let second = rotate("1h");
    assert!(merchant.logs_in_with(&second).await);
    assert!(merchant.logs_in_with(&first).await);

    let third = rotate("0s");
    assert!(!merchant.logs_in_with(&first).await);
    assert!(!merchant.logs_in_with(&second).await);
    assert!(merchant.logs_in_with(&third).await);
}

#[tokio::test]
async fn a_revoked_secret_ends_confirms_at_once_and_other_sessions_within_seconds() {
    let (operator, meter) = (Operator::at_the_prompt(), env().meter());
    let merchant = operator.onboards("PROMPT3", &meter).await;
    merchant.balance().await;
    let client = &merchant.credentials.client_id;
    let secret = operator.shows(&format!("client show {client}"))["secrets"][0]["id"].clone();
    operator.does(&format!("secret revoke {client} {secret}"));

    let refused = merchant.confirm(&merchant.order(&meter)).await;
    assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
    merchant_is_out(&merchant).await;
}

#[tokio::test]
async fn a_revoked_secret_is_refused_by_every_server_five_seconds_later() {
    let (operator, meter) = (Operator::at_the_prompt(), env().meter());
    let here = operator.onboards("PROMPT7", &meter).await;
    let server = env().another_api_server("server-that-remembers");
    let there = here.calling(server.url());
    for server in [&here, &there] {
        server.balance().await;
    }
    let client = &here.credentials.client_id;
    let secret = operator.shows(&format!("client show {client}"))["secrets"][0]["id"].clone();
    operator.does(&format!("secret revoke {client} {secret}"));

    let revoked_at = SystemClock.monotonic();
    for server in [&here, &there] {
        let refused = server.confirm(&server.order(&meter)).await;
        assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
    }
    for server in [&here, &there] {
        loop {
            let since = SystemClock.monotonic().elapsed_since(revoked_at);
            let status = server.get("/public/v1/auth/me").await.status;
            if status == 401 {
                break;
            }
            assert!(since < REVOKED_WITHIN, "answered {status} {since:?} after the secret was revoked");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_replaced_password_ends_the_sessions_that_the_old_one_opened() {
    let (operator, meter) = (Operator::at_the_prompt(), env().meter());
    let merchant = operator.onboards("PROMPT4", &meter).await;
    operator.does("user set-password till -o PROMPT4 --generate-password");
    let refused = merchant.confirm(&merchant.order(&meter)).await;
    assert_eq!(refused.refusal(), (401, "invalid_credentials", None));
    merchant_is_out(&merchant).await;
}

#[tokio::test]
async fn of_the_logins_around_a_replaced_password_none_lives_on() {
    // Disables the limits, because the same user logs in from the same address many times at once.
    let at_once = [
        ("VENDGATE__WEB__LIMITS__LOGIN__PER_SECOND", "0"),
        ("VENDGATE__WEB__LIMITS__LOGIN__BURST", "0"),
        ("VENDGATE__WEB__LIMITS__GUESS_DELAY_MS", "0"),
    ];
    let server = env().another_api_server_with("server-in-a-rush", &at_once);
    let operator = Operator::at_the_prompt();
    let merchant = operator.onboards("PROMPT6", &env().meter()).await.calling(server.url());
    let login = merchant.login_body();
    // Fewer than the number of logins that may wait for their password check.
    let mut logins: FuturesUnordered<_> =
        (0..30).map(|_| merchant.post("/public/v1/auth/login", &login)).collect();
    logins.next().await.unwrap().expect(200);
    let at_the_prompt =
        spawn_blocking(move || operator.does("user set-password till -o PROMPT6 --generate-password"));
    for answer in logins.collect::<Vec<_>>().await {
        if answer.status != 200 {
            assert_eq!(answer.refusal(), (401, "invalid_credentials", None));
        }
    }
    assert!(at_the_prompt.await.unwrap()["password"].is_string());
    let alive = env().asks_the_database(
        "SELECT count(*) FROM token_families f JOIN organisations o ON o.id = f.organisation_id
         WHERE o.code = 'PROMPT6' AND f.revoked_at IS NULL",
    );
    assert_eq!(alive, "0");
}

#[tokio::test]
async fn nothing_is_sold_to_a_suspended_organisation_or_out_of_a_suspended_wallet() {
    let (operator, meter) = (Operator::at_the_prompt(), env().meter());
    let merchant = operator.onboards("PROMPT5", &meter).await;
    operator.does("organisation suspend PROMPT5");
    assert_eq!(merchant.confirm(&merchant.order(&meter)).await.refusal(), (403, "forbidden", None));
    operator.does("organisation readmit PROMPT5");
    operator.does(&format!("account suspend {}", merchant.account));
    let refused = merchant.confirm(&merchant.order(&meter)).await;
    assert_eq!(refused.refusal(), (403, "forbidden", Some("debited_account_id")));
    operator.does(&format!("account readmit {}", merchant.account));
    eventually("the servers notice", async || merchant.validate(&merchant.order(&meter)).await.status == 200)
        .await;
    assert_eq!(merchant.confirm(&merchant.order(&meter)).await.expect(200).str("/status"), "SUCCESSFUL");
    merchant.has_spent(&["BWP 101.50"]).await;
}

/// A server may keep a session in its cache for a few seconds.
async fn merchant_is_out(merchant: &Merchant) {
    eventually("the session has ended", async || merchant.get("/public/v1/auth/me").await.status == 401)
        .await;
}

#[tokio::test]
async fn the_operators_report_is_what_the_purchases_of_the_days_add_up_to() {
    let (operator, merchant) = (Operator::at_the_prompt(), env().open_merchant().await);
    for amount in ["100.00", "20.00"] {
        merchant.confirm(&merchant.order(&env().meter()).amount(amount)).await.expect(200);
    }
    let water = merchant.order(env().info().subscribers.water["no_token"]);
    let water = water.with("product_type", "\"WATER\"").with("provider_code", "\"WUC\"");
    merchant.confirm(&water.amount("50.00")).await.expect(200);

    // Midnight may pass meanwhile.
    let days = env().asks_the_database(
        "SELECT (now() AT TIME ZONE 'Africa/Gaborone')::date - 1, (now() AT TIME ZONE 'Africa/Gaborone')::date + 1",
    );
    let (first, last) = days.split_once('|').unwrap();
    let counted = env().asks_the_database(&format!(
        "SELECT json_agg(line) FROM (
             SELECT (e.posted_at AT TIME ZONE 'Africa/Gaborone')::date AS day, '{code}' AS organisation,
                 p.provider_code AS provider, p.product, p.currency, count(*) AS count,
                 sum(p.total) AS total_hundredths, sum(p.net) AS net_hundredths, sum(p.charge) AS charge_hundredths,
                 sum(p.commission) AS commission_hundredths, 'STAGING' AS environment, '{first}' AS \"from\", '{last}' AS \"to\",
                 false AS has_ended
             FROM purchases p JOIN journal_entries e ON e.purchase_id = p.id AND e.kind = 'SETTLE'
             WHERE p.organisation_id = {id} AND p.state = 'SUCCESSFUL'
             GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5) line",
        code = merchant.code,
        id = merchant.organisation
    ));
    let report = format!("report sales --date {first} --to {last} --by day,organisation,provider,product");
    let reported = operator.shows(&format!("{report} -o {}", merchant.code));
    assert_eq!(reported, serde_json::from_str::<Value>(&counted).unwrap());

    // The other reports of these days have the same purchases, as what they left to each side.
    for (report, earned, of_sale) in [
        ("payable", "sales_hundredths", "net_hundredths"),
        ("fees", "earned_hundredths", "charge_hundredths"),
        ("commission", "earned_hundredths", "commission_hundredths"),
    ] {
        let by = "day,organisation,provider,product";
        let lines = operator.shows(&format!("report {report} --date {first} --to {last} --by {by}"));
        let own = |line: &&Value| line["organisation"] == merchant.code.as_str();
        let part = |line: &Value, earned: &str| {
            (["day", "provider", "product", "count"].map(|name| line[name].clone()), line[earned].clone())
        };
        let lines: Vec<_> =
            lines.as_array().unwrap().iter().filter(own).map(|line| part(line, earned)).collect();
        let sold = reported.as_array().unwrap().iter().filter(|line| line[of_sale] != 0);
        assert_eq!(lines, sold.map(|line| part(line, of_sale)).collect::<Vec<_>>(), "{report}");
    }
    let all = operator.shows(&format!("report sales --date {first} --to {last} --by organisation"));
    let own =
        all.as_array().unwrap().iter().find(|line| line["organisation"] == merchant.code.as_str()).unwrap();
    assert_eq!(
        (&own["count"], &own["net_hundredths"], &own["day"]),
        (&3.into(), &17_000.into(), &Value::Null)
    );
}
