//! The endpoints of the airtime aggregator: authentication and top-ups.

use std::sync::Arc;

use actix_web::{
    HttpRequest, HttpResponse, HttpResponseBuilder, Scope,
    http::{
        StatusCode,
        header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName},
    },
    web::{self, Bytes, Data, Path, Query, get, post},
};
use chrono::NaiveDateTime;
use serde::Deserialize;

use super::{
    delivery::{Wire, deliver},
    queue::answered,
};
use crate::{
    reloadly::{
        Ask, MOMENT, Message, Refusal, Reply, ReportFilter, Request, TokenRequest, VendRequest, render,
    },
    world::World,
};

const AUTH: &str = "/reloadly/auth";
const TOPUPS: &str = "/reloadly/topups";
/// The size of a page of the report, if the client gives none.
const PAGE_SIZE: usize = 200;

/// The authentication service.
pub(super) fn auth() -> Scope {
    web::scope(AUTH).route("/oauth/token", post().to(token)).default_service(web::to(nowhere))
}

/// The top-up interface.
pub(super) fn topups() -> Scope {
    web::scope(TOPUPS)
        .route("/operators/countries/{country}", get().to(operators))
        .route("/operators/auto-detect/phone/{phone}/countries/{country}", get().to(operator))
        .route("/accounts/balance", get().to(balance))
        .route("/topups", post().to(buy))
        .route("/topups/reports/transactions", get().to(report))
        .route("/topups/{number}/status", get().to(status))
        .default_service(web::to(nothing))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ReportQuery {
    custom_identifier: Option<String>,
    start_date: Option<String>,
    end_date: Option<String>,
    page: Option<usize>,
    size: Option<usize>,
}

async fn token(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let request = is_json(&http).and_then(|()| TokenRequest::read(&body));
    served(&world, &http, Ask::Token(request)).await
}

async fn nowhere(world: Data<World>, http: HttpRequest) -> HttpResponse {
    served(&world, &http, Ask::Token(Err(Refusal::no_such_path()))).await
}

async fn operators(world: Data<World>, http: HttpRequest, country: Path<String>) -> HttpResponse {
    served(&world, &http, Ask::Operators { country: country.into_inner() }).await
}

async fn operator(world: Data<World>, http: HttpRequest, names: Path<(String, String)>) -> HttpResponse {
    let (phone, country) = names.into_inner();
    served(&world, &http, Ask::Operator { phone, country }).await
}

async fn balance(world: Data<World>, http: HttpRequest) -> HttpResponse {
    served(&world, &http, Ask::Balance).await
}

async fn buy(world: Data<World>, http: HttpRequest, body: Bytes) -> HttpResponse {
    let ask = is_json(&http).and_then(|()| VendRequest::read(&body, world.aggregator.currency()));
    served(&world, &http, ask.map_or_else(Ask::Unreadable, Ask::Buy)).await
}

async fn status(world: Data<World>, http: HttpRequest, number: Path<String>) -> HttpResponse {
    let ask = number.parse().map(|number| Ask::Status { number });
    served(&world, &http, ask.unwrap_or_else(|_no_number| Ask::Unreadable(Refusal::no_such_path()))).await
}

async fn report(world: Data<World>, http: HttpRequest, query: Query<ReportQuery>) -> HttpResponse {
    let ReportQuery { custom_identifier, start_date, end_date, page, size } = query.into_inner();
    let (page, size) = (page.unwrap_or(1), size.unwrap_or(PAGE_SIZE));
    let ask = match (moment(start_date.as_deref()), moment(end_date.as_deref())) {
        (Ok(from), Ok(until)) => {
            Ask::Report { filter: ReportFilter { custom_identifier, from, until }, page, size }
        }
        (Err(refusal), _) | (_, Err(refusal)) => Ask::Unreadable(refusal),
    };
    served(&world, &http, ask).await
}

fn moment(written: Option<&str>) -> Result<Option<NaiveDateTime>, Refusal> {
    let read =
        |text| NaiveDateTime::parse_from_str(text, MOMENT).map_err(|_malformed| Refusal::invalid_date());
    written.map(read).transpose()
}

async fn nothing(world: Data<World>, http: HttpRequest) -> HttpResponse {
    served(&world, &http, Ask::Unreadable(Refusal::no_such_path())).await
}

async fn served(world: &World, http: &HttpRequest, ask: Ask) -> HttpResponse {
    let path = http.path();
    let path = path.strip_prefix(AUTH).or_else(|| path.strip_prefix(TOPUPS)).unwrap_or(path).to_owned();
    let bearer = header(http, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let request = Request {
        path,
        bearer: bearer.map(str::to_owned),
        accept: header(http, &ACCEPT).map(str::to_owned),
        ask,
    };
    let scripted = world.aggregator.scripted(&world.script, &request);
    let aggregator = Arc::clone(&world.aggregator);
    let answer = answered(scripted, move |scripted| aggregator.answer(&request, scripted)).await;
    deliver(&Json, &world.airtime_swap, answer).await
}

fn is_json(http: &HttpRequest) -> Result<(), Refusal> {
    let given = header(http, &CONTENT_TYPE).is_some_and(|value| value.starts_with("application/json"));
    if given { Ok(()) } else { Err(Refusal::unsupported_media_type()) }
}

fn header<'a>(http: &'a HttpRequest, name: &HeaderName) -> Option<&'a str> {
    http.headers().get(name).and_then(|value| value.to_str().ok())
}

/// The wire format for all clients.
struct Json;

impl Wire<Message> for Json {
    const CONTENT_TYPE: &'static str = "application/json";
    const GARBAGE: &'static str = "{\"transactionId\": <<< not JSON";

    fn status(&self, message: &Message) -> StatusCode {
        if let Reply::Refusal(refusal) = &message.reply { refusal.status } else { StatusCode::OK }
    }

    fn bytes(&self, message: &Message) -> Vec<u8> {
        render(message)
    }

    fn send(&self, mut response: HttpResponseBuilder, bytes: Vec<u8>) -> HttpResponse {
        response.body(bytes)
    }
}
