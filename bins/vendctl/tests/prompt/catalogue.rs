//! The catalogue: products, providers, offers, default providers and allow-lists.

use serde_json::json;

use crate::office::TestEnv;

impl TestEnv {
    /// An environment whose organisation KGALE has an offer of electricity by BPC.
    pub fn with_an_offer() -> Self {
        let env = Self::open();
        env.creates_organisation("KGALE", "staging");
        env.does(&["product", "set", "electricity", "--min", "11", "--max", "13", "--pattern", "^[0-9]+$"]);
        env.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
        env.does(&[
            "offer",
            "set",
            "-o",
            "KGALE",
            "electricity",
            "BPC",
            "--currency",
            "BWP",
            "--fee",
            "1.50",
            "--fee-rate",
            "0.005",
            "--fee-cap",
            "25.00",
            "--commission-rate",
            "0.01",
            "--max",
            "5000.00",
        ]);
        env
    }
}

#[test]
fn an_offer_is_set_listed_and_removed() {
    let env = TestEnv::with_an_offer();
    let offers = env.shows(&["offer", "list", "-o", "KGALE"]);
    let expected = json!([{
        "product": "ELECTRICITY", "provider": "BPC", "provider_name": "Botswana Power", "is_default": false,
        "fee": "BWP 1.50", "fee_rate": "0.005", "fee_floor": null, "fee_cap": "BWP 25.00",
        "commission_rate": "0.01", "amount_min": null, "amount_max": "BWP 5000.00",
    }]);
    assert_eq!(offers, expected);
    assert_eq!(env.does(&["offer", "remove", "-o", "KGALE", "electricity", "BPC"]), json!([]));
}

#[test]
fn the_error_about_an_offer_says_what_it_needs() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let offer = ["offer", "set", "-o", "KGALE", "electricity", "BPC", "--currency", "BWP"];
    let provider = "there is no such PROVIDER; enter it with `vendctl provider declare`";
    let product = "the PRODUCT is not entered yet; do so with `vendctl product set`";
    assert!([provider, product].contains(&env.is_refused(&offer).as_str()));
    env.does(&["provider", "declare", "WUC", "--name", "Water"]);
    let unentered = ["offer", "set", "-o", "KGALE", "water", "WUC", "--currency", "BWP"];
    assert_eq!(env.is_refused(&unentered), product);
    let text = ["product", "set-text", "water", "fr", "--label", "Compteur"];
    assert_eq!(env.is_refused(&text), product);
    env.does(&["product", "set", "electricity"]);
    assert_eq!(env.is_refused(&offer), provider);
    let crossed = [&offer[..], &["--min", "10.00", "--max", "5.00"]].concat();
    assert_eq!(env.is_refused(&crossed), "--min is above --max; exchange them");
    let nameless = env.is_refused(&["provider", "declare", "BPC"]);
    assert_eq!(nameless, "provider BPC is new; give it a --name");
    let pattern = env.is_refused(&["product", "set", "water", "--pattern", "(?<=a)b"]);
    assert!(pattern.starts_with("--pattern cannot be used: "), "{pattern}");
}

#[test]
fn a_declaration_changes_only_what_it_names() {
    let env = TestEnv::open();
    let declared = env.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
    let expected = json!({
        "code": "BPC", "name": "Botswana Power", "retries": true,
        "repeat_is_safe": false, "remembers_refusals": false, "not_found_counts": false, "settles_within_s": 600,
        "worker_slots": 64, "pauses": [], "breaker": null, "floats": [], "unavailable": null,
    });
    assert_eq!(declared, expected);
    env.does(&["provider", "declare", "BPC", "--repeat-is-safe", "on"]);
    let later = env.does(&["provider", "declare", "BPC", "--not-found-counts", "on"]);
    assert_eq!((&later["repeat_is_safe"], &later["not_found_counts"]), (&json!(true), &json!(true)));
    let later = env.does(&["provider", "declare", "BPC", "--settles-within", "90s"]);
    assert_eq!((&later["settles_within_s"], &later["not_found_counts"]), (&json!(90), &json!(true)));
    let later = env.does(&["provider", "declare", "BPC", "--worker-slots", "8"]);
    assert_eq!((&later["settles_within_s"], &later["worker_slots"]), (&json!(90), &json!(8)));
    let none = env.types(&["provider", "declare", "BPC", "--worker-slots", "0", "--reason", "x"], "");
    assert_eq!((none.code, none.stdout.as_str()), (2, ""), "{}", none.stderr);
    assert_eq!((&later["remembers_refusals"], &later["name"]), (&json!(false), &json!("Botswana Power")));
    assert_eq!(env.does(&["provider", "retries", "BPC", "off"])["retries"], false);
    assert_eq!(env.shows(&["provider", "list"])[0]["retries"], false);
}

