//! `vendctl product`: the products, and the format of their subscriber identifiers.

use catalogue::ListedProduct;
use clap::{Args, Subcommand};
use purchase::{ProductText, SubscriberFormat};
use serde::Serialize;
use vend::Product;

use crate::{
    arguments::Why,
    error::VendctlError,
    parse,
    report::{Report, Row, or_dash},
    session::Session,
    words,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the products
    #[command(after_help = "Example:\n  vendctl product list")]
    List,
    /// Enter a product, or replace its format; a rule that is not named does not apply to identifiers
    #[command(
        after_help = "Example:\n  vendctl product set electricity --min 11 --max 13 --pattern '^[0-9]{11,13}$' \
                      --reason \"meters have 11 to 13 digits\""
    )]
    Set(Set),
    /// Set the names of a product in a language, instead of the standard names
    #[command(
        after_help = "Example:\n  vendctl product set-text water fr --display-name Eau --label \"Compteur d'eau\" \
                      --reason \"as the utility calls it\""
    )]
    SetText(SetText),
    /// Return to the standard names in a language
    #[command(
        after_help = "Example:\n  vendctl product remove-text water fr --reason \"the standard name is right\""
    )]
    RemoveText {
        /// The product
        #[arg(value_parser = words::product())]
        product: Product,
        /// The language: two or three lower-case letters
        #[arg(value_parser = parse::language)]
        language: String,
        #[command(flatten)]
        why: Why,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The product
    #[arg(value_parser = words::product())]
    product: Product,
    /// The fewest characters of an identifier
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=40))]
    min: Option<u16>,
    /// The most characters of an identifier
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=40))]
    max: Option<u16>,
    /// A regular expression that JavaScript understands too
    #[arg(long)]
    pattern: Option<String>,
    /// A hint for customers, instead of one derived from the lengths
    #[arg(long, value_parser = parse::sentence)]
    hint: Option<String>,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct SetText {
    /// The product
    #[arg(value_parser = words::product())]
    product: Product,
    /// The language: two or three lower-case letters
    #[arg(value_parser = parse::language)]
    language: String,
    /// The product's name
    #[arg(long, value_parser = parse::label, required_unless_present = "label")]
    display_name: Option<String>,
    /// The name of its subscriber identifier
    #[arg(long, value_parser = parse::label)]
    label: Option<String>,
    #[command(flatten)]
    why: Why,
}

#[derive(Serialize)]
struct View {
    product: &'static str,
    length_min: Option<u16>,
    length_max: Option<u16>,
    pattern: Option<String>,
    hint: Option<String>,
    texts: Vec<TextView>,
}

#[derive(Serialize)]
struct TextView {
    language: String,
    display_name: Option<String>,
    subscriber_id_label: Option<String>,
}

pub(crate) async fn run(session: &Session, verb: &Verb) -> Result<Report, VendctlError> {
    match verb {
        Verb::List => {
            let products = catalogue::list_products(session.database()).await?;
            Ok(Report::list(&products.into_iter().map(View::from).collect::<Vec<_>>()))
        }
        Verb::Set(set) => {
            if set.min.zip(set.max).is_some_and(|(min, max)| min > max) {
                return Err(VendctlError::LengthsCrossed);
            }
            let format = SubscriberFormat::new(set.min, set.max, set.pattern.as_deref())?;
            catalogue::put_product(
                session.database(),
                set.product,
                format,
                set.hint.clone(),
                session.act(&set.why),
            )
            .await?;
            show(session, set.product).await
        }
        Verb::SetText(set) => {
            let text = ProductText {
                language: set.language.clone(),
                display_name: set.display_name.clone(),
                subscriber_id_label: set.label.clone(),
            };
            catalogue::put_product_text(session.database(), set.product, text, session.act(&set.why)).await?;
            show(session, set.product).await
        }
        Verb::RemoveText { product, language, why } => {
            let removed = catalogue::remove_product_text(
                session.database(),
                *product,
                language.clone(),
                session.act(why),
            )
            .await;
            let no_text = VendctlError::NoText { product: *product, language: language.clone() };
            removed.map_err(|error| no_text.if_absent(error))?;
            show(session, *product).await
        }
    }
}

async fn show(session: &Session, product: Product) -> Result<Report, VendctlError> {
    let products = catalogue::list_products(session.database()).await?;
    let found = products.into_iter().find(|listed| listed.product == product);
    found.map(|listed| Report::one(&View::from(listed))).ok_or(VendctlError::NoProduct(product))
}

impl From<ListedProduct> for View {
    fn from(listed: ListedProduct) -> Self {
        let text = |text: ProductText| TextView {
            language: text.language,
            display_name: text.display_name,
            subscriber_id_label: text.subscriber_id_label,
        };
        Self {
            product: listed.product.as_str(),
            length_min: listed.format.length_min(),
            length_max: listed.format.length_max(),
            pattern: listed.format.pattern().map(str::to_owned),
            hint: listed.hint,
            texts: listed.texts.into_iter().map(text).collect(),
        }
    }
}

impl TextView {
    fn in_words(&self) -> String {
        let names = [&self.display_name, &self.subscriber_id_label].map(|name| or_dash(name.as_deref()));
        format!("{}: {}", self.language, names.join(" / "))
    }
}

impl Row for View {
    const COLUMNS: &'static [&'static str] = &["product", "min", "max", "pattern", "hint", "texts"];

    fn cells(&self) -> Vec<String> {
        let length = |length: Option<u16>| or_dash(length.map(|length| length.to_string()).as_deref());
        let texts: Vec<String> = self.texts.iter().map(TextView::in_words).collect();
        vec![
            self.product.to_owned(),
            length(self.length_min),
            length(self.length_max),
            or_dash(self.pattern.as_deref()),
            or_dash(self.hint.as_deref()),
            if texts.is_empty() { "-".to_owned() } else { texts.join("\n") },
        ]
    }
}
