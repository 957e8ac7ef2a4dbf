//! Every page opens, has the required content, and loads nothing from other hosts.

#![expect(clippy::unwrap_used, reason = "what a test prepares may fail loudly")]

use std::sync::Arc;

use actix_web::{
    App,
    body::to_bytes,
    dev::Service,
    http::header::{HeaderMap, IF_NONE_MATCH},
    middleware::from_fn,
    test::{TestRequest, init_service},
    web::Data,
};

use api_docs::{ServerFacts, pages};
use clock::SystemClock;
use error_codes::ErrorCode;
use http_v1::Endpoint;
use serde_json::Value;
use web::{LimitSettings, RateSettings, SharedState, WebSettings, intake};

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

async fn answer_to(request: TestRequest) -> Answer {
    let shared = SharedState::new(&WebSettings::default(), Arc::new(SystemClock)).unwrap();
    let app = App::new()
        .app_data(Data::new(shared))
        .wrap(from_fn(intake))
        .configure(|config| pages(config, &facts()));
    let answer = init_service(app).await.call(request.to_request()).await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let body = to_bytes(answer.into_body()).await.map_err(|_broken| "no body").unwrap();
    Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

fn facts() -> ServerFacts {
    let limits = LimitSettings::default();
    ServerFacts {
        public_url: "https://vend.example.bw".to_owned(),
        time_zone: "Africa/Gaborone".to_owned(),
        access_lifetime_s: 901,
        refresh_idle_lifetime_s: 86_400 * 3,
        family_lifetime_s: 86_400 * 12,
        client: RateSettings { per_second: 7, burst: 77 },
        login: RateSettings { per_second: 0, burst: 0 },
        refresh: limits.refresh,
        body_bytes_max: 12_345,
        answer_within_ms: 150_001,
        reference_rest_ms: 61_000,
    }
}

async fn page(path: &str) -> Answer {
    answer_to(TestRequest::get().uri(path)).await
}

/// What a page below `/docs` loads or links to, within this server: the address, and the fragment.
fn addresses(page: &str) -> Vec<(String, String)> {
    let loaded = page.split("src=\"").skip(1).chain(page.split("href=\"").skip(1));
    let named = loaded.filter_map(|rest| rest.split('"').next());
    let ours = named.filter(|name| !name.is_empty() && !name.starts_with("/public/"));
    ours.map(|name| {
        let (address, fragment) = name.split_once('#').unwrap_or((name, ""));
        let beside = if address.is_empty() || address.starts_with('/') { "" } else { "/docs/" };
        (format!("{beside}{address}"), fragment.to_owned())
    })
    .collect()
}

const PAGES: [&str; 7] = [
    "/docs",
    "/docs/guide",
    "/docs/migrating",
    "/docs/changes",
    "/docs/search",
    "/docs/errors",
    "/docs/errors/provider_timeout",
];

#[actix_web::test]
async fn every_page_opens_and_so_does_whatever_it_loads_or_links_to() {
    for path in PAGES {
        let opened = page(path).await;
        assert_eq!(
            (opened.status, opened.header("content-type")),
            (200, "text/html; charset=utf-8"),
            "{path}"
        );
        for (address, fragment) in addresses(&opened.body) {
            let address = if address.is_empty() { path } else { &address };
            let there = page(address).await;
            assert_eq!(there.status, 200, "{path} links to {address}");
            // A script makes the fragments of the reference.
            let is_there = fragment.is_empty() || there.body.contains(&format!("id=\"{fragment}\""));
            assert!(is_there || address == "/docs", "{path} links to {address}#{fragment}");
        }
    }
}

#[actix_web::test]
async fn no_page_loads_anything_from_elsewhere_and_only_two_run_scripts() {
    for path in PAGES {
        let opened = page(path).await;
        let policy = opened.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("http"), "{policy}");
        assert_eq!(policy.contains("script-src 'self'"), ["/docs", "/docs/search"].contains(&path), "{path}");
        assert_eq!(policy.contains("'unsafe-inline'"), path == "/docs", "{path}");
        for outside in ["src=\"http", "href=\"http", "<style", "onload="] {
            assert!(!opened.body.contains(outside), "{path} {outside}");
        }
    }
}

