//! A recorded run is read back and replayed. A replay fails if the transcript differs from the protocol.
#![expect(clippy::unwrap_used, reason = "the values of these tests are right")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use meter_token::TokenSet;
use money::Money;
use purchase::{
    Asker, Confirm, ConfirmCommand, ConfirmInput, Event, Fence, Handling, Lifecycle, PurchaseId, Resolve,
    ResolveAnswer, ResolveCommand, ResolveInput, Rules, Sending, State, Timing,
};
use transcript::{ReplayError, Replayed, Transcribed, keep_in, replay};
use vend::{
    Breakdown, Capabilities, Doubt, Enquiry, RawReply, Refusal, RefusalReason, Unclear, Units, Vend,
    VendOutcome,
};

const OPENING: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn vend() -> Box<Vend> {
    let pula = |text: &str| Money::parse_wire(text).unwrap();
    Box::new(Vend {
        tokens: Some(TokenSet::parse("KeyChange Token1: 5019 3837|Credit Token: 0808-6259").unwrap()),
        units: Some(Units { quantity: "45.20".parse().unwrap(), unit: "kWh".to_owned() }),
        provider_transaction: "T1".to_owned(),
        breakdown: Some(Breakdown {
            cost: pula("BWP 80.00"),
            vat: pula("BWP 11.20"),
            levy: pula("BWP 0.05"),
            regulatory_fee: pula("BWP 0.00"),
            charge: pula("BWP 8.75"),
        }),
        subscriber_details: Some("T. Molefe".to_owned()),
        raw_reply: RawReply(vec![0, 255, 10]),
    })
}

fn confirms(answer: VendOutcome) {
    let (mut confirm, command) = Transcribed::<Confirm>::confirm::<()>(PurchaseId(7), Timing::default());
    assert_eq!(command, ConfirmCommand::Reserve);
    let reserved = ConfirmInput::<()>::Reserved {
        fence: Fence::FIRST,
        is_new: true,
        since_reserve: Duration::from_nanos(1_234_567),
        since_arrival: Duration::from_millis(20),
    };
    let leave_within = Timing::default().gate;
    assert_eq!(confirm.on(reserved), Ok(ConfirmCommand::Send { leave_within }));
    assert!(matches!(confirm.on(ConfirmInput::<()>::Answered(answer)), Ok(ConfirmCommand::Record(_))));
    assert!(matches!(confirm.on(ConfirmInput::<()>::RecordUnacknowledged), Ok(ConfirmCommand::Record(_))));
    assert_eq!(confirm.on(ConfirmInput::<()>::Recorded), Ok(ConfirmCommand::Answer));
}

fn resolves(enquiry: &Enquiry) {
    let timing = Timing::default();
    let declared = Capabilities { not_found_counts: true, ..Capabilities::default() };
    let rules = Rules { declared, timing };
    let at = OPENING + TimeDelta::microseconds(700_000_001);
    let sending = Sending { no_record_since: Some(OPENING), ..Sending::first(OPENING) };
    let reserved = Lifecycle::reserved(Handling::Managed, OPENING, &timing);
    let lifecycle = Lifecycle { state: State::InDoubt(sending), lease_until: None, ..reserved };
    let (mut resolve, command) =
        Transcribed::<Resolve>::found(PurchaseId(7), Asker::Integrator, &lifecycle, at, &rules);
    assert_eq!(command, ResolveCommand::TakeTurn(Fence::FIRST));
    assert_eq!(resolve.on(ResolveInput::MayAsk), Ok(ResolveCommand::Claim));
    let lifecycle = Lifecycle { fence: Fence(2), lease_until: Some(at + timing.lease), ..lifecycle };
    let claimed = ResolveInput::Claimed { lifecycle: lifecycle.clone(), at };
    assert_eq!(resolve.on(claimed), Ok(ResolveCommand::Enquire));
    let enquired = ResolveInput::Enquired { enquiry: enquiry.clone(), asked_at: at };
    assert!(matches!(resolve.on(enquired), Ok(ResolveCommand::Record(_))));
    let lifecycle =
        Lifecycle { state: State::Successful { provider_transaction: "T1".to_owned() }, ..lifecycle };
    let recorded = ResolveInput::Recorded { lifecycle: Lifecycle { lease_until: None, ..lifecycle }, at };
    assert_eq!(resolve.on(recorded), Ok(ResolveCommand::Answer(ResolveAnswer::Final)));
}

fn takes_up() {
    let rules = Rules { declared: Capabilities::default(), timing: Timing::default() };
    let reserved = Lifecycle::reserved(Handling::SelfManaged, OPENING, &rules.timing);
    let lifecycle = Lifecycle { state: State::Review(Sending::first(OPENING)), ..reserved };
    let (mut resolve, command) =
        Transcribed::<Resolve>::claimed(PurchaseId(8), Asker::Worker, &lifecycle, OPENING, &rules);
    assert_eq!(command, ResolveCommand::Enquire);
    let unanswered = Enquiry::Unanswered(Unclear::said(Doubt::Unreadable, b"<html>"));
    let command = resolve.on(ResolveInput::Enquired { enquiry: unanswered, asked_at: OPENING });
    assert!(matches!(command, Ok(ResolveCommand::Record(Event::LeaseReleased { .. }))));
}

#[test]
fn a_transcript_is_replayed_and_a_changed_word_is_detected() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transcripts");
    let _absent = fs::remove_dir_all(&directory);
    keep_in(&directory).unwrap();
    let refusal = Refusal { reason: RefusalReason::Blocked, wording: Some("Compteur bloqué".to_owned()) };
    confirms(VendOutcome::Vended(vend()));
    confirms(VendOutcome::Refused(refusal.clone()));
    confirms(VendOutcome::Unknown(Doubt::TimedOut.into()));
    for enquiry in [
        Enquiry::Vended(vend()),
        Enquiry::Refused(refusal),
        Enquiry::NoRecord,
        Enquiry::StillOpen,
        Enquiry::Unanswered(Unclear::said(Doubt::UnlistedFault, b"<fault/>")),
    ] {
        resolves(&enquiry);
    }
    takes_up();

    let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(file).unwrap();
    assert_eq!(replay(&kept).unwrap(), Replayed { confirms: 3, resolves: 6, commands: 3 * 5 + 5 * 5 + 2 });
    let broken_off = format!("{kept}{{\"run\": 1, \"he");
    assert_eq!(replay(&broken_off).unwrap(), replay(&kept).unwrap());

    for (was, is) in [
        (r#""command":"send""#, r#""command":"refuse""#),
        (r#""leave_within":1800000000"#, r#""leave_within":1800000001"#),
        (r#""refusal":{"reason":"blocked""#, r#""refusal":{"reason":"busy""#),
        (r#""fence":1,"why":{"doubt":"timed_out""#, r#""fence":1,"why":{"doubt":"mismatched""#),
        (r#""answer":"final""#, r#""answer":"pending""#),
        (r#""fact":"NO_RECORD","fence":2"#, r#""fact":"NO_RECORD","fence":3"#),
    ] {
        let changed = kept.replacen(was, is, 1);
        assert!(changed != kept, "{was} is not in the transcript");
        assert!(matches!(replay(&changed), Err(ReplayError::Differs { .. })), "{was} to {is}");
    }
    let out_of_turn = kept.replacen(r#""event":"reserved""#, r#""event":"recorded""#, 1);
    assert!(matches!(replay(&out_of_turn), Err(ReplayError::OutOfTurn { .. })));
    assert!(matches!(replay("{}\n"), Err(ReplayError::Unreadable { line: 1, .. })));
}
