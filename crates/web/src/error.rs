//! The error that a handler returns when it cannot do what was asked. How it is written is decided in one other place.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use actix_web::{HttpResponse, ResponseError, http::StatusCode};

use error_codes::ErrorCode;
use messages::{Detail, Language, Messages, Sentence};
use purchase::Recovery;

use crate::{Surface, envelope::Versioned};

/// A code, the field that it is about, the values that its message needs, and the cause for our own log.
///
/// The cause never appears in an answer.
#[derive(Debug)]
pub struct ApiError(Box<Content>);

/// The contents of an error, in one allocation. A `Result` does not grow with what its error holds.
#[derive(Debug)]
struct Content {
    sentence: Sentence,
    param: Option<Cow<'static, str>>,
    values: Vec<(&'static str, String)>,
    said: Said,
    retryable: bool,
    retry_after: Option<Duration>,
    closes_connection: bool,
    replayed: bool,
    asks_for_basic: bool,
    answered_later: bool,
    recovery: Option<Recovery>,
    buy_again: Option<bool>,
    lines: Vec<(usize, ApiError)>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// Whose wording an error has.
#[derive(Debug)]
enum Said {
    /// Ours only.
    Ours,
    /// The provider's own wording.
    Quoted(String),
    /// This provider refused and gave no reason.
    RefusedBy(String),
}

impl ApiError {
    /// An error with the field, the retryability and the status that the table gives its code.
    pub fn new(sentence: impl Into<Sentence>) -> Self {
        let sentence = sentence.into();
        let error = Self(Box::new(Content {
            sentence,
            param: None,
            values: Vec::new(),
            said: Said::Ours,
            retryable: sentence.code().retryable().given(false),
            retry_after: None,
            closes_connection: false,
            replayed: false,
            asks_for_basic: false,
            answered_later: false,
            recovery: None,
            buy_again: None,
            lines: Vec::new(),
            cause: None,
        }));
        match sentence.code().usual_param() {
            Some(param) => error.about(param),
            None => error,
        }
    }

    /// Sets the field of the request that the error is about.
    #[must_use]
    pub fn about(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.0.param = Some(param.into());
        self
    }

    /// Adds a value for the message.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.values.push((name, value.to_string()));
        self
    }

    /// Sets the provider's wording, which is passed on.
    #[must_use]
    pub fn quoting(mut self, wording: String) -> Self {
        self.0.said = Said::Quoted(wording);
        self
    }

    /// This provider refused without a reason, so the message says whose refusal it is.
    #[must_use]
    pub fn refused_by(mut self, provider: impl Into<String>) -> Self {
        self.0.said = Said::RefusedBy(provider.into());
        self
    }

    /// Whether the provider hinted that its refusal is transient. The hint counts only where the table leaves it open.
    #[must_use]
    pub fn hinted_transient(mut self, hinted: bool) -> Self {
        self.0.retryable = self.code().retryable().given(hinted);
        self
    }

    /// Not retryable, whatever the code says in general: the same request would get the same answer.
    #[must_use]
    pub fn never_retryable(mut self) -> Self {
        self.0.retryable = false;
        self
    }

    /// The code by which an operator finds the refused confirm: that of the answer, but for a pause, which is no fault of the provider.
    pub(crate) fn stored_code(&self) -> &'static str {
        match self.0.sentence.detail() {
            Some(Detail::ProviderPaused | Detail::ProviderPausedUntil) => "provider_paused",
            _ => self.code().as_str(),
        }
    }

