//! The fields of forms.

use maud::{Markup, html};

use crate::{text::Text, translator::Translator};

/// A field for a line of text.
pub(crate) struct Field<'a> {
    /// Keeps the ids of the fields of several forms on a page apart.
    form: &'a str,
    name: &'a str,
    label: Text,
    hint: Option<Text>,
    value: &'a str,
    is_required: bool,
}

impl<'a> Field<'a> {
    /// An empty field, which may stay empty.
    pub(crate) const fn of(name: &'a str, label: Text) -> Self {
        Self { form: "", name, label, hint: None, value: "", is_required: false }
    }

    /// The field that every act has.
    pub(crate) const fn reason() -> Self {
        Self::of("reason", Text::Reason).hint(Text::ReasonHint).required()
    }

    pub(crate) const fn hint(self, hint: Text) -> Self {
        Self { hint: Some(hint), ..self }
    }

    pub(crate) const fn value(self, value: &'a str) -> Self {
        Self { value, ..self }
    }

    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) const fn in_form(self, form: &'a str) -> Self {
        Self { form, ..self }
    }

    pub(crate) fn html(&self, translator: Translator) -> Markup {
        let Self { form, name, label, hint, value, is_required } = self;
        let id = format!("{form}{name}");
        let hint_id = format!("{id}-hint");
        html! {
            div {
                label for=(id) { (translator.text(*label)) }
                input type="text" id=(id) name=(name) value=(value) required[*is_required] autocomplete="off"
                    aria-describedby=[hint.is_some().then_some(&hint_id)];
                @if let Some(hint) = hint { span class="hint" id=(hint_id) { (translator.text(*hint)) } }
            }
        }
    }
}

/// A field with a choice.
pub(crate) fn choice(
    translator: Translator,
    named: (&str, Text),
    choices: &[(&str, Text)],
    chosen: &str,
) -> Markup {
    choice_in_form(translator, "", named, choices, chosen)
}

/// The same on a page with several forms: `form` keeps the ids of their fields apart.
pub(crate) fn choice_in_form(
    translator: Translator,
    form: &str,
    (name, label): (&str, Text),
    choices: &[(&str, Text)],
    chosen: &str,
) -> Markup {
    let id = format!("{form}{name}");
    html! {
        div {
            label for=(id) { (translator.text(label)) }
            select id=(id) name=(name) {
                @for (value, text) in choices {
                    option value=(value) selected[*value == chosen] { (translator.text(*text)) }
                }
            }
        }
    }
}
