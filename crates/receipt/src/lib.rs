//! A customer's receipt of one sale, in every format in which it is printed.
//!
//! Values in, bytes out: no I/O, no clock. The same values always give the same bytes.
#![warn(missing_docs)]

mod amount;
mod charset;
mod content;
mod escpos;
mod html;
mod lines;
mod pdf;
mod plain;
mod sale;

use messages::{Language, Messages};

pub use charset::CodePage;
pub use lines::Columns;
pub use sale::{Sale, Seller};

use charset::Charset;
use content::Content;

/// A receipt that can be written in any format.
#[derive(Clone, Copy, Debug)]
pub struct Receipt<'a> {
    /// The texts.
    pub messages: &'a Messages,
    /// The language of the receipt.
    pub language: Language,
    /// The integrator that sold.
    pub seller: Seller<'a>,
    /// What was sold.
    pub sale: Sale<'a>,
}

impl Receipt<'_> {
    /// Text in UTF-8. No line is wider than `columns`, and each ends with a line feed.
    pub fn text(&self, columns: Columns) -> String {
        let content = Content::of(self, Charset::Unicode);
        lines::of(&content, columns).iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }

    /// The bytes for a receipt printer that understands ESC/POS, from its reset to the cut. A letter that the code page
    /// does not have is replaced by its nearest one, or by `?`.
    pub fn escpos(&self, columns: Columns, code_page: CodePage) -> Vec<u8> {
        let content = Content::of(self, Charset::Of(code_page));
        escpos::write(&lines::of(&content, columns), code_page)
    }

    /// A whole HTML page. It loads nothing, has no script, and prints without colour.
    pub fn html(&self) -> String {
        html::page(&Content::of(self, Charset::Unicode))
    }

    /// A PDF file with one page of the width of a receipt (80 mm). Its fonts are standard ones that every reader has. They
    /// have the letters of Windows-1252; others are replaced as in [`Receipt::escpos`].
    pub fn pdf(&self) -> Vec<u8> {
        pdf::write(&Content::of(self, Charset::Of(CodePage::Windows1252)))
    }
}
