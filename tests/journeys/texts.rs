//! Texts of an integrator about a purchase: comments of several lines that are displayed safely, and references that
//! cannot be confused.

use acceptance::surface::Surface;

use crate::{
    env::{directory, env, vendctl},
    request_body::RequestBody,
};

/// A comment that imitates another answer, another row of a table and another log entry if it is printed without
/// escaping.
const COMMENT: &str = "for the kiosk\r\n\tSUCCESSFUL <b>&\n{\"level\":\"ERROR\"}";

/// One invisible character of each kind: format, private use, unassigned, filler, variation selector.
const UNSEEN: [(&str, &str); 9] = [
    ("soft hyphen", "\u{ad}"),
    ("zero-width space", "\u{200b}"),
    ("zero-width joiner", "\u{200d}"),
    ("word joiner", "\u{2060}"),
    ("tag", "\u{e0041}"),
    ("private use", "\u{e000}"),
    ("unassigned", "\u{378}"),
    ("filler", "\u{3164}"),
    ("variation selector", "\u{fe0f}"),
];

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[tokio::test]
async fn a_comment_keeps_its_lines_and_tabs_and_shows_them_harmlessly() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let order = merchant.order(&meter).reference("lines-1").with("comment", &quoted(COMMENT));
    let bought = merchant.confirm(&order).await.expect(200);
    let read = merchant.get(&format!("/public/v1/purchases/{}", bought.id())).await.expect(200);
    assert_eq!(read.str("/comment"), COMMENT);
    assert_eq!(read.header("content-type"), Some("application/json"));
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));

    let id = bought.id().to_string();
    for form in [&["purchases", "show", &*id][..], &["--json", "purchases", "show", &id]] {
        let told = operator(form);
        let command = told.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(command, None, "{told:?}");
        let forged =
            |line: &str| line.trim_start().starts_with("SUCCESSFUL") || line.starts_with("{\"level\"");
        assert!(!told.lines().any(forged), "{told}");
    }
    let shown: serde_json::Value =
        serde_json::from_str(&operator(&["--json", "purchases", "show", &id])).unwrap();
    assert_eq!(shown["comment"], COMMENT);

    let mut logs = 0;
    for file in std::fs::read_dir(directory().join("target/sandbox")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let log = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!log.contains("for the kiosk"), "a comment is in {}", path.display());
            logs += 1;
        }
    }
    assert!(logs > 0, "no log was checked");
}

#[tokio::test]
async fn a_comment_with_other_control_or_reordering_characters_is_refused() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    for command in ["\0", "\u{8}", "\u{b}", "\u{1b}[2J", "\u{85}", "\u{202e}", "\u{2028}", "\u{feff}"] {
        let order = merchant.order(&meter).with("comment", &quoted(command));
        for answer in [merchant.validate(&order).await, merchant.confirm(&order).await] {
            assert_eq!(answer.refusal(), (400, "invalid_argument", Some("comment")), "{command:?}");
        }
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_reference_and_a_tag_that_hold_what_cannot_be_seen_are_refused_on_every_call() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let current = merchant.on(Surface::Current);
    for (what, unseen) in UNSEEN {
        let reference = quoted(&format!("INV{unseen}-1"));
        let order = merchant.order(&meter).with("external_reference", &reference);
        let question = RequestBody::retry(&meter, "x").with("external_reference", &reference);
        let asked = merchant.post("/public/v1/purchases/retry", &question.body()).await;
        for answer in [merchant.validate(&order).await, merchant.confirm(&order).await, asked] {
            assert_eq!(answer.refusal(), (400, "invalid_argument", Some("external_reference")), "{what}");
            assert!(answer.sentence().contains("invisible"), "{}", answer.text);
        }
        let order = current.order(&meter).with("source_tag", &reference);
        for answer in [current.validate(&order).await, current.confirm(&order).await] {
            assert_eq!((answer.status, answer.refusal().1), (400, "invalid_argument"), "{what}");
            assert!(answer.text.contains("source_tag"), "{}", answer.text);
        }
    }
    assert_eq!(merchant.rows(), "0|0|0|0|0");
}

#[tokio::test]
async fn a_reference_may_be_written_in_any_script() {
    let (merchant, meter) = (env().open_merchant().await, env().meter());
    let reference = "№ 5 / ÄẞЖ 中文 ไทย हिन्दी العربية 🧾";
    let order = merchant.order(&meter).with("external_reference", &quoted(reference));
    let bought = merchant.confirm(&order).await.expect(200);
    assert_eq!(merchant.retry(&meter, reference).await.expect(200).id(), bought.id());
}

fn operator(words: &[&str]) -> String {
    let output =
        vendctl(&env().info().operator_settings).args(["--actor", "naledi"]).args(words).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