#[test]
fn a_product_has_a_format_and_names_of_its_own() {
    let env = TestEnv::open();
    env.does(&["product", "set", "water", "--min", "5", "--hint", "On the lid"]);
    let named =
        env.does(&["product", "set-text", "water", "fr", "--display-name", "Eau", "--label", "Compteur"]);
    let expected = json!({
        "product": "WATER", "length_min": 5, "length_max": null, "pattern": null, "hint": "On the lid",
        "texts": [{ "language": "fr", "display_name": "Eau", "subscriber_id_label": "Compteur" }],
    });
    assert_eq!(named, expected);
    assert_eq!(env.does(&["product", "remove-text", "water", "fr"])["texts"], json!([]));
}

#[test]
fn a_default_provider_needs_an_offer_and_holds_it() {
    let env = TestEnv::with_an_offer();
    let set = ["default-provider", "set", "-o", "KGALE", "electricity", "BPC"];
    assert_eq!(env.does(&set)[0], json!({ "product": "ELECTRICITY", "provider": "BPC" }));
    assert_eq!(env.shows(&["default-provider", "show", "-o", "KGALE"])[0]["provider"], "BPC");
    let held = env.is_refused(&["offer", "remove", "-o", "KGALE", "electricity", "BPC"]);
    let advice = "name another one with `vendctl default-provider set`, or none with `vendctl default-provider \
                  remove`, and then remove the offer";
    let default = "BPC is the default PROVIDER of ELECTRICITY for organisation KGALE";
    assert_eq!(held, format!("{default}; {advice}"));
    env.does(&["default-provider", "remove", "-o", "KGALE", "electricity"]);
    let absent = env.is_refused(&["default-provider", "set", "-o", "KGALE", "water", "BPC"]);
    assert!(absent.starts_with("organisation KGALE has no offer of WATER by BPC; "), "{absent}");
    assert!(absent.ends_with("`vendctl offer set` enters another"), "{absent}");
}

#[test]
fn the_error_about_removing_what_is_absent_says_what_exists() {
    let env = TestEnv::with_an_offer();
    for (command, refusal, shows) in [
        (
            "offer remove -o KGALE water BPC",
            "organisation KGALE has no offer of WATER by BPC",
            "`vendctl offer list -o KGALE`",
        ),
        (
            "default-provider remove -o KGALE water",
            "organisation KGALE has no default provider of WATER",
            "`vendctl default-provider show -o KGALE`",
        ),
        (
            "product remove-text electricity fr",
            "ELECTRICITY has no names of its own in LANGUAGE fr",
            "`vendctl product list`",
        ),
        ("provider retries WUC off", "there is no provider WUC", "`vendctl provider declare`"),
    ] {
        let line = env.is_refused(&command.split(' ').collect::<Vec<_>>());
        let advice = line.strip_prefix(refusal).unwrap_or_else(|| panic!("{line}"));
        assert!(advice.starts_with("; ") && advice.contains(shows), "{line}");
    }
}

#[test]
fn a_full_allow_list_refuses_more_and_stays_unchanged() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let numbers: Vec<String> = (10_000..11_001).map(|number: u32| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let full = env.is_refused(&[&["allow-list", "add", "-o", "KGALE"], &numbers[..]].concat());
    let expected = "an organisation's allow-list names at most 1000 subscribers; nothing was added; remove others \
                    with `vendctl allow-list remove`";
    assert_eq!(full, expected);
    assert_eq!(env.shows(&["allow-list", "list", "-o", "KGALE"]), json!([]));
}

#[test]
fn an_allow_list_grows_and_shrinks() {
    let env = TestEnv::open();
    env.creates_organisation("KGALE", "staging");
    let added = env.does(&["allow-list", "add", "-o", "KGALE", "04257670465", "04257670473"]);
    assert_eq!(added, json!({ "named": 2, "effective": 2, "on_the_list": 2 }));
    let removed = env.does(&["allow-list", "remove", "-o", "KGALE", "04257670465", "1"]);
    assert_eq!(removed, json!({ "named": 2, "effective": 1, "on_the_list": 1 }));
    let left = env.shows(&["allow-list", "list", "-o", "KGALE"]);
    assert_eq!(left, json!([{ "subscriber": "04257670473" }]));
}

