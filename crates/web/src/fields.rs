//! The fields of a JSON body, read one by one, so that the first wrong field is reported by its own name and with its
//! own code.
//!
//! A value is converted only when it is asked for: an amount stays the text that the integrator wrote. Unknown fields
//! are ignored, and `null` is the same as absent. A key that appears twice, at any depth, is refused, because two
//! readers of the same body could otherwise see two different requests.

mod broken;
mod characters;
mod members;

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeZone, Utc};
use serde_json::value::RawValue;

use error_codes::ErrorCode;
use messages::{Detail, Language, Locale};
use money::{AmountError, Currency, Money};

use crate::{
    ApiError, dates, phone,
    requests::lengths::{LANGUAGE_MAX, SHORT_TEXT_MAX},
};
use characters::Use;
use members::Members;

pub use members::printable;

/// The members of one JSON object. `Debug` shows their names only: some of them are passwords.
pub struct Fields {
    members: Members,
}

impl Fields {
    /// Reads an object, and refuses everything else.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        Members::of_object(body).map(|members| Self { members })
    }

    /// A text of 1 to `max` characters, none of them invisible.
    pub fn required_text(&self, name: &'static str, max: usize) -> Result<String, ApiError> {
        let text = text_of(name, self.required(name)?)?;
        checked(name, not_empty(name, text)?, max, Use::Line)
    }

    /// A name of 1 to `max` characters that identifies something. Two names that look the same are the same.
    pub fn required_name(&self, name: &'static str, max: usize) -> Result<String, ApiError> {
        let text = text_of(name, self.required(name)?)?;
        checked(name, not_empty(name, text)?, max, Use::Name)
    }

    /// A text of at most `max` characters; an empty one counts as absent.
    pub fn optional_text(&self, name: &'static str, max: usize) -> Result<Option<String>, ApiError> {
        self.optional(name, max, Use::Line)
    }

    /// A text of at most `max` characters, which may have several lines; an empty one counts as absent.
    pub fn optional_prose(&self, name: &'static str, max: usize) -> Result<Option<String>, ApiError> {
        self.optional(name, max, Use::Prose)
    }

    /// A name as in [`Fields::required_name`]; an empty one counts as absent.
    pub fn optional_name(&self, name: &'static str, max: usize) -> Result<Option<String>, ApiError> {
        self.optional(name, max, Use::Name)
    }

    fn optional(&self, name: &'static str, max: usize, of: Use) -> Result<Option<String>, ApiError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        let text = checked(name, text_of(name, value)?, max, of)?;
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// A text of at most `max` characters. An empty one counts: it removes what was there.
    pub fn text_or_empty(&self, name: &'static str, max: usize) -> Result<Option<String>, ApiError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        checked(name, text_of(name, value)?, max, Use::Line).map(Some)
    }

    /// A date and time of day as `YYYY-MM-DD HH:MM:SS`.
    pub fn optional_date_time(&self, name: &'static str) -> Result<Option<NaiveDateTime>, ApiError> {
        let Some(text) = self.optional_text(name, SHORT_TEXT_MAX)? else { return Ok(None) };
        dates::read(&text).map(Some).ok_or_else(|| ApiError::new(Detail::BadTime).about(name))
    }

    /// A moment: a date and time of day in `zone`, or RFC 3339 with an offset.
    pub fn optional_moment(
        &self,
        name: &'static str,
        zone: &impl TimeZone,
    ) -> Result<Option<DateTime<Utc>>, ApiError> {
        let Some(text) = self.optional_text(name, SHORT_TEXT_MAX)? else { return Ok(None) };
        dates::read_moment(&text, zone).map(Some).ok_or_else(|| ApiError::new(Detail::BadMoment).about(name))
    }

    /// A day as `YYYY-MM-DD`.
    pub fn optional_day(&self, name: &'static str) -> Result<Option<NaiveDate>, ApiError> {
        let Some(text) = self.optional_text(name, SHORT_TEXT_MAX)? else { return Ok(None) };
        dates::read_day(&text).map(Some).ok_or_else(|| ApiError::new(Detail::BadDay).about(name))
    }

    /// `true` or `false`.
    pub fn optional_flag(&self, name: &'static str) -> Result<Option<bool>, ApiError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        match value {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _other => Err(ApiError::new(Detail::ExpectedFlag).about(name)),
        }
    }

    /// A whole number.
    pub fn required_integer(&self, name: &'static str) -> Result<i64, ApiError> {
        let number = self.required(name)?;
        number.parse().map_err(|_not_whole| ApiError::new(Detail::ExpectedInteger).about(name))
    }

    /// A whole number, if the field is present.
    pub fn optional_integer(&self, name: &'static str) -> Result<Option<i64>, ApiError> {
        self.find(name).map(|_present| self.required_integer(name)).transpose()
    }

    /// A list of the given values, if the field is present. A value that occurs twice counts once.
    pub fn optional_list_of<T: Copy>(
        &self,
        name: &'static str,
        choices: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<Option<Vec<T>>, ApiError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        let texts: Vec<String> = serde_json::from_str(value)
            .map_err(|_complaint| ApiError::new(Detail::ExpectedList).about(name))?;
        if texts.iter().any(|text| !choices.iter().any(|choice| name_of(*choice) == text)) {
            return Err(unknown_value(name, choices, name_of));
        }
        let wanted = |choice: &T| texts.iter().any(|text| name_of(*choice) == text);
        Ok(Some(choices.iter().copied().filter(wanted).collect()))
    }

    /// The elements of a list as they are written, each for a reader of its own.
    pub fn required_elements(&self, name: &'static str) -> Result<Vec<&str>, ApiError> {
        let elements: Vec<&RawValue> = serde_json::from_str(self.required(name)?)
            .map_err(|_complaint| ApiError::new(Detail::ExpectedLines).about(name))?;
        Ok(elements.into_iter().map(RawValue::get).collect())
    }

    /// One of the given values, by its name on the wire.
    pub fn one_of<T: Copy>(
        &self,
        name: &'static str,
        choices: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<T, ApiError> {
        let value = self.optional_one_of(name, choices, name_of)?;
        value.ok_or_else(|| ApiError::new(ErrorCode::MissingField).about(name))
    }

    /// One of the given values, if the field is present.
    pub fn optional_one_of<T: Copy>(
        &self,
        name: &'static str,
        choices: &[T],
        name_of: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, ApiError> {
        let Some(value) = self.find(name) else { return Ok(None) };
        let text = text_of(name, value)?;
        let chosen = choices.iter().copied().find(|choice| name_of(*choice) == text);
        chosen.map(Some).ok_or_else(|| unknown_value(name, choices, name_of))
    }

    /// A language tag, and the region in it.
    pub fn required_locale(&self, name: &'static str) -> Result<(String, Locale), ApiError> {
        let tag = self.required_text(name, LANGUAGE_MAX)?;
        match Locale::parse(&tag) {
            Ok(locale) => Ok((tag, locale)),
            Err(malformed) => Err(ApiError::new(Detail::BadLanguageTag).about(name).because(malformed)),
        }
    }

    /// A language tag, if the field is present.
    pub fn optional_language(&self, name: &'static str) -> Result<Option<Language>, ApiError> {
        Ok(self.optional_locale(name)?.map(|locale| locale.language()))
    }

    /// A language tag with its region, if the field is present.
    pub fn optional_locale(&self, name: &'static str) -> Result<Option<Locale>, ApiError> {
        if self.find(name).is_none() {
            return Ok(None);
        }
        self.required_locale(name).map(|(_, locale)| Some(locale))
    }

    /// An ISO 4217 code.
    pub fn required_currency(&self, name: &'static str) -> Result<Currency, ApiError> {
        let code = text_of(name, self.required(name)?)?;
        Currency::in_hundredths(&code)
            .map_err(|bad| ApiError::new(Detail::BadCurrency).about(name).because(bad))
    }

    /// A positive number; see [`money::parse_json_amount`].
    pub fn required_amount(&self, name: &'static str, currency: Currency) -> Result<Money, ApiError> {
        money::parse_json_amount(self.required(name)?, currency)
            .map_err(|why| amount_error(why).about(name).because(why))
    }

    /// A phone number as E.164 digits. A number without a country code is read by the rules of `locale`'s region.
    pub fn required_phone_number(&self, name: &'static str, locale: &Locale) -> Result<String, ApiError> {
        let text = text_of(name, self.required(name)?)?;
        phone::e164_digits(&text, locale.region())
            .ok_or_else(|| ApiError::new(ErrorCode::InvalidMsisdn).about(name))
    }

    /// A phone number as in [`Fields::required_phone_number`], if the field is present.
    pub fn optional_phone_number(
        &self,
        name: &'static str,
        locale: &Locale,
    ) -> Result<Option<String>, ApiError> {
        if self.find(name).is_none() {
            return Ok(None);
        }
        self.required_phone_number(name, locale).map(Some)
    }

    /// The value if it is a text, for reading ahead.
    pub(crate) fn peek_text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.find(name)?).ok()
    }

    fn required(&self, name: &'static str) -> Result<&str, ApiError> {
        self.find(name).ok_or_else(|| ApiError::new(ErrorCode::MissingField).about(name))
    }

    /// The value as it is written.
    fn find(&self, name: &str) -> Option<&str> {
        self.members.find(name).filter(|value| *value != "null")
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.members.names()).finish()
    }
}

