//! The pages. Each is one or a few commands, and the forms for further ones.

mod approvals;
mod audit;
mod books;
mod incidents;
mod language;
mod openid;
mod organisation_acts;
mod organisations;
mod outbox;
mod overview;
mod providers;
mod purchases;
mod reconciliation;
mod rehearsed_act;
mod sales;
mod search;
mod sign_in;
mod wallets;

use std::future::{Ready, ready};

use actix_web::{
    HttpResponse, ResponseError,
    http::header::{ContentType, LOCATION},
    web::{self, ServiceConfig},
};
use maud::Markup;
use operator_commands::Report;

use crate::{
    layout,
    page_error::{Fault, PageError, refused},
    reader::Reader,
    render,
    text::Text,
    visit::Visit,
    words::Words,
};

/// The outcome of a request.
type Page = Result<HttpResponse, PageError>;

pub(crate) fn routes(config: &mut ServiceConfig) {
    config
        .route("/style.css", web::get().to(style))
        .route("/language/{tag}", web::get().to(language::choose))
        .route("/sign-in", web::get().to(sign_in::ask))
        .route("/sign-in", web::post().to(sign_in::sign_in))
        .route("/sign-in/openid", web::get().to(openid::begin))
        .route("/sign-in/openid/done", web::get().to(openid::finish))
        .route("/sign-out", web::post().to(sign_in::sign_out))
        .route("/", web::get().to(overview::show))
        .route("/search", web::get().to(search::show))
        .route("/purchases/{id}", web::get().to(purchases::show))
        .route("/purchases/{id}/resolve", web::post().to(purchases::resolve))
        .route("/purchases/{id}/resend", web::post().to(purchases::resend))
        .route("/messages", web::get().to(outbox::show))
        .route("/messages/requeue", web::post().to(outbox::requeue))
        .route("/providers", web::get().to(providers::list))
        .route("/providers/{code}", web::get().to(providers::show))
        .route("/providers/{code}/pause", web::post().to(providers::pause))
        .route("/providers/{code}/resume", web::post().to(providers::resume))
        .route("/providers/{code}/breaker", web::post().to(providers::breaker))
        .route("/incidents", web::get().to(incidents::list))
        .route("/incidents/{id}", web::get().to(incidents::show))
        .route("/incidents/{id}/close", web::post().to(incidents::close))
        .route("/organisations", web::get().to(organisations::list))
        .route("/organisations/add", web::post().to(organisations::add))
        .route("/organisations/{code}", web::get().to(organisations::show))
        .route("/organisations/{code}/{act}", web::post().to(organisations::act))
        .route("/review", web::get().to(purchases::review))
        .route("/approvals", web::get().to(approvals::list))
        .route("/approvals/{id}", web::get().to(approvals::show))
        .route("/approvals/{id}/approve", web::post().to(approvals::approve))
        .route("/approvals/{id}/reject", web::post().to(approvals::reject))
        .route("/wallets", web::get().to(wallets::list))
        .route("/wallets/{id}", web::get().to(wallets::show))
        .route("/sales", web::get().to(sales::show))
        .route("/books", web::get().to(books::show))
        .route("/reconciliation", web::get().to(reconciliation::show))
        .route("/reconciliation/close", web::post().to(reconciliation::close))
        .route("/reconciliation/{id}", web::get().to(reconciliation::show_run))
        .route("/audit", web::get().to(audit::show))
        .default_service(web::to(no_page));
}

fn style() -> Ready<HttpResponse> {
    let content_type = ("Content-Type", "text/css; charset=utf-8");
    ready(HttpResponse::Ok().insert_header(content_type).body(layout::STYLE))
}

fn no_page(reader: Reader) -> Ready<HttpResponse> {
    ready(PageError::new(reader, Fault::NoPage).error_response())
}

fn see_other(address: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((LOCATION, address)).insert_header(ContentType::html()).finish()
}

async fn run(visit: &Visit, words: Words) -> Result<Report, PageError> {
    let outcome = visit.session.commands.run(&words.all()).await;
    outcome.map_err(|refusal| visit.error(Fault::Refused(refusal)))
}

/// A report, or the sentence why there is none: the rest of the page is of use all the same.
async fn shown(visit: &Visit, words: Words, caption: Text, leads: render::Leads) -> Markup {
    let translator = visit.translator();
    match visit.session.commands.run(&words.all()).await {
        Ok(report) => render::report(translator, &report, caption, leads),
        Err(refusal) => refused(translator.english(), &refusal),
    }
}
