//! The texts of the service, parsed once.

use crate::{Language, Phrase, ReceiptText, Sentence, Texts};

macro_rules! texts {
    ($language:literal) => {
        [
            include_str!(concat!("../texts/", $language, "/errors.ftl")),
            include_str!(concat!("../texts/", $language, "/products.ftl")),
            include_str!(concat!("../texts/", $language, "/notices.ftl")),
            include_str!(concat!("../texts/", $language, "/receipt.ftl")),
        ]
    };
}

/// All texts in all languages. Make one and share it.
pub struct Messages {
    texts: Texts,
}

impl Messages {
    /// Parses the texts that are compiled in.
    pub fn new() -> Self {
        Self { texts: Texts::new(&texts!("en"), &texts!("fr"), &texts!("pt")) }
    }

    /// What went wrong and what to do next. If a value that the message needs is missing, the message of the code is
    /// used instead of that of the detail. If that one also lacks a value, the English meaning of the code is used. The
    /// text never contains a placeholder.
    pub fn error(&self, language: Language, sentence: Sentence, values: &[(&str, &str)]) -> String {
        let code = sentence.code();
        let detailed = sentence
            .detail()
            .and_then(|detail| self.text(language, code.as_str(), Some(detail.attribute()), values));
        detailed
            .or_else(|| self.text(language, code.as_str(), None, values))
            .unwrap_or_else(|| code.meaning().to_owned())
    }

    /// [`Messages::error`], followed by the provider's own wording.
    pub fn error_quoting(
        &self,
        language: Language,
        sentence: Sentence,
        values: &[(&str, &str)],
        wording: &str,
    ) -> String {
        self.error_and(language, sentence, values, ("provider-says", &[("wording", wording)]))
    }

    /// [`Messages::error`], followed by the name of the provider that refused and gave no reason.
    pub fn error_refused_by(
        &self,
        language: Language,
        sentence: Sentence,
        values: &[(&str, &str)],
        provider: &str,
    ) -> String {
        self.error_and(language, sentence, values, ("provider-refused", &[("provider", provider)]))
    }

    fn error_and(
        &self,
        language: Language,
        sentence: Sentence,
        values: &[(&str, &str)],
        (id, of_the_other): (&str, &[(&str, &str)]),
    ) -> String {
        let ours = self.error(language, sentence, values);
        match self.text(language, id, None, of_the_other) {
            Some(theirs) => format!("{ours} {theirs}"),
            None => ours,
        }
    }

    /// The name of a product type of the catalogue (`ELECTRICITY`, `AIRTIME`, `WATER`).
    pub fn product_name(&self, language: Language, product_type: &str) -> Option<String> {
        self.text(language, product_type, None, &[])
    }

    /// The label of the input for the subscriber of a product type, such as "Meter number".
    pub fn subscriber_label(&self, language: Language, product_type: &str) -> Option<String> {
        self.text(language, product_type, Some("subscriber"), &[])
    }

    /// How many characters a subscriber identifier has. `None` if no limit is known.
    pub fn length_hint(&self, language: Language, least: Option<u16>, most: Option<u16>) -> Option<String> {
        let id = match (least, most) {
            (Some(least), Some(most)) if least == most => "length-exactly",
            (Some(_), Some(_)) => "length-between",
            (Some(_), None) => "length-at-least",
            (None, Some(_)) => "length-at-most",
            (None, None) => return None,
        };
        let [least, most] = [least, most].map(|length| length.unwrap_or_default().to_string());
        self.text(language, id, None, &[("least", &least), ("most", &most)])
    }

    /// A line of a message to a person.
    pub fn phrase(&self, language: Language, phrase: &Phrase<'_>) -> String {
        let said = self.text(language, phrase.id(), None, &phrase.values());
        said.expect("a phrase has every value of its texts, as a test checks in every language")
    }

    /// A text of a receipt.
    pub fn receipt(&self, language: Language, text: ReceiptText) -> String {
        let said = self.text(language, text.id(), None, &[]);
        said.expect("every language has every text of a receipt, as a test checks")
    }

    fn text(
        &self,
        language: Language,
        id: &str,
        attribute: Option<&str>,
        values: &[(&str, &str)],
    ) -> Option<String> {
        self.texts.text(language, id, attribute, values)
    }
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Messages {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Messages")
    }
}
