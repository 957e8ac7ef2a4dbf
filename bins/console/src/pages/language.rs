//! The choice of another language.

use std::future::{Ready, ready};

use actix_web::{
    HttpResponse, ResponseError,
    http::header::{LOCATION, SET_COOKIE},
    web::{Data, Path, Query},
};
use messages::Language;
use serde::Deserialize;

use crate::{
    page_error::{Fault, PageError},
    reader::{Reader, own_page},
    server::Shared,
};

#[derive(Deserialize)]
pub(super) struct Back {
    #[serde(default)]
    to: String,
}

/// Keeps the choice, and goes back to the page where it was made.
pub(super) fn choose(
    reader: Reader,
    shared: Data<Shared>,
    tag: Path<String>,
    back: Query<Back>,
) -> Ready<HttpResponse> {
    let (tag, back, cookie) = (tag.into_inner(), back.into_inner(), shared.into_inner().cookie);
    let Some(language) = Language::ALL.into_iter().find(|language| language.as_str() == tag) else {
        return ready(PageError::new(reader, Fault::NoPage).error_response());
    };
    let answer = HttpResponse::SeeOther()
        .insert_header((LOCATION, own_page(&back.to)))
        .insert_header((SET_COOKIE, cookie.set_language(language)))
        .finish();
    ready(answer)
}
