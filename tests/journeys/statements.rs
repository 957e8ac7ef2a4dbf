//! An integrator closes its day: statements and sales over HTTP, in every format.

use chrono_tz::Africa::Gaborone;
use clock::{Clock, SystemClock};
use http_v1::Endpoint;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{env::env, merchant::Merchant, wire::Answer};

/// Today in the service's time zone.
pub fn today() -> String {
    SystemClock.now().with_timezone(&Gaborone).date_naive().to_string()
}

async fn reads(merchant: &Merchant, query: &str) -> Answer {
    merchant.get(&format!("/public/v1/accounts/{}/statement?{query}", merchant.account)).await.expect(200)
}

/// A text that each format has to escape.
fn reference(number: usize) -> Value {
    format!("till-\"{number}\", & <more>").into()
}

/// A merchant that has bought twice, for 50.00 each, and once without success.
async fn bought_today() -> (Merchant, Vec<i64>) {
    let merchant = env().open_merchant().await;
    let mut bought = Vec::new();
    for number in 0..2 {
        let order = merchant.order(&env().meter()).with("external_reference", &reference(number).to_string());
        bought.push(merchant.confirm(&order).await.expect(200).id());
    }
    merchant.confirm(&merchant.order(env().scenario("account_blocked"))).await;
    (merchant, bought)
}

#[tokio::test]
async fn the_days_of_an_account_follow_each_other_and_today_reaches_up_to_now() {
    let (merchant, bought) = bought_today().await;
    let yesterday = reads(&merchant, "").await.body;
    assert_eq!((&yesterday["complete"], &yesterday["data"]), (&json!(true), &json!([])));
    assert_eq!(yesterday["as_of"], yesterday["to_time"]);

    let now = reads(&merchant, &format!("from={}", today())).await.body;
    assert_eq!(now["from_time"], yesterday["to_time"]);
    assert_eq!(now["opening_balance"], yesterday["closing_balance"]);
    assert_eq!((&now["opening_balance_minor"], &now["complete"]), (&json!(0), &json!(false)));
    assert!(now["as_of"].as_str() < now["to_time"].as_str(), "{now}");

    let lines = now["data"].as_array().unwrap();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[0], "TOP_UP");
    assert!(kinds[1..].iter().all(|kind| *kind == "PURCHASE"), "{now}");
    let mut balance = 0;
    for line in lines {
        balance += line["amount_minor"].as_i64().unwrap();
        assert_eq!(line["balance_minor"], balance);
    }
    assert_eq!(now["closing_balance_minor"], balance);
    assert_eq!(now["closing_balance"], merchant.balance().await);
    for (number, id) in bought.iter().enumerate() {
        let line = lines.iter().find(|line| line["purchase_id"] == *id && line["part"] == "NET").unwrap();
        assert_eq!(line["external_reference"], reference(number));
        assert_eq!((&line["product_type"], &line["provider_code"]), (&json!("ELECTRICITY"), &json!("BPC")));
    }
}

#[tokio::test]
async fn pages_agree_while_the_merchant_goes_on_buying() {
    let (merchant, _) = bought_today().await;
    let whole = reads(&merchant, &format!("from={}", today())).await.body;
    let mut page = reads(&merchant, &format!("from={}&limit=2", today())).await.body;
    merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let mut lines = page["data"].as_array().unwrap().clone();
    while let Some(cursor) = page["next_cursor"].as_str() {
        let next = reads(&merchant, &format!("cursor={cursor}")).await.body;
        for same in ["opening_balance", "closing_balance", "as_of", "complete", "from", "to"] {
            assert_eq!(next[same], page[same], "{same}");
        }
        lines.extend(next["data"].as_array().unwrap().clone());
        page = next;
    }
    assert_eq!(Value::from(lines), whole["data"]);
}

