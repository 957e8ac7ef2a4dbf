//! What a person does in the console beside decisions and approvals: each act is rehearsed first, and is the act of the person.

use purchase::OrganisationId;
use sandbox::Credentials;

use crate::{
    console::{Browser, Console, person},
    env::env,
    merchant::Merchant,
    operator::Operator,
};

/// The value of a field of the report on a page.
fn told(page: &str, field: &str) -> String {
    let (_, after) =
        page.split_once(&format!("<dt>{field}</dt><dd>")).unwrap_or_else(|| panic!("no {field}: {page}"));
    after.split('<').next().unwrap().to_owned()
}

impl Browser<'_> {
    /// Does an act after its rehearsal, which shows no secret. Returns the page that follows, or where it leads.
    async fn does_after_rehearsal(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let rehearsed = self.rehearses(path, fields).await;
        assert!(rehearsed.contains("Nothing of it was kept"), "{rehearsed}");
        let done = self.posts(path, &[fields, &[("step", "do")]].concat()).await;
        assert!(matches!(done.status, 200 | 303), "{}", done.text);
        if done.status == 303 { done.location } else { done.text }
    }

    /// Sends a form, whose act is rehearsed. Returns the page of the rehearsal.
    async fn rehearses(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let seen = self.posts(path, fields).await;
        assert_eq!(seen.status, 200, "{}", seen.text);
        assert!(seen.text.contains("Nothing was done yet"), "{}", seen.text);
        seen.text
    }

    /// Sends the same form as after the rehearsal. Returns where it leads.
    async fn does(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let seen = self.posts(path, &[fields, &[("step", "do")]].concat()).await;
        assert_eq!(seen.status, 303, "{}", seen.text);
        seen.location
    }

    async fn is_refused(&self, path: &str, fields: &[(&str, &str)]) -> String {
        let seen = self.posts(path, fields).await;
        assert_eq!(seen.status, 422, "{}", seen.text);
        seen.text
    }
}

/// Buys for a meter of its own. Returns the number of the purchase.
async fn sold() -> String {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    merchant.confirm(&merchant.order(&meter).amount("100.00")).await.expect(200);
    let number = format!("SELECT id FROM purchases WHERE subscriber_identifier = '{meter}'");
    env().asks_the_database(&number).trim().to_owned()
}

#[tokio::test]
async fn support_sends_a_message_again_in_the_console_after_a_rehearsal() {
    let console = Console::of(env().sandbox.database());
    let (goitse, masego) = (person("goitse", "vendgate_support"), person("masego", "vendgate_finance"));
    let purchase = sold().await;
    let path = format!("/purchases/{purchase}/resend");
    let fields = [("to", "26771500002"), ("reason", "a digit was wrong")];
    let finance = console.signs_in(&masego.shows("console link")).await;
    let refused = finance.is_refused(&path, &fields).await;
    assert!(refused.contains("this needs the role support or administrator; you have finance"), "{refused}");

    let support = console.signs_in(&goitse.shows("console link")).await;
    assert!(support.opens(&format!("/purchases/{purchase}")).await.text.contains("Send the message again"));
    let repeats = || {
        let sent = format!(
            "SELECT requested_by_login, phone_number FROM repeated_messages WHERE purchase_id = {purchase}"
        );
        env().asks_the_database(&sent)
    };
    let rehearsed = support.rehearses(&path, &fields).await;
    assert!(rehearsed.contains("<dd>yes</dd>") && rehearsed.contains("<dd>2</dd>"), "{rehearsed}");
    assert_eq!(repeats().trim(), "");
    assert_eq!(support.does(&path, &fields).await, format!("/purchases/{purchase}"));
    assert_eq!(repeats().trim(), "goitse|26771500002");
}

