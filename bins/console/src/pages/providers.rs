//! Providers, and their pauses.

use actix_web::web::Path;
use maud::{Markup, html};

use super::{Page, run, see_other, shown};
use crate::{
    layout,
    posted::{Posted, SignedIn},
    render::{self, choice_field, nowhere, reason_field, text_field, to_providers},
    sessions::OperatorSession,
    words::Words,
};

const PRODUCTS: [(&str, &str); 4] =
    [("", "Every product"), ("electricity", "Electricity"), ("water", "Water"), ("airtime", "Airtime")];

pub(super) async fn list(SignedIn(session): SignedIn) -> Page {
    let content = shown(&session, Words::of("provider list"), "Providers", to_providers).await;
    Ok(layout::page(&session, "/providers", "Providers", &content))
}

pub(super) async fn show(SignedIn(session): SignedIn, code: Path<String>) -> Page {
    let report = run(&session, Words::of("provider show").value(&code)).await?;
    let content = html! {
        (render::report(&report, "The provider", nowhere))
        (pause_form(&session, &code))
        (resume_form(&session, &code))
    };
    Ok(layout::page(&session, "/providers", &format!("Provider {code}"), &content))
}

pub(super) async fn pause(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider pause")
        .value(&code)
        .option("product", posted.field("product"))
        .option("from", posted.field("from"))
        .option("until", posted.field("until"))
        .option("notice", posted.field("notice"))
        .option("reason", posted.field("reason"));
    run(&posted.session, words).await?;
    Ok(see_other(&format!("/providers/{code}")))
}

pub(super) async fn resume(posted: Posted, code: Path<String>) -> Page {
    let words = Words::of("provider resume")
        .value(&code)
        .option("pause", posted.field("pause"))
        .option("reason", posted.field("reason"));
    run(&posted.session, words).await?;
    Ok(see_other(&format!("/providers/{code}")))
}

fn pause_form(session: &OperatorSession, code: &str) -> Markup {
    html! {
        h2 { "Pause its sales" }
        p { "No purchase is reserved once this is done. What is open already is settled as always." }
        form class="fields" method="post" action={ "/providers/" (code) "/pause" } {
            (layout::token(session))
            (choice_field("product", "Product", &PRODUCTS, ""))
            (text_field("from", "From", "Such as 2026-11-20 14:00. Empty: at once.", "", false))
            (text_field("until", "Until", "Empty: until the sales are resumed.", "", false))
            (text_field("notice", "Notice", "A sentence for integrators.", "", false))
            (reason_field("pause-"))
            button { "Pause" }
        }
    }
}

fn resume_form(session: &OperatorSession, code: &str) -> Markup {
    html! {
        h2 { "Resume its sales" }
        form class="fields" method="post" action={ "/providers/" (code) "/resume" } {
            (layout::token(session))
            (text_field("pause", "Number of the pause", "Empty: every pause in force.", "", false))
            (reason_field("resume-"))
            button { "Resume" }
        }
    }
}