#[tokio::test]
async fn the_other_formats_have_the_same_lines() {
    let (merchant, _) = bought_today().await;
    let json = reads(&merchant, &format!("from={}&limit=3", today())).await.body;
    let csv = reads(&merchant, &format!("from={}&limit=3&format=csv", today())).await;
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let cursor = csv.header("x-next-cursor").unwrap().to_owned();
    let last = reads(&merchant, &format!("cursor={cursor}&limit=5000&format=csv")).await;
    assert_eq!(last.header("x-next-cursor"), None);
    let rows: Vec<&str> = csv.text.split("\r\n").collect();
    assert!(
        rows[0].starts_with("entry,date,posted_at,kind,part,amount,amount_minor,balance,"),
        "{}",
        csv.text
    );
    assert!(rows[1].contains(",OPENING_BALANCE,,,,BWP 0.00,0,"), "{}", csv.text);
    for (row, line) in rows[2..5].iter().zip(json["data"].as_array().unwrap()) {
        assert!(row.contains(line["posted_at"].as_str().unwrap()), "{row}");
    }
    assert!(csv.text.contains(r#""till-""0"", & <more>""#), "{}", csv.text);
    let end = last.text.trim_end().rsplit("\r\n").next().unwrap().to_owned();
    assert!(end.contains(",INTERIM_BALANCE,"), "{end}");

    let path = format!("/public/v1/accounts/{}/statement?from={}&limit=3", merchant.account, today());
    let xml = merchant
        .send(Method::GET, &path, None, &[("Accept", "text/html, application/xml")])
        .await
        .expect(200);
    assert_eq!(xml.header("content-type"), Some("application/xml"));
    for part in
        ["camt.053.001.08", "<PgNb>1</PgNb><LastPgInd>false</LastPgInd>", "&lt;more&gt;", "<Cd>INTM</Cd>"]
    {
        assert!(xml.text.contains(part), "{part}: {}", xml.text);
    }
    assert_eq!(xml.text.matches("<Ntry>").count(), 3);
}

#[tokio::test]
async fn the_sales_of_a_day_are_what_its_statement_took() {
    let (merchant, _) = bought_today().await;
    let sales = merchant.get(&format!("/public/v1/reports/sales?from={}", today())).await.expect(200);
    let statement = reads(&merchant, &format!("from={}", today())).await.body;
    let taken: i64 = statement["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|line| line["kind"] == "PURCHASE")
        .map(|line| line["amount_minor"].as_i64().unwrap())
        .sum();
    let [row] = &sales.body["data"].as_array().unwrap()[..] else { panic!("{}", sales.text) };
    assert_eq!((&row["count"], &row["total_minor"]), (&json!(2), &json!(-taken)));
    let part = |name: &str| row[name].as_i64().unwrap();
    assert_eq!(part("total_minor"), part("net_minor") + part("charge_minor"));
    assert_eq!((&row["date"], &row["currency"]), (&json!(today()), &json!("BWP")));
    let csv =
        merchant.get(&format!("/public/v1/reports/sales?from={}&format=csv", today())).await.expect(200);
    assert!(csv.text.contains(&format!("\r\n{},ELECTRICITY,BPC,BWP,2,BWP ", today())), "{}", csv.text);
    let yesterday = merchant.get("/public/v1/reports/sales").await.expect(200);
    assert_eq!((&yesterday.body["complete"], &yesterday.body["data"]), (&json!(true), &json!([])));
}

#[tokio::test]
async fn a_suspended_account_still_has_its_statements() {
    let (merchant, _) = bought_today().await;
    let now = format!("from={}", today());
    let before = reads(&merchant, &now).await.body;
    env().asks_the_database(&format!(
        "UPDATE accounts SET status = 'SUSPENDED' WHERE id = {}",
        merchant.account
    ));
    assert_eq!(reads(&merchant, &now).await.body["data"], before["data"]);
    let account = Endpoint::Account.path().replace("{id}", &merchant.account.to_string());
    assert_eq!(merchant.get(&account).await.status, 404);
}

#[tokio::test]
async fn a_period_that_cannot_be_answered_is_refused_by_its_field() {
    let merchant = env().open_merchant().await;
    for (query, param) in [
        ("from=2026-01-02&to=2026-01-01", "to"),
        ("from=2020-01-01&to=2021-01-01", "to"),
        ("from=2999-01-01", "from"),
        ("from=2026-02-30", "from"),
        ("from=2026-01-01%2000:00:00", "from"),
        ("format=pdf", "format"),
        ("limit=5001", "limit"),
        ("cursor=x", "cursor"),
        ("to=", "to"),
    ] {
        let path = format!("/public/v1/accounts/{}/statement?{query}", merchant.account);
        assert_eq!(merchant.get(&path).await.refusal(), (400, "invalid_argument", Some(param)), "{query}");
    }
    let month = "/public/v1/reports/sales?from=2026-01-01&to=2026-02-01";
    assert_eq!(merchant.get(month).await.refusal(), (400, "invalid_argument", Some("to")));
}

#[tokio::test]
async fn what_a_statement_or_a_report_does_not_have_is_refused_by_its_name() {
    let merchant = env().open_merchant().await;
    let statement = Endpoint::Statement.path().replace("{id}", &merchant.account.to_string());
    for (path, param, all) in [
        (statement.as_str(), "form", "from, to, cursor, limit, format"),
        (statement.as_str(), "status", "from, to, cursor, limit, format"),
        (Endpoint::Sales.path(), "limit", "from, to, format"),
        (Endpoint::Sales.path(), "account_id", "from, to, format"),
    ] {
        let refused = merchant.get(&format!("{path}?from={}&{param}=2", today())).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some(param)), "{path}");
        assert!(refused.text.contains(all), "{}", refused.text);
    }
    let refused = merchant.get(&format!("{}?format=csv", Endpoint::Accounts.path())).await;
    assert_eq!(refused.refusal(), (400, "invalid_argument", Some("format")));
    // A type that no format has is no mistake: browsers and libraries send many.
    for path in [statement.as_str(), Endpoint::Sales.path()] {
        let json = merchant.send(Method::GET, path, None, &[("Accept", "image/png")]).await.expect(200);
        assert_eq!(json.header("content-type"), Some("application/json"), "{path}");
    }
}
