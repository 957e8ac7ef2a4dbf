//! Bars of amounts as SVG, without a script. A table beside has the same amounts, so a chart is one picture for a screen reader.

use maud::{Markup, html};

use crate::{text::Text, translator::Translator};

/// Bars with one measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chart {
    /// What the bars add up, such as `BWP, BPC`.
    pub(crate) of: String,
    pub(crate) currency: String,
    pub(crate) kind: Kind,
    pub(crate) bars: Vec<Bar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One after the other in time, standing.
    Days,
    /// Beside each other, lying, because their names are long.
    Names,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) label: String,
    /// Hundredths of the currency. Below zero it has no length.
    pub(crate) hundredths: i64,
}

/// The length of the longest bar, in units of the picture.
const SPAN: i64 = 200;
/// The room for an amount or a name beside the bars.
const MARGIN: i64 = 130;
/// The room above the bars, and for the labels below them.
const HEAD: i64 = 12;
const FOOT: i64 = 28;
/// The room of a label below the bars.
const LABEL: i64 = 84;
/// The height for one horizontal bar, and the part of it that is drawn.
const ROW: i64 = 26;
const THICKNESS: i64 = 18;
/// The lines with amounts are this many and the one at zero.
const STEPS: i64 = 4;

impl Chart {
    pub(crate) fn html(&self, translator: Translator) -> Markup {
        let title = translator.text_with(Text::ChartTitle, &[("of", &self.of)]);
        let greatest = self.bars.iter().max_by_key(|bar| bar.hundredths);
        let told = greatest.map(|bar| {
            let amount = self.amount(bar.hundredths);
            translator.text_with(Text::ChartTold, &[("amount", &amount), ("label", &bar.label)])
        });
        html! {
            figure {
                figcaption { (title) }
                div class="scroll" role="region" aria-label=(title) tabindex="0" {
                    @match self.kind {
                        Kind::Days => (self.standing(&told.unwrap_or_default())),
                        Kind::Names => (self.lying(&told.unwrap_or_default())),
                    }
                }
            }
        }
    }

    fn standing(&self, told: &str) -> Markup {
        let count = i64::try_from(self.bars.len()).unwrap_or(1).max(1);
        let step = (640 / count).clamp(8, 60);
        let (width, bottom) = (MARGIN + step * count + LABEL / 2, HEAD + SPAN);
        let every = LABEL / step + 1;
        let top = self.top();
        html! {
            svg class="chart" role="img" aria-label=(told) width=(width) height=(bottom + FOOT)
                viewBox={ "0 0 " (width) " " (bottom + FOOT) } {
                @for line in 0..=STEPS {
                    @let y = bottom - SPAN * line / STEPS;
                    line x1=(MARGIN) y1=(y) x2=(width) y2=(y) {}
                    text class="amount" x=(MARGIN - 8) y=(y + 4) { (plain(scaled(top, line, STEPS))) }
                }
                @for (nth, bar) in (0..).zip(&self.bars) {
                    @let (x, height) = (MARGIN + step * nth, scaled(SPAN, bar.hundredths.max(0), top));
                    rect x=(x + 1) y=(bottom - height) width=(step - 2) height=(height) {
                        title { (bar.label) ": " (self.amount(bar.hundredths)) }
                    }
                    @if nth % every == 0 { text class="label" x=(x + step / 2) y=(bottom + 18) { (bar.label) } }
                }
            }
        }
    }

    fn lying(&self, told: &str) -> Markup {
        let count = i64::try_from(self.bars.len()).unwrap_or(1);
        let (width, height) = (MARGIN + SPAN + MARGIN, HEAD + ROW * count);
        let top = self.top();
        html! {
            svg class="chart" role="img" aria-label=(told) width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                @for (nth, bar) in (0..).zip(&self.bars) {
                    @let (y, length) = (HEAD + ROW * nth, scaled(SPAN, bar.hundredths.max(0), top));
                    text class="amount" x=(MARGIN - 8) y=(y + 14) { (bar.label) }
                    rect x=(MARGIN) y=(y) width=(length) height=(THICKNESS) {}
                    text x=(MARGIN + length + 8) y=(y + 14) { (plain(bar.hundredths)) }
                }
            }
        }
    }

    fn amount(&self, hundredths: i64) -> String {
        format!("{} {}", self.currency, plain(hundredths))
    }

    /// What the longest possible bar stands for: 1, 2 or 5 and zeros, and not less than any bar.
    fn top(&self) -> i64 {
        let greatest = self.bars.iter().map(|bar| bar.hundredths).max().unwrap_or_default();
        let decades = std::iter::successors(Some(100_i64), |decade| decade.checked_mul(10));
        let mut tops = decades.flat_map(|decade| [1, 2, 5].map(|first| decade.saturating_mul(first)));
        tops.find(|top| *top >= greatest).unwrap_or(i64::MAX)
    }
}

/// `whole * part / of`, rounded down.
fn scaled(whole: i64, part: i64, of: i64) -> i64 {
    let scaled = i128::from(whole) * i128::from(part) / i128::from(of.max(1));
    i64::try_from(scaled).unwrap_or(i64::MAX)
}

/// An amount as everywhere, in every language.
fn plain(hundredths: i64) -> String {
    let (sign, size) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, amounts: &[i64]) -> Chart {
        let bar = |(nth, hundredths): (usize, &i64)| Bar {
            label: format!("2026-11-{:02}", nth + 1),
            hundredths: *hundredths,
        };
        let bars = amounts.iter().enumerate().map(bar).collect();
        Chart { of: "BWP".to_owned(), currency: "BWP".to_owned(), kind, bars }
    }

    #[test]
    fn the_longest_bar_ends_below_a_round_amount() {
        for (amounts, top) in
            [(&[][..], 100), (&[1], 100), (&[101, 7], 200), (&[20_001], 50_000), (&[i64::MAX], i64::MAX)]
        {
            assert_eq!(of(Kind::Days, amounts).top(), top, "{amounts:?}");
        }
    }

    #[test]
    fn bars_are_as_long_as_their_amounts_and_the_greatest_is_told() {
        let standing = of(Kind::Days, &[10_000, 0, 5_000, -300]).html(Translator::default()).into_string();
        let heights: Vec<&str> = standing
            .split("<rect")
            .skip(1)
            .map(|bar| bar.split("height=\"").nth(1).unwrap().split('"').next().unwrap())
            .collect();
        assert_eq!(heights, ["200", "0", "100", "0"]);
        assert!(standing.contains("BWP 100.00 (2026-11-01)"), "{standing}");
        let lying = of(Kind::Names, &[10_000, 2_500]).html(Translator::default()).into_string();
        assert!(
            lying.contains("width=\"200\" height=\"18\"") && lying.contains("width=\"50\" height=\"18\"")
        );
        assert!(!standing.contains("style=") && !lying.contains("style="));
    }
}
