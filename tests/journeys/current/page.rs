//! A page of the frozen surface: exchanges as exact text, except values that differ between runs.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use acceptance::surface::Surface;
use reqwest::Method;

use super::layout::{laid_out, number};
use crate::{merchant::Merchant, request_body::RequestBody, wire::Answer};

/// The request id of every request here, so that the answers do not vary.
const REQUEST: &str = "frozen/1";
/// Headers of HTTP, not of the surface.
const UNSEEN: [&str; 3] = ["date", "content-length", "connection"];
/// The longest body that a page shows in full.
const SHOWN_MAX: usize = 2_000;

/// One snapshot file.
pub struct Page {
    name: &'static str,
    text: String,
    codes: BTreeSet<(String, &'static str)>,
}

/// A request and the merchant that sends it.
pub struct Question<'a> {
    merchant: &'a Merchant,
    method: Method,
    path: String,
    headers: Vec<(&'a str, &'a str)>,
    body: Option<String>,
}

impl<'a> Question<'a> {
    pub fn get(merchant: &'a Merchant, path: &str) -> Self {
        Self { merchant, method: Method::GET, path: path.to_owned(), headers: Vec::new(), body: None }
    }

    pub fn post(merchant: &'a Merchant, path: &str, body: impl Into<String>) -> Self {
        Self { method: Method::POST, body: Some(body.into()), ..Self::get(merchant, path) }
    }

    pub fn validate(merchant: &'a Merchant, order: &RequestBody) -> Self {
        Self::post(merchant, merchant.surface.validate(), order.body())
    }

    pub fn confirm(merchant: &'a Merchant, order: &RequestBody) -> Self {
        Self::post(merchant, merchant.surface.confirm(), order.body())
    }

    pub fn retry(merchant: &'a Merchant, order: &RequestBody) -> Self {
        Self::post(merchant, merchant.surface.retry(), order.body())
    }

