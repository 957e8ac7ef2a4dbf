//! What a handler says when it cannot do what was asked. How it reads is decided elsewhere, once.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use actix_web::{HttpResponse, ResponseError, http::StatusCode};

use error_codes::ErrorCode;
use messages::{Language, Messages, Sentence};

use crate::{Surface, envelope::Versioned};

/// A code, the field it is about, the values that its sentence needs, and the cause for our own log.
///
/// The cause has no way into an answer.
#[derive(Debug)]
pub struct ApiError {
    sentence: Sentence,
    param: Option<Cow<'static, str>>,
    values: Vec<(&'static str, String)>,
    said: Said,
    retryable: bool,
    retry_after: Option<Duration>,
    closes_connection: bool,
    replayed: bool,
    asks_for_basic: bool,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// Whose word an error is.
#[derive(Debug)]
enum Said {
    /// Ours alone.
    Ours,
    /// A provider's, in its own words.
    Quoted(String),
    /// A provider's, which gave no reason.
    RefusedBy(String),
}

impl ApiError {
    /// An error with the field, the retryability and the status that the table gives its code.
    pub fn new(sentence: impl Into<Sentence>) -> Self {
        let sentence = sentence.into();
        let error = Self {
            sentence,
            param: None,
            values: Vec::new(),
            said: Said::Ours,
            retryable: sentence.code().retryable().given(false),
            retry_after: None,
            closes_connection: false,
            replayed: false,
            asks_for_basic: false,
            cause: None,
        };
        match sentence.code().usual_param() {
            Some(param) => error.about(param),
            None => error,
        }
    }

    /// It is about this field of the request.
    #[must_use]
    pub fn about(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// A value for the sentence.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.values.push((name, value.to_string()));
        self
    }

    /// What the provider said, to be passed on.
    #[must_use]
    pub fn quoting(mut self, wording: String) -> Self {
        self.said = Said::Quoted(wording);
        self
    }

    /// This provider refused without a word, so the sentence says whose refusal it is.
    #[must_use]
    pub fn refused_by(mut self, provider: impl Into<String>) -> Self {
        self.said = Said::RefusedBy(provider.into());
        self
    }

    /// The provider hinted that its refusal is passing; tells only where the table leaves it open.
    #[must_use]
    pub fn hinted_transient(mut self, hinted: bool) -> Self {
        self.retryable = self.code().retryable().given(hinted);
        self
    }

    /// The same request would meet the same answer, whatever the code says in general.
    #[must_use]
    pub fn never_retryable(mut self) -> Self {
        self.retryable = false;
        self
    }

    /// The answer carries `Retry-After`.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.retry_after = Some(pause);
        self
    }

    /// The rest of the request will not be read, so the connection ends with the answer.
    #[must_use]
    pub fn closing_the_connection(mut self) -> Self {
        self.closes_connection = true;
        self
    }

    /// It was told before, to an earlier request under the same idempotency key.
    #[must_use]
    pub fn replayed(mut self) -> Self {
        self.replayed = true;
        self
    }

    /// The client proved itself by HTTP Basic and is to do so again (RFC 6749, section 5.2).
    #[must_use]
    pub fn asking_for_basic(mut self) -> Self {
        self.asks_for_basic = true;
        self
    }

    /// Why, for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// The code, which decides type and status.
    pub const fn code(&self) -> ErrorCode {
        self.sentence.code()
    }

    /// The field of the request that is to blame.
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// The same, by the surface's own name where the table of errors names it; a name that a request itself has used stays.
    pub(crate) fn field_on<'a>(&'a self, surface: &dyn Surface) -> Option<&'a str> {
        let field = self.param()?;
        Some(if self.code().usual_param() == Some(field) { surface.field(field) } else { field })
    }

    /// Whether the very same request may be sent again.
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    pub(crate) const fn closes_connection(&self) -> bool {
        self.closes_connection
    }

    pub(crate) const fn asks_for_basic(&self) -> bool {
        self.asks_for_basic
    }

    /// Whether it was told before, under the same idempotency key.
    pub const fn is_replayed(&self) -> bool {
        self.replayed
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The sentence for people, as the versioned surface names fields.
    pub fn message(&self, messages: &Messages, language: Language) -> String {
        self.message_on(&Versioned, messages, language)
    }

    /// The sentence for people, as a surface names fields.
    pub(crate) fn message_on(
        &self,
        surface: &dyn Surface,
        messages: &Messages,
        language: Language,
    ) -> String {
        let field = self.field_on(surface).map(|field| ("field", field));
        let others = self.values.iter().map(|(name, value)| (*name, value.as_str()));
        let values: Vec<(&str, &str)> = others.chain(field).collect();
        match &self.said {
            Said::Ours => messages.error(language, self.sentence, &values),
            Said::Quoted(wording) => messages.error_quoting(language, self.sentence, &values, wording),
            Said::RefusedBy(provider) => {
                messages.error_refused_by(language, self.sentence, &values, provider)
            }
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.param {
            Some(param) => write!(out, "{} about {param}", self.code()),
            None => write!(out, "{}", self.code()),
        }
    }
}

impl Error for ApiError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| -> &(dyn Error + 'static) { cause })
    }
}

/// Status only: [`crate::intake`] writes the body of every error.
impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code().status()).expect("the table holds valid statuses")
    }

    fn error_response(&self) -> HttpResponse {
        HttpResponse::new(self.status_code())
    }
}
