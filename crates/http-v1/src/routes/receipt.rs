//! The customer's receipt of a purchase, in four formats.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY},
    web::{Data, Path},
};

use identity::{Identity, Permission};
use purchase::{PrintedPurchase, Success};
use receipt::{Receipt, Seller};
use vending::Vending;
use web::{ApiError, Language, SharedState, authorised, authority, found, not_read};

use crate::{
    requests::{self, ReceiptFormat, ReceiptQuery},
    wire,
};

/// The page has its style in itself, and nothing else may run or be loaded.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// `GET /public/v1/purchases/{id}/receipt`: the purchase of another organisation is answered as one that does not exist.
pub async fn receipt(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::PurchasesRead).await?;
    let id = requests::purchase_in_path(&id)?;
    let query = requests::receipt_query(&request)?;
    let printed = vending.printed_purchase(authority(&caller).organisation, id).await.map_err(not_read)?;
    let printed = found(printed)?;
    let success = wire::sold(&printed.record)?;
    let shared = SharedState::of(&request);
    Ok(written(&printed, success, &caller.organisation.name, query, &shared))
}

fn written(
    printed: &PrintedPurchase,
    success: &Success,
    seller: &str,
    query: ReceiptQuery,
    shared: &SharedState,
) -> HttpResponse {
    let record = &printed.record;
    let language =
        query.language.unwrap_or_else(|| Language::negotiate(&record.language).unwrap_or_default());
    let sold_at = wire::printed_date(record.created_at, shared.zone());
    let receipt = Receipt {
        messages: shared.messages(),
        language,
        seller: Seller { name: seller, footer: printed.footer.as_deref() },
        sale: wire::sale(printed, success, language, &sold_at),
    };
    let mut answer = HttpResponse::Ok();
    let name = |ending| format!("inline; filename=\"receipt-{}.{ending}\"", record.id.0);
    match query.format {
        ReceiptFormat::Text => {
            answer.content_type("text/plain; charset=utf-8").body(receipt.text(query.columns))
        }
        ReceiptFormat::EscPos => answer
            .content_type(ReceiptFormat::EscPos.media_type())
            .insert_header((CONTENT_DISPOSITION, name("bin")))
            .body(receipt.escpos(query.columns, query.code_page)),
        ReceiptFormat::Html => answer
            .content_type("text/html; charset=utf-8")
            .insert_header((CONTENT_SECURITY_POLICY, PAGE_POLICY))
            .body(receipt.html()),
        ReceiptFormat::Pdf => answer
            .content_type(ReceiptFormat::Pdf.media_type())
            .insert_header((CONTENT_DISPOSITION, name("pdf")))
            .body(receipt.pdf()),
    }
}
