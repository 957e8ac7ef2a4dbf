//! Signing in with an account at an OpenID provider.

use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode,
        header::{ContentType, LOCATION, SET_COOKIE},
    },
    web::{Data, Query},
};
use maud::html;
use operator_commands::Commands;
use serde::Deserialize;

use super::Page;
use crate::{
    layout,
    openid::{Answer, OpenId, SignInError},
    page_error::{AccountFault, Fault, PageError},
    reader::Reader,
    server::Shared,
    text::Text,
};

/// What comes back with the browser.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Returned {
    state: String,
    code: String,
    error: String,
    iss: Option<String>,
}

/// Leads to the provider.
pub(super) async fn begin(request: HttpRequest, reader: Reader, shared: Data<Shared>) -> Page {
    let failed = |fault| PageError::new(reader.clone(), fault);
    let openid = shared.openid.as_ref().ok_or_else(|| failed(Fault::NoPage))?;
    // Browsers say whether another site has led here. A person begins on a page of ours, or with an address of one's own.
    let from = request.headers().get("Sec-Fetch-Site");
    if from.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(failed(Fault::SignedOut));
    }
    let begun = openid.begin().await.map_err(|error| failed(told(&error)))?;
    Ok(HttpResponse::SeeOther()
        .insert_header((LOCATION, begun.address.as_str()))
        .insert_header((SET_COOKIE, shared.cookie.set_sign_in(&begun.cookie)))
        .finish())
}

/// The way back from the provider. It ends on a page of its own, and not on the overview: browsers send the strict cookie of the session
/// only from our own pages, and another site has opened this one.
pub(super) async fn finish(
    request: HttpRequest,
    reader: Reader,
    shared: Data<Shared>,
    returned: Query<Returned>,
) -> Page {
    // The address holds a code, so the choice of a language does not come back to it.
    let reader = Reader { address: "/sign-in".to_owned(), ..reader };
    let failed = |fault| PageError::new(reader.clone(), fault);
    let openid = shared.openid.as_ref().ok_or_else(|| failed(Fault::NoPage))?;
    let commands = signed_in(&request, &shared, openid, &returned).await.map_err(failed)?;
    let login = commands.operator().login.clone();
    tracing::info!(login, "signed in with an account");
    let cookie = shared.sessions.begin(commands).map_err(|_no_randomness| failed(Fault::NoSession))?;
    let translator = reader.translator;
    let content = html! {
        p { (translator.text_with(Text::SignedInAs, &[("login", &login)])) }
        p { a href="/" { (translator.text(Text::Continue)) } }
    };
    let page = layout::outside(&reader, &translator.text(Text::SignIn), &content);
    Ok(HttpResponse::build(StatusCode::OK)
        .insert_header(ContentType::html())
        .append_header((SET_COOKIE, shared.cookie.set(&cookie)))
        .append_header((SET_COOKIE, shared.cookie.sign_in_removed()))
        .body(page.into_string()))
}

/// The connection of the person whom the provider has signed in.
async fn signed_in(
    request: &HttpRequest,
    shared: &Shared,
    openid: &OpenId,
    returned: &Returned,
) -> Result<Commands, Fault> {
    let answer = Answer {
        state: &returned.state,
        code: &returned.code,
        error: &returned.error,
        issuer: returned.iss.as_deref(),
    };
    let identity = openid.finish(shared.cookie.of_sign_in(request), answer).await;
    let identity = identity.map_err(|error| told(&error))?;
    let named = identity.clone();
    let found = Commands::identify(&shared.database, named, &shared.commands, shared.engine.clone()).await;
    let refused = |refusal| {
        tracing::warn!(%refusal, "the person is not signed in");
        Fault::Refused(refusal)
    };
    found.map_err(refused)?.ok_or_else(|| {
        tracing::warn!("the person is not signed in: no operator has added the account");
        Fault::Account(AccountFault::Unknown(identity))
    })
}

/// The log has the cause, which is for the administrator.
fn told(error: &SignInError) -> Fault {
    tracing::warn!(%error, "the person is not signed in");
    match error {
        SignInError::Provider(_) => Fault::Account(AccountFault::ProviderAway),
        SignInError::Declined(_) => Fault::Account(AccountFault::Declined),
        SignInError::NotBegun => Fault::Account(AccountFault::NotBegun),
        SignInError::Token(_) => Fault::Account(AccountFault::NotProven),
        SignInError::Entropy(_) => Fault::NoSession,
    }
}
