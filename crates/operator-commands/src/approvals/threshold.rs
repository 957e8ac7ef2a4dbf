//! The thresholds above which an act needs a second person.

use back_office::{ActKind, NewRequest, Threshold};
use serde::Serialize;
use serde_json::json;

use crate::{
    approvals,
    arguments::Why,
    error::VendctlError,
    parse::Amount,
    report::{Report, Row, plain},
    session::Session,
    words::Guarded,
};

#[derive(Serialize)]
struct View {
    act: &'static str,
    /// In any currency. `null` if no act needs a second person.
    above: Option<String>,
}

pub(super) async fn list(session: &Session) -> Result<Report, VendctlError> {
    let thresholds = back_office::list_thresholds(session.database()).await?;
    let views = Guarded::ALL.map(|act| {
        let above = thresholds.iter().find(|threshold| threshold.act == act.kind().code());
        View { act: act.word(), above: above.and_then(|threshold| threshold.above).map(plain) }
    });
    Ok(Report::list(&views))
}

pub(super) async fn set(
    session: &Session,
    act: Guarded,
    above: Option<Amount>,
    off: bool,
    why: &Why,
) -> Result<Report, VendctlError> {
    if above.is_some() && !act.has_amount() {
        return Err(VendctlError::NoAmount(act.word()));
    }
    let above = (!off).then(|| above.map_or(0, Amount::minor));
    let thresholds = back_office::list_thresholds(session.database()).await?;
    let lowers = thresholds.iter().any(|now| now.act == act.kind().code() && now.is_lowered_by(above));
    if lowers {
        let arguments = json!({ "act": act.kind().code(), "above": above });
        let request = NewRequest { kind: ActKind::Threshold, arguments, token: None };
        return approvals::request(session, request, session.act(why)).await;
    }
    let threshold = Threshold { act: act.kind().code().to_owned(), above };
    back_office::set_threshold(session.database(), threshold, session.act(why)).await?;
    list(session).await
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["act", "needs a second person"];

    fn cells(&self) -> Vec<String> {
        let needs = match self.above.as_deref() {
            None => "never".to_owned(),
            Some("0.00") => "always".to_owned(),
            Some(above) => format!("above {above}"),
        };
        vec![self.act.to_owned(), needs]
    }
}
