//! Texts by their ids, in every language, and the insertion of their values.

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};
use unic_langid::LanguageIdentifier;

use crate::Language;

type Bundle = FluentBundle<FluentResource>;

/// The texts of a program in every language. Make one and share it.
pub struct Texts {
    english: Bundle,
    french: Bundle,
    portuguese: Bundle,
}

impl Texts {
    /// Parses Fluent resources that are compiled in.
    ///
    /// # Panics
    /// If a resource is malformed, or gives a text twice.
    pub fn new(english: &[&str], french: &[&str], portuguese: &[&str]) -> Self {
        Self {
            english: bundle(Language::English, english),
            french: bundle(Language::French, french),
            portuguese: bundle(Language::Portuguese, portuguese),
        }
    }

    /// The text with this id, or its attribute, with the values in it. `None` if the language does not have it, or if it needs a
    /// value that is missing.
    pub fn text(
        &self,
        language: Language,
        id: &str,
        attribute: Option<&str>,
        values: &[(&str, &str)],
    ) -> Option<String> {
        let bundle = self.bundle(language);
        let message = bundle.get_message(id)?;
        let pattern = match attribute {
            Some(name) => message.get_attribute(name)?.value(),
            None => message.value()?,
        };
        let args: FluentArgs<'_> = values.iter().map(|(name, value)| (*name, *value)).collect();
        let mut errors = Vec::new();
        let text = bundle.format_pattern(pattern, Some(&args), &mut errors).into_owned();
        errors.is_empty().then_some(text)
    }

    const fn bundle(&self, language: Language) -> &Bundle {
        match language {
            Language::English => &self.english,
            Language::French => &self.french,
            Language::Portuguese => &self.portuguese,
        }
    }
}

impl std::fmt::Debug for Texts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Texts")
    }
}

fn bundle(language: Language, texts: &[&str]) -> Bundle {
    let tag: LanguageIdentifier = language.as_str().parse().expect("our own languages have proper tags");
    let mut bundle = Bundle::new_concurrent(vec![tag]);
    // Fluent would put marks around values. They are invisible, and wrong in JSON and SMS.
    bundle.set_use_isolating(false);
    for text in texts {
        let resource =
            FluentResource::try_new((*text).to_owned()).expect("the texts compiled in are well-formed");
        bundle.add_resource(resource).expect("no text is given twice");
    }
    bundle
}