#[tokio::test]
async fn support_has_messages_sent_after_all_in_the_console_after_a_rehearsal() {
    let console = Console::of(env().sandbox.database());
    let (goitse, masego) = (person("goitse", "vendgate_support"), person("masego", "vendgate_finance"));
    let purchase = sold().await;
    env().asks_the_database(&format!(
        "UPDATE outbox SET sent_at = NULL, given_up_at = now(), given_up_because = 'TOO_OFTEN' WHERE purchase_id = {purchase}"
    ));
    let given_up = || {
        let left =
            format!("SELECT count(*) FROM outbox WHERE purchase_id = {purchase} AND given_up_at IS NOT NULL");
        env().asks_the_database(&left).trim().to_owned()
    };
    let there = given_up();
    let fields = [("purchase", purchase.as_str()), ("reason", "the gateway's list is corrected")];
    let finance = console.signs_in(&masego.shows("console link")).await;
    let refused = finance.is_refused("/messages/requeue", &fields).await;
    assert!(refused.contains("this needs the role support or administrator"), "{refused}");

    let support = console.signs_in(&goitse.shows("console link")).await;
    let page = support.opens("/messages?which=given-up").await.text;
    assert!(
        page.contains(&format!("href=\"/purchases/{purchase}\"")) && page.contains("TOO_OFTEN"),
        "{page}"
    );
    let rehearsed = support.rehearses("/messages/requeue", &fields).await;
    assert!(rehearsed.contains(&format!("<dd>{there}</dd>")), "{there}: {rehearsed}");
    assert_eq!(given_up(), there);
    assert_eq!(support.does("/messages/requeue", &fields).await, "/messages");
    assert_eq!(given_up(), "0");
    let audited = format!(
        "SELECT login FROM audit_log WHERE action = 'messages.requeued' AND subject = 'purchase:{purchase}'"
    );
    assert_eq!(env().asks_the_database(&audited).trim(), "goitse");
}

#[tokio::test]
async fn an_administrator_declares_a_breaker_in_the_console_after_a_rehearsal() {
    let console = Console::of(env().sandbox.database());
    let (neo, goitse) = (person("neo", "vendgate_administrator"), person("goitse", "vendgate_support"));
    let declare = ["provider", "declare", "BROKEN", "--name", "Broken", "--reason", "contract 17"];
    Operator::at_the_prompt().types(&declare);
    let path = "/providers/BROKEN/breaker";
    let on = [
        ("breaker", "on"),
        ("silent_percent", ""),
        ("calls", "20"),
        ("within", "2m"),
        ("pause", ""),
        ("notice", "BROKEN does not answer"),
        ("trial", "04257670465"),
        ("trial_product", "electricity"),
        ("reason", "rule 9"),
    ];
    let support = console.signs_in(&goitse.shows("console link")).await;
    let refused = support.is_refused(path, &on).await;
    assert!(refused.contains("this needs the role administrator; you have support"), "{refused}");

    let browser = console.signs_in(&neo.shows("console link")).await;
    let declared = || {
        let breaker = "SELECT silent_percent, calls_min, trial_product, notice FROM provider_breakers WHERE provider_code = 'BROKEN'";
        env().asks_the_database(breaker).trim().to_owned()
    };
    let rehearsed = browser.rehearses(path, &on).await;
    let what =
        "opens at 50 % of 20 calls in 2m, pauses for 1m, then tried with ELECTRICITY 04257670465 within 30s";
    assert!(rehearsed.contains(what), "{rehearsed}");
    assert_eq!(declared(), "");
    assert_eq!(browser.does(path, &on).await, "/providers/BROKEN");
    assert_eq!(declared(), "50|20|ELECTRICITY|BROKEN does not answer");
    // The form replaces the whole declaration, so it has what is in force.
    let page = browser.opens("/providers/BROKEN").await.text;
    for (name, value) in [
        ("silent_percent", "50"),
        ("calls", "20"),
        ("within", "120s"),
        ("pause", "60s"),
        ("notice", "BROKEN does not answer"),
        ("trial", "04257670465"),
    ] {
        let field = format!("id=\"breaker-{name}\" name=\"{name}\" value=\"{value}\"");
        assert!(page.contains(&field), "{field}: {page}");
    }
    assert!(
        !page.contains("breaker: BROKEN does not answer"),
        "nobody is told it while it is closed: {page}"
    );
    assert!(page.contains("closed; opens at 50 % of 20 calls in 2m"), "the state is shown: {page}");
    assert!(page.contains("Times are local: Africa/Gaborone."), "{page}");
    let off = [("breaker", "off"), ("calls", "20"), ("reason", "rule 9")];
    browser.rehearses(path, &off).await;
    browser.does(path, &off).await;
    assert_eq!(declared(), "");
    assert!(browser.is_refused(path, &off).await.contains("has no circuit breaker"));
}

