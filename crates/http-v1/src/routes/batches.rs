//! The batches of an organisation: made whole or not at all, read, paused, resumed and cancelled.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::CONTENT_TYPE,
    web::{Data, Path, Payload, block},
};

use error_codes::ErrorCode;
use identity::{Identity, Permission};
use purchase::PurchaseRequest;
use vend::Product;
use vending::{BatchChangeError, BatchError, Change, NewBatch, OPEN_BATCHES_MAX, Rejection, Vending};
use web::{
    ApiError, Asked, Detail, Fields, LargeBody, RequestContext, SharedState, authorised, authority, found,
    not_read, read_large_body, rejected, set_language_of,
};

use crate::{
    requests::{self, Format, SentBatch, limits::BATCH_BYTES_MAX},
    wire,
    wire::NEXT_CURSOR,
};

/// `GET /public/v1/batches`
pub async fn list(
    request: HttpRequest,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::BatchesRead).await?;
    let (before, limit) = requests::batch_list_query(&request)?;
    let batches = vending.batch_list(authority(&caller).organisation, before, limit).await;
    let batches = batches.map_err(not_read)?;
    Ok(HttpResponse::Ok().json(wire::BatchPage::new(batches, limit, &SharedState::of(&request))))
}

/// `POST /public/v1/batches/create`: checked whole, and stored whole or not at all. No money moves here.
pub async fn create(
    request: HttpRequest,
    payload: Payload,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::BatchesManage).await?;
    let body = read_large_body(&request, payload, BATCH_BYTES_MAX).await?;
    let SentBatch { reference, lines } = sent(&request, body).await?;
    let lines = all_right(lines)?;
    let context = RequestContext::of(&request);
    let request_id = Some(context.request_id().as_str().to_owned());
    let products: Vec<_> = lines.iter().map(|line| line.product).collect();
    let new = NewBatch { authority: authority(&caller), request_id, reference, lines };
    let made = vending.add_batch(new).await.map_err(|error| match error {
        BatchError::Lines(wrong) => not_for_sale(&wrong, &products),
        BatchError::Malformed => ApiError::new(Detail::BatchTooLarge).about("lines"),
        BatchError::OtherContent => ApiError::new(Detail::BatchReferenceReused).about("reference"),
        BatchError::TooMany => ApiError::new(Detail::TooManyBatches).with("limit", OPEN_BATCHES_MAX),
        BatchError::Failed(error) => not_read(error),
    })?;
    Ok(HttpResponse::Ok().json(wire::Batch::new(made, &SharedState::of(&request))))
}

/// `GET /public/v1/batches/{id}`: the batch of another organisation is answered as one that does not exist.
pub async fn one(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::BatchesRead).await?;
    let id = requests::batch_in_path(&id)?;
    let batch = found(vending.batch(authority(&caller).organisation, id).await.map_err(not_read)?)?;
    Ok(HttpResponse::Ok().json(wire::Batch::new(batch, &SharedState::of(&request))))
}

/// `GET /public/v1/batches/{id}/lines`
pub async fn lines(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(&request, &identity, Permission::BatchesRead).await?;
    let id = requests::batch_in_path(&id)?;
    let query = requests::batch_lines_query(&request)?;
    let organisation = authority(&caller).organisation;
    let lines = vending.batch_lines(organisation, id, query.after, query.state, query.limit).await;
    let lines = found(lines.map_err(not_read)?)?;
    let language = RequestContext::of(&request).language();
    let page = wire::BatchLinePage::new(&lines, query.limit, &SharedState::of(&request), language);
    let mut answer = HttpResponse::Ok();
    if let Some(cursor) = page.next_cursor() {
        answer.insert_header((NEXT_CURSOR, cursor));
    }
    if query.format == Format::Csv {
        let rows = page.to_csv();
        let rows =
            rows.map_err(|error| ApiError::new(ErrorCode::InternalError).because(error.to_string()))?;
        return Ok(answer.content_type("text/csv; charset=utf-8").body(rows));
    }
    Ok(answer.json(page))
}

/// `POST /public/v1/batches/{id}/pause`
pub async fn pause(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    change(&request, &id, &identity, &vending, Change::Pause).await
}

