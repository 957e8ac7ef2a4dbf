//! The receipt as a PDF file: the lines of the wide paper on one page.
//!
//! Courier is one of the fonts that every reader has, so none is embedded. All its letters have the same width, so the
//! lines are as wide as on paper.

use pdf_writer::{Content as Drawing, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use crate::{
    charset::CodePage,
    content::Content,
    lines::{self, Columns, Line, Style},
};

/// The width of the page in points: 80 mm, the width of the paper of receipt printers.
const WIDTH: i16 = 227;
/// The free edge on each side, in points.
const MARGIN: i16 = 12;
/// The size of the letters, in points. A letter of Courier is 0.6 of it wide, so 42 of them take 202 points.
const SIZE: i16 = 8;
/// The size of a token. A line of it has at most [`LARGE_MAX`] letters.
const LARGE_SIZE: i16 = 12;
const LARGE_MAX: usize = 28;
/// From one line to the next, in points.
const LEADING: i16 = 12;

const PLAIN: Name<'_> = Name(b"F1");
const BOLD: Name<'_> = Name(b"F2");

pub(crate) fn write(content: &Content) -> Vec<u8> {
    let lines = lines::of(content, Columns::Wide);
    let count = i16::try_from(lines.len()).unwrap_or(i16::MAX);
    let height = LEADING.saturating_mul(count).saturating_add(2 * MARGIN);
    let [catalog, pages, page_id, plain, bold, drawing, info] = [1, 2, 3, 4, 5, 6, 7].map(Ref::new);

    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages).lang(TextStr(content.language));
    pdf.document_info(info).title(TextStr(&format!("{} - {}", content.title, content.seller)));
    pdf.pages(pages).kids([page_id]).count(1);
    let mut page = pdf.page(page_id);
    page.media_box(Rect::new(0.0, 0.0, f32::from(WIDTH), f32::from(height)));
    page.parent(pages).contents(drawing);
    page.resources().fonts().pair(PLAIN, plain).pair(BOLD, bold);
    page.finish();
    for (id, name) in [(plain, "Courier"), (bold, "Courier-Bold")] {
        pdf.type1_font(id).base_font(Name(name.as_bytes())).encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    pdf.stream(drawing, &draw(&lines, height));
    pdf.finish()
}

/// The lines from the top of the page.
fn draw(lines: &[Line], height: i16) -> Vec<u8> {
    let mut drawing = Drawing::new();
    drawing.begin_text();
    drawing.next_line(f32::from(MARGIN), f32::from(height.saturating_sub(MARGIN)));
    for line in lines {
        let (font, size) = match line.style {
            Style::Plain => (PLAIN, SIZE),
            Style::Token if line.text.len() <= LARGE_MAX => (BOLD, LARGE_SIZE),
            Style::Strong | Style::Token => (BOLD, SIZE),
        };
        // The encoding of the fonts is Windows-1252 under the name that PDF has for it.
        let bytes: Vec<u8> =
            line.text.chars().filter_map(|letter| CodePage::Windows1252.byte(letter)).collect();
        drawing.set_font(font, f32::from(size));
        drawing.next_line(0.0, f32::from(-LEADING));
        drawing.show(Str(&bytes));
    }
    drawing.end_text();
    drawing.finish().to_vec()
}
