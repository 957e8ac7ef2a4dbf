//! The bytes for a receipt printer. ESC/POS has no standard; these commands of Epson are those that all its printers and
//! their clones understand.

use crate::{
    charset::CodePage,
    lines::{Line, Style},
};

const ESC: u8 = 0x1b;
const GS: u8 = 0x1d;
const LF: u8 = 0x0a;
/// `ESC @`: forgets what was set before.
const RESET: [u8; 2] = [ESC, b'@'];
/// `GS V A n`: feeds the paper to the knife and `n` dots beyond, and cuts it. A printer without a knife only feeds.
const CUT: [u8; 4] = [GS, b'V', b'A', 24];

/// The whole job. The lines have only characters of the page.
pub(crate) fn write(lines: &[Line], page: CodePage) -> Vec<u8> {
    let mut bytes = RESET.to_vec();
    bytes.extend(page.number().into_iter().flat_map(|number| [ESC, b't', number]));
    for line in lines {
        let is_large = line.style == Style::Token;
        let is_strong = is_large || line.style == Style::Strong;
        if is_strong {
            bytes.extend(bold(true));
        }
        if is_large {
            bytes.extend(double_height(true));
        }
        bytes.extend(line.text.chars().filter_map(|letter| page.byte(letter)));
        bytes.push(LF);
        if is_large {
            bytes.extend(double_height(false));
        }
        if is_strong {
            bytes.extend(bold(false));
        }
    }
    bytes.extend(CUT);
    bytes
}

/// `ESC E n`
fn bold(on: bool) -> [u8; 3] {
    [ESC, b'E', u8::from(on)]
}

/// `GS ! n`: the height alone, so that a line has as many columns as before.
fn double_height(on: bool) -> [u8; 3] {
    [GS, b'!', u8::from(on)]
}
