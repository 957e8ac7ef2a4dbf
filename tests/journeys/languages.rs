//! English, French and Portuguese: texts for people are in the language of the request, values for programs are not.

use acceptance::surface::Surface;
use reqwest::Method;
use serde_json::Value;

use crate::{env::env, merchant::Merchant, request_body::RequestBody};

#[tokio::test]
async fn products_are_called_what_they_are_called_in_the_language_that_is_accepted() {
    let merchant = env().open_merchant().await;
    let listed = [
        ("en-BW", ["Airtime", "Electricity", "Water"]),
        ("fr", ["Crédit téléphonique", "Électricité", "Eau"]),
        ("pt-MZ,en;q=0.5", ["Crédito telefónico", "Eletricidade", "Água"]),
        ("de, fr;q=0.4", ["Crédit téléphonique", "Électricité", "Eau"]),
        ("tlh", ["Airtime", "Electricity", "Water"]),
    ];
    for (accepted, expected) in listed {
        let products = accepting(&merchant, Method::GET, "/public/v1/vas-products", None, accepted).await;
        let mut names: Vec<&str> = products
            .as_array()
            .unwrap()
            .iter()
            .map(|product| product["display_name"].as_str().unwrap())
            .collect();
        names.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected, "{accepted}");
    }
}

#[tokio::test]
async fn a_product_without_a_hint_of_its_own_has_one_in_the_language_that_is_accepted() {
    let merchant = env().open_merchant().await;
    let own = "The phone number as 11 digits, country code first and no plus sign: 26771234567";
    for (accepted, lengths) in
        [("en-BW", "11 to 13 characters"), ("fr", "11 à 13 caractères"), ("pt-MZ", "11 a 13 caracteres")]
    {
        let products = accepting(&merchant, Method::GET, "/public/v1/vas-products", None, accepted).await;
        for product in products.as_array().unwrap() {
            let expected = if product["product_type"] == "AIRTIME" { own } else { lengths };
            assert_eq!(product["subscriber_id_hint"], expected, "{accepted}");
        }
    }
}

#[tokio::test]
async fn every_well_formed_language_tag_is_accepted_on_both_surfaces_and_no_other() {
    for surface in Surface::ALL {
        let merchant = env().open_merchant_on(surface).await;
        let order = merchant.order(&env().meter());
        let tagged = |tag: &str| order.clone().with("language", &format!("\"{tag}\""));
        for tag in
            ["en-US-u-hc-h12", "fr-CM-x-till-7", "x-whatever", "i-klingon", "zh-min-nan", "es-419", "fr_FR"]
        {
            merchant.validate(&tagged(tag)).await.expect(200);
        }
        for tag in ["en-", "en-u", "e", "en--US", "x", "x-toolongsubtag", "i-nothing", "en US"] {
            let refused = merchant.validate(&tagged(tag)).await;
            assert_eq!(refused.refusal(), (400, "invalid_argument", Some("language")), "{tag}");
        }
        let refused = merchant.validate(&tagged("fr-CM-u-hc-h12").amount("0")).await;
        assert!(refused.sentence().starts_with("La valeur"), "{}", refused.text);
    }
}

#[tokio::test]
async fn an_error_is_told_in_the_language_of_the_body_before_that_of_the_header() {
    let merchant = env().open_merchant().await;
    let order = merchant.order(&env().meter()).amount("0");
    let mut told = Vec::new();
    for language in ["en-BW", "fr-FR", "pt-MZ", "tlh"] {
        let body = order.clone().with("language", &format!("\"{language}\"")).body();
        let answer =
            accepting(&merchant, Method::POST, "/public/v1/purchases/confirm", Some(&body), "fr").await;
        assert_eq!(answer["error"]["code"], "invalid_amount");
        told.push(answer["error"]["message"].as_str().unwrap().to_owned());
    }
    let [english, french, portuguese, unknown] = told.as_slice() else { panic!("{told:?}") };
    assert!(english != french && french != portuguese && portuguese != english, "{told:?}");
    assert_eq!(unknown, english, "an unsupported language is answered in English");
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_told_in_the_language_of_the_header() {
    let merchant = env().open_merchant().await;
    let mut told = Vec::new();
    for accepted in ["en", "fr", "pt"] {
        let answer =
            accepting(&merchant, Method::POST, "/public/v1/purchases/confirm", Some("{"), accepted).await;
        told.push(answer["error"]["message"].as_str().unwrap().to_owned());
    }
    told.dedup();
    assert_eq!(told.len(), 3, "{told:?}");
}

#[tokio::test]
async fn a_number_without_its_country_is_read_by_the_customs_of_the_region() {
    let merchant = env().open_merchant().await;
    let dialled = |language: &str, number: &str| {
        let order = merchant.order(&env().meter()).with("language", &format!("\"{language}\""));
        order.with("beneficiary_phone_number", &format!("\"{number}\""))
    };
    for (language, number, is_known) in [
        ("en-BW", "71234567", true),
        ("en", "71234567", false),
        ("en-ZA", "0821234567", true),
        ("en-BW", "0821234567", false),
        ("fr", "+26771234567", true),
    ] {
        let answer = merchant.validate(&dialled(language, number)).await;
        let expected = if is_known { 200 } else { 400 };
        assert_eq!(answer.status, expected, "{number} in {language}: {}", answer.text);
        if !is_known {
            assert_eq!(answer.refusal(), (400, "invalid_msisdn", Some("beneficiary_phone_number")));
        }
    }
}

#[tokio::test]
async fn a_tag_that_is_no_language_is_refused_and_a_wallets_gap_is_told_in_every_language() {
    let merchant = env().open_merchant().await;
    let meter = env().meter();
    let malformed = merchant.order(&meter).with("language", "\"fr_\u{e9}\"");
    assert_eq!(merchant.validate(&malformed).await.refusal(), (400, "invalid_argument", Some("language")));
    for language in ["en", "fr", "pt"] {
        let order: RequestBody = merchant.order(&meter).with("language", &format!("\"{language}\""));
        let answer = merchant.confirm(&order.amount("2000000")).await;
        assert_eq!(answer.refusal(), (402, "insufficient_balance", None));
        assert!(answer.str("/error/message").contains("BWP 1000001.50"), "{}", answer.text);
    }
}

async fn accepting(
    merchant: &Merchant,
    method: Method,
    path: &str,
    body: Option<&str>,
    accepted: &str,
) -> Value {
    merchant.send(method, path, body, &[("Accept-Language", accepted)]).await.body
}
