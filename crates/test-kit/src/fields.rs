//! The fields of the requests of the versioned surface, as its specification has them.

/// The fields that every validate and confirm must have, in the order in which they are checked.
pub const REQUIRED_FOR_A_PURCHASE: [&str; 9] = [
    "source_channel",
    "language",
    "product_type",
    "provider_code",
    "debited_account_id",
    "beneficiary_phone_number",
    "subscriber_identifier",
    "amount",
    "currency",
];