/// `POST /public/v1/batches/{id}/resume`
pub async fn resume(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    change(&request, &id, &identity, &vending, Change::Resume).await
}

/// `POST /public/v1/batches/{id}/cancel`
pub async fn cancel(
    request: HttpRequest,
    id: Path<String>,
    identity: Data<Identity>,
    vending: Data<Vending>,
) -> Result<HttpResponse, ApiError> {
    change(&request, &id, &identity, &vending, Change::Cancel).await
}

async fn change(
    request: &HttpRequest,
    id: &str,
    identity: &Identity,
    vending: &Vending,
    change: Change,
) -> Result<HttpResponse, ApiError> {
    let caller = authorised(request, identity, Permission::BatchesManage).await?;
    let id = requests::batch_in_path(id)?;
    let changed =
        vending.change_batch(&authority(&caller), id, change).await.map_err(|error| match error {
            BatchChangeError::Absent => ApiError::new(ErrorCode::ResourceNotFound),
            BatchChangeError::Not(status) => {
                ApiError::new(Detail::BatchNotSo).with("status", status.as_str())
            }
            BatchChangeError::Failed(error) => not_read(error),
        })?;
    Ok(HttpResponse::Ok().json(wire::Batch::new(changed, &SharedState::of(request))))
}

/// The batch in the body. Beside JSON, the query would be ignored, so it is refused.
async fn sent(request: &HttpRequest, body: LargeBody) -> Result<SentBatch, ApiError> {
    let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if media_type.is_some_and(crate::routes::is_csv) {
        let query = requests::batch_query(request)?;
        set_language_of(request, &query);
        return apart(move || requests::batch_of_table(&query, &body.bytes)).await;
    }
    if !request.query_string().is_empty() {
        return Err(ApiError::new(Detail::NoParameters).about("query"));
    }
    let (fields, body) = apart(move || Ok((Fields::parse(&body.bytes)?, body))).await?;
    set_language_of(request, &fields);
    // The body holds a place among the large ones until it is read, also when its caller has gone.
    apart(move || requests::batch_of_json(&fields).inspect(|_read| drop(body))).await
}

/// Reads on a thread of its own: thousands of lines take the processor for longer than the other requests of this thread should wait.
async fn apart<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let cut_off =
        |_| ApiError::new(ErrorCode::InternalError).because("the thread that read a batch has ended");
    block(read).await.map_err(cut_off)?
}

/// The lines if all are right. Otherwise what is wrong with each of the others.
fn all_right(lines: Vec<Result<PurchaseRequest, ApiError>>) -> Result<Vec<PurchaseRequest>, ApiError> {
    let count = lines.len();
    let mut right = Vec::with_capacity(count);
    let mut wrong = Vec::new();
    for (line, number) in lines.into_iter().zip(1..) {
        match line {
            Ok(line) => right.push(line),
            Err(why) => wrong.push((number, why)),
        }
    }
    if wrong.is_empty() { Ok(right) } else { Err(wrong_lines(wrong, count)) }
}

/// What is wrong with the account is wrong with all lines, so it is reported once.
fn not_for_sale(wrong: &[(usize, Rejection)], products: &[Product]) -> ApiError {
    let why = |index: usize, rejection: &Rejection| {
        let product = products.get(index).copied().unwrap_or(Product::Electricity);
        rejected(rejection, product, Asked::ForAQuote)
    };
    if let Some((index, rejection)) = wrong.first()
        && matches!(
            rejection,
            Rejection::UnknownAccount | Rejection::AccountNotDebitable | Rejection::OtherCurrency { .. }
        )
    {
        return why(*index, rejection);
    }
    let told = wrong.iter().map(|(index, rejection)| (index.saturating_add(1), why(*index, rejection)));
    wrong_lines(told.collect(), products.len())
}

fn wrong_lines(wrong: Vec<(usize, ApiError)>, lines: usize) -> ApiError {
    ApiError::new(Detail::LinesWrong)
        .about("lines")
        .with("wrong", wrong.len())
        .with("lines", lines)
        .with_lines(wrong)
}