#[test]
fn a_pause_is_in_local_time_is_shown_and_ends_by_its_number() {
    let env = TestEnv::open();
    env.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
    env.does(&["product", "set", "water"]);
    let unsold = env.is_refused(&["provider", "pause", "BPC", "--product", "water"]);
    assert!(
        unsold.starts_with("no organisation is offered WATER of BPC, so there is nothing to pause"),
        "{unsold}"
    );
    env.creates_organisation("KGALE", "staging");
    env.does(&["offer", "set", "-o", "KGALE", "water", "BPC", "--currency", "BWP"]);
    let pause = ["provider", "pause", "BPC", "--until", "2099-01-01 14:00", "--notice", "Works"];
    let rehearsed = env.does(&[&pause[..], &["--dry-run"]].concat());
    assert_eq!(
        (&rehearsed["would_pause"]["ends_at"], &rehearsed["would_pause"]["id"]),
        (&json!("2099-01-01T12:00:00Z"), &json!(null))
    );
    assert_eq!(env.shows(&["provider", "show", "BPC"])["pauses"], json!([]), "a rehearsal");
    env.sql("ALTER TABLE provider_pauses ALTER COLUMN id RESTART");
    let paused = env.does(&[&pause[..], &["--yes"]].concat());
    let expected = json!([{
        "id": 1, "product": null, "starts_at": paused["pauses"][0]["starts_at"], "ends_at": "2099-01-01T12:00:00Z",
        "is_in_force": true, "by_breaker": false, "notice": "Works",
    }]);
    assert_eq!(paused["pauses"], expected);
    let in_utc = [("VENDGATE__OPERATOR__TIME_ZONE", "UTC")];
    let scheduled = [
        "provider",
        "pause",
        "BPC",
        "--product",
        "water",
        "--from",
        "2099-06-01 01:00",
        "--notice",
        "Later",
        "--reason",
        "x",
    ];
    assert_eq!(env.types_with(&in_utc, &scheduled, "").code, 0);
    let table = env.types(&["provider", "list"], "").stdout;
    let cells = "everything now until 2099-01-01 14:00:00 (pause 1); WATER from 2099-06-01 03:00:00 until resumed (pause 2)";
    assert!(table.contains(cells) && table.contains("pause 1: Works; pause 2 (to come): Later"), "{table}");
    assert!(table.ends_with("\nTimes are local: Africa/Gaborone.\n"), "{table}");

    let would = env.does(&["provider", "resume", "BPC", "--dry-run"]);
    assert_eq!((&would["would_end"][0]["id"], &would["would_end"][1]), (&json!(1), &json!(null)));
    let said = env.types(&["provider", "resume", "BPC", "--dry-run", "--reason", "x"], "").stdout;
    assert!(said.contains("everything now until 2099-01-01 14:00:00 (pause 1)"), "{said}");
    let left = env.does(&["provider", "resume", "BPC", "--yes"]);
    assert_eq!((&left["pauses"][0]["id"], &left["pauses"][1]), (&2.into(), &json!(null)));
    assert_eq!(env.does(&["provider", "resume", "BPC", "--pause", "2"])["pauses"], json!([]));
    for (command, said) in [
        (&["resume", "BPC"][..], "the sales of provider BPC are not paused"),
        (&["resume", "BPC", "--pause", "2"], "provider BPC has no pause 2"),
        (&["resume", "WUC"], "there is no provider WUC"),
        (&["pause", "WUC"], "there is no provider WUC"),
        (&["pause", "BPC", "--until", "2020-01-01"], "a pause ends after it begins"),
        (&["pause", "WUC", "--product", "water"], "there is no provider WUC"),
        (&["pause", "BPC", "--product", "airtime"], "no organisation is offered AIRTIME of BPC"),
    ] {
        let refused = env.is_refused(&[&["provider"], command].concat());
        assert!(refused.starts_with(said), "{command:?}: {refused}");
    }
    let nowhere = [("VENDGATE__OPERATOR__TIME_ZONE", "Gaborone")];
    let refused = env.types_with(&nowhere, &["provider", "list"], "");
    assert!(refused.stderr.contains("`Gaborone` is not the IANA name of a time zone"), "{}", refused.stderr);
}

