//! The whole state machine as a committed file: what every event does in every state, under every condition that
//! changes it. To review a change to the machine, review the diff of that file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use purchase::{
    Effect, Event, EventKind, Fence, Handling, Lifecycle, Next, RefusalSource, Rules, Sending, State,
    StateName, TimedEvent, Timing,
};
use vend::{CallId, Capabilities, Doubt, ProviderReference, RawReply, Refusal, RefusalReason, Vend};

const BLESS: &str = "cargo test -p vendgate-purchase --test purchase -- --ignored bless_the_table";

#[test]
fn the_table_is_the_machine() {
    let committed = fs::read_to_string(table_file()).unwrap_or_default();
    let machine = table();
    let differences = differences(&committed, &machine);
    assert!(
        differences.is_empty(),
        "docs/state-machine.table (-) is not the machine (+):\n{differences}\nIf the machine is right: {BLESS}"
    );
}

#[test]
#[ignore = "writes docs/state-machine.table: run it by name, and read the diff"]
fn bless_the_table() {
    fs::write(table_file(), table()).unwrap();
}

fn table_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/state-machine.table")
}

/// The lines that only one of the two texts has, in order.
fn differences(committed: &str, machine: &str) -> String {
    let mut report = String::new();
    for (sign, lines, others) in [('-', committed, machine), ('+', machine, committed)] {
        for line in lines.lines().filter(|line| !others.lines().any(|other| other == *line)) {
            let _infallible = writeln!(report, "{sign} {line}");
        }
    }
    if report.is_empty() && committed != machine {
        report.push_str("the same lines in another order\n");
    }
    report
}

/// The properties of a purchase and of an event that matter to the machine.
#[derive(Clone, Copy)]
struct Case {
    state: StateName,
    event: EventKind,
    handling: Handling,
    named: Named,
    lease: Lease,
    same_transaction: bool,
    transient: bool,
    copies: u16,
    past_window: bool,
    send_is_due: bool,
    requests: u8,
    declared: Capabilities,
    found_nothing_before: bool,
    asked: Asked,
    source: RefusalSource,
    still_open: bool,
}

/// The fence of an event, relative to the stored fence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Current,
    Stale,
    Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lease {
    Live,
    RanOut,
    GivenUp,
}

#[derive(Clone, Copy)]
enum Asked {
    InQuarantine,
    TooSoonAgain,
    WellApart,
}

type Choices = &'static [(&'static str, fn(&mut Case))];

const FENCE: Choices = &[
    ("current fence", |case| case.named = Named::Current),
    ("stale fence", |case| case.named = Named::Stale),
    ("next fence", |case| case.named = Named::Next),
];
const LEASE: Choices = &[
    ("lease live", |case| case.lease = Lease::Live),
    ("lease ran out", |case| case.lease = Lease::RanOut),
    ("lease given up", |case| case.lease = Lease::GivenUp),
];
const TRANSACTION: Choices = &[
    ("same transaction", |case| case.same_transaction = true),
    ("another transaction", |case| case.same_transaction = false),
];
const COPIES: Choices = &[("1 copy", |case| case.copies = 1), ("2 copies", |case| case.copies = 2)];
const REMEMBERS: Choices = &[
    ("refusals forgotten", |case| case.declared.remembers_refusals = false),
    ("refusals remembered", |case| case.declared.remembers_refusals = true),
];
const REPEAT: Choices = &[
    ("repeat unsafe", |case| case.declared.repeat_is_safe = false),
    ("repeat safe", |case| case.declared.repeat_is_safe = true),
];
const NOT_FOUND: Choices = &[
    ("not-found is nothing", |case| case.declared.not_found_counts = false),
    ("not-found counts", |case| case.declared.not_found_counts = true),
];
const ASKED: Choices = &[
    ("asked in quarantine", |case| case.asked = Asked::InQuarantine),
    ("asked after it", |case| case.asked = Asked::TooSoonAgain),
    ("asked well apart", |case| case.asked = Asked::WellApart),
];
const FOUND_BEFORE: Choices = &[
    ("none counted", |case| case.found_nothing_before = false),
    ("one counted", |case| case.found_nothing_before = true),
];
const SOURCE: Choices = &[
    ("in answer", |case| case.source = RefusalSource::Answer),
    ("when asked", |case| case.source = RefusalSource::Enquiry),
];
const DOUBT: Choices =
    &[("still open", |case| case.still_open = true), ("another doubt", |case| case.still_open = false)];
