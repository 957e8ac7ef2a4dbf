//! A value inside a text that `Debug` wrote. The settings cannot be written in another way: they hold secrets.

/// The value of a field in the first struct or map of `shown`: it may be inside `Some(…)` and the like.
pub fn field<'a>(shown: &'a str, name: &str) -> Option<&'a str> {
    let brace = shown.find('{')?;
    let is_wrapped = |letter: char| letter.is_alphanumeric() || " ()_".contains(letter);
    if !shown[..brace].chars().all(is_wrapped) {
        return None;
    }
    parts(&shown[brace + 1..]).into_iter().find_map(|part| {
        let (found, value) = part.split_once(": ")?;
        (found.trim().trim_matches('"') == name).then(|| value.trim())
    })
}

/// The parts up to the closing brace, between the commas that are in no further bracket and in no text.
fn parts(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for (place, letter) in inside.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => (),
            '{' | '(' | '[' => depth += 1,
            ',' | '}' if depth == 0 => {
                parts.push(&inside[start..place]);
                start = place + 1;
                if letter == '}' {
                    break;
                }
            }
            '}' | ')' | ']' => depth -= 1,
            _ => (),
        }
    }
    parts
}

#[test]
fn a_field_is_found_in_nested_structs_maps_and_options() {
    let shown =
        r#"All { a: Some(One { text: "b: 1, {", list: [1, 2] }), b: {"x": Web(Two { c: 3 })}, c: 4 }"#;
    let one = field(shown, "a").unwrap();
    assert_eq!(field(one, "text"), Some(r#""b: 1, {""#));
    assert_eq!(field(one, "list"), Some("[1, 2]"));
    let named = field(field(shown, "b").unwrap(), "x").unwrap();
    assert_eq!((field(named, "c"), field(shown, "c"), field(shown, "d")), (Some("3"), Some("4"), None));
}
