//! What is sold: products, providers, offers, defaults, and for whom in staging.

use serde_json::json;

use crate::office::Office;

impl Office {
    /// KGALE can buy electricity of BPC.
    pub fn with_an_offer() -> Self {
        let office = Self::open();
        office.lets_in("KGALE", "staging");
        office.does(&[
            "product",
            "set",
            "electricity",
            "--min",
            "11",
            "--max",
            "13",
            "--pattern",
            "^[0-9]+$",
        ]);
        office.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
        office.does(&[
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
        office
    }
}

#[test]
fn an_offer_is_set_listed_and_removed() {
    let office = Office::with_an_offer();
    let offers = office.shows(&["offer", "list", "-o", "KGALE"]);
    let expected = json!([{
        "product": "ELECTRICITY", "provider": "BPC", "provider_name": "Botswana Power", "is_default": false,
        "fee": "BWP 1.50", "fee_rate": "0.005", "fee_floor": null, "fee_cap": "BWP 25.00",
        "commission_rate": "0.01", "amount_min": null, "amount_max": "BWP 5000.00",
    }]);
    assert_eq!(offers, expected);
    assert_eq!(office.does(&["offer", "remove", "-o", "KGALE", "electricity", "BPC"]), json!([]));
}

#[test]
fn what_an_offer_needs_is_said() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let offer = ["offer", "set", "-o", "KGALE", "electricity", "BPC", "--currency", "BWP"];
    let provider = "there is no such PROVIDER; enter it with `vendctl provider declare`";
    let product = "the PRODUCT is not entered yet; do so with `vendctl product set`";
    assert!([provider, product].contains(&office.is_refused(&offer).as_str()));
    office.does(&["provider", "declare", "WUC", "--name", "Water"]);
    let unentered = ["offer", "set", "-o", "KGALE", "water", "WUC", "--currency", "BWP"];
    assert_eq!(office.is_refused(&unentered), product);
    let text = ["product", "set-text", "water", "fr", "--label", "Compteur"];
    assert_eq!(office.is_refused(&text), product);
    office.does(&["product", "set", "electricity"]);
    assert_eq!(office.is_refused(&offer), provider);
    let crossed = [&offer[..], &["--min", "10.00", "--max", "5.00"]].concat();
    assert_eq!(office.is_refused(&crossed), "--min is above --max; exchange them");
    let nameless = office.is_refused(&["provider", "declare", "BPC"]);
    assert_eq!(nameless, "provider BPC is new; give it a --name");
    let pattern = office.is_refused(&["product", "set", "water", "--pattern", "(?<=a)b"]);
    assert!(pattern.starts_with("--pattern cannot be kept: "), "{pattern}");
}

#[test]
fn a_connection_is_declared_bit_by_bit_and_what_is_not_named_stays() {
    let office = Office::open();
    let declared = office.does(&["provider", "declare", "BPC", "--name", "Botswana Power"]);
    let expected = json!({
        "code": "BPC", "name": "Botswana Power", "retries": true,
        "repeat_is_safe": false, "remembers_refusals": false, "not_found_counts": false, "settles_within_s": 600,
    });
    assert_eq!(declared, expected);
    office.does(&["provider", "declare", "BPC", "--repeat-is-safe", "on"]);
    let later = office.does(&["provider", "declare", "BPC", "--not-found-counts", "on"]);
    assert_eq!((&later["repeat_is_safe"], &later["not_found_counts"]), (&json!(true), &json!(true)));
    let later = office.does(&["provider", "declare", "BPC", "--settles-within", "90s"]);
    assert_eq!((&later["settles_within_s"], &later["not_found_counts"]), (&json!(90), &json!(true)));
    assert_eq!((&later["remembers_refusals"], &later["name"]), (&json!(false), &json!("Botswana Power")));
    assert_eq!(office.does(&["provider", "retries", "BPC", "off"])["retries"], false);
    assert_eq!(office.shows(&["provider", "list"])[0]["retries"], false);
}

#[test]
fn a_product_has_a_format_and_names_of_its_own() {
    let office = Office::open();
    office.does(&["product", "set", "water", "--min", "5", "--hint", "On the lid"]);
    let named =
        office.does(&["product", "set-text", "water", "fr", "--display-name", "Eau", "--label", "Compteur"]);
    let expected = json!({
        "product": "WATER", "length_min": 5, "length_max": null, "pattern": null, "hint": "On the lid",
        "texts": [{ "language": "fr", "display_name": "Eau", "subscriber_id_label": "Compteur" }],
    });
    assert_eq!(named, expected);
    assert_eq!(office.does(&["product", "remove-text", "water", "fr"])["texts"], json!([]));
}

#[test]
fn a_default_provider_needs_an_offer_and_holds_it() {
    let office = Office::with_an_offer();
    let set = ["default-provider", "set", "-o", "KGALE", "electricity", "BPC"];
    assert_eq!(office.does(&set)[0], json!({ "product": "ELECTRICITY", "provider": "BPC" }));
    assert_eq!(office.shows(&["default-provider", "show", "-o", "KGALE"])[0]["provider"], "BPC");
    let held = office.is_refused(&["offer", "remove", "-o", "KGALE", "electricity", "BPC"]);
    let advice = "name another one with `vendctl default-provider set`, or none with `vendctl default-provider \
                  remove`, and then remove the offer";
    let default = "BPC is the default PROVIDER of ELECTRICITY for organisation KGALE";
    assert_eq!(held, format!("{default}; {advice}"));
    office.does(&["default-provider", "remove", "-o", "KGALE", "electricity"]);
    let absent = office.is_refused(&["default-provider", "set", "-o", "KGALE", "water", "BPC"]);
    assert!(absent.starts_with("organisation KGALE has no offer of WATER by BPC; "), "{absent}");
    assert!(absent.ends_with("`vendctl offer set` enters another"), "{absent}");
}

#[test]
fn what_is_not_there_cannot_be_taken_away_and_the_line_says_what_is() {
    let office = Office::with_an_offer();
    for (command, told, shows) in [
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
        let line = office.is_refused(&command.split(' ').collect::<Vec<_>>());
        let advice = line.strip_prefix(told).unwrap_or_else(|| panic!("{line}"));
        assert!(advice.starts_with("; ") && advice.contains(shows), "{line}");
    }
}

#[test]
fn an_allow_list_that_is_full_says_so_and_stays_as_it_is() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let numbers: Vec<String> = (10_000..11_001).map(|number: u32| number.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let full = office.is_refused(&[&["allow-list", "add", "-o", "KGALE"], &numbers[..]].concat());
    let expected = "an organisation's allow-list names at most 1000 subscribers; nothing was added; take others off \
                    with `vendctl allow-list remove`";
    assert_eq!(full, expected);
    assert_eq!(office.shows(&["allow-list", "list", "-o", "KGALE"]), json!([]));
}

#[test]
fn an_allow_list_grows_and_shrinks() {
    let office = Office::open();
    office.lets_in("KGALE", "staging");
    let added = office.does(&["allow-list", "add", "-o", "KGALE", "04257670465", "04257670473"]);
    assert_eq!(added, json!({ "named": 2, "effective": 2, "on_the_list": 2 }));
    let removed = office.does(&["allow-list", "remove", "-o", "KGALE", "04257670465", "1"]);
    assert_eq!(removed, json!({ "named": 2, "effective": 1, "on_the_list": 1 }));
    let left = office.shows(&["allow-list", "list", "-o", "KGALE"]);
    assert_eq!(left, json!([{ "subscriber": "04257670473" }]));
}