const HANDLING: Choices = &[
    ("self-managed", |case| case.handling = Handling::SelfManaged),
    ("managed", |case| case.handling = Handling::Managed),
];
const REASON: Choices =
    &[("definite", |case| case.transient = false), ("transient", |case| case.transient = true)];
const WINDOW: Choices =
    &[("window open", |case| case.past_window = false), ("window closed", |case| case.past_window = true)];
const DUE: Choices =
    &[("send due", |case| case.send_is_due = true), ("send not due", |case| case.send_is_due = false)];
const REQUESTS: Choices = &[
    ("requests left", |case| case.requests = 0),
    ("requests spent", |case| case.requests = Timing::MANAGED_REQUESTS_MAX),
];

/// The conditions in the order in which a reader would ask. A condition that changes nothing is not printed.
fn conditions(event: EventKind) -> Vec<Choices> {
    let of_the_purchase = [FENCE, LEASE, COPIES, REPEAT, REMEMBERS, NOT_FOUND];
    let of_the_account = [HANDLING, WINDOW, REQUESTS, DUE];
    let of_the_event: &[Choices] = match event {
        EventKind::Vended | EventKind::OperatorVended => &[TRANSACTION],
        EventKind::Refused => &[SOURCE, REASON],
        EventKind::NoRecord => &[ASKED, FOUND_BEFORE],
        EventKind::LeaseReleased => &[DOUBT],
        EventKind::NeverSent
        | EventKind::Lost
        | EventKind::Claimed
        | EventKind::SentAgain
        | EventKind::AttemptStarted
        | EventKind::WindowClosed
        | EventKind::OperatorNotVended => &[],
    };
    let at_last: &[Choices] = if event == EventKind::NoRecord { &[] } else { &[FOUND_BEFORE] };
    [&of_the_purchase, of_the_event, &of_the_account, at_last].concat()
}

/// Some combinations cannot occur, and are not in the table. Only a sender that does not know whether its own send
/// was committed uses the next fence.
fn comes_about(case: &Case) -> bool {
    if case.named == Named::Next && case.event != EventKind::NeverSent {
        return false;
    }
    match case.state {
        StateName::InFlight => case.lease != Lease::GivenUp && !case.found_nothing_before,
        StateName::InDoubt => true,
        StateName::RetryDue => {
            case.handling == Handling::Managed && case.requests < Timing::MANAGED_REQUESTS_MAX
        }
        StateName::Review => case.past_window,
        StateName::Successful | StateName::Failed => case.lease == Lease::GivenUp,
    }
}

#[derive(Clone, PartialEq, Eq)]
struct Line {
    conditions: Vec<String>,
    outcome: String,
}

/// A row of the table. The first one has the titles.
pub struct Row {
    pub state: String,
    pub fact: String,
    conditions: String,
    pub becomes: String,
}

pub fn rows() -> Vec<Row> {
    let titles = ["STATE", "FACT", "UNDER THESE CONDITIONS", "BECOMES"].map(str::to_owned);
    let row = |[state, fact, conditions, becomes]: [String; 4]| Row { state, fact, conditions, becomes };
    let mut rows = vec![row(titles)];
    for state in StateName::ALL {
        for event in EventKind::ALL {
            let case = Case { state, event, ..ORDINARY };
            for line in lines(&conditions(event), case) {
                let conditions = line.conditions.join(", ");
                rows.push(row([
                    state.as_str().to_owned(),
                    event.as_str().to_owned(),
                    conditions,
                    line.outcome,
                ]));
            }
        }
    }
    rows
}

fn table() -> String {
    let rows = rows();
    let width = |cell: fn(&Row) -> &String| rows.iter().map(|row| cell(row).len()).max().unwrap_or(0);
    let (states, facts, under) =
        (width(|row| &row.state), width(|row| &row.fact), width(|row| &row.conditions));
    let mut text = String::from(HEAD);
    for Row { state, fact, conditions, becomes } in &rows {
        let _infallible = writeln!(text, "{state:states$}  {fact:facts$}  {conditions:under$}  {becomes}");
    }
    text
}

const HEAD: &str = "\
What every fact does to a purchase in every state; made from the machine itself, never by hand.
Conditions that are not named change nothing. `already there` records nothing; what is refused changes nothing.
In brackets: what changes besides the state; unless it says so there, no process holds a lease afterwards.
After a semicolon: what is done in the same transaction. Lives that cannot come about are left out: a
self-managed purchase is never RETRY_DUE, REVIEW begins after the window, what has ended is not leased, and
none counted means: no \"no record\" since the latest send. `next fence`: of a send that may not have been kept.
`request over`: its sender has reported the end of the request, which the quarantine waits for.