#[test]
fn a_breaker_is_declared_whole_is_shown_with_its_pause_and_is_removed() {
    let env = TestEnv::open();
    env.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
    let trial = ["provider", "breaker", "BPC", "--trial", "04257670465"];
    let early = env.is_refused(&trial);
    assert!(early.contains("the --trial-product is not entered yet"), "{early}");
    env.does(&["product", "set", "electricity"]);
    let mut expected = json!({
        "silent_percent": 50, "calls": 10, "within_s": 60, "pause_s": 60, "notice": null, "trial": "04257670465",
        "trial_product": "ELECTRICITY", "is_open": false, "openings": 0, "opened_at": null,
    });
    assert_eq!(env.does(&trial)["breaker"], expected);
    let other =
        ["--silent-percent", "80", "--calls", "50", "--within", "2m", "--pause", "5m", "--notice", "Down"];
    let replaced = env.does(&[&["provider", "breaker", "BPC"][..], &other].concat());
    for (name, value) in [("silent_percent", json!(80)), ("calls", json!(50)), ("within_s", json!(120))] {
        expected[name] = value;
    }
    expected["pause_s"] = json!(300);
    expected["notice"] = json!("Down");
    (expected["trial"], expected["trial_product"]) = (json!(null), json!(null));
    assert_eq!(replaced["breaker"], expected);

    let [first, second] = [
        "opens at 50 % of 10 calls in 1m, pauses for 1m, then tried with ELECTRICITY 04257670465 within 30s",
        "opens at 80 % of 50 calls in 2m, pauses for 5m, ends by itself, notice: Down",
    ];
    assert_eq!((&replaced["before"], &replaced["after"]), (&json!(first), &json!(second)));
    let closed = env.types(&["provider", "list"], "").stdout;
    assert!(!closed.contains("breaker: Down"), "nobody is told it while the breaker is closed: {closed}");
    env.sql(
        "INSERT INTO provider_pauses (provider_code, starts_at, ends_at, notice, by_breaker)
         VALUES ('BPC', now(), '2099-01-01T12:00:00Z', 'Down', true)",
    );
    let open = env.shows(&["provider", "show", "BPC"]);
    assert_eq!((&open["breaker"]["is_open"], &open["pauses"][0]["by_breaker"]), (&json!(true), &json!(true)));
    let table = env.types(&["provider", "list"], "").stdout;
    assert!(
        table.contains("OPEN; opens at 80 % of 50 calls in 2m, pauses for 5m, ends by itself")
            && table.contains("by the breaker)")
            && table.contains("breaker: Down"),
        "{table}"
    );
    env.does(&["provider", "resume", "BPC"]);
    assert_eq!(env.shows(&["provider", "show", "BPC"])["breaker"]["is_open"], false);
    let off = ["provider", "breaker", "BPC", "--off"];
    let rehearsed = env.does(&[&off[..], &["--dry-run"]].concat());
    assert_eq!(rehearsed, json!({ "provider": "BPC", "before": second, "after": null }));
    let said = env.types(&[&off[..], &["--dry-run", "--reason", "x"]].concat(), "").stdout;
    assert!(said.contains(second) && said.contains("none"), "{said}");
    assert_eq!(env.does(&off)["breaker"], json!(null));
    assert!(env.is_refused(&off).starts_with("provider BPC has no circuit breaker"));
    let within = env.types(&["provider", "breaker", "BPC", "--within", "9s"], "");
    assert!(within.stderr.contains("from 10s to 10m"), "{}", within.stderr);
}

#[test]
fn our_float_at_a_provider_is_shown_with_its_age_and_is_low_below_the_limit() {
    let env = TestEnv::open();
    env.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
    assert_eq!(env.shows(&["provider", "show", "BPC"])["floats"], json!([]));
    env.sql(
        "INSERT INTO provider_floats (provider_code, currency, amount, told_at)
         VALUES ('BPC', 'BWP', 499999, now() - interval '2 minutes')",
    );
    let limit = |limit: &[&str]| {
        let words = [&["provider", "float-limit", "BPC"][..], limit, &["--currency", "BWP"]].concat();
        env.does(&words)["floats"][0].clone()
    };
    let float = limit(&["5000.00"]);
    assert_eq!((&float["amount"], &float["low_below"]), (&json!("BWP 4999.99"), &json!("BWP 5000.00")));
    assert_eq!((&float["is_low"], float["age_s"].as_u64().unwrap() / 60), (&json!(true), 2));
    let table = env.types(&["provider", "list"], "").stdout;
    assert!(table.contains("BWP 4999.99, 2m") && table.contains("LOW"), "{table}");
    assert_eq!(limit(&["4999.99"])["is_low"], false);
    assert_eq!(limit(&["--off"])["low_below"], json!(null));
    let logged = env.sql(
        "SELECT string_agg(details ->> 'low_below', ' ' ORDER BY id) FROM audit_log
                          WHERE action = 'provider.float_limit_set'",
    );
    assert_eq!(logged, "BWP 5000.00 BWP 4999.99");
    let unknown = env.is_refused(&["provider", "float-limit", "NONE", "1.00", "--currency", "BWP"]);
    assert!(unknown.starts_with("there is no provider NONE"), "{unknown}");
}
