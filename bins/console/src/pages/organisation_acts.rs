//! The acts about an organisation, each with the fields of its form. They are a table, because they differ in nothing else.

use maud::{Markup, html};

use crate::{
    fields::{Field, choice_in_form},
    text::Text,
    translator::Translator,
    visit::Posted,
    words::Words,
};

/// An act about an organisation.
pub(super) struct OrganisationAct {
    /// The last part of the address of its form.
    pub(super) path: &'static str,
    pub(super) command: &'static str,
    /// How the command names the organisation.
    named: Named,
    pub(super) title: Text,
    pub(super) note: Text,
    pub(super) button: Text,
    /// Whether the command shows a secret once. Then its report is the page that follows.
    pub(super) shows_secret: bool,
    switches: &'static [&'static str],
    fields: &'static [ActField],
}

#[derive(Clone, Copy)]
enum Named {
    /// By a field of the form.
    Field,
    /// As its first value.
    Value,
    /// By its option `--organisation`.
    Option,
}

/// A field, and what it is in the command.
struct ActField {
    name: &'static str,
    place: Place,
    label: Text,
    hint: Option<Text>,
    choices: &'static [(&'static str, Text)],
    is_required: bool,
}

#[derive(Clone, Copy)]
enum Place {
    /// A value without a name.
    Value,
    /// Several of them, with blanks between.
    Values,
    /// An option of the same name.
    Option,
}

const PRODUCTS: &[(&str, Text)] =
    &[("electricity", Text::Electricity), ("water", Text::Water), ("airtime", Text::Airtime)];
const ENVIRONMENTS: &[(&str, Text)] = &[("staging", Text::Staging), ("production", Text::Production)];
const ROLES: &[(&str, Text)] = &[("integrator", Text::Integrator), ("viewer", Text::Viewer)];

const PRODUCT: ActField = ActField::value("product", Text::Product).one_of(PRODUCTS);
const PROVIDER: ActField = ActField::value("provider", Text::Provider).hint(Text::CodeHint).required();
const CURRENCY: ActField = ActField::option("currency", Text::Currency).hint(Text::CurrencyHint).required();
const NAME: ActField = ActField::option("name", Text::DisplayName).required();

pub(super) const ADD: OrganisationAct = OrganisationAct {
    path: "add",
    command: "organisation create",
    named: Named::Field,
    title: Text::AddOrganisation,
    note: Text::AddOrganisationNote,
    button: Text::AddFinally,
    shows_secret: false,
    switches: &[],
    fields: &[
        ActField::value("code", Text::Code).hint(Text::OrganisationCodeHint).required(),
        NAME,
        ActField::option("environment", Text::Environment).one_of(ENVIRONMENTS),
    ],
};

