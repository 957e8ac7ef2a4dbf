//! A receipt as lines of a fixed width, for paper and for PDF.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::content::{Content, Fact, TokenEntry, Tokens};

/// The width of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// 32 columns: paper of 58 mm.
    #[default]
    Narrow,
    /// 42 columns: paper of 80 mm.
    Wide,
}

/// One line, without its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// How a line is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Strong,
    /// The customer types it, so it is large.
    Token,
}

impl Columns {
    /// Every width.
    pub const ALL: [Self; 2] = [Self::Narrow, Self::Wide];

    /// Its name in requests.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Narrow => "32",
            Self::Wide => "42",
        }
    }

    /// The number of columns.
    pub const fn count(self) -> usize {
        match self {
            Self::Narrow => 32,
            Self::Wide => 42,
        }
    }
}

/// Fills the lines of one receipt.
struct Paper {
    width: usize,
    lines: Vec<Line>,
}

/// The lines of a receipt. None is wider than `columns`.
pub(crate) fn of(content: &Content, columns: Columns) -> Vec<Line> {
    let mut paper = Paper { width: columns.count(), lines: Vec::new() };
    paper.centred(&content.seller, Style::Strong);
    paper.centred(&content.title, Style::Plain);
    paper.rule();
    content.facts.iter().for_each(|fact| paper.fact(fact, Style::Plain));
    paper.rule();
    paper.tokens(&content.tokens);
    content.units.iter().for_each(|units| paper.fact(units, Style::Plain));
    paper.rule();
    content.amounts.iter().for_each(|amount| paper.fact(amount, Style::Plain));
    paper.fact(&content.total, Style::Strong);
    if !content.footer.is_empty() {
        paper.rule();
        content.footer.iter().for_each(|line| paper.centred(line, Style::Plain));
    }
    paper.lines
}

impl Paper {
    fn put(&mut self, text: String, style: Style) {
        self.lines.push(Line { text, style });
    }

    fn rule(&mut self) {
        self.put("-".repeat(self.width), Style::Plain);
    }

    fn wrapped(&mut self, text: &str, style: Style) {
        for line in wrap(text, self.width) {
            self.put(line, style);
        }
    }

    fn centred(&mut self, text: &str, style: Style) {
        for line in wrap(text, self.width) {
            let margin = self.width.saturating_sub(line.width()).div_euclid(2);
            self.put(format!("{}{line}", " ".repeat(margin)), style);
        }
    }

    /// The label on the left and the value on the right, or the value below the label if they do not fit beside each
    /// other.
    fn fact(&mut self, fact: &Fact, style: Style) {
        let used = fact.label.width().saturating_add(fact.value.width());
        if let Some(gap @ 1..) = self.width.checked_sub(used) {
            return self.put(format!("{}{}{}", fact.label, " ".repeat(gap), fact.value), style);
        }
        self.wrapped(&fact.label, style);
        for line in wrap(&fact.value, self.width) {
            let margin = self.width.saturating_sub(line.width());
            self.put(format!("{}{line}", " ".repeat(margin)), style);
        }
    }

    fn tokens(&mut self, tokens: &Tokens) {
        match tokens {
            Tokens::None { because } => self.wrapped(because, Style::Plain),
            Tokens::One(token) => self.token(&token.label, token),
            Tokens::Several { instruction, entries } => {
                self.wrapped(instruction, Style::Plain);
                for (number, token) in (1..).zip(entries) {
                    self.token(&format!("{number}. {}", token.label), token);
                }
            }
        }
    }

    fn token(&mut self, label: &str, token: &TokenEntry) {
        self.wrapped(label, Style::Plain);
        self.wrapped(&token.groups, Style::Token);
    }
}

/// The words of a text in lines of at most `width` columns. A word that is longer than a line is broken.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace().flat_map(|word| pieces(word, width)) {
        let blank = usize::from(!line.is_empty());
        if line.width().saturating_add(blank).saturating_add(word.width()) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines.retain(|line| !line.is_empty());
    lines
}

/// A word in pieces of at most `width` columns. The sum of the letters' own widths is never less than the width of the
/// piece, which may join some of them.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0_usize;
    for letter in word.chars() {
        let columns = letter.width().unwrap_or_default();
        if used.saturating_add(columns) > width {
            pieces.push(String::new());
            used = 0;
        }
        used = used.saturating_add(columns);
        if let Some(last) = pieces.last_mut() {
            last.push(letter);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_and_a_long_one_is_broken() {
        assert_eq!(
            wrap("Enter these tokens in this order:", 12),
            ["Enter these", "tokens in", "this order:"]
        );
        assert_eq!(wrap("ab abcdefghij", 4), ["ab", "abcd", "efgh", "ij"]);
        assert_eq!(wrap("李李李", 4), ["李李", "李"]);
        assert_eq!(wrap("  ", 4), Vec::<String>::new());
    }
}
