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
use operator_commands::Commands;
use secrecy::SecretString;
use serde::Deserialize;

use super::Page;
use crate::{
    layout,
    page_error::{Fault, PageError},
    reader::Reader,
    server::Shared,
    text::Text,
    visit::Posted,
};

#[derive(Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    link: String,
}

/// Asks before the link is used. A program that looks at links in messages must not use it up.
pub(super) fn ask(reader: Reader, link: Query<Link>) -> Ready<HttpResponse> {
    let Link { link } = link.into_inner();
    if link.is_empty() {
        return ready(PageError::new(reader, Fault::SignedOut).error_response());
    }
    let translator = reader.translator;
    let form = html! {
        p { (translator.text(Text::SignInNote)) }
        form method="post" action="/sign-in" {
            input type="hidden" name="link" value=(link);
            button { (translator.text(Text::SignIn)) }
        }
    };
    let page = layout::outside(&reader, &translator.text(Text::SignIn), &form);
    ready(layout::answer(StatusCode::OK, page))
}

pub(super) async fn sign_in(
    request: HttpRequest,
    reader: Reader,
    shared: Data<Shared>,
    link: Form<Link>,
) -> Page {
    let failed = |fault| PageError::new(reader.clone(), fault);
    // This form has no session yet. Browsers say whether another site sent it, which could sign a person in as someone else.
    let from = request.headers().get("Sec-Fetch-Site");
    if from.is_some_and(|site| site != "same-origin") {
        return Err(failed(Fault::ForeignForm));
    }
    let secret = SecretString::from(link.into_inner().link);
    let signed_in =
        Commands::sign_in(&shared.database, &secret, &shared.commands, shared.engine.clone()).await;
    let commands = signed_in.map_err(|refusal| failed(Fault::Refused(refusal)))?;
    tracing::info!(login = commands.operator().login, "signed in");
    let cookie = shared.sessions.begin(commands).map_err(|_no_randomness| failed(Fault::NoSession))?;
    Ok(HttpResponse::SeeOther()
        .insert_header((LOCATION, "/"))
        .insert_header((SET_COOKIE, shared.cookie.set(&cookie)))
        .finish())
}

pub(super) fn sign_out(shared: Data<Shared>, posted: Posted) -> Ready<HttpResponse> {
    let (shared, Posted { visit, cookie, .. }) = (shared.into_inner(), posted);
    shared.sessions.end(&cookie);
    tracing::info!(login = visit.session.commands.operator().login, "signed out");
    let answer = HttpResponse::SeeOther()
        .insert_header((LOCATION, "/sign-in"))
        .insert_header((SET_COOKIE, shared.cookie.removed()))
        .finish();
    ready(answer)
}
