//! What comes back over HTTP.

use http_v1::Endpoint;
use reqwest::{Method, Response, header::HeaderMap};
use serde_json::Value;

/// An endpoint's method, as the client knows methods.
pub fn method(endpoint: Endpoint) -> Method {
    Method::from_bytes(endpoint.method().as_str().as_bytes()).unwrap()
}

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
    pub body: Value,
}

impl Answer {
    pub async fn read(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        let answer = Self { status, headers, text, body };
        assert!(answer.header("x-request-id").is_some(), "an answer without a name: {answer:?}");
        answer
    }

    /// The same answer, if it has this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// A text of the body, by its JSON pointer.
    #[track_caller]
    pub fn str(&self, pointer: &str) -> &str {
        let found = self.body.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_else(|| panic!("no {pointer} in {}", self.text))
    }

    /// The whole number `id`.
    #[track_caller]
    pub fn id(&self) -> i64 {
        self.body["id"].as_i64().unwrap_or_else(|| panic!("no id in {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status, code and field of a refusal, which must be the error envelope and nothing else.
    #[track_caller]
    pub fn refusal(&self) -> (u16, &str, Option<&str>) {
        let error = &self.body["error"];
        let known: Vec<&str> =
            error.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let mut expected = ["type", "code", "message", "param", "retryable", "doc_url", "request_id"];
        expected.sort_unstable();
        let mut sorted = known.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected, "{}", self.text);
        assert_eq!(error["request_id"].as_str(), self.header("x-request-id"), "{}", self.text);
        (self.status, self.str("/error/code"), error["param"].as_str())
    }

    /// The tokens in the order in which they are to be entered, each with its description if it has one.
    pub fn tokens(&self) -> Vec<(Option<&str>, &str)> {
        let pairs = self.str("/product/token").split('|');
        pairs
            .map(|pair| pair.split_once(':').map_or((None, pair), |(name, token)| (Some(name), token.trim())))
            .collect()
    }
}