fn unknown_value<T: Copy>(
    name: &'static str,
    choices: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> ApiError {
    let allowed: Vec<&str> = choices.iter().map(|choice| name_of(*choice)).collect();
    ApiError::new(Detail::UnknownValue).about(name).with("allowed", allowed.join(", "))
}

fn text_of(name: &'static str, value: &str) -> Result<String, ApiError> {
    // The parser's own message would quote the value, which may be a password.
    serde_json::from_str(value).map_err(|_complaint| {
        // A string that cannot be read contains half a surrogate pair. Any other value is not a string.
        let is_text = value.starts_with('"');
        let detail = if is_text { Detail::ForbiddenCharacter } else { Detail::ExpectedText };
        ApiError::new(detail).about(name)
    })
}

fn not_empty(name: &'static str, text: String) -> Result<String, ApiError> {
    if text.is_empty() { Err(ApiError::new(Detail::Empty).about(name)) } else { Ok(text) }
}

fn checked(name: &'static str, text: String, max: usize, of: Use) -> Result<String, ApiError> {
    if !text.chars().all(|character| of.allows(character)) {
        return Err(ApiError::new(Detail::ForbiddenCharacter).about(name));
    }
    if text.chars().count() > max {
        return Err(ApiError::new(Detail::TooLong).about(name).with("limit", max));
    }
    Ok(text)
}

fn amount_error(why: AmountError) -> ApiError {
    match why {
        AmountError::NotAPlainNumber => ApiError::new(ErrorCode::InvalidAmount),
        AmountError::TooLarge => ApiError::new(Detail::AmountTooLarge),
        AmountError::TooFine => ApiError::new(Detail::AmountTooFine),
        AmountError::NotPositive => ApiError::new(Detail::AmountNotPositive),
    }
}
