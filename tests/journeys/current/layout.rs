//! The JSON of an answer, formatted on lines. The order, type and spelling of every value stay. Only values that
//! differ between runs are replaced by a placeholder for their exact form.

/// The text, formatted value by value. Characters outside any value stay where they are, so none is lost.
pub fn laid_out(json: &str) -> String {
    let mut layout = Layout { rest: json, out: String::new(), depth: 0 };
    layout.value("");
    layout.out + layout.rest
}

struct Layout<'a> {
    rest: &'a str,
    out: String,
    depth: usize,
}

impl<'a> Layout<'a> {
    fn value(&mut self, path: &str) {
        match self.rest.chars().next() {
            Some('{') => self.members('}', |layout| {
                let name = layout.scalar();
                layout.out.push_str(name);
                layout.out.push_str(layout.rest.get(..1).unwrap_or_default());
                layout.out.push(' ');
                layout.rest = layout.rest.get(1..).unwrap_or_default();
                layout.value(&format!("{path}/{}", name.trim_matches('"')));
            }),
            Some('[') => self.members(']', |layout| layout.value(&format!("{path}/*"))),
            Some(_) | None => {
                let raw = self.scalar();
                self.out.push_str(&masked(path, raw));
            }
        }
    }

    fn members(&mut self, end: char, member: impl Fn(&mut Self)) {
        self.take();
        self.depth += 1;
        while !self.rest.is_empty() && !self.rest.starts_with(end) {
            self.line();
            member(self);
            if self.rest.starts_with(',') {
                self.take();
            } else if !self.rest.starts_with(end) {
                return;
            }
        }
        self.depth -= 1;
        if !self.out.ends_with(['{', '[']) {
            self.line();
        }
        self.take();
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(self.depth));
    }

    fn take(&mut self) {
        let (first, rest) = self.rest.split_at(self.rest.len().min(1));
        self.out.push_str(first);
        self.rest = rest;
    }

    /// A quoted text, or everything up to the next structural character.
    fn scalar(&mut self) -> &'a str {
        let (mut quoted, mut escaped) = (false, false);
        let end = self.rest.find(|c: char| {
            let ends = !quoted && matches!(c, ',' | '}' | ']' | ':');
            quoted ^= c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let (raw, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        raw
    }
}

/// The placeholder of a value. A value of another form stays unchanged, so the snapshot test reports it.
fn masked(path: &str, raw: &str) -> String {
    let mask = match path {
        "/id" | "/operator/id" | "/requester/id" | "/payer/id" | "/actor/id" | "/organisation/id"
        | "/accounts/*/id" => Some(number(raw, "<id>")),
        "/timestamp" => mask_form(raw, "9999999999999", "<epoch milliseconds>"),
        "/reference" => mask_form(raw, "\"TOP/9999/99/9999999999\"", "\"TOP/<year>/<month>/<10 digits>\""),
        "/access_token" => secret(raw, "vg_test_at_"),
        "/refresh_token" => secret(raw, "vg_test_rt_"),
        "/token" => Some(tokens(raw)),
        "/metadata/provider_transaction_identifier" => {
            mask_form(raw, "\"R9999999999999\"", "\"R<13 digits>\"")
        }
        _fixed => None,
    };
    mask.unwrap_or_else(|| raw.to_owned())
}

/// A placeholder for a number. Any other text stays unchanged.
pub fn number(raw: &str, name: &str) -> String {
    let fits = raw.len() < 19 && !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = raw.len() > 1 && raw.starts_with('0');
    if fits && !is_padded { name.to_owned() } else { raw.to_owned() }
}

/// The mask, if the text has this form. `9` stands for any digit.
fn mask_form(raw: &str, form: &str, mask: &str) -> Option<String> {
    let same = |(is, form): (u8, u8)| if form == b'9' { is.is_ascii_digit() } else { is == form };
    (raw.len() == form.len() && raw.bytes().zip(form.bytes()).all(same)).then(|| mask.to_owned())
}

fn secret(raw: &str, prefix: &str) -> Option<String> {
    let body = raw.strip_prefix('"')?.strip_suffix('"')?.strip_prefix(prefix)?;
    let fits = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    fits.then(|| format!("\"{prefix}<{} characters>\"", body.len()))
}

/// Replaces every run of twenty digits.
fn tokens(raw: &str) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for c in raw.chars().chain(['\n']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        out.push_str(if digits.len() == 20 { "<20 digits>" } else { &digits });
        digits.clear();
        out.push(c);
    }
    out.trim_end_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_stays_but_those_of_a_masked_value() {
        let json = r#"{"id":7,"a":[],"b":{},"c":["x,\"]}",true,null],"reference":"TOP/2026/11/0000000007"}"#;
        let expected = r#"{
  "id": <id>,
  "a": [],
  "b": {},
  "c": [
    "x,\"]}",
    true,
    null
  ],
  "reference": "TOP/<year>/<month>/<10 digits>"
}"#;
        assert_eq!(laid_out(json), expected);
    }

    #[test]
    fn a_value_of_another_type_or_form_shows() {
        for (json, shown) in [
            (r#"{"id":"7"}"#, r#""id": "7""#),
            (r#"{"id":07}"#, r#""id": 07"#),
            (r#"{"timestamp":1795132800}"#, "1795132800"),
            (r#"{"timestamp":"1795132800123"}"#, "1795132800123"),
            (r#"{"token":"1234567890123456789"}"#, "1234567890123456789"),
            (r#"{"token":12345678901234567890}"#, r#""token": <20 digits>"#),
            (r#"{"access_token":"vg_test_at_a b"}"#, "vg_test_at_a b"),
            (r#"{"a": 1}"#, r#""a":  1"#),
            ("<html>", "<html>"),
        ] {
            assert!(laid_out(json).contains(shown), "{}", laid_out(json));
        }
    }
}
