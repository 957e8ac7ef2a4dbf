//! Why a page is not shown. Each is a page itself, with a sentence that says what to do.

use std::fmt;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use maud::{Markup, html};
use vendctl::Refusal;

use crate::{layout, reader::Reader, text::Text};

/// A page that says why another page is not shown.
#[derive(Debug)]
pub(crate) struct PageError {
    reader: Reader,
    fault: Fault,
}

/// Why a page is not shown.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The person is not signed in, or not any more.
    SignedOut,
    /// The form was not made for this session.
    ForeignForm,
    /// The form cannot be read.
    BadForm,
    /// The command was refused.
    Refused(Refusal),
    /// There is no such page.
    NoPage,
    /// There is no randomness for a session.
    NoSession,
}

impl PageError {
    pub(crate) const fn new(reader: Reader, fault: Fault) -> Self {
        Self { reader, fault }
    }

    pub(crate) fn sentence(&self) -> Markup {
        let translator = self.reader.translator;
        match self.fault.sentence() {
            Ok(text) => html! { p class="refused" role="alert" { (translator.text(text)) } },
            Err(refusal) => refused(translator.english(), refusal),
        }
    }
}

/// What `vendctl` says in place of a report.
pub(crate) fn refused(language: Option<&str>, refusal: &Refusal) -> Markup {
    html! { p class="refused" role="alert" lang=[language] { (refusal) } }
}

impl Fault {
    const fn title(&self) -> Text {
        match self {
            Self::SignedOut => Text::SignIn,
            Self::ForeignForm | Self::BadForm => Text::NothingWasDone,
            Self::Refused(_) => Text::NotPossible,
            Self::NoPage => Text::NoSuchPage,
            Self::NoSession => Text::NotSignedIn,
        }
    }

    /// Our own sentence, or that of `vendctl`.
    const fn sentence(&self) -> Result<Text, &Refusal> {
        match self {
            Self::SignedOut => Ok(Text::SignedOutExplained),
            Self::ForeignForm => Ok(Text::ForeignFormExplained),
            Self::BadForm => Ok(Text::BadFormExplained),
            Self::Refused(refusal) => Err(refusal),
            Self::NoPage => Ok(Text::NoPageExplained),
            Self::NoSession => Ok(Text::NoSessionExplained),
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault.sentence() {
            Ok(text) => f.write_str(text.id()),
            Err(refusal) => refusal.fmt(f),
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self.fault {
            Fault::SignedOut => StatusCode::UNAUTHORIZED,
            Fault::ForeignForm => StatusCode::FORBIDDEN,
            Fault::BadForm => StatusCode::BAD_REQUEST,
            Fault::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Fault::NoPage => StatusCode::NOT_FOUND,
            Fault::NoSession => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let title = self.reader.translator.text(self.fault.title());
        layout::answer(self.status_code(), layout::outside(&self.reader, &title, &self.sentence()))
    }
}
