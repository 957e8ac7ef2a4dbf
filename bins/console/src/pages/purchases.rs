//! The history of a purchase, the queue of those that wait for a decision, and the decision.

use actix_web::web::Path;
use maud::{Markup, html};
use operator_commands::{Part, Report};

use super::{Page, rehearsed_act::RehearsedAct, run, shown};
use crate::{
    fields::{Field, choice},
    layout,
    render::{self, nowhere, to_purchases},
    text::Text,
    translator::Translator,
    visit::{Posted, Visit},
    words::Words,
};

const LINES: &str = "200";

/// None is chosen beforehand, because a decision cannot be undone.
const FINDINGS: [(&str, Text); 3] =
    [("", Text::ChooseFinding), ("not-vended", Text::NotVended), ("vended", Text::Vended)];

pub(super) async fn review(visit: Visit) -> Page {
    let translator = visit.translator();
    let words = Words::of("purchases list").switch("review").option("limit", LINES);
    let content = html! {
        p { (translator.text(Text::ReviewNote)) }
        (shown(&visit, words, Text::PurchasesInReview, to_purchases).await)
    };
    Ok(layout::page(&visit, "/review", &translator.text(Text::Review), &content))
}

pub(super) async fn show(visit: Visit, id: Path<String>) -> Page {
    let report = run(&visit, Words::of("purchases show").value(&id)).await?;
    let translator = visit.translator();
    let content = html! {
        (story(translator, &report))
        @if report.waits_for_decision() { (form(&visit, &id)) }
        @if report.is_of_a_sale() { (resend_form(&visit, &id)) }
    };
    let title = translator.text_with(Text::PurchaseTitle, &[("id", &id)]);
    Ok(layout::page(&visit, "/search", &title, &content))
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
    let visit = &posted.visit;
    let translator = visit.translator();
    let content = if posted.is_confirmed()? {
        let report = posted.came_to(run(visit, words.switch("yes")).await)?;
        story(translator, &report)
    } else {
        let report = run(visit, words.switch("dry-run")).await?;
        html! {
            (layout::confirmation(&posted, &format!("/purchases/{id}/resolve"), Text::DecideFinally))
            (chosen(&posted))
            (story(translator, &report))
        }
    };
    let title = translator.text_with(Text::DecisionTitle, &[("id", &id)]);
    Ok(layout::page(visit, "/review", &title, &content))
}

pub(super) async fn resend(posted: Posted, id: Path<String>) -> Page {
    let act = RehearsedAct {
        words: Words::of("purchases resend")
            .value(&id)
            .option("to", posted.field("to"))
            .option("reason", posted.field("reason")),
        asks: true,
        address: &format!("/purchases/{id}/resend"),
        afterwards: Some(&format!("/purchases/{id}")),
        menu: "/search",
        title: &posted.visit.translator().text(Text::ResendTitle),
        caption: Text::ThePurchase,
        button: Text::ResendFinally,
    };
    act.page(&posted).await
}

/// What the person has chosen, for the last look before it is done.
fn chosen(posted: &Posted) -> Markup {
    let translator = posted.visit.translator();
    let finding = FINDINGS.into_iter().find(|(finding, _)| *finding == posted.field("as"));
    let typed = [
        ("provider_transaction", Text::ProviderTransaction),
        ("units", Text::Units),
        ("amount", Text::AmountVended),
    ];
    html! {
        dl class="chosen" {
            @if let Some((_, text)) = finding {
                dt { (translator.text(Text::Finding)) }
                dd { strong { (translator.text(text)) } }
            }
            @for (name, label) in typed {
                @let value = posted.field(name).trim();
                @if !value.is_empty() {
                    dt { (translator.text(label)) }
                    dd { (value) }
                }
            }
        }
    }
}

fn resend_form(visit: &Visit, id: &str) -> Markup {
    let translator = visit.translator();
    let number = Field::of("to", Text::CorrectedNumber).hint(Text::CorrectedNumberHint);
    let fields = html! { (number.html(translator)) (Field::reason().html(translator)) };
    let texts = (&*translator.text(Text::ResendTitle), Text::ResendNote, Text::Rehearse);
    layout::act_form(visit, "purchases resend", &format!("/purchases/{id}/resend"), texts, &fields)
}

/// The history, below what is to be known about it now.
fn story(translator: Translator, report: &Report) -> Markup {
    let (notes, parts): (Vec<_>, Vec<_>) =
        report.parts().iter().partition(|part| matches!(part, Part::Note(_)));
    html! {
        @for part in notes.into_iter().chain(parts) {
            @match part {
                Part::Table { rows, .. } => {
                    h2 { (translator.text(Text::WhatHappened)) }
                    (timeline(translator, rows))
                }
                other => (render::part(translator, other, Text::ThePurchase, nowhere)),
            }
        }
    }
}

fn timeline(translator: Translator, rows: &[Vec<String>]) -> Markup {
    html! {
        ol class="timeline" {
            @for row in rows {
                @if let [time, state, _fence, sentence] = row.as_slice() {
                    li {
                        p { time datetime=(time) { (time) } @if !state.is_empty() { " " strong { (state) } } }
                        p lang=[translator.english()] { (sentence) }
                    }
                }
            }
        }
    }
}

fn form(visit: &Visit, id: &str) -> Markup {
    let translator = visit.translator();
    let fields = [
        Field::of("provider_transaction", Text::ProviderTransaction).hint(Text::ProviderTransactionHint),
        Field::of("units", Text::Units).hint(Text::UnitsHint),
        Field::of("amount", Text::AmountVended).hint(Text::AmountVendedHint),
        Field::reason(),
    ];
    let fields = html! {
        (choice(translator, ("as", Text::Finding), &FINDINGS, ""))
        @for field in fields { (field.html(translator)) }
    };
    let texts = (&*translator.text(Text::Decide), Text::DecideTokenNote, Text::Rehearse);
    layout::act_form(visit, "purchases resolve", &format!("/purchases/{id}/resolve"), texts, &fields)
}