";

const ORDINARY: Case = Case {
    state: StateName::InFlight,
    event: EventKind::Vended,
    handling: Handling::SelfManaged,
    named: Named::Current,
    lease: Lease::Live,
    same_transaction: true,
    transient: false,
    copies: 1,
    past_window: false,
    send_is_due: true,
    requests: 0,
    declared: Capabilities {
        repeat_is_safe: false,
        remembers_refusals: false,
        not_found_counts: false,
        settles_within: Capabilities::SETTLES_WITHIN,
    },
    found_nothing_before: false,
    asked: Asked::InQuarantine,
    source: RefusalSource::Answer,
    still_open: false,
};

/// Tries every condition, and names only those that matter where they matter.
fn lines(conditions: &[Choices], case: Case) -> Vec<Line> {
    let Some((choices, rest)) = conditions.split_first() else {
        let outcome = comes_about(&case).then(|| Line { conditions: Vec::new(), outcome: outcome(&case) });
        return outcome.into_iter().collect();
    };
    let mut groups: Vec<(Vec<&str>, Vec<Line>)> = Vec::new();
    for (label, choose) in *choices {
        let mut chosen = case;
        choose(&mut chosen);
        let below = lines(rest, chosen);
        if below.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(_, known)| *known == below) {
            Some((labels, _)) => labels.push(label),
            None => groups.push((vec![label], below)),
        }
    }
    let matters = groups.len() > 1;
    let named = |(labels, below): (Vec<&str>, Vec<Line>)| {
        let name = matters.then(|| labels.join(" or "));
        below.into_iter().map(move |line| Line {
            conditions: name.clone().into_iter().chain(line.conditions).collect(),
            outcome: line.outcome,
        })
    };
    groups.into_iter().flat_map(named).collect()
}

const RESERVED_AT: DateTime<Utc> = DateTime::UNIX_EPOCH;
const STORED_FENCE: Fence = Fence(2);

fn outcome(case: &Case) -> String {
    let rules = Rules { declared: case.declared, timing: Timing::default() };
    let lifecycle = lifecycle(case);
    match purchase::step(&lifecycle, &TimedEvent { at: now(case), event: event(case) }, &rules) {
        Ok(Next::Moved(next, effects)) => described(&lifecycle, &next, &effects),
        Ok(Next::AlreadyThere) => "already there".to_owned(),
        Err(illegal) => format!("refused: {}", illegal.why),
    }
}

/// Late enough for two answers after quarantine, before or after the end of the window.
fn now(case: &Case) -> DateTime<Utc> {
    RESERVED_AT + TimeDelta::minutes(if case.past_window { 40 } else { 20 })
}

fn lifecycle(case: &Case) -> Lifecycle {
    let now = now(case);
    let found_nothing_at = RESERVED_AT + TimeDelta::minutes(11);
    let timing = Timing::default();
    // Before the first time of the plan, or after it and early enough for a repeat.
    let first_sent_at = now - TimeDelta::seconds(if case.send_is_due { 60 } else { 2 });
    let sending = Sending {
        copies: case.copies,
        no_record_since: case.found_nothing_before.then_some(found_nothing_at),
        ..Sending::first(RESERVED_AT)
    };
    Lifecycle {
        state: match case.state {
            StateName::InFlight => State::InFlight(sending),
            StateName::InDoubt => State::InDoubt(sending),
            StateName::RetryDue => State::RetryDue,
            StateName::Review => State::Review(sending),
            StateName::Successful => State::Successful { provider_transaction: "T1".to_owned() },
            StateName::Failed => State::Failed,
        },
        fence: STORED_FENCE,
        lease_until: match case.lease {
            Lease::Live => Some(now + TimeDelta::seconds(60)),
            Lease::RanOut => Some(now - TimeDelta::seconds(60)),
            Lease::GivenUp => None,
        },
        requests: case.requests,
        window_closes_at: if case.past_window { now } else { first_sent_at + timing.window },
        ..Lifecycle::reserved(case.handling, RESERVED_AT, &timing)
    }
}