#[actix_web::test]
async fn the_page_behind_doc_url_exists_for_every_code_and_names_its_endpoints() {
    let index = page("/docs/errors").await.body;
    for code in ErrorCode::ALL {
        assert!(index.contains(&format!("href=\"/docs/errors/{code}\"")), "{code}");
        let opened = page(&format!("/docs/errors/{code}")).await;
        assert_eq!((opened.status, opened.header("content-type")), (200, "text/html; charset=utf-8"));
        assert!(opened.body.contains(&format!("<h1><code>{code}</code></h1>")));
        let answering = Endpoint::ALL.into_iter().filter(|endpoint| endpoint.codes().contains(&code));
        for endpoint in answering {
            assert!(opened.body.contains(endpoint.path()), "{code} {endpoint:?}");
            if let Some(decision) = endpoint.decision(code) {
                for said in [decision.money.sentence(), decision.action.sentence()] {
                    let html = said.split('`').next().unwrap().trim();
                    assert!(opened.body.contains(html), "{code} {endpoint:?}: {said}");
                }
            }
        }
    }
    let unknown = page("/docs/errors/no_such_code").await;
    assert_eq!(unknown.status, 404);
    assert!(unknown.body.contains("\"code\":\"resource_not_found\""));
}

#[actix_web::test]
async fn the_guide_is_a_page_with_tables_and_the_client_that_it_speaks_of() {
    let guide = page("/docs/guide").await.body;
    assert!(guide.contains("<h1") && guide.contains("<table>") && guide.contains("<pre><code"));
    for title in ["curl", "TypeScript", "Python"] {
        assert!(guide.contains(&format!("<label for=\"step-1-{title}\">")), "{title}");
    }
    assert!(guide.contains("href=\"clients/python/vendgate.py\""));
    let client = page("/docs/clients/python/vendgate.py").await;
    assert_eq!((client.status, client.header("content-type")), (200, "text/plain; charset=utf-8"));
}

#[actix_web::test]
async fn the_guide_and_the_comparison_of_the_surfaces_link_to_each_other() {
    let (guide, migrating) = (page("/docs/guide").await.body, page("/docs/migrating").await.body);
    for (text, way) in [(&guide, "/docs/migrating"), (&migrating, "/docs/guide")] {
        let from_the_text = text.split("<main>").nth(1).unwrap();
        assert!(from_the_text.contains(&format!("href=\"{way}")), "{way}");
    }
    assert!(migrating.contains("<table>") && migrating.contains("<pre><code"));
    for known_by_both in ["/api/topup/confirm", "/public/v1/purchases/confirm", "response_code"] {
        assert!(migrating.contains(known_by_both), "{known_by_both}");
    }
}

#[actix_web::test]
async fn what_a_reader_has_already_is_not_sent_again() {
    let first = page("/docs/guide").await;
    let known = TestRequest::get().uri("/docs/guide").insert_header((IF_NONE_MATCH, first.header("etag")));
    let again = answer_to(known).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    let other = TestRequest::get().uri("/docs/guide").insert_header((IF_NONE_MATCH, "\"another\""));
    assert_eq!(answer_to(other).await.status, 200);
}

#[actix_web::test]
async fn the_guide_shows_the_numbers_of_this_server_and_not_the_defaults() {
    let guide = page("/docs/guide").await.body;
    for told in [
        "https://vend.example.bw/public/v1",
        "901 seconds",
        "3 days without use, at most 12 days from the login",
        "7 each second, and 77 at once",
        "not limited",
        "12345 bytes",
        "151 seconds",
        "61 seconds",
    ] {
        assert!(guide.contains(told), "{told}");
    }
    assert!(!guide.contains("500 each second"), "the default");
    assert!(guide.contains("<h2 id=\"when-no-answer-comes\">"), "what follows the table is still there");
}

#[actix_web::test]
async fn the_address_alone_leads_to_the_documentation() {
    let root = page("/").await;
    assert_eq!((root.status, root.header("location")), (307, "/docs"));
}

#[actix_web::test]
async fn whatever_the_search_finds_is_where_it_says() {
    let index: Vec<Value> = serde_json::from_str(&page("/docs/search.json").await.body).unwrap();
    let found = |title: &str| index.iter().find(|entry| entry["title"] == title).unwrap();
    assert_eq!(found("Proof of an outcome")["address"], "/docs/guide#proof-of-an-outcome");
    assert_eq!(found("provider_timeout")["address"], "/docs/errors/provider_timeout");
    assert!(found("GET /public/v1/events")["address"].as_str().unwrap().starts_with("/docs#/Events/"));
    let text = found("This server")["text"].as_str().unwrap();
    assert!(text.contains("901 seconds"), "the numbers of this server: {text}");
    let guide = page("/docs/guide").await.body;
    for entry in index.iter().filter(|entry| entry["page"] == "Guide") {
        let (_, id) = entry["address"].as_str().unwrap().split_once('#').unwrap();
        assert!(guide.contains(&format!("id=\"{id}\"")), "{entry}");
    }
    let script = page("/docs/assets/search.js").await;
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript"));
}

#[actix_web::test]
async fn a_collection_for_postman_sends_to_this_server() {
    let answer = page("/docs/postman.json").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let collection: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(collection["variable"][0]["value"], "https://vend.example.bw");
}
