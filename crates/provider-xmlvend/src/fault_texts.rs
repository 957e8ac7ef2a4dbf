//! The meaning of fault texts, for faults whose type alone is not clear.

use serde::Deserialize;
use vend::RefusalReason;

use crate::reply::FaultReply;
use crate::settings::SettingsError;

/// One line of a deployment's own table. It can refine a `BusinessRuleEx`, and it can turn any fault into doubt. For a
/// question that moves no money, it can also give the reason of an unlisted fault. For a vend, it never turns another
/// fault into a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultText {
    /// A part of one of the fault's texts or of its code. Upper and lower case are equal.
    pub contains: String,
    /// The stable name of a refusal reason, or `repeated_reference`, or `still_open`.
    pub means: String,
}

/// The meaning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextMeaning {
    Refused(RefusalReason),
    RepeatedReference,
    StillOpen,
}

/// The deployment's lines, followed by the built-in ones. The first match counts.
#[derive(Clone, Debug)]
pub(crate) struct FaultTexts(Vec<(String, TextMeaning)>);

/// The built-in lines. "duplicate" alone means that our own reference was repeated, which is doubt. Only "duplicate
/// sale" is the rule against a second equal sale.
const BUILT_IN: [(&str, TextMeaning); 15] = [
    ("duplicate sale", TextMeaning::Refused(RefusalReason::DuplicateSale)),
    ("duplicate", TextMeaning::RepeatedReference),
    ("still being processed", TextMeaning::StillOpen),
    ("below minimum", TextMeaning::Refused(RefusalReason::BelowMinimum)),
    ("below the minimum", TextMeaning::Refused(RefusalReason::BelowMinimum)),
    ("minimum vend", TextMeaning::Refused(RefusalReason::BelowMinimum)),
    ("too low", TextMeaning::Refused(RefusalReason::BelowMinimum)),
    ("above maximum", TextMeaning::Refused(RefusalReason::AboveMaximum)),
    ("above the maximum", TextMeaning::Refused(RefusalReason::AboveMaximum)),
    ("maximum vend", TextMeaning::Refused(RefusalReason::AboveMaximum)),
    ("exceed", TextMeaning::Refused(RefusalReason::AboveMaximum)),
    ("try again", TextMeaning::Refused(RefusalReason::Busy)),
    ("busy", TextMeaning::Refused(RefusalReason::Busy)),
    ("meter not found", TextMeaning::Refused(RefusalReason::UnknownSubscriber)),
    ("meter disconnected", TextMeaning::Refused(RefusalReason::Disconnected)),
];

impl FaultTexts {
    pub(crate) fn new(own: &[FaultText]) -> Result<Self, SettingsError> {
        let built_in = BUILT_IN.into_iter().map(|(text, meaning)| Ok((text.to_owned(), meaning)));
        own.iter().map(line).chain(built_in).collect::<Result<_, _>>().map(Self)
    }

    /// The meaning of the first line that matches.
    pub(crate) fn first(&self, fault: &FaultReply) -> Option<TextMeaning> {
        self.fitting(fault).next()
    }

    /// The first doubt among the lines that match.
    pub(crate) fn doubt(&self, fault: &FaultReply) -> Option<TextMeaning> {
        self.fitting(fault).find(|meaning| match meaning {
            TextMeaning::RepeatedReference | TextMeaning::StillOpen => true,
            TextMeaning::Refused(_) => false,
        })
    }

    fn fitting(&self, fault: &FaultReply) -> impl Iterator<Item = TextMeaning> {
        self.0.iter().filter(|(text, _meaning)| fault.says(text)).map(|(_text, meaning)| *meaning)
    }
}

fn line(own: &FaultText) -> Result<(String, TextMeaning), SettingsError> {
    let text = own.contains.trim().to_lowercase();
    if text.is_empty() {
        return Err(SettingsError::EmptyFaultText);
    }
    let meaning = match own.means.as_str() {
        "repeated_reference" => TextMeaning::RepeatedReference,
        "still_open" => TextMeaning::StillOpen,
        name => RefusalReason::parse(name)
            .filter(|reason| *reason != RefusalReason::NeverSent)
            .map(TextMeaning::Refused)
            .ok_or_else(|| SettingsError::UnknownMeaning(own.means.clone()))?,
    };
    Ok((text, meaning))
}
