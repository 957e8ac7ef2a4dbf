//! The history of a purchase, the queue of those that wait for a decision, and the decision.

use actix_web::web::Path;
use maud::{Markup, html};
use vendctl::{Part, Report};

use super::{Page, run, shown};
use crate::{
    layout,
    posted::{Posted, SignedIn},
    render::{self, choice_field, nowhere, reason_field, text_field, to_purchases},
    sessions::OperatorSession,
    words::Words,
};

const LINES: &str = "200";

pub(super) async fn review(SignedIn(session): SignedIn) -> Page {
    let words = Words::of("purchases list").switch("review").option("limit", LINES);
    let content = html! {
        p { "The worker keeps asking the provider about these. Decide one only with the provider's word for it." }
        (shown(&session, words, "Purchases in review", to_purchases).await)
    };
    Ok(layout::page(&session, "/review", "Review", &content))
}

pub(super) async fn show(SignedIn(session): SignedIn, id: Path<String>) -> Page {
    let report = run(&session, Words::of("purchases show").value(&id)).await?;
    let content = html! {
        (story(&report))
        @if waits(&report) { (form(&session, &id)) }
    };
    Ok(layout::page(&session, "/search", &format!("Purchase {id}"), &content))
}

/// A rehearsal first. With its result the person decides whether it is done.
pub(super) async fn resolve(posted: Posted, id: Path<String>) -> Page {
    let words = Words::of("purchases resolve")
        .value(&id)
        .option("as", posted.field("as"))
        .option("provider-transaction", posted.field("provider_transaction"))
        .option("units", posted.field("units"))
        .option("amount", posted.field("amount"))
        .option("reason", posted.field("reason"));
    let session = &posted.session;
    let content = if posted.is_confirmed() {
        story(&run(session, words.switch("yes")).await?)
    } else {
        let report = run(session, words.switch("dry-run")).await?;
        html! {
            (layout::confirmation(&posted, &format!("/purchases/{id}/resolve"), "Decide, which cannot be undone"))
            (story(&report))
        }
    };
    Ok(layout::page(session, "/review", &format!("Decision about purchase {id}"), &content))
}

/// The history, below what is to be known about it now.
fn story(report: &Report) -> Markup {
    let (notes, parts): (Vec<_>, Vec<_>) =
        report.parts().iter().partition(|part| matches!(part, Part::Note(_)));
    html! {
        @for part in notes.into_iter().chain(parts) {
            @match part {
                Part::Table { rows, .. } => { h2 { "What happened" } (timeline(rows)) }
                other => (render::part(other, "The purchase", nowhere)),
            }
        }
    }
}

fn timeline(rows: &[Vec<String>]) -> Markup {
    html! {
        ol class="timeline" {
            @for row in rows {
                @if let [time, state, _fence, sentence] = row.as_slice() {
                    li {
                        p { time datetime=(time) { (time) } @if !state.is_empty() { " " strong { (state) } } }
                        p { (sentence) }
                    }
                }
            }
        }
    }
}

/// Whether the purchase waits for a decision.
fn waits(report: &Report) -> bool {
    let fields = report.parts().iter().filter_map(|part| match part {
        Part::Fields(fields) => Some(fields),
        Part::Table { .. } | Part::Note(_) | Part::Text(_) => None,
    });
    fields.flatten().any(|(name, value)| name == "state" && value.starts_with("REVIEW"))
}

fn form(session: &OperatorSession, id: &str) -> Markup {
    let findings = [("not-vended", "It was not vended: release the money"), ("vended", "It was vended: pay")];
    html! {
        h2 { "Decide" }
        p { "A vend with a token is entered with " code { "vendctl purchases resolve" } ": no browser keeps a token." }
        form class="fields" method="post" action={ "/purchases/" (id) "/resolve" } {
            (layout::token(session))
            (choice_field("as", "What the provider has confirmed", &findings, "not-vended"))
            (text_field("provider_transaction", "The provider's transaction", "Only if it was vended.", "", false))
            (text_field("units", "Units", "Only of water, such as 2.5 kl.", "", false))
            (text_field("amount", "Amount that was vended", "Refused unless it is what was requested.", "", false))
            (reason_field(""))
            button { "Rehearse" }
        }
    }
}