    pub fn by(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    pub fn with(mut self, name: &'a str, value: &'a str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The same request for an answer in a language, by the header and by the body's field.
    pub fn speaking(self, language: &str) -> Self {
        let (short, tag) = LANGUAGES.into_iter().find(|(short, _)| *short == language).unwrap();
        let body = self
            .body
            .as_ref()
            .map(|body| body.replace(r#""language": "en-BW""#, &format!(r#""language": "{tag}""#)));
        Self { body, ..self.with("Accept-Language", short) }
    }

    pub async fn ask(&self) -> Answer {
        let mut headers = self.headers.clone();
        headers.push(("X-Request-Id", REQUEST));
        self.merchant.send(self.method.clone(), &self.path, self.body.as_deref(), &headers).await
    }
}

impl Page {
    pub fn new(name: &'static str) -> Self {
        Self { name, text: String::new(), codes: BTreeSet::new() }
    }

    /// Sends the request and stores the exchange.
    pub async fn keep(&mut self, title: &str, question: Question<'_>) -> Answer {
        let answer = question.ask().await;
        self.keep_answer(title, &question, &answer);
        answer
    }

    /// Stores an exchange.
    pub fn keep_answer(&mut self, title: &str, question: &Question<'_>, answer: &Answer) {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        write!(
            self.text,
            "{separator}=== {title}\n{}\n{}",
            asked(question),
            answered(answer, question.merchant.base_url())
        )
        .unwrap();
        self.note(answer, "en");
    }

    /// Sends a request for the same error in each language, and stores the title once.
    pub async fn keep_in_each_language(
        &mut self,
        title: &str,
        mut question: impl AsyncFnMut(&'static str) -> Answer,
    ) {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        writeln!(self.text, "{separator}=== {title}").unwrap();
        for (language, _) in LANGUAGES {
            let answer = question(language).await;
            let (status, code, _) = answer.refusal();
            assert_eq!((code, answer.surface), (title, Surface::Current), "{}", answer.text);
            writeln!(self.text, "{status} {}", body(&answer)).unwrap();
            self.note(&answer, language);
        }
    }

    fn note(&mut self, answer: &Answer, language: &'static str) {
        if answer.status >= 400 {
            self.codes.insert((answer.refusal().1.to_owned(), language));
        }
    }

    pub fn codes(&self) -> impl Iterator<Item = &(String, &'static str)> {
        self.codes.iter()
    }

    pub fn exchanges(&self) -> usize {
        self.text.lines().filter(|line| line.starts_with("=== ")).count()
    }

    pub fn file(&self) -> PathBuf {
        directory().join(format!("{}.txt", self.name))
    }

    pub fn write(&self) {
        fs::write(self.file(), &self.text).unwrap();
    }

    /// The difference to the stored page, from the first line that differs.
    pub fn change(&self) -> Option<String> {
        let kept = fs::read_to_string(self.file()).unwrap_or_default();
        if kept == self.text {
            return None;
        }
        let common = kept.lines().zip(self.text.lines()).take_while(|(was, is)| was == is).count();
        let title = self.text.lines().take(common + 1).filter(|line| line.starts_with("=== ")).last();
        let some = |text: &str| text.lines().skip(common).take(6).collect::<Vec<_>>().join("\n");
        let name = self.name;
        let title = title.unwrap_or_default();
        Some(format!(
            "{name}.txt, line {}, {title}\nit was:\n{}\nit is:\n{}\n",
            common + 1,
            some(&kept),
            some(&self.text)
        ))
    }
}

/// The languages: the header's value and the body's value.
pub const LANGUAGES: [(&str, &str); 3] = [("en", "en-BW"), ("fr", "fr-FR"), ("pt", "pt-MZ")];

pub fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("journeys/current/snapshots")
}

fn asked(question: &Question<'_>) -> String {
    let mut text = format!("{} {}\n", question.method, question.path);
    for (name, value) in &question.headers {
        writeln!(text, "{name}: {}", shortened(value)).unwrap();
    }
    if let Some(body) = &question.body {
        writeln!(text, "{}", shortened(&without_secrets(body, question.merchant))).unwrap();
    }
    text
}

fn without_secrets(body: &str, merchant: &Merchant) -> String {
    let credentials = &merchant.credentials;
    let secrets = [
        (credentials.client_id.as_str(), "<client id>"),
        (&credentials.client_secret, "<client secret>"),
        (&credentials.secret_pass, "<password>"),
        (&merchant.refresh_token, "<refresh token>"),
    ];
    let body = without_account(body);
    secrets.into_iter().fold(body, |body, (secret, name)| body.replace(secret, name))
}

fn without_account(body: &str) -> String {
    let name = "\"debited_account_id\": ";
    let Some((before, after)) = body.split_once(name) else { return body.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let account = number(&after[..after.len() - rest.len()], "<account>");
    format!("{before}{name}{account}{rest}")
}

fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= SHOWN_MAX { text.to_owned() } else { format!("<{length} characters>") }
}

fn answered(answer: &Answer, url: &str) -> String {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .filter(|(name, _)| !UNSEEN.contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}\n", header(name.as_str(), value.to_str().unwrap(), url)))
        .collect();
    headers.sort();
    format!("{}\n{}\n{}\n", answer.status, headers.concat(), body(answer))
}

fn header(name: &str, value: &str, url: &str) -> String {
    match name {
        "link" => value.replace(url, "<public url>"),
        // The rest of the limit and the times vary, so only their form is checked.
        "ratelimit-remaining" | "ratelimit-reset" | "retry-after" => number(value, "<number>"),
        "recovery" => {
            let parts =
                value.split('@').map(|part| part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
            parts.collect::<Vec<_>>().join("@<moment>")
        }
        _other => value.to_owned(),
    }
}

fn body(answer: &Answer) -> String {
    laid_out(&answer.text)
}
