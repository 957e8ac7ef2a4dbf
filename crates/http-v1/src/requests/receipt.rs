//! The query of a receipt.

use actix_web::HttpRequest;
use receipt::{CodePage, Columns};
use web::{ApiError, Language};

use super::{format::accepted_types, query::fields_of};
use crate::Endpoint;

/// The formats of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptFormat {
    /// Text in UTF-8.
    Text,
    /// Bytes for a receipt printer.
    EscPos,
    /// A page for browsers.
    Html,
    /// A PDF file.
    Pdf,
}

/// A requested receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiptQuery {
    /// Its format.
    pub format: ReceiptFormat,
    /// Its language. If absent, that of the purchase.
    pub language: Option<Language>,
    /// The width of a text or printer line.
    pub columns: Columns,
    /// The letters that the printer has.
    pub code_page: CodePage,
}

impl ReceiptFormat {
    /// Every format.
    pub const ALL: [Self; 4] = [Self::Text, Self::EscPos, Self::Html, Self::Pdf];

    /// The name in the parameter.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::EscPos => "escpos",
            Self::Html => "html",
            Self::Pdf => "pdf",
        }
    }

    /// The media type of the answer. None is registered for ESC/POS.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::EscPos => "application/octet-stream",
            Self::Html => "text/html",
            Self::Pdf => "application/pdf",
        }
    }

    /// The one in which `Accept` is first satisfied. Text if it names none.
    fn accepted(request: &HttpRequest) -> Self {
        let named = |name: String| Self::ALL.into_iter().find(|format| format.media_type() == name);
        accepted_types(request).find_map(named).unwrap_or(Self::Text)
    }
}

/// Reads the query of a request.
pub fn receipt_query(request: &HttpRequest) -> Result<ReceiptQuery, ApiError> {
    let fields = fields_of(request.query_string(), Endpoint::Receipt)?;
    let format = fields.optional_one_of("format", &ReceiptFormat::ALL, ReceiptFormat::as_str)?;
    let language = fields.optional_language("language")?;
    let columns = fields.optional_one_of("columns", &Columns::ALL, Columns::as_str)?;
    let code_page = fields.optional_one_of("code_page", &CodePage::ALL, CodePage::as_str)?;
    Ok(ReceiptQuery {
        format: format.unwrap_or_else(|| ReceiptFormat::accepted(request)),
        language,
        columns: columns.unwrap_or_default(),
        code_page: code_page.unwrap_or_default(),
    })
}
