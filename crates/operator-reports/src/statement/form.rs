//! How a provider writes its statement: which column is what, and how times are written.

use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;
use clap::Args;
use csv::ByteRecord;

use super::StatementFileError;

/// What a statement says of a vend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Reference,
    Transaction,
    Time,
    Product,
    Subscriber,
    Amount,
    Currency,
    Token,
    TokenSha256,
}

/// The form of a statement. The columns that are not declared have the names of the fields.
#[derive(Clone, Debug, Args)]
pub struct StatementForm {
    /// Which column has what, such as `reference=MsgID`: FIELD is reference, transaction, time, product, subscriber, amount,
    /// currency, token or token-sha256; without it the column has the name of the field
    #[arg(long, value_name = "FIELD=HEADING", value_parser = Declared::from_str)]
    column: Vec<Declared>,
    /// The value of a field in every line, such as `currency=BWP`
    #[arg(long, value_name = "FIELD=VALUE", value_parser = Declared::from_str)]
    always: Vec<Declared>,
    /// The character between columns
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
    /// How times are written, such as `%d/%m/%Y %H:%M:%S`; without an offset (`%z`) they are of the time zone of the settings
    /// [default: RFC 3339]
    #[arg(long, value_name = "FORMAT")]
    time_format: Option<String>,
}

/// A field, and its heading or its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Declared {
    field: Field,
    is: String,
}

/// The form of a statement, and the zone of its times.
#[derive(Clone, Debug)]
pub struct ReadingForm {
    pub(super) delimiter: u8,
    columns: Vec<Declared>,
    always: Vec<Declared>,
    time_format: Option<String>,
    zone: Tz,
}

/// Where the fields of a statement are, in the order of [`Field::ALL`].
#[derive(Clone, Debug)]
pub(super) struct Places([Place; 9]);

#[derive(Clone, Debug)]
enum Place {
    Column(usize),
    Always(String),
    /// The statement does not have it.
    Nowhere,
}

impl Field {
    const ALL: [Self; 9] = [
        Self::Reference,
        Self::Transaction,
        Self::Time,
        Self::Product,
        Self::Subscriber,
        Self::Amount,
        Self::Currency,
        Self::Token,
        Self::TokenSha256,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Transaction => "transaction",
            Self::Time => "time",
            Self::Product => "product",
            Self::Subscriber => "subscriber",
            Self::Amount => "amount",
            Self::Currency => "currency",
            Self::Token => "token",
            Self::TokenSha256 => "token-sha256",
        }
    }

    /// Only tokens may be absent.
    const fn is_required(self) -> bool {
        !matches!(self, Self::Token | Self::TokenSha256)
    }
}

impl FromStr for Declared {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, is) = text.split_once('=').ok_or("write it like reference=MsgID")?;
        let field = Field::ALL.into_iter().find(|field| field.as_str() == name).ok_or_else(|| {
            let names = Field::ALL.map(Field::as_str).join(", ");
            format!("{name} is no field of a statement; those are {names}")
        })?;
        Ok(Self { field, is: is.to_owned() })
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [character] if character.is_ascii() && !character.is_ascii_alphanumeric() => Ok(*character),
        b"\\t" => Ok(b'\t'),
        _ => Err(r"one character, such as `;`, or \t".to_owned()),
    }
}

impl StatementForm {
    pub fn reading(&self, zone: Tz) -> ReadingForm {
        ReadingForm {
            delimiter: self.delimiter,
            columns: self.column.clone(),
            always: self.always.clone(),
            time_format: self.time_format.clone(),
            zone,
        }
    }

    /// The form that these arguments declare.
    #[cfg(test)]
    pub(super) fn of_words(words: &[&str]) -> Self {
        use clap::FromArgMatches as _;

        let command = Self::augment_args(clap::Command::new("form").no_binary_name(true));
        Self::from_arg_matches(&command.get_matches_from(words)).expect("the words are a form")
    }
}

impl ReadingForm {
    pub(super) fn places(&self, header: &ByteRecord) -> Result<Places, StatementFileError> {
        let mut places = Vec::with_capacity(Field::ALL.len());
        for field in Field::ALL {
            places.push(self.place(field, header)?);
        }
        let places = <[Place; 9]>::try_from(places).expect("each field has one place");
        Ok(Places(places))
    }

    fn place(&self, field: Field, header: &ByteRecord) -> Result<Place, StatementFileError> {
        let of =
            |declared: &[Declared]| declared.iter().find(|one| one.field == field).map(|one| one.is.clone());
        if let Some(value) = of(&self.always) {
            return Ok(Place::Always(value));
        }
        let declared = of(&self.columns);
        let is_required = field.is_required() || declared.is_some();
        let heading = declared.unwrap_or_else(|| field.as_str().to_owned());
        // Some programs begin a file with a byte order mark.
        let is_it = |cell: &[u8]| cell.strip_prefix(b"\xef\xbb\xbf").unwrap_or(cell) == heading.as_bytes();
        match header.iter().position(is_it) {
            Some(column) => Ok(Place::Column(column)),
            None if is_required => Err(StatementFileError::NoColumn { field: field.as_str(), heading }),
            None => Ok(Place::Nowhere),
        }
    }

    pub(crate) fn moment(&self, text: &str) -> Result<DateTime<Utc>, String> {
        let Some(format) = &self.time_format else {
            return DateTime::parse_from_rfc3339(text)
                .map(|at| at.to_utc())
                .map_err(|_malformed| "is RFC 3339, such as 2026-11-23T09:30:00+02:00".to_owned());
        };
        if let Ok(exact) = DateTime::parse_from_str(text, format) {
            return Ok(exact.to_utc());
        }
        let local = NaiveDateTime::parse_from_str(text, format)
            .map_err(|_malformed| format!("is not of the form {format}"))?;
        let at = self.zone.from_local_datetime(&local).earliest();
        at.map(|at| at.to_utc()).ok_or_else(|| format!("does not occur in {}", self.zone))
    }
}

impl Places {
    pub(super) fn cell<'a>(&'a self, field: Field, record: &'a ByteRecord) -> &'a [u8] {
        let place = Field::ALL.iter().zip(&self.0).find(|(one, _place)| **one == field);
        match place.map(|(_field, place)| place) {
            Some(Place::Column(column)) => record.get(*column).unwrap_or_default(),
            Some(Place::Always(value)) => value.as_bytes(),
            Some(Place::Nowhere) | None => &[],
        }
    }
}
