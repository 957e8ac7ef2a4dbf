//! The texts of the pages in the language of the person.
//!
//! What `vendctl` says in sentences stays English, and is marked as such: it is the same at a prompt, in the runbook and in the audit
//! log. Codes, amounts and moments are the same in every language.

use std::sync::LazyLock;

use messages::{Language, Texts};

use crate::text::Text;

macro_rules! texts {
    ($language:literal) => {
        [
            include_str!(concat!("../texts/", $language, "/pages.ftl")),
            include_str!(concat!("../texts/", $language, "/columns.ftl")),
        ]
    };
}

static TEXTS: LazyLock<Texts> = LazyLock::new(|| Texts::new(&texts!("en"), &texts!("fr"), &texts!("pt")));

/// Says what a page says, in one language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Translator(pub(crate) Language);

impl Translator {
    /// The value of the attribute `lang` of a page.
    pub(crate) const fn tag(self) -> &'static str {
        self.0.as_str()
    }

    /// The attribute `lang` of what `vendctl` says in English. None on an English page.
    pub(crate) fn english(self) -> Option<&'static str> {
        (self.0 != Language::English).then_some("en")
    }

    pub(crate) fn text(self, text: Text) -> String {
        self.text_with(text, &[])
    }

    /// A text with values in it.
    pub(crate) fn text_with(self, text: Text, values: &[(&str, &str)]) -> String {
        let said = TEXTS.text(self.0, text.id(), None, values);
        said.expect("every language has every text of the pages, as a test checks")
    }

    /// The heading of a column or a field of a report. `None` if it has no text.
    pub(crate) fn heading(self, column: &str) -> Option<String> {
        TEXTS.text(self.0, &format!("column-{}", column.replace(' ', "-")), None, &[])
    }
}

/// The columns whose cells are words of ours, and not names that a person has chosen.
const COLUMNS_OF_WORDS: [&str; 13] = [
    "default",
    "retries",
    "repeat is safe",
    "remembers refusals",
    "not found counts",
    "paused",
    "breaker",
    "float",
    "token",
    "token sealed",
    "token stored",
    "finding",
    "to corrected number",
];

impl Translator {
    /// A cell in the language of the page, if it consists of words of ours: `different: amount, time`. `None` if it does not.
    pub(crate) fn cell(self, column: &str, cell: &str, is_first: bool) -> Option<String> {
        // What a search finds has its kind in the first column; elsewhere a kind is a code.
        let has_words = COLUMNS_OF_WORDS.contains(&column) || column == "kind" && is_first;
        if !has_words {
            return None;
        }
        let parts = cell.split_inclusive([',', ':']).map(|part| {
            let words = part.trim_end_matches([',', ':']);
            let mark = part.strip_prefix(words).unwrap_or_default();
            Some(format!("{}{mark}", self.word(words.trim())?))
        });
        Some(parts.collect::<Option<Vec<_>>>()?.join(" "))
    }

