//! Why a page is not shown. Each is a page itself, with a sentence that says what to do.

use std::fmt;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use directory::Identity;
use maud::{Markup, html};
use operator_commands::Refusal;

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
    /// The act was not rehearsed in this session, or is done already.
    NotRehearsed,
    /// The command was refused.
    Refused(Refusal),
    /// There is no such page.
    NoPage,
    /// There is no randomness for a session.
    NoSession,
    /// The person is not signed in with the account at an OpenID provider.
    Account(AccountFault),
}

/// Why a person is not signed in with an account at an OpenID provider.
#[derive(Debug)]
pub(crate) enum AccountFault {
    /// The provider cannot be used.
    ProviderAway,
    /// The provider has not signed the person in.
    Declined,
    /// The sign-in was not begun in this browser, or too long ago.
    NotBegun,
    /// What the provider says does not prove who the person is.
    NotProven,
    /// No operator has added the identity.
    Unknown(Identity),
}

impl PageError {
    pub(crate) const fn new(reader: Reader, fault: Fault) -> Self {
        Self { reader, fault }
    }

    /// What a person without a session can do on the page itself.
    fn ways_to_sign_in(&self) -> Markup {
        let is_without_session = match &self.fault {
            Fault::SignedOut | Fault::Account(_) => self.reader.may_use_account,
            Fault::ForeignForm
            | Fault::BadForm
            | Fault::NotRehearsed
            | Fault::Refused(_)
            | Fault::NoPage
            | Fault::NoSession => false,
        };
        html! {
            @if let Fault::Account(AccountFault::Unknown(identity)) = &self.fault {
                pre tabindex="0" { (identity_command(identity)) }
            }
            @if is_without_session {
                p { a href="/sign-in/openid" { (self.reader.translator.text(Text::SignInWithAccount)) } }
            }
        }
    }

    pub(crate) fn sentence(&self) -> Markup {
        let translator = self.reader.translator;
        let text = match self.fault.sentence() {
            Ok(Text::SignedOutExplained) if self.reader.may_use_account => {
                Text::SignedOutWithAccountExplained
            }
            Ok(text) => text,
            Err(refusal) => {
                return html! { (refused(translator.english(), refusal)) p { (translator.text(Text::GoBack)) } };
            }
        };
        html! {
            p class="refused" role="alert" { (translator.text(text)) }
            (self.ways_to_sign_in())
        }
    }
}

/// The command by which a person adds an identity. Its words are quoted for a shell.
fn identity_command(Identity { issuer, subject }: &Identity) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    // A subject that begins like an option would be taken for one.
    let ends_options = if subject.starts_with('-') { "-- " } else { "" };
    let (issuer, subject) = (quoted(issuer), quoted(subject));
    format!("vendctl console identity add --reason 'my account' {ends_options}{issuer} {subject}")
}

/// What `vendctl` says in place of a report.
pub(crate) fn refused(language: Option<&str>, refusal: &Refusal) -> Markup {
    html! { p class="refused" role="alert" lang=[language] { (refusal) } }
}

impl Fault {
    const fn title(&self) -> Text {
        match self {
            Self::SignedOut => Text::SignIn,
            Self::ForeignForm | Self::BadForm | Self::NotRehearsed => Text::NothingWasDone,
            Self::Refused(_) => Text::NotPossible,
            Self::NoPage => Text::NoSuchPage,
            Self::NoSession | Self::Account(_) => Text::NotSignedIn,
        }
    }

    /// Our own sentence, or that of `vendctl`.
    const fn sentence(&self) -> Result<Text, &Refusal> {
        match self {
            Self::SignedOut => Ok(Text::SignedOutExplained),
            Self::ForeignForm => Ok(Text::ForeignFormExplained),
            Self::BadForm => Ok(Text::BadFormExplained),
            Self::NotRehearsed => Ok(Text::NotRehearsedExplained),
            Self::Refused(refusal) => Err(refusal),
            Self::NoPage => Ok(Text::NoPageExplained),
            Self::NoSession => Ok(Text::NoSessionExplained),
            Self::Account(AccountFault::ProviderAway) => Ok(Text::ProviderAwayExplained),
            Self::Account(AccountFault::Declined) => Ok(Text::AccountDeclinedExplained),
            Self::Account(AccountFault::NotBegun) => Ok(Text::SignInNotBegunExplained),
            Self::Account(AccountFault::NotProven) => Ok(Text::AccountNotProvenExplained),
            Self::Account(AccountFault::Unknown(_)) => Ok(Text::UnknownIdentityExplained),
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
            Fault::ForeignForm
            | Fault::Account(AccountFault::Declined | AccountFault::NotProven | AccountFault::Unknown(_)) => {
                StatusCode::FORBIDDEN
            }
            Fault::BadForm | Fault::Account(AccountFault::NotBegun) => StatusCode::BAD_REQUEST,
            Fault::NotRehearsed => StatusCode::CONFLICT,
            Fault::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Fault::NoPage => StatusCode::NOT_FOUND,
            Fault::NoSession => StatusCode::SERVICE_UNAVAILABLE,
            Fault::Account(AccountFault::ProviderAway) => StatusCode::BAD_GATEWAY,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let title = self.reader.translator.text(self.fault.title());
        layout::answer(self.status_code(), layout::outside(&self.reader, &title, &self.sentence()))
    }
}