fn event(case: &Case) -> Event {
    let fence = match case.named {
        Named::Current => STORED_FENCE,
        Named::Stale => Fence(1),
        Named::Next => STORED_FENCE.next(),
    };
    let asked_after = match case.asked {
        Asked::InQuarantine => TimeDelta::minutes(9),
        Asked::TooSoonAgain => TimeDelta::seconds(11 * 60 + 59),
        Asked::WellApart => TimeDelta::minutes(12),
    };
    let doubt = if case.still_open { Doubt::StillOpen } else { Doubt::TimedOut };
    match case.event {
        EventKind::Vended => Event::Vended { vend: vend(case) },
        EventKind::Refused => {
            let reason = if case.transient { RefusalReason::Busy } else { RefusalReason::Blocked };
            Event::Refused { fence, refusal: Refusal::because(reason), source: case.source }
        }
        EventKind::NeverSent => Event::NeverSent { fence },
        EventKind::Lost => Event::Lost { fence, why: doubt.into() },
        EventKind::Claimed => Event::Claimed,
        EventKind::NoRecord => Event::NoRecord { fence, asked_at: RESERVED_AT + asked_after },
        EventKind::LeaseReleased => Event::LeaseReleased { fence, why: doubt.into() },
        EventKind::SentAgain => Event::SentAgain { fence },
        EventKind::AttemptStarted => {
            let call = CallId::new(2, RESERVED_AT).expect("2 is a call number");
            Event::AttemptStarted { fence, reference: ProviderReference::new(call) }
        }
        EventKind::WindowClosed => Event::WindowClosed { fence },
        EventKind::OperatorVended => Event::OperatorVended { fence, vend: vend(case) },
        EventKind::OperatorNotVended => Event::OperatorNotVended { fence },
    }
}

fn vend(case: &Case) -> Box<Vend> {
    Box::new(Vend {
        tokens: None,
        units: None,
        provider_transaction: if case.same_transaction { "T1" } else { "T2" }.to_owned(),
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    })
}

/// The next state, every other difference, and the effects.
fn described(before: &Lifecycle, after: &Lifecycle, effects: &[Effect]) -> String {
    let mut changes = Vec::new();
    if after.fence != before.fence {
        changes.push(format!("fence {:+}", after.fence.0 - before.fence.0));
    }
    if after.lease_until.is_some() {
        let is_new = after.lease_until != before.lease_until;
        changes.push(if is_new { "leased anew" } else { "still leased" }.to_owned());
    }
    if after.attempt != before.attempt {
        changes.push(format!("attempt {}", after.attempt));
    }
    if after.requests != before.requests {
        changes.push(format!("requests {:+}", i16::from(after.requests) - i16::from(before.requests)));
    }
    if let Some(sending) = sending(&after.state) {
        let earlier = self::sending(&before.state);
        match earlier.map(|earlier| i32::from(sending.copies) - i32::from(earlier.copies)) {
            Some(0) => {}
            Some(more) => changes.push(format!("copies {more:+}")),
            None => changes.push(format!("copies {}", sending.copies)),
        }
        if earlier.is_some_and(|earlier| earlier.last_sent_at != sending.last_sent_at) {
            changes.push("quarantined anew".to_owned());
        } else if earlier.is_some_and(|earlier| earlier.ended_at != sending.ended_at) {
            changes.push("request over".to_owned());
        }
        let counted_before = earlier.is_some_and(|earlier| earlier.no_record_since.is_some());
        match (counted_before, sending.no_record_since.is_some()) {
            (false, true) => changes.push("counted once".to_owned()),
            (true, false) => changes.push("counted no more".to_owned()),
            (false, false) | (true, true) => {}
        }
    }
    if after.handling != before.handling || after.window_closes_at != before.window_closes_at {
        changes.push("ANOTHER PURCHASE".to_owned());
    }
    let mut text = after.state.name().as_str().to_owned();
    if !changes.is_empty() {
        let _infallible = write!(text, " ({})", changes.join(", "));
    }
    for effect in effects {
        let _infallible = match effect {
            Effect::CaptureHold => write!(text, "; capture the hold"),
            Effect::ReleaseHold => write!(text, "; release the hold"),
            Effect::OpenIncident(incident) => write!(text, "; open an incident, {}", incident.as_str()),
        };
    }
    text
}

fn sending(state: &State) -> Option<Sending> {
    match state {
        State::InFlight(sending) | State::InDoubt(sending) | State::Review(sending) => Some(*sending),
        State::RetryDue | State::Successful { .. } | State::Failed => None,
    }
}