#[tokio::test]
async fn an_organisation_is_onboarded_in_the_console_and_sells() {
    let console = Console::of(env().sandbox.database());
    let office = person("mosa", "vendgate_administrator");
    let (browser, meter) = (console.signs_in(&office.shows("console link")).await, env().meter());
    let add =
        [("code", "PHAKALANE"), ("name", "Phakalane"), ("environment", "staging"), ("reason", "contract 21")];
    assert_eq!(browser.does_after_rehearsal("/organisations/add", &add).await, "/organisations/PHAKALANE");
    let reason = ("reason", "contract 21");
    for (act, fields) in [
        ("wallet", vec![("name", "Wallet"), ("currency", "BWP")]),
        (
            "offer",
            vec![("product", "electricity"), ("provider", "BPC"), ("currency", "BWP"), ("fee", "1.50")],
        ),
        ("default", vec![("product", "electricity"), ("provider", "BPC")]),
        ("allow", vec![("subscribers", meter.as_str())]),
    ] {
        let page = browser
            .does_after_rehearsal(
                &format!("/organisations/PHAKALANE/{act}"),
                &[&fields[..], &[reason]].concat(),
            )
            .await;
        assert_eq!(page, "/organisations/PHAKALANE", "{act}");
    }
    let client = [("name", "tills"), reason];
    let client = browser.does_after_rehearsal("/organisations/PHAKALANE/client", &client).await;
    let user = [("username", "till"), ("full-name", "Till One"), ("role", "integrator"), reason];
    let path = "/organisations/PHAKALANE/user";
    let page = browser.does_after_rehearsal(path, &user).await;
    let again = browser.posts(path, &[&user[..], &[("step", "do")]].concat()).await;
    assert_eq!(again.status, 409, "a page that is loaded again creates no second user");
    let seen = browser.opens("/organisations/PHAKALANE").await.text;
    for part in ["BWP 1.50", "Till One", meter.as_str(), "BWP 1000000.00"] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(!seen.contains(&told(&client, "Client secret")), "it is shown once");

    let credentials = Credentials {
        client_id: told(&client, "Client id"),
        client_secret: told(&client, "Client secret"),
        org_code: "PHAKALANE".to_owned(),
        identifier: "till".to_owned(),
        secret_pass: told(&page, "Password"),
    };
    let ids = "SELECT o.id, a.id FROM organisations o JOIN accounts a ON a.organisation_id = o.id AND a.category = 'CURRENT'
               WHERE o.code = 'PHAKALANE'";
    let ids = env().asks_the_database(ids);
    let (organisation, wallet) = ids.trim().split_once('|').unwrap();
    let opened = sandbox::Merchant {
        organisation: OrganisationId(organisation.parse().unwrap()),
        wallets: vec![ledger::AccountId(wallet.parse().unwrap())],
        credentials,
    };
    let merchant = Merchant::log_in(opened, &env().info().base_url).await;
    merchant.confirm(&merchant.order(&meter).amount("100.00")).await.expect(200);

    let path = "/organisations/PHAKALANE/suspend";
    assert_eq!(browser.does_after_rehearsal(path, &[reason]).await, "/organisations/PHAKALANE");
    assert!(browser.opens("/organisations/PHAKALANE").await.text.contains("SUSPENDED"));
    assert_eq!(browser.posts("/organisations/PHAKALANE/erase", &[reason]).await.status, 404);
}
