//! Answers over HTTP.

use acceptance::surface::Surface;
use http_v1::Endpoint;
use reqwest::{Method, Response, header::HeaderMap};
use serde_json::Value;

/// The method of an endpoint, as the client's type.
pub fn method(endpoint: Endpoint) -> Method {
    Method::from_bytes(endpoint.method().as_str().as_bytes()).unwrap()
}

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The surface of the request's path.
    pub surface: Surface,
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Answer {
    /// Reads an answer. Every answer must have a request id, and only the Current surface has the deprecation
    /// headers.
    pub async fn read(response: Response) -> Self {
        let surface = surface_of(response.url().path());
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        let answer = Self { surface, status, headers, text, body };
        assert!(answer.header("x-request-id").is_some(), "an answer without a request id: {answer:?}");
        for warning in ["deprecation", "link"] {
            let warns = answer.header(warning).is_some();
            assert_eq!(warns, surface == Surface::Current, "{warning} in {answer:?}");
        }
        answer
    }

    /// The same answer, if it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A text of the body, by its JSON pointer on the versioned surface.
    #[track_caller]
    pub fn str(&self, pointer: &str) -> &str {
        let found = self.body.pointer(self.surface.place(pointer)).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("no {pointer} in {}", self.text))
    }

    /// The integer `id`.
    #[track_caller]
    pub fn id(&self) -> i64 {
        self.body["id"].as_i64().unwrap_or_else(|| panic!("no id in {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The status, code and field of a refusal. The body must be exactly the surface's error body. The versioned
    /// surface adds how an open purchase is recovered, whether a failed one may be bought again, or which lines of a batch are wrong.
    #[track_caller]
    pub fn refusal(&self) -> (u16, &str, Option<&str>) {
        let (error, mut expected) = match self.surface {
            Surface::V1 => (
                &self.body["error"],
                vec!["type", "code", "message", "param", "retryable", "doc_url", "request_id"],
            ),
            Surface::Current => (
                &self.body,
                vec!["response_code", "response_message", "timestamp", "developer_message", "errors"],
            ),
        };
        let mut known: Vec<&str> =
            error.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        if self.surface == Surface::V1 {
            expected.extend(
                ["recovery", "failure", "lines"].into_iter().find(|added| error.get(added).is_some()),
            );
        }
        expected.sort_unstable();
        known.sort_unstable();
        assert_eq!(known, expected, "{}", self.text);
        assert_eq!(self.surface.request_id(&self.body), self.header("x-request-id"), "{}", self.text);
        let code = self.surface.code(&self.body).unwrap_or_else(|| panic!("no code in {}", self.text));
        (self.status, code, self.surface.param(&self.body))
    }

    /// Whether the answer says how an open purchase is recovered, and whether a failed one may be bought again.
    pub fn next_step(&self) -> (bool, Option<bool>) {
        match self.surface {
            Surface::V1 => {
                let error = self.body.get("error").unwrap_or(&self.body);
                let failure = error.get("failure").and_then(|failure| failure["buy_again"].as_bool());
                (error.get("recovery").is_some_and(Value::is_object), failure)
            }
            Surface::Current => {
                let failure = self.header("failure").map(|told| told == "buy-again");
                (self.header("recovery").is_some(), failure)
            }
        }
    }

    /// The message of a refusal.
    #[track_caller]
    pub fn sentence(&self) -> &str {
        self.str("/error/message")
    }

    /// The tokens in the order of entry, each with its description if it has one.
    #[track_caller]
    pub fn tokens(&self) -> Vec<(Option<&str>, &str)> {
        let tokens = self.surface.tokens(&self.body);
        assert!(!tokens.is_empty(), "no token in {}", self.text);
        tokens
    }
}

/// The surface of a path as the router decides it. The router decodes escapes, and the tests use only this one.
fn surface_of(path: &str) -> Surface {
    match path.replace("%61", "a").split('/').nth(1) {
        Some("auth" | "api") => Surface::Current,
        Some(_) | None => Surface::V1,
    }
}