    /// Adds `Retry-After` to the answer.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.0.retry_after = Some(pause);
        self
    }

    /// Marks the failure of a purchase as returned to a later request. It is final, so its status is of the 400 class
    /// (specification, section 3). It is not retryable, because that flag speaks of the request just sent.
    #[must_use]
    pub fn answered_later(mut self) -> Self {
        self.0.answered_later = true;
        self.never_retryable()
    }

    /// Marks an answer that is not final. `recovery` says how the caller gets the outcome and how long it waits.
    #[must_use]
    pub fn recovered_by(mut self, recovery: Recovery) -> Self {
        self.0.recovery = Some(recovery);
        self.after(recovery.wait())
    }

    /// A purchase has failed. `may_succeed` says whether a new one may succeed.
    #[must_use]
    pub fn buying_again(mut self, may_succeed: bool) -> Self {
        self.0.buy_again = Some(may_succeed);
        self
    }

    /// The rest of the request will not be read, so the connection is closed after the answer.
    #[must_use]
    pub fn closing_the_connection(mut self) -> Self {
        self.0.closes_connection = true;
        self
    }

    /// The error was answered before, to an earlier request with the same idempotency key.
    #[must_use]
    pub fn replayed(mut self) -> Self {
        self.0.replayed = true;
        self
    }

    /// The client proved itself by HTTP Basic and must do so again (RFC 6749, section 5.2).
    #[must_use]
    pub fn asking_for_basic(mut self) -> Self {
        self.0.asks_for_basic = true;
        self
    }

    /// Adds what is wrong with lines of a batch, by their numbers from 1.
    #[must_use]
    pub fn with_lines(mut self, lines: Vec<(usize, Self)>) -> Self {
        self.0.lines = lines;
        self
    }

    /// Sets the cause, for the log only.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The code. It decides type and status.
    pub const fn code(&self) -> ErrorCode {
        self.0.sentence.code()
    }

    /// The HTTP status of the answer: that of the code, unless it is the failure of an earlier request.
    pub fn status(&self) -> u16 {
        if self.0.answered_later { self.code().status_answered_later() } else { self.code().status() }
    }

    /// How the caller gets the outcome, if the answer is not final.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.0.recovery.as_ref()
    }

    /// If a purchase has failed: whether a new one may succeed.
    pub const fn buy_again(&self) -> Option<bool> {
        self.0.buy_again
    }

    /// What is wrong with lines of a batch, by their numbers.
    pub(crate) fn lines(&self) -> &[(usize, Self)] {
        &self.0.lines
    }

    /// The field of the request that caused the error.
    pub fn param(&self) -> Option<&str> {
        self.0.param.as_deref()
    }

    /// The same, under the surface's own name if the error table names the field. A name that the request itself used
    /// is kept.
    pub(crate) fn field_on<'a>(&'a self, surface: &dyn Surface) -> Option<&'a str> {
        let field = self.param()?;
        Some(if self.code().usual_param() == Some(field) { surface.field(field) } else { field })
    }

    /// Whether the same request may be sent again unchanged.
    pub const fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// How long to wait before the next try, where that is known.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    pub(crate) const fn closes_connection(&self) -> bool {
        self.0.closes_connection
    }

    pub(crate) const fn asks_for_basic(&self) -> bool {
        self.0.asks_for_basic
    }

    /// Whether the error was answered before, under the same idempotency key.
    pub const fn is_replayed(&self) -> bool {
        self.0.replayed
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The message for people, with the field names of the versioned surface.
    pub fn message(&self, messages: &Messages, language: Language) -> String {
        self.message_on(&Versioned, messages, language)
    }

    /// The message for people, with the field names of a surface.
    pub(crate) fn message_on(
        &self,
        surface: &dyn Surface,
        messages: &Messages,
        language: Language,
    ) -> String {
        let field = self.field_on(surface).map(|field| ("field", field));
        let others = self.0.values.iter().map(|(name, value)| (*name, value.as_str()));
        let values: Vec<(&str, &str)> = others.chain(field).collect();
        let sentence = surface.sentence(self.0.sentence);
        match &self.0.said {
            Said::Ours => messages.error(language, sentence, &values),
            Said::Quoted(wording) => messages.error_quoting(language, sentence, &values, wording),
            Said::RefusedBy(provider) => messages.error_refused_by(language, sentence, &values, provider),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.param {
            Some(param) => write!(out, "{} about {param}", self.code()),
            None => write!(out, "{}", self.code()),
        }
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.cause.as_deref().map(|cause| -> &(dyn Error + 'static) { cause })
    }
}

/// Status only: [`crate::intake`] writes the body of every error.
impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.status()).expect("the table holds valid statuses")
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
