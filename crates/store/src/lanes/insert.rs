//! Writes the accepted reserves of a group: the purchase and its first attempt.

use database::{DatabaseError, Statement, Writes, column, prepared};
use diesel::sql_types::{Array, BigInt, Bool, Bytea, Integer, Nullable, Text, Timestamptz};
use purchase::KeyedRequest;

use super::reserve::{Accepted, Reserves};

struct InsertPurchases;

impl Statement for InsertPurchases {
    const SQL: &str = include_str!("../sql/insert_purchases.sql");
}

impl Reserves<'_> {
    /// Sends the accepted reserves. Collides if another process took the subscriber or the key meanwhile.
    pub(super) async fn write(&self, writes: &mut Writes) -> Result<(), DatabaseError> {
        if self.accepted.is_empty() {
            return Ok(());
        }
        let a = &self.accepted;
        let insert = prepared::<InsertPurchases>()
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.id.0))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.reference.as_str()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.authority.organisation.0))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.authority.client.0))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.authority.user.0))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.request.debited_account.0))
            .bind::<Array<Nullable<BigInt>>, _>(column(a, |x| x.commission_account.map(|id| id.0)))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.source_channel.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.language.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.product.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.provider_code.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.subscriber.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.request.beneficiary_phone_number.as_str()))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.price.total.currency().to_string()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.price.entry.minor()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.price.charge.minor()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.price.net.minor()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.price.total.minor()))
            .bind::<Array<BigInt>, _>(column(a, |x| x.reservation.price.commission.minor()))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| {
                x.reservation.request.external_reference.as_deref()
            }))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| x.reservation.request.comment.as_deref()))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| x.reservation.request.source_tag.as_deref()))
            .bind::<Array<Bool>, _>(column(a, |x| x.reservation.request.notifications.requester_sms))
            .bind::<Array<Bool>, _>(column(a, |x| x.reservation.request.notifications.beneficiary_sms))
            .bind::<Array<Bool>, _>(column(a, |x| x.reservation.request.notifications.requester_email))
            .bind::<Array<Bool>, _>(column(a, |x| x.reservation.request.notifications.beneficiary_email))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| x.reservation.subscriber_details.as_deref()))
            .bind::<Array<Text>, _>(column(a, |x| x.reserved.lifecycle.handling.as_str()))
            .bind::<Array<Timestamptz>, _>(column(a, |x| x.reserved.at))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(a, |x| x.reserved.lifecycle.lease_until))
            .bind::<Array<Timestamptz>, _>(column(a, |x| x.reserved.lifecycle.window_closes_at))
            .bind::<Array<Text>, _>(column(a, |x| x.reservation.provider_reference.to_string()))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| keyed(x).map(|keyed| keyed.key.as_str())))
            .bind::<Array<Nullable<Integer>>, _>(column(a, |x| x.use_of_key))
            .bind::<Array<Nullable<Bytea>>, _>(column(a, |x| {
                keyed(x).map(|keyed| keyed.hash.as_bytes().as_slice())
            }))
            .bind::<Array<Nullable<Text>>, _>(column(a, |x| x.reservation.request_id.as_deref()))
            .bind::<Array<Nullable<Timestamptz>>, _>(column(a, |x| x.due_at));
        writes.send(insert).await
    }
}

const fn keyed<'a>(accepted: &Accepted<'a>) -> Option<&'a KeyedRequest> {
    accepted.reservation.keyed.as_ref()
}
