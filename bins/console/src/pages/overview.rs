//! What needs a person now.

use maud::html;

use super::{Page, shown};
use crate::{
    layout,
    posted::SignedIn,
    render::{nowhere, to_providers, to_purchases},
    words::Words,
};

/// How many lines of each list are shown. The pages of the menu have the rest.
const LINES: &str = "20";

pub(super) async fn show(SignedIn(session): SignedIn) -> Page {
    let purchases = |which| Words::of("purchases list").switch(which).option("limit", LINES);
    let content = html! {
        h2 { "Providers and pauses" }
        (shown(&session, Words::of("provider list"), "Providers", to_providers).await)
        h2 { "Open doubt, with its age" }
        (shown(&session, purchases("in-doubt"), "Purchases in doubt", to_purchases).await)
        h2 { "Purchases that wait for a decision" }
        (shown(&session, purchases("review"), "Purchases in review", to_purchases).await)
        h2 { "Open incidents" }
        (shown(&session, Words::of("incidents list"), "Open incidents", nowhere).await)
    };
    Ok(layout::page(&session, "/", "Overview", &content))
}
