//! Why a page is not shown. Each is a page itself, with a sentence that says what to do.

use std::fmt;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use maud::html;
use vendctl::Refusal;

use crate::layout;

#[derive(Debug)]
pub(crate) enum PageError {
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
    fn title(&self) -> &'static str {
        match self {
            Self::SignedOut => "Sign in",
            Self::ForeignForm | Self::BadForm => "Nothing was done",
            Self::Refused(_) => "Not possible",
            Self::NoPage => "No such page",
            Self::NoSession => "Not signed in",
        }
    }

    fn sentence(&self) -> String {
        match self {
            Self::SignedOut => {
                "You are not signed in, or your session has ended. Enter `vendctl console link` at a prompt, \
                                and open the link that it prints."
                    .to_owned()
            }
            Self::ForeignForm => {
                "The form is not of your session. Open the page again, and fill in its form.".to_owned()
            }
            Self::BadForm => "The form cannot be read. Open the page again, and fill in its form.".to_owned(),
            Self::Refused(refusal) => refusal.to_string(),
            Self::NoPage => "There is no page with this address. The menu leads to all pages.".to_owned(),
            Self::NoSession => "The machine gave no random numbers. Try again.".to_owned(),
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::BadForm => StatusCode::BAD_REQUEST,
            Self::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NoPage => StatusCode::NOT_FOUND,
            Self::NoSession => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let sentence = html! { p class="refused" role="alert" { (self.sentence()) } };
        let body = layout::outside(self.title(), &sentence);
        layout::answer(self.status_code(), body)
    }
}

impl From<Refusal> for PageError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
