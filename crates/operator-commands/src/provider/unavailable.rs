//! Confirms that were refused because a provider did not answer. A provider that answers no check has no vend and no doubt, so no other
//! list shows it.

use serde::Serialize;
use store::UnavailableProvider;

use crate::report::instant;

/// The confirms of the last ten minutes.
#[derive(Serialize)]
pub(super) struct View {
    refused: i64,
    last_at: String,
}

/// What was refused for this provider, if anything.
pub(super) fn of(unavailable: &[UnavailableProvider], code: &str) -> Option<View> {
    unavailable.iter().find(|listed| listed.provider_code == code).map(View::from)
}

/// The same in one cell of a table.
pub(super) fn cell(unavailable: Option<&View>) -> String {
    unavailable.map_or_else(
        || "-".to_owned(),
        |View { refused, last_at }| format!("{refused} confirms refused in 10m, the last at {last_at}"),
    )
}

impl From<&UnavailableProvider> for View {
    fn from(listed: &UnavailableProvider) -> Self {
        Self { refused: listed.confirms, last_at: instant(listed.last_at) }
    }
}
