//! Reads a tree of settings into a type, and does not stop at the first mistake.
//!
//! serde ends a reading at its first error. Therefore the tree is read repeatedly: the mistake of one reading is noted,
//! and its value is left out or replaced by a stand-in, so that the next reading gets past it. A value of the wrong
//! type is noted without another reading. The last reading yields a result in which wrong values are replaced by
//! defaults or stand-ins.

use std::{cell::RefCell, collections::BTreeMap};

use config::Value;
use serde::de::DeserializeOwned;

use super::{
    fault::{Fault, Why},
    mistake::{Mistake, MistakeKind},
    node::Node,
};

/// The limit of the readings: more mistakes than an operator would read at once.
const READINGS_MAX: usize = 300;

/// Texts that stand in for a missing one, tried until its type accepts one: any text, an address to listen on, a
/// network, a web address, a mail address, a time zone.
const STAND_INS: [&str; 6] =
    ["", "127.0.0.1:0", "127.0.0.0/8", "http://localhost/", "nobody@localhost", "UTC"];

/// What the readings so far have found.
#[derive(Debug, Default)]
pub(super) struct Notes {
    mistakes: RefCell<BTreeMap<String, MistakeKind>>,
    treatments: BTreeMap<String, Treatment>,
}

/// How a reading gets past a value that stopped an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Treatment {
    /// Read as if it were absent.
    LeftOut,
    /// Read as a value of the right type.
    StandIn(StandIn),
}

/// The replacement of a missing value.
#[derive(Clone, Copy, Debug)]
pub(super) struct StandIn {
    attempt: usize,
    /// Whether missing values inside it are not reported.
    pub(super) is_silent: bool,
}

/// Reads the tree. If no value is returned, the list of mistakes may be incomplete.
pub(super) fn read<T: DeserializeOwned>(tree: &Value) -> (Option<T>, Vec<Mistake>) {
    let mut notes = Notes::default();
    for _reading in 0..READINGS_MAX {
        match T::deserialize(Node::root(tree, &notes)) {
            Ok(value) => return (Some(value), notes.finish()),
            Err(fault) => {
                if !notes.learn(fault) {
                    break;
                }
            }
        }
    }
    (None, notes.finish())
}

impl Notes {
    pub(super) fn treatment(&self, key: &str) -> Option<Treatment> {
        self.treatments.get(key).copied()
    }

    /// Notes a mistake. The first mistake noted for a key is kept.
    pub(super) fn note(&self, key: &str, kind: MistakeKind) {
        self.mistakes.borrow_mut().entry(key.to_owned()).or_insert(kind);
    }

    /// Notes why a reading ended, and how to get past that. False if there is no way.
    fn learn(&mut self, fault: Fault) -> bool {
        let (place, is_silent) = fault.place.map(|place| (place.key, place.is_silent)).unwrap_or_default();
        let (key, kind) = match fault.why {
            Why::Missing(field) => (child_key(&place, field), MistakeKind::Missing),
            Why::Unknown(known) => {
                (place, MistakeKind::Unknown(known.iter().map(|name| (*name).to_owned()).collect()))
            }
            Why::Wrong(what) => (place, MistakeKind::Wrong(what)),
        };
        let is_missing = kind == MistakeKind::Missing;
        let is_known = self.treatments.contains_key(&key);
        if !is_silent && !is_known {
            self.note(&key, kind);
        }
        let treatment = match self.treatments.get(&key) {
            None if is_missing => Treatment::StandIn(StandIn { attempt: 0, is_silent }),
            None => Treatment::LeftOut,
            Some(Treatment::LeftOut) if is_missing => {
                Treatment::StandIn(StandIn { attempt: 0, is_silent: true })
            }
            Some(Treatment::LeftOut) => return false,
            Some(Treatment::StandIn(last)) => {
                let next = StandIn { attempt: last.attempt.saturating_add(1), ..*last };
                if next.attempt >= STAND_INS.len() {
                    return false;
                }
                Treatment::StandIn(next)
            }
        };
        self.treatments.insert(key, treatment);
        true
    }

    /// The mistakes in the order of their keys. A missing section is omitted if settings missing in it are listed.
    fn finish(self) -> Vec<Mistake> {
        let found = self.mistakes.into_inner().into_iter();
        let all: Vec<Mistake> = found.map(|(key, kind)| Mistake { key, kind }).collect();
        let is_redundant = |mistake: &Mistake| {
            mistake.kind == MistakeKind::Missing
                && all.iter().any(|other| other != mistake && other.is_within(&mistake.key))
        };
        all.iter().filter(|mistake| !is_redundant(mistake)).cloned().collect()
    }
}

impl StandIn {
    /// The same, without reports of missing values inside it.
    pub(super) const fn in_silence(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// The text of this attempt.
    pub(super) fn text(self) -> &'static str {
        STAND_INS.get(self.attempt).copied().unwrap_or_default()
    }
}

/// The full name of a setting in a section. The root has no name.
pub(super) fn child_key(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}