    fn word(self, word: &str) -> Option<String> {
        let is_word = word.bytes().all(|byte| byte == b' ' || byte.is_ascii_lowercase());
        let id = || format!("word-{}", word.replace(' ', "-"));
        is_word.then(|| TEXTS.text(self.0, &id(), None, &[])).flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeMap, BTreeSet},
        fs,
        path::Path,
    };

    use super::*;

    /// The ids of a language in the order of its files, with the values that each text needs.
    fn ids(language: Language) -> BTreeMap<String, BTreeSet<String>> {
        let files = match language {
            Language::English => texts!("en"),
            Language::French => texts!("fr"),
            Language::Portuguese => texts!("pt"),
        };
        let lines = files.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once(" = "));
        let values = |text: &str| {
            let parts = text.split("{ $").skip(1);
            parts.filter_map(|part| part.split_once(" }")).map(|(name, _)| name.to_owned()).collect()
        };
        pairs.map(|(id, text)| (id.to_owned(), values(text))).collect()
    }

    /// The words in the cells of these reports.
    const WORDS: [&str; 19] = [
        "yes",
        "no",
        "none",
        "sealed",
        "purchase",
        "refused confirm",
        "only theirs",
        "only ours",
        "different",
        "entered by a person",
        "end",
        "transaction",
        "product",
        "subscriber",
        "amount",
        "currency",
        "token",
        "time",
        "repeated",
    ];

    #[test]
    fn words_of_ours_are_translated_and_names_and_codes_are_not() {
        let french = |column, cell| Translator(Language::French).cell(column, cell, true);
        assert_eq!(french("retries", "yes").as_deref(), Some("oui"));
        assert_eq!(
            french("finding", "different: amount, time").as_deref(),
            Some("différent: montant, moment")
        );
        assert_eq!(
            french("finding", "only ours, entered by a person").as_deref(),
            Some("seulement chez nous, saisi par une personne")
        );
        assert_eq!(french("kind", "refused confirm").as_deref(), Some("confirmation refusée"));
        assert_eq!(Translator(Language::French).cell("kind", "purchase", false), None);
        for (column, cell) in
            [("name", "no"), ("paused", "everything now"), ("kind", "SETTLE"), ("token", "-")]
        {
            assert_eq!(french(column, cell), None, "{column}: {cell}");
        }
    }

    /// The headings of the reports that pages show, as `vendctl` declares them.
    fn columns() -> BTreeSet<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
        let shown = [
            ("operator-commands/src/account.rs", "Row for View"),
            ("operator-reports/src/requests.rs", "Row for View"),
            ("operator-reports/src/audit.rs", "Row for View"),
            ("operator-reports/src/books.rs", "Row for PayableView"),
            ("operator-reports/src/books.rs", "Row for EarnedView"),
            ("operator-reports/src/books.rs", "Row for AccountView"),
            ("operator-reports/src/found.rs", "Row for View"),
            ("operator-commands/src/allow_list.rs", "Row for View"),
            ("operator-commands/src/allow_list.rs", "Row for Changed"),
            ("operator-commands/src/client.rs", "Row for View"),
            ("operator-commands/src/client.rs", "Row for Created"),
            ("operator-commands/src/default_provider.rs", "Row for View"),
            ("operator-commands/src/incidents.rs", "Row for View"),
            ("operator-commands/src/offer.rs", "Row for View"),
            ("operator-commands/src/organisation.rs", "Row for View"),
            ("operator-commands/src/outbox.rs", "Row for Requeued"),
            ("operator-commands/src/outbox.rs", "Row for View"),
            ("operator-commands/src/provider.rs", "Row for View"),
            ("operator-commands/src/provider/breaker.rs", "Row for Change"),
            ("operator-reports/src/purchases/list.rs", "Row for View"),
            ("operator-commands/src/purchases/resend.rs", "Row for View"),
            ("operator-reports/src/purchases/search.rs", "Row for"),
            ("operator-reports/src/purchases/story.rs", "const HEADING"),
            ("operator-reports/src/reconciliations.rs", "Row for View"),
            ("operator-reports/src/sales.rs", "Row for View"),
            ("operator-commands/src/user.rs", "Row for View"),
            ("operator-commands/src/user.rs", "Row for WithPassword"),
            ("operator-reports/src/wallet_statement.rs", "Row for LineView"),
        ];
        let of = |(file, begin): (&str, &str)| {
            let source = fs::read_to_string(crates.join(file)).unwrap();
            let (_, declared) = source.split_once(begin).unwrap();
            let (declared, _) = declared.split_once("];").unwrap();
            declared.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        };
        shown.into_iter().flat_map(of).collect()
    }

    #[test]
    fn every_language_has_every_text_with_the_same_values_and_no_other() {
        let english = ids(Language::English);
        for language in Language::ALL {
            assert_eq!(ids(language), english, "{language:?}");
        }
        let used = Text::ALL.iter().map(|text| text.id().to_owned());
        let headings = columns().into_iter().map(|name| format!("column-{}", name.replace(' ', "-")));
        let words = WORDS.iter().map(|word| format!("word-{}", word.replace(' ', "-")));
        let used: BTreeSet<String> = used.chain(headings).chain(words).collect();
        assert_eq!(english.into_keys().collect::<BTreeSet<_>>(), used);
    }

    #[test]
    fn a_text_that_is_said_has_no_gap() {
        let values: Vec<(String, String)> = ids(Language::English)
            .into_values()
            .flatten()
            .map(|name| (name.clone(), format!("<{name}>")))
            .collect();
        let values: Vec<(&str, &str)> = values.iter().map(|(name, mark)| (&**name, &**mark)).collect();
        for language in Language::ALL {
            for text in Text::ALL {
                let said = Translator(language).text_with(*text, &values);
                assert!(!said.is_empty() && !said.contains(['{', '$']), "{language:?} {text:?}: {said}");
            }
        }
    }

    #[test]
    fn an_unknown_heading_stays_as_it_is() {
        assert_eq!(Translator(Language::French).heading("posted at").as_deref(), Some("Écrit le"));
        assert_eq!(Translator(Language::French).heading("nothing of ours"), None);
        assert_eq!(Translator::default().english(), None);
        assert_eq!(Translator(Language::Portuguese).english(), Some("en"));
    }
}
