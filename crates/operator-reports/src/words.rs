//! The closed sets of words that arguments choose from, as the command line spells them.

use back_office::ActKind;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use identity::{Environment, Role};
use ledger::{Category, SystemAccount};
use purchase::{Handling, StateName};
use vend::Product;

pub fn environment() -> impl TypedValueParser<Value = Environment> {
    one_of(&[("staging", Environment::Staging), ("production", Environment::Production)])
}

pub fn role() -> impl TypedValueParser<Value = Role> {
    one_of(&[("integrator", Role::Integrator), ("viewer", Role::Viewer)])
}

pub fn handling() -> impl TypedValueParser<Value = Handling> {
    one_of(&[("self-managed", Handling::SelfManaged), ("managed", Handling::Managed)])
}

pub fn category() -> impl TypedValueParser<Value = Category> {
    one_of(&[
        ("current", Category::Current),
        ("topup", Category::TopUp),
        ("commission", Category::Commission),
    ])
}

pub fn product() -> impl TypedValueParser<Value = Product> {
    one_of(&[("electricity", Product::Electricity), ("airtime", Product::Airtime), ("water", Product::Water)])
}

/// The system accounts that a correction may be posted against.
pub fn against() -> impl TypedValueParser<Value = SystemAccount> {
    one_of(&[("funding", SystemAccount::Funding), ("suspense", SystemAccount::Suspense)])
}

/// Whether a correction raises or lowers the balance.
#[derive(Clone, Copy, Debug)]
pub enum Direction {
    Up,
    Down,
}

pub fn direction() -> impl TypedValueParser<Value = Direction> {
    one_of(&[("up", Direction::Up), ("down", Direction::Down)])
}

/// What a person has found out about a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    Vended,
    NotVended,
}

pub fn finding() -> impl TypedValueParser<Value = Finding> {
    one_of(&[("vended", Finding::Vended), ("not-vended", Finding::NotVended)])
}

/// A state that `purchases search` filters by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchedState {
    One(StateName),
    Open,
    /// Not a state of a purchase: a confirm that made none.
    Refused,
}

impl SearchedState {
    /// The states of purchases that are meant.
    pub(crate) fn states(self) -> Vec<StateName> {
        match self {
            Self::One(state) => vec![state],
            Self::Open => StateName::ALL.into_iter().filter(|state| state.is_open()).collect(),
            Self::Refused => Vec::new(),
        }
    }
}

pub(crate) fn searched_state() -> impl TypedValueParser<Value = SearchedState> {
    one_of(&[
        ("open", SearchedState::Open),
        ("in-flight", SearchedState::One(StateName::InFlight)),
        ("in-doubt", SearchedState::One(StateName::InDoubt)),
        ("retry-due", SearchedState::One(StateName::RetryDue)),
        ("review", SearchedState::One(StateName::Review)),
        ("successful", SearchedState::One(StateName::Successful)),
        ("failed", SearchedState::One(StateName::Failed)),
        ("refused", SearchedState::Refused),
    ])
}

pub fn switch() -> impl TypedValueParser<Value = bool> {
    one_of(&[("on", true), ("off", false)])
}

/// The kinds of acts that may need a second person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarded {
    TopUp,
    Adjust,
    Resolve,
    Release,
    Declare,
}

impl Guarded {
    pub const ALL: [Self; 5] = [Self::TopUp, Self::Adjust, Self::Resolve, Self::Release, Self::Declare];

    pub const fn word(self) -> &'static str {
        match self {
            Self::TopUp => "top-up",
            Self::Adjust => "adjust",
            Self::Resolve => "resolve",
            Self::Release => "release",
            Self::Declare => "declare",
        }
    }

    /// The commands that are such an act.
    pub const fn commands(self) -> &'static str {
        match self {
            Self::TopUp => "wallet top-up",
            Self::Adjust => "wallet adjust, wallet reverse, recover charge, commission pay",
            Self::Resolve => "purchases resolve --as vended",
            Self::Release => "purchases resolve --as not-vended",
            Self::Declare => "provider declare, what it is declared to do in doubt",
        }
    }

    pub const fn kind(self) -> ActKind {
        match self {
            Self::TopUp => ActKind::TopUp,
            Self::Adjust => ActKind::Adjust,
            Self::Resolve => ActKind::Resolve,
            Self::Release => ActKind::Release,
            Self::Declare => ActKind::Declare,
        }
    }

    pub const fn has_amount(self) -> bool {
        match self {
            Self::TopUp | Self::Adjust | Self::Release => true,
            Self::Resolve | Self::Declare => false,
        }
    }
}

pub fn guarded() -> impl TypedValueParser<Value = Guarded> {
    one_of(&[
        ("top-up", Guarded::TopUp),
        ("adjust", Guarded::Adjust),
        ("resolve", Guarded::Resolve),
        ("release", Guarded::Release),
        ("declare", Guarded::Declare),
    ])
}

fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).map(move |chosen| {
        let found = words.iter().find(|(word, _)| *word == chosen);
        found.expect("the parser admits only these words").1
    })
}
