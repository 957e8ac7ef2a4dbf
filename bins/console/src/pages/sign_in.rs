//! Signing in with a link, and signing out.

use std::future::{Ready, ready};

use actix_web::{
    HttpRequest, HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{LOCATION, SET_COOKIE},
    },
    web::{Data, Form, Query},
};
use maud::html;
use secrecy::SecretString;
use serde::Deserialize;
use vendctl::Commands;

use super::Page;
use crate::{layout, page_error::PageError, posted::Posted, server::Shared};

#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    link: String,
}

/// Asks before the link is used. A program that looks at links in messages must not use it up.
pub(super) fn ask(link: Query<Link>) -> Ready<HttpResponse> {
    let Link { link } = link.into_inner();
    if link.is_empty() {
        return ready(PageError::SignedOut.error_response());
    }
    let form = html! {
        p { "The link works once, within five minutes. You are signed out after 15 minutes without use." }
        form method="post" action="/sign-in" {
            input type="hidden" name="link" value=(link);
            button { "Sign in" }
        }
    };
    ready(layout::answer(StatusCode::OK, layout::outside("Sign in", &form)))
}

pub(super) async fn sign_in(request: HttpRequest, shared: Data<Shared>, link: Form<Link>) -> Page {
    // This form has no session yet. Browsers say whether another site sent it, which could sign a person in as someone else.
    let from = request.headers().get("Sec-Fetch-Site");
    if from.is_some_and(|site| site != "same-origin") {
        return Err(PageError::ForeignForm);
    }
    let secret = SecretString::from(link.into_inner().link);
    let commands =
        Commands::sign_in(&shared.database, &secret, &shared.commands, shared.engine.clone()).await?;
    tracing::info!(login = commands.operator().login, "signed in");
    let cookie = shared.sessions.begin(commands).map_err(|_no_randomness| PageError::NoSession)?;
    Ok(HttpResponse::SeeOther()
        .insert_header((LOCATION, "/"))
        .insert_header((SET_COOKIE, shared.cookie.set(&cookie)))
        .finish())
}

pub(super) fn sign_out(shared: Data<Shared>, posted: Posted) -> Ready<HttpResponse> {
    let (shared, Posted { session, cookie, .. }) = (shared.into_inner(), posted);
    shared.sessions.end(&cookie);
    tracing::info!(login = session.commands.operator().login, "signed out");
    let answer = HttpResponse::SeeOther()
        .insert_header((LOCATION, "/sign-in"))
        .insert_header((SET_COOKIE, shared.cookie.removed()))
        .finish();
    ready(answer)
}