/// The acts of the page of an organisation, in the order in which a new one needs them.
pub(super) const ACTS: [OrganisationAct; 8] = [
    OrganisationAct {
        path: "wallet",
        command: "account open",
        title: Text::OpenWallet,
        note: Text::OpenWalletNote,
        button: Text::OpenWalletFinally,
        fields: &[NAME, CURRENCY],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "offer",
        command: "offer set",
        title: Text::SetOffer,
        note: Text::SetOfferNote,
        button: Text::SetOfferFinally,
        fields: &[
            PRODUCT,
            PROVIDER,
            CURRENCY,
            ActField::option("fee", Text::FixedCharge).hint(Text::AmountHint),
            ActField::option("fee-rate", Text::ChargeRate).hint(Text::RateHint),
            ActField::option("commission-rate", Text::CommissionRate).hint(Text::RateHint),
            ActField::option("min", Text::LeastAmount).hint(Text::AmountHint),
            ActField::option("max", Text::GreatestAmount).hint(Text::AmountHint),
        ],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "default",
        command: "default-provider set",
        title: Text::SetDefault,
        note: Text::SetDefaultNote,
        button: Text::SetDefaultFinally,
        fields: &[PRODUCT, PROVIDER],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "allow",
        command: "allow-list add",
        title: Text::Allow,
        note: Text::AllowNote,
        button: Text::AllowFinally,
        fields: &[ActField {
            place: Place::Values,
            ..ActField::value("subscribers", Text::Subscribers).hint(Text::SubscribersHint).required()
        }],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "client",
        command: "client create",
        title: Text::CreateClient,
        note: Text::CreateClientNote,
        button: Text::CreateFinally,
        shows_secret: true,
        fields: &[NAME],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "user",
        command: "user create",
        title: Text::CreateUser,
        note: Text::CreateUserNote,
        button: Text::CreateFinally,
        shows_secret: true,
        switches: &["generate-password"],
        fields: &[
            ActField::value("username", Text::Username).required(),
            ActField::option("full-name", Text::FullName).required(),
            ActField::option("role", Text::Role).one_of(ROLES),
            ActField::option("phone", Text::Phone).hint(Text::PhoneHint),
            ActField::option("email", Text::Email),
        ],
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "suspend",
        command: "organisation suspend",
        named: Named::Value,
        title: Text::Suspend,
        note: Text::SuspendNote,
        button: Text::SuspendFinally,
        ..OrganisationAct::PLAIN
    },
    OrganisationAct {
        path: "readmit",
        command: "organisation readmit",
        named: Named::Value,
        title: Text::Readmit,
        note: Text::ReadmitNote,
        button: Text::ReadmitFinally,
        ..OrganisationAct::PLAIN
    },
];

impl OrganisationAct {
    /// What most of them have in common.
    const PLAIN: Self = Self {
        path: "",
        command: "",
        named: Named::Option,
        title: Text::Organisation,
        note: Text::Organisation,
        button: Text::Rehearse,
        shows_secret: false,
        switches: &[],
        fields: &[],
    };

    /// The command with what was typed.
    pub(super) fn words(&self, posted: &Posted, organisation: Option<&str>) -> Words {
        let words = Words::of(self.command).option("reason", posted.field("reason"));
        let words = self.switches.iter().fold(words, |words, name| words.switch(name));
        let words = match (self.named, organisation) {
            (Named::Value, Some(code)) => words.value(code),
            (Named::Option, Some(code)) => words.option("organisation", code),
            (Named::Field, _) | (_, None) => words,
        };
        self.fields.iter().fold(words, |words, field| field.add(words, posted.field(field.name)))
    }

    /// The fields of the form, with that of the reason.
    pub(super) fn fields(&self, translator: Translator) -> Markup {
        html! {
            @for field in self.fields { (field.html(translator, self.path)) }
            (Field::reason().in_form(self.path).html(translator))
        }
    }
}

impl ActField {
    const fn of(name: &'static str, place: Place, label: Text) -> Self {
        Self { name, place, label, hint: None, choices: &[], is_required: false }
    }

    const fn value(name: &'static str, label: Text) -> Self {
        Self::of(name, Place::Value, label)
    }

    const fn option(name: &'static str, label: Text) -> Self {
        Self::of(name, Place::Option, label)
    }

    const fn hint(self, hint: Text) -> Self {
        Self { hint: Some(hint), ..self }
    }

    const fn one_of(self, choices: &'static [(&'static str, Text)]) -> Self {
        Self { choices, ..self }
    }

    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    fn add(&self, words: Words, typed: &str) -> Words {
        match self.place {
            Place::Value => words.value(typed),
            Place::Values => typed.split_whitespace().fold(words, Words::value),
            Place::Option => words.option(self.name, typed),
        }
    }

    fn html(&self, translator: Translator, form: &str) -> Markup {
        if let [(first, _), ..] = self.choices {
            return choice_in_form(translator, form, (self.name, self.label), self.choices, first);
        }
        let field = Field::of(self.name, self.label).in_form(form);
        let field = if let Some(hint) = self.hint { field.hint(hint) } else { field };
        let field = if self.is_required { field.required() } else { field };
        field.html(translator)
    }
}
