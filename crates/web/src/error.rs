//! What a handler says when it cannot do what was asked. How it reads is decided elsewhere, once.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use actix_web::{HttpResponse, ResponseError, http::StatusCode};

use error_codes::ErrorCode;
use messages::{Language, Messages, Sentence};
use purchase::Recovery;

use crate::{Surface, envelope::Versioned};

/// A code, the field it is about, the values that its sentence needs, and the cause for our own log.
///
/// The cause has no way into an answer.
#[derive(Debug)]
pub struct ApiError(Box<Content>);

/// All that an error tells, in one allocation: a result is no larger for what its error could tell.
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
    told_later: bool,
    recovery: Option<Recovery>,
    buy_again: Option<bool>,
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
            told_later: false,
            recovery: None,
            buy_again: None,
            cause: None,
        }));
        match sentence.code().usual_param() {
            Some(param) => error.about(param),
            None => error,
        }
    }

    /// It is about this field of the request.
    #[must_use]
    pub fn about(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.0.param = Some(param.into());
        self
    }

    /// A value for the sentence.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.0.values.push((name, value.to_string()));
        self
    }

    /// What the provider said, to be passed on.
    #[must_use]
    pub fn quoting(mut self, wording: String) -> Self {
        self.0.said = Said::Quoted(wording);
        self
    }

    /// This provider refused without a word, so the sentence says whose refusal it is.
    #[must_use]
    pub fn refused_by(mut self, provider: impl Into<String>) -> Self {
        self.0.said = Said::RefusedBy(provider.into());
        self
    }

    /// The provider hinted that its refusal is passing; tells only where the table leaves it open.
    #[must_use]
    pub fn hinted_transient(mut self, hinted: bool) -> Self {
        self.0.retryable = self.code().retryable().given(hinted);
        self
    }

    /// The same request would meet the same answer, whatever the code says in general.
    #[must_use]
    pub fn never_retryable(mut self) -> Self {
        self.0.retryable = false;
        self
    }

    /// The answer carries `Retry-After`.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.0.retry_after = Some(pause);
        self
    }

    /// It is what became of a purchase, told to a request that comes later: final, and so of the 400 class
    /// (specification, section 3), and not retryable, for that speaks of the request just sent.
    #[must_use]
    pub fn told_later(mut self) -> Self {
        self.0.told_later = true;
        self.never_retryable()
    }

    /// It is not final: this is how the caller comes to the outcome, and how long it waits.
    #[must_use]
    pub fn recovered_by(mut self, recovery: Recovery) -> Self {
        self.0.recovery = Some(recovery);
        self.after(recovery.wait())
    }

    /// A purchase has failed, and a new one may succeed or not.
    #[must_use]
    pub fn buying_again(mut self, may_succeed: bool) -> Self {
        self.0.buy_again = Some(may_succeed);
        self
    }

    /// The rest of the request will not be read, so the connection ends with the answer.
    #[must_use]
    pub fn closing_the_connection(mut self) -> Self {
        self.0.closes_connection = true;
        self
    }

    /// It was told before, to an earlier request under the same idempotency key.
    #[must_use]
    pub fn replayed(mut self) -> Self {
        self.0.replayed = true;
        self
    }

    /// The client proved itself by HTTP Basic and is to do so again (RFC 6749, section 5.2).
    #[must_use]
    pub fn asking_for_basic(mut self) -> Self {
        self.0.asks_for_basic = true;
        self
    }

    /// Why, for the log.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The code, which decides type and status.
    pub const fn code(&self) -> ErrorCode {
        self.0.sentence.code()
    }

    /// The HTTP status of the answer: that of the code, unless the same is told later.
    pub fn status(&self) -> u16 {
        if self.0.told_later { self.code().status_told_later() } else { self.code().status() }
    }

    /// How the caller comes to the outcome, where the answer is not final.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.0.recovery.as_ref()
    }

    /// Where a purchase has failed: whether a new one may succeed.
    pub const fn buy_again(&self) -> Option<bool> {
        self.0.buy_again
    }

    /// The field of the request that is to blame.
    pub fn param(&self) -> Option<&str> {
        self.0.param.as_deref()
    }

    /// The same, by the surface's own name where the table of errors names it; a name that a request itself has used stays.
    pub(crate) fn field_on<'a>(&'a self, surface: &dyn Surface) -> Option<&'a str> {
        let field = self.param()?;
        Some(if self.code().usual_param() == Some(field) { surface.field(field) } else { field })
    }

    /// Whether the very same request may be sent again.
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

    /// Whether it was told before, under the same idempotency key.
    pub const fn is_replayed(&self) -> bool {
        self.0.replayed
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.0.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
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
        let others = self.0.values.iter().map(|(name, value)| (*name, value.as_str()));
        let values: Vec<(&str, &str)> = others.chain(field).collect();
        match &self.0.said {
            Said::Ours => messages.error(language, self.0.sentence, &values),
            Said::Quoted(wording) => messages.error_quoting(language, self.0.sentence, &values, wording),
            Said::RefusedBy(provider) => {
                messages.error_refused_by(language, self.0.sentence, &values, provider)
            }
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
