//! What an ordinary receipt says in each format.

use messages::{Language, ReceiptText};
use receipt::{CodePage, Columns};

use crate::sales::{MESSAGES, Texts, key_change, one_token, with_receipt};

fn text(language: Language, columns: Columns) -> String {
    with_receipt(&Texts::default(), Some(&one_token()), language, |receipt| receipt.text(columns))
}

#[test]
fn the_narrow_paper_has_32_columns_and_the_token_in_groups_of_four() {
    let lines = "
       Comércio São João
            Receipt
--------------------------------
Electricity           BWP 100.00
Provider
      Botswana Power Corporation
Meter number         07000010012
Customer           KAGISO MODISE
Date        2026-11-20 13:00 CAT
Ref       TOP/2026/11/0000004217
Sale no.        SALE-2026-000187
Provider ref
            20261120130001000187
--------------------------------
Token
0717 9199 7615 0257 6865
Units                   66.6 kWh
--------------------------------
Cost of units          BWP 85.72
VAT                    BWP 12.28
Levy                    BWP 2.00
Amount                BWP 100.00
Service charge          BWP 1.50
Total paid            BWP 101.50
--------------------------------
           Obrigado!
        Tel. 71 234 567
";
    assert_eq!(text(Language::English, Columns::Narrow), lines.trim_start_matches('\n'));
}

#[test]
fn the_labels_are_in_the_language_of_the_receipt() {
    let french = text(Language::French, Columns::Wide);
    for line in ["Reçu", "Code\n", "TVA                              BWP 12.28", "Total payé "] {
        assert!(french.contains(line), "{line}: {french}");
    }
    assert!(text(Language::Portuguese, Columns::Wide).contains("\nIVA   "));
}

#[test]
fn several_tokens_are_numbered_in_the_order_of_entry() {
    let (texts, tokens) = (Texts::default(), key_change());
    let said =
        with_receipt(&texts, Some(&tokens), Language::Portuguese, |receipt| receipt.text(Columns::Narrow));
    let expected = "Introduza estes códigos por esta\nordem:\n1. Mudança de chave\n1111 2222 3333 4444 5555\n\
                    2. Mudança de chave\n2222 3333 4444 5555 6666\n3. Crédito\n3333 4444 5555 6666 7777\n";
    assert!(said.contains(expected), "{said}");
    let page = with_receipt(&texts, Some(&tokens), Language::Portuguese, |receipt| receipt.html());
    assert_eq!(page.matches("<li>").count(), 3);
}

#[test]
fn a_token_that_was_erased_is_said_to_be_gone() {
    let said =
        with_receipt(&Texts::default(), None, Language::English, |receipt| receipt.text(Columns::Narrow));
    assert!(said.contains("The token is no longer stored.\nUnits"), "{said}");
}

#[test]
fn a_printer_gets_the_code_page_first_and_accents_as_single_bytes() {
    let job = |page| {
        with_receipt(&Texts::default(), Some(&one_token()), Language::French, |receipt| {
            receipt.escpos(Columns::Narrow, page)
        })
    };
    for (page, begin, word) in [
        (CodePage::Windows1252, &b"\x1b@\x1bt\x10\x1bE\x01"[..], &b"Re\xe7u"[..]),
        (CodePage::Pc850, b"\x1b@\x1bt\x02\x1bE\x01", b"Re\x87u"),
        (CodePage::Ascii, b"\x1b@\x1bE\x01", b"Recu"),
    ] {
        let bytes = job(page);
        assert!(bytes.starts_with(begin), "{page:?}");
        assert!(bytes.windows(word.len()).any(|some| some == word), "{page:?}");
        assert!(bytes.ends_with(b"\x1dVA\x18"), "{page:?}");
    }
    let large = b"\x1bE\x01\x1d!\x010717 9199 7615 0257 6865\n\x1d!\x00\x1bE\x00";
    assert!(job(CodePage::Pc850).windows(large.len()).any(|some| some == large));
}

#[test]
fn a_page_has_its_language_headings_and_nothing_to_load() {
    let page =
        with_receipt(&Texts::default(), Some(&one_token()), Language::French, |receipt| receipt.html());
    for part in [
        "<html lang=\"fr\">",
        "<title>Reçu - Comércio São João</title>",
        "<th scope=\"row\">Numéro de compteur</th><td>07000010012</td>",
        "<div class=\"token\">0717 9199 7615 0257 6865</div>",
        "@media print",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for loading in ["http", "src=", "href=", "url(", "@import", "<script", "<img"] {
        assert!(!page.contains(loading), "{loading}: {page}");
    }
}

#[test]
fn a_pdf_has_one_page_with_standard_fonts_and_is_always_the_same() {
    let file =
        || with_receipt(&Texts::default(), Some(&one_token()), Language::French, |receipt| receipt.pdf());
    let bytes = file();
    assert_eq!(bytes, file());
    let latin: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    assert!(latin.starts_with("%PDF-1.") && latin.trim_end().ends_with("%%EOF"));
    for part in ["/Courier", "/WinAnsiEncoding", "/Count 1", "/Lang (fr)", "(0717 9199 7615 0257 6865) Tj"] {
        assert!(latin.contains(part), "{part}: {latin}");
    }
    assert!(latin.contains("52 65 E7 75") || latin.contains("5265E775"), "no accent: {latin}");
}

#[test]
fn every_language_has_every_text_of_a_receipt() {
    for language in Language::ALL {
        for text in ReceiptText::ALL {
            let said = MESSAGES.receipt(language, text);
            assert!(!said.is_empty() && !said.contains(['{', '$', '\n']), "{language:?} {text:?}: {said}");
        }
    }
}
