//! A customer gets a receipt: over HTTP, in every format and language, and only of what was sold.

use reqwest::Method;

use crate::{env::env, merchant::Merchant, wire::Answer};

/// The receipt of a purchase with these parameters.
pub async fn receipt(merchant: &Merchant, purchase: i64, query: &str) -> Answer {
    merchant.get(&format!("/public/v1/purchases/{purchase}/receipt{query}")).await
}

/// A token as people read it.
pub fn grouped(token: &str) -> String {
    [0, 4, 8, 12, 16].map(|at| &token[at..at + 4]).join(" ")
}

#[tokio::test]
async fn a_receipt_has_the_token_and_the_amounts_in_the_language_of_the_purchase() {
    let merchant = env().open_merchant().await;
    env().asks_the_database(&format!(
        "UPDATE organisations SET receipt_footer = E'Plot 7, Gaborone\nMerci <3' WHERE id = {}",
        merchant.organisation
    ));
    let order = merchant.order(&env().meter()).with("language", "\"fr-FR\"").reference("till-<1>");
    let bought = merchant.confirm(&order).await.expect(200);
    let token = grouped(bought.str("/product/token"));

    let text = receipt(&merchant, bought.id(), "").await.expect(200);
    assert_eq!(text.header("content-type"), Some("text/plain; charset=utf-8"));
    for part in [
        "Reçu\n",
        "Code\n",
        &format!("\n{token}\n"),
        &format!(" {}\n", bought.str("/reference")),
        &format!("TVA{:>29}\n", bought.str("/metadata/vat")),
        &format!("Total payé{:>22}\n", bought.str("/total")),
        "Plot 7, Gaborone\n",
        "till-<1>\n",
    ] {
        assert!(text.text.contains(part), "{part:?}: {}", text.text);
    }
    assert!(text.text.lines().all(|line| line.chars().count() <= 32), "{}", text.text);
    assert!(
        !text.text.contains(bought.str("/commission")),
        "the commission is not the customer's: {}",
        text.text
    );

    let english = receipt(&merchant, bought.id(), "?language=en&columns=42").await.expect(200);
    assert!(english.text.contains(&format!("Total paid{:>32}\n", bought.str("/total"))), "{}", english.text);
    let page = receipt(&merchant, bought.id(), "?format=html").await.expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for part in ["<html lang=\"fr\">", &token, "till-&lt;1&gt;", "Merci &lt;3"] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
}

#[tokio::test]
async fn the_format_of_a_receipt_is_chosen_by_parameter_or_by_accept() {
    let merchant = env().open_merchant().await;
    let bought = merchant.confirm(&merchant.order(&env().meter())).await.expect(200);
    let path = format!("/public/v1/purchases/{}/receipt", bought.id());
    for (accept, query, media_type, begins) in [
        ("image/png, application/pdf", "", "application/pdf", "%PDF-1."),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("text/html", "?format=pdf", "application/pdf", "%PDF-1."),
        ("application/json", "", "text/plain; charset=utf-8", " "),
        ("*/*", "?format=escpos&code_page=pc850", "application/octet-stream", "\u{1b}@\u{1b}t\u{2}"),
        ("*/*", "?format=escpos&code_page=ascii", "application/octet-stream", "\u{1b}@\u{1b}E"),
    ] {
        let told = merchant.send(Method::GET, &format!("{path}{query}"), None, &[("Accept", accept)]).await;
        let told = told.expect(200);
        assert_eq!(told.header("content-type"), Some(media_type), "{accept} {query}");
        assert!(told.text.starts_with(begins), "{accept} {query}: {:?}", told.text);
        assert_eq!(told.header("cache-control"), Some("no-store"));
    }
    for (query, param) in [
        ("?format=json", "format"),
        ("?columns=40", "columns"),
        ("?code_page=437", "code_page"),
        ("?language=12", "language"),
        ("?lang=fr", "lang"),
    ] {
        let refused = receipt(&merchant, bought.id(), query).await;
        assert_eq!(refused.refusal(), (400, "invalid_argument", Some(param)), "{query}");
    }
}

#[tokio::test]
async fn a_purchase_that_is_not_sold_has_no_receipt_and_says_what_to_do() {
    let (merchant, meter) = Merchant::with_a_failed_and_an_open_purchase().await;
    let listed = merchant.get("/public/v1/purchases").await.expect(200);
    for purchase in listed.body["data"].as_array().unwrap() {
        let refused = receipt(&merchant, purchase["id"].as_i64().unwrap(), "").await;
        if purchase["status"] == "FAILED" {
            assert_eq!(refused.refusal(), (404, "resource_not_found", None));
            assert!(refused.str("/error/message").contains("Nothing was sold"), "{}", refused.text);
        } else {
            assert_eq!(refused.refusal(), (409, "transaction_pending", None));
            assert!(refused.str("/error/message").contains("Call retry"), "{}", refused.text);
            assert_eq!(refused.body["error"]["recovery"]["call"], purchase["recovery"]["call"]);
        }
    }
    let sold = merchant.retry_until_settled(&meter, "open-1").await.expect(200);
    receipt(&merchant, sold.id(), "").await.expect(200);
}
