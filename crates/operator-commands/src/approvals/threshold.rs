//! The thresholds above which an act needs a second person.

use back_office::{ActKind, ApprovalRequest, NewRequest, Threshold};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    approvals,
    arguments::Why,
    error::VendctlError,
    parse::Amount,
    report::{Report, Row, plain},
    session::Session,
    words::Guarded,
};

/// What no threshold changes.
const ALWAYS: &str = "A release despite a statement that lists the vend always needs a second person, and so does a lower protection than now.";

#[derive(Serialize)]
struct View {
    act: &'static str,
    /// The commands that are such an act.
    commands: &'static str,
    /// In any currency. `null` if no act needs a second person.
    above: Option<String>,
}

pub(super) async fn list(session: &Session) -> Result<Report, VendctlError> {
    let thresholds = back_office::list_thresholds(session.database()).await?;
    let views = Guarded::ALL.map(|act| {
        let above = thresholds.iter().find(|threshold| threshold.act == act.kind().code());
        View {
            act: act.word(),
            commands: act.commands(),
            above: above.and_then(|threshold| threshold.above).map(plain),
        }
    });
    Ok(Report::list(&views).noting(ALWAYS))
}

/// Which acts need no second person, in a sentence.
pub(super) async fn what_is_off(session: &Session) -> Result<Option<String>, VendctlError> {
    let thresholds = back_office::list_thresholds(session.database()).await?;
    let is_off = |act: &Guarded| {
        thresholds.iter().all(|threshold| threshold.act != act.kind().code() || threshold.above.is_none())
    };
    let off: Vec<&str> = Guarded::ALL.into_iter().filter(is_off).map(Guarded::word).collect();
    Ok((!off.is_empty()).then(|| {
        format!(
            "No second person is needed for: {}. `vendctl approvals require` changes that.",
            off.join(", ")
        )
    }))
}

/// Whether the act of a request needs a second person at this moment. `back_office::needs_approval` says the same to a
/// login that may do such acts; support looks at requests too, and may only read the thresholds.
pub(super) async fn guards(session: &Session, request: &ApprovalRequest) -> Result<bool, VendctlError> {
    // A threshold is lowered, and a listed vend released, only by two people, whatever the thresholds say.
    if request.kind == ActKind::Threshold
        || request.arguments.get("despite_statement").is_some_and(Value::is_string)
    {
        return Ok(true);
    }
    let minor = request.arguments.get("minor").and_then(Value::as_i64).unwrap_or(i64::MAX);
    let kind = match request.kind {
        ActKind::Reverse | ActKind::Charge => ActKind::Adjust,
        kind @ (ActKind::TopUp
        | ActKind::Adjust
        | ActKind::Resolve
        | ActKind::Release
        | ActKind::Declare
        | ActKind::Threshold) => kind,
    };
    let thresholds = back_office::list_thresholds(session.database()).await?;
    let threshold = thresholds.iter().find(|threshold| threshold.act == kind.code());
    Ok(threshold.and_then(|threshold| threshold.above).is_some_and(|above| minor > above))
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
    const COLUMNS: &'static [&'static str] = &["act", "needs a second person", "commands"];

    fn cells(&self) -> Vec<String> {
        let needs = match self.above.as_deref() {
            None => "never".to_owned(),
            Some("0.00") => "always".to_owned(),
            Some(above) => format!("above {above}"),
        };
        vec![self.act.to_owned(), needs, self.commands.to_owned()]
    }
}
