//! Certificates as they were issued, and the keys that have signed any.

use std::sync::Arc;

use certificate::{Issued, PublicKey, Salt};
use database::{DatabaseError, Run, Statement, prepared};
use diesel::{
    QueryableByName,
    sql_types::{BigInt, Binary, Integer, Text},
};
use purchase::{OrganisationId, PurchaseId};

use crate::{Aad, SealError, Sealed, SealingKeys, Store};

/// The column for which the salt of a certificate is sealed.
const SALT_COLUMN: &str = "certificates.sealed_salt";

/// Why a certificate was not kept.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// Its salt could not be sealed.
    #[error("the salt of a certificate could not be sealed")]
    Sealing(#[from] SealError),
    /// The database did not keep it.
    #[error("a certificate could not be kept")]
    Database(#[from] DatabaseError),
}

struct FindCertificate;

impl Statement for FindCertificate {
    const SQL: &str = "-- find_certificate
SELECT c.purchase_id, c.public_key, c.certificate, c.sealed_salt, c.salt_key_id
FROM certificates c JOIN purchases p ON p.id = c.purchase_id
WHERE c.purchase_id = $1 AND p.organisation_id = $2";
}

/// The first of two that are issued at the same time stays.
struct InsertCertificate;

impl Statement for InsertCertificate {
    const SQL: &str = "-- insert_certificate
WITH signed_by AS (INSERT INTO certificate_keys (public_key) VALUES ($2) ON CONFLICT DO NOTHING)
INSERT INTO certificates (purchase_id, public_key, certificate, sealed_salt, salt_key_id) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING";
}

struct ListCertificateKeys;

impl Statement for ListCertificateKeys {
    const SQL: &str = "-- list_certificate_keys
SELECT public_key FROM certificate_keys ORDER BY first_used_at DESC, public_key";
}

#[derive(QueryableByName)]
struct CertificateRow {
    #[diesel(sql_type = BigInt)]
    purchase_id: i64,
    #[diesel(sql_type = Binary)]
    public_key: Vec<u8>,
    #[diesel(sql_type = Text)]
    certificate: String,
    #[diesel(sql_type = Binary)]
    sealed_salt: Vec<u8>,
    #[diesel(sql_type = Integer)]
    salt_key_id: i32,
}

#[derive(QueryableByName)]
struct KeyRow {
    #[diesel(sql_type = Binary)]
    public_key: Vec<u8>,
}

impl Store {
    /// The certificate of a purchase as it was issued, if it was and the purchase belongs to the organisation.
    pub async fn find_certificate(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
    ) -> Result<Option<Issued>, DatabaseError> {
        let sealing = self.sealing.clone();
        self.database
            .read(move |connection| {
                Box::pin(async move {
                    let find = prepared::<FindCertificate>()
                        .bind::<BigInt, _>(id.0)
                        .bind::<BigInt, _>(organisation.0);
                    let rows: Vec<CertificateRow> = find.load(connection).await?;
                    rows.into_iter().next().map(|row| row.read(&sealing)).transpose()
                })
            })
            .await
    }

    /// Keeps a certificate, unless the purchase has one. Returns the one that it has from now on.
    ///
    /// # Errors
    /// The database refuses it if the purchase is open, or if the certificate says another end than the purchase had.
    pub async fn keep_certificate(
        &self,
        organisation: OrganisationId,
        id: PurchaseId,
        issued: Issued,
    ) -> Result<Option<Issued>, CertificateError> {
        let sealed = self.sealing.seal(issued.salt.bytes(), salt_place(id.0))?;
        let written = self.database.operate(move |transaction| {
            Box::pin(async move {
                let insert = prepared::<InsertCertificate>()
                    .bind::<BigInt, _>(id.0)
                    .bind::<Binary, _>(issued.public_key.bytes().as_slice())
                    .bind::<Text, _>(&issued.certificate)
                    .bind::<Binary, _>(&sealed.bytes)
                    .bind::<Integer, _>(sealed.key_id);
                insert.execute(transaction).await
            })
        });
        written.await?;
        Ok(self.find_certificate(organisation, id).await?)
    }

    /// The public halves of all keys that have signed a certificate, the newest first.
    pub async fn list_certificate_keys(&self) -> Result<Vec<PublicKey>, DatabaseError> {
        let rows = self.database.read(move |connection| {
            Box::pin(async move { prepared::<ListCertificateKeys>().load::<KeyRow>(connection).await })
        });
        rows.await?.iter().map(|row| public_key("certificate_keys", 0, &row.public_key)).collect()
    }
}

impl CertificateRow {
    fn read(self, sealing: &Arc<SealingKeys>) -> Result<Issued, DatabaseError> {
        let corrupt = |source: Option<SealError>| DatabaseError::Corrupt {
            table: "certificates",
            column: "sealed_salt",
            key: self.purchase_id.to_string(),
            source: source.map(Into::into),
        };
        let sealed = Sealed { key_id: self.salt_key_id, bytes: self.sealed_salt };
        let salt =
            sealing.open(&sealed, salt_place(self.purchase_id)).map_err(|error| corrupt(Some(error)))?;
        let salt = salt.as_slice().try_into().map_err(|_other_length| corrupt(None))?;
        Ok(Issued {
            public_key: public_key("certificates", self.purchase_id, &self.public_key)?,
            certificate: self.certificate,
            salt: Salt::new(salt),
        })
    }
}

fn public_key(table: &'static str, row: i64, bytes: &[u8]) -> Result<PublicKey, DatabaseError> {
    PublicKey::try_from(bytes).map_err(|_malformed| DatabaseError::corrupt(table, "public_key", row))
}

fn salt_place(purchase: i64) -> Aad {
    Aad { row_id: purchase, column: SALT_COLUMN }
}
