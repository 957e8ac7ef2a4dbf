//! What needs a person now.

use maud::html;

use super::{Page, shown};
use crate::{
    layout,
    render::{nowhere, to_approvals, to_incidents, to_named_purchases, to_providers, to_purchases},
    text::Text,
    visit::Visit,
    words::Words,
};

/// How many lines of each list are shown. The pages of the menu have the rest.
const LINES: &str = "20";

pub(super) async fn show(visit: Visit) -> Page {
    let translator = visit.translator();
    let purchases = |which| Words::of("purchases list").switch(which).option("limit", LINES);
    let given_up = Words::of("outbox list").switch("given-up").option("limit", LINES);
    let content = html! {
        h2 { (translator.text(Text::ProvidersAndPauses)) }
        (shown(&visit, Words::of("provider list"), Text::Providers, to_providers).await)
        h2 { (translator.text(Text::OpenDoubt)) }
        (shown(&visit, purchases("in-doubt"), Text::PurchasesInDoubt, to_purchases).await)
        h2 { (translator.text(Text::WaitingForDecision)) }
        (shown(&visit, purchases("review"), Text::PurchasesInReview, to_purchases).await)
        h2 { (translator.text(Text::OpenIncidents)) }
        (shown(&visit, Words::of("incidents list"), Text::OpenIncidents, to_incidents).await)
        h2 { (translator.text(Text::WaitingForApproval)) }
        (shown(&visit, Words::of("approvals list").option("limit", LINES), Text::Requests, to_approvals).await)
        h2 { (translator.text(Text::OpenDiscrepancies)) }
        (shown(&visit, Words::of("discrepancies list").option("limit", LINES), Text::Discrepancies, nowhere).await)
        h2 { (translator.text(Text::MessagesNotSent)) }
        (shown(&visit, given_up, Text::MessagesGivenUp, to_named_purchases).await)
    };
    Ok(layout::page(&visit, "/", &translator.text(Text::Overview), &content))
}
