//! Details of error codes, for codes whose single message would not say what to correct.

use error_codes::ErrorCode;

/// A detail that has its own message. Its comment names the values that the message needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// A login was refused.
    Login,
    /// A refresh token was refused.
    Refresh,
    /// The organisation is suspended.
    OrganisationSuspended,
    /// The account cannot be debited. `field`.
    AccountNotDebitable,
    /// The organisation must have a default provider and has none.
    NoDefaultProvider,
    /// Not a JSON string. `field`.
    ExpectedText,
    /// Not a JSON integer. `field`.
    ExpectedInteger,
    /// Neither `true` nor `false`. `field`.
    ExpectedFlag,
    /// Not a JSON list of texts. `field`.
    ExpectedList,
    /// A text without characters. `field`.
    Empty,
    /// More characters than allowed. `field`, `limit`.
    TooLong,
    /// A control, bidirectional formatting or invisible character. `field`.
    ForbiddenCharacter,
    /// Not in the list. `field`, `allowed`.
    UnknownValue,
    /// A key appears twice in one object. `field`.
    RepeatedKey,
    /// The body is no JSON. `line`, `column`.
    NotJson,
    /// The body is a JSON value other than an object.
    NotAnObject,
    /// Objects or lists are nested too deeply. `limit`.
    TooDeep,
    /// The header fields are too large. `limit`, in bytes.
    HeadTooLarge,
    /// The request line or a header field is not valid HTTP/1.1.
    HeadBroken,
    /// A line of the head ends with a line feed alone.
    BareLineFeed,
    /// The head took too long.
    HeadTooSlow,
    /// A header field that must appear once appears twice. `field`.
    RepeatedHeader,
    /// The body is too large. `limit`, in bytes.
    BodyTooLarge,
    /// The body took too long. `limit`, in seconds.
    BodyTooSlow,
    /// The body broke off.
    BodyBroken,
    /// Not a language tag. `field`.
    BadLanguageTag,
    /// Not a currency code. `field`.
    BadCurrency,
    /// Not the currency of the account. `field`, `currency`.
    CurrencyDiffers,
    /// The product has no such provider. `field`.
    UnknownProvider,
    /// Not in the form that the product requires. `field`.
    BadIdentifier,
    /// Not 1 to 128 visible ASCII characters. `field`, `limit`.
    BadIdempotencyKey,
    /// Another request was sent with the same key. `field`.
    IdempotencyKeyReused,
    /// More than twelve digits. `field`.
    AmountTooLarge,
    /// More than two decimals. `field`.
    AmountTooFine,
    /// Zero. `field`.
    AmountNotPositive,
    /// The minimum is known. `field`, `limit`.
    MinimumIs,
    /// The maximum is known. `field`, `limit`.
    MaximumIs,
    /// The charges are known. `field`, `charge`.
    ChargesAre,
    /// Not a query parameter of the endpoint. `field`, `allowed`.
    UnknownParameter,
    /// The endpoint has no query parameters. `field`.
    NoParameters,
    /// Not the media type of a body. `field`, `allowed`.
    BadMediaType,
    /// Neither a local date and time nor one with an offset. `field`.
    BadMoment,
    /// Not a date and time. `field`.
    BadTime,
    /// Not a whole number from 1 to a limit. `field`, `limit`.
    OutOfRange,
    /// Not a day. `field`.
    BadDay,
    /// The period ends before it begins. `field`.
    PeriodBackwards,
    /// The period has more days than the limit. `field`, `limit`.
    PeriodTooLong,
    /// The period begins in the future. `field`.
    PeriodNotBegun,
    /// Not a cursor that was given out. `field`.
    BadCursor,
    /// A cursor together with filters with which it was not given out. `field`.
    CursorOfOtherFilters,
    /// Events after a cursor are no longer kept. `field`.
    EventsDeleted,
    /// Not a URL that events can be sent to. `field`.
    BadUrl,
    /// A URL without TLS. `field`.
    UrlNotHttps,
    /// A URL that leads to no public address. `field`.
    UrlNotPublic,
    /// The organisation has as many webhook endpoints as it may have. `limit`.
    TooManyEndpoints,
    /// The webhook endpoint is paused or switched off.
    EndpointNotActive,
    /// Not the id of an event. `field`.
    BadEventId,
    /// An account named in a field. `field`.
    Account,
    /// No purchase of electricity is known. There may be purchases of other products.
    NoElectricityTransaction,
    /// The purchase in question has failed, for a reason that tells the integrator nothing more.
    EarlierAttemptFailed,
    /// A call to the provider that moves no money was not answered.
    OnQuote,
    /// The provider knows the meter and has disconnected it.
    Disconnected,
    /// The provider does not know the phone number.
    PhoneNotFound,
    /// The provider does not sell to the phone number.
    PhoneBlocked,
    /// The provider cannot top up the phone number.
    PhoneUnsupported,
    /// The provider reports the phone number as invalid. `field`.
    PhoneInvalid,
    /// The phone number is not on the organisation's allow-list. `field`.
    PhoneNotAllowed,
    /// A purchase of the subscriber is open. The versioned surface says to call retry.
    PurchaseOpen,
    /// A retry has just given a final answer for the external reference.
    ReferenceRests,
    /// The caller closed its connection before the purchase began.
    CallerGone,
    /// The request of a purchase never reached its provider.
    NeverReached,
    /// A purchase has succeeded, but its token cannot be decrypted here.
    TokenUnreadable,
}

impl Detail {
    /// Every detail.
    pub const ALL: [Self; 72] = [
        Self::Login,
        Self::Refresh,
        Self::OrganisationSuspended,
        Self::AccountNotDebitable,
        Self::NoDefaultProvider,
        Self::ExpectedText,
        Self::ExpectedInteger,
        Self::ExpectedFlag,
        Self::ExpectedList,
        Self::Empty,
        Self::TooLong,
        Self::ForbiddenCharacter,
        Self::UnknownValue,
        Self::RepeatedKey,
        Self::NotJson,
        Self::NotAnObject,
        Self::TooDeep,
        Self::HeadTooLarge,
        Self::HeadBroken,
        Self::BareLineFeed,
        Self::HeadTooSlow,
        Self::RepeatedHeader,
        Self::BodyTooLarge,
        Self::BodyTooSlow,
        Self::BodyBroken,
        Self::BadLanguageTag,
        Self::BadCurrency,
        Self::CurrencyDiffers,
        Self::UnknownProvider,
        Self::BadIdentifier,
        Self::BadIdempotencyKey,
        Self::IdempotencyKeyReused,
        Self::AmountTooLarge,
        Self::AmountTooFine,
        Self::AmountNotPositive,
        Self::MinimumIs,
        Self::MaximumIs,
        Self::ChargesAre,
        Self::UnknownParameter,
        Self::NoParameters,
        Self::BadMediaType,
        Self::BadMoment,
        Self::BadTime,
        Self::OutOfRange,
        Self::BadDay,
        Self::PeriodBackwards,
        Self::PeriodTooLong,
        Self::PeriodNotBegun,
        Self::BadCursor,
        Self::CursorOfOtherFilters,
        Self::EventsDeleted,
        Self::BadUrl,
        Self::UrlNotHttps,
        Self::UrlNotPublic,
        Self::TooManyEndpoints,
        Self::EndpointNotActive,
        Self::BadEventId,
        Self::Account,
        Self::NoElectricityTransaction,
        Self::EarlierAttemptFailed,
        Self::OnQuote,
        Self::Disconnected,
        Self::PhoneNotFound,
        Self::PhoneBlocked,
        Self::PhoneUnsupported,
        Self::PhoneInvalid,
        Self::PhoneNotAllowed,
        Self::PurchaseOpen,
        Self::ReferenceRests,
        Self::CallerGone,
        Self::NeverReached,
        Self::TokenUnreadable,
    ];

    /// The code that it belongs to.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::Login | Self::Refresh => ErrorCode::InvalidCredentials,
            Self::OrganisationSuspended | Self::AccountNotDebitable | Self::NoDefaultProvider => {
                ErrorCode::Forbidden
            }
            Self::ExpectedText
            | Self::ExpectedInteger
            | Self::ExpectedFlag
            | Self::Empty
            | Self::TooLong
            | Self::ForbiddenCharacter
            | Self::UnknownValue
            | Self::RepeatedKey
            | Self::NotJson
            | Self::NotAnObject
            | Self::TooDeep
            | Self::HeadTooLarge
            | Self::HeadBroken
            | Self::BareLineFeed
            | Self::HeadTooSlow
            | Self::RepeatedHeader
            | Self::BodyTooLarge
            | Self::BodyTooSlow
            | Self::BodyBroken
            | Self::BadLanguageTag
            | Self::BadCurrency
            | Self::CurrencyDiffers
            | Self::UnknownProvider
            | Self::BadIdentifier
            | Self::UnknownParameter
            | Self::NoParameters
            | Self::BadMediaType
            | Self::BadMoment
            | Self::BadTime
            | Self::OutOfRange
            | Self::BadDay
            | Self::PeriodBackwards
            | Self::PeriodTooLong
            | Self::PeriodNotBegun
            | Self::BadCursor
            | Self::CursorOfOtherFilters
            | Self::EventsDeleted
            | Self::ExpectedList
            | Self::BadUrl
            | Self::UrlNotHttps
            | Self::UrlNotPublic
            | Self::TooManyEndpoints
            | Self::EndpointNotActive
            | Self::BadEventId
            | Self::BadIdempotencyKey
            | Self::IdempotencyKeyReused => ErrorCode::InvalidArgument,
            Self::AmountTooLarge | Self::AmountTooFine | Self::AmountNotPositive => ErrorCode::InvalidAmount,
            Self::MinimumIs => ErrorCode::AmountBelowMinimum,
            Self::MaximumIs => ErrorCode::AmountAboveMaximum,
            Self::ChargesAre => ErrorCode::AmountBelowCharges,
            Self::Account => ErrorCode::ResourceNotFound,
            Self::NoElectricityTransaction => ErrorCode::TransactionNotFound,
            Self::EarlierAttemptFailed => ErrorCode::ProviderError,
            Self::Disconnected | Self::PhoneNotFound => ErrorCode::MeterNotFound,
            Self::PhoneBlocked => ErrorCode::MeterBlocked,
            Self::PhoneUnsupported => ErrorCode::MeterUnsupported,
            Self::PhoneInvalid => ErrorCode::InvalidMeterNumber,
            Self::PhoneNotAllowed => ErrorCode::MeterNotAllowed,
            Self::OnQuote | Self::TokenUnreadable => ErrorCode::ProviderTimeout,
            Self::PurchaseOpen | Self::ReferenceRests | Self::CallerGone => ErrorCode::TransactionPending,
            Self::NeverReached => ErrorCode::ProviderUnavailable,
        }
    }

    /// The name of the Fluent attribute that holds its text.
    #[expect(clippy::too_many_lines, reason = "one table, one row per detail")]
    pub(crate) const fn attribute(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Refresh => "refresh",
            Self::OrganisationSuspended => "organisation_suspended",
            Self::AccountNotDebitable => "account_not_debitable",
            Self::NoDefaultProvider => "no_default_provider",
            Self::ExpectedText => "expected_text",
            Self::ExpectedInteger => "expected_integer",
            Self::ExpectedFlag => "expected_flag",
            Self::ExpectedList => "expected_list",
            Self::Empty => "empty",
            Self::TooLong => "too_long",
            Self::ForbiddenCharacter => "forbidden_character",
            Self::UnknownValue => "unknown_value",
            Self::RepeatedKey => "repeated_key",
            Self::NotJson => "not_json",
            Self::NotAnObject => "not_an_object",
            Self::TooDeep => "too_deep",
            Self::HeadTooLarge => "head_too_large",
            Self::HeadBroken => "head_broken",
            Self::BareLineFeed => "bare_line_feed",
            Self::HeadTooSlow => "head_too_slow",
            Self::RepeatedHeader => "repeated_header",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTooSlow => "body_too_slow",
            Self::BodyBroken => "body_broken",
            Self::BadLanguageTag => "bad_language_tag",
            Self::BadCurrency => "bad_currency",
            Self::CurrencyDiffers => "currency_differs",
            Self::UnknownProvider => "unknown_provider",
            Self::BadIdentifier => "bad_identifier",
            Self::BadIdempotencyKey => "bad_idempotency_key",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::AmountTooLarge => "amount_too_large",
            Self::AmountTooFine => "amount_too_fine",
            Self::AmountNotPositive => "amount_not_positive",
            Self::MinimumIs => "minimum_is",
            Self::MaximumIs => "maximum_is",
            Self::ChargesAre => "charges_are",
            Self::UnknownParameter => "unknown_parameter",
            Self::NoParameters => "no_parameters",
            Self::BadMediaType => "bad_media_type",
            Self::BadMoment => "bad_moment",
            Self::BadTime => "bad_time",
            Self::OutOfRange => "out_of_range",
            Self::BadDay => "bad_day",
            Self::PeriodBackwards => "period_backwards",
            Self::PeriodTooLong => "period_too_long",
            Self::PeriodNotBegun => "period_not_begun",
            Self::BadCursor => "bad_cursor",
            Self::CursorOfOtherFilters => "cursor_of_other_filters",
            Self::EventsDeleted => "events_deleted",
            Self::BadUrl => "bad_url",
            Self::UrlNotHttps => "url_not_https",
            Self::UrlNotPublic => "url_not_public",
            Self::TooManyEndpoints => "too_many_endpoints",
            Self::EndpointNotActive => "endpoint_not_active",
            Self::BadEventId => "bad_event_id",
            Self::Account => "account",
            Self::NoElectricityTransaction => "no_electricity_transaction",
            Self::EarlierAttemptFailed => "earlier_attempt_failed",
            Self::OnQuote => "on_quote",
            Self::Disconnected => "disconnected",
            Self::PhoneNotFound
            | Self::PhoneBlocked
            | Self::PhoneUnsupported
            | Self::PhoneInvalid
            | Self::PhoneNotAllowed => "phone",
            Self::TokenUnreadable => "token_unreadable",
            Self::PurchaseOpen => "purchase_open",
            Self::ReferenceRests => "reference_rests",
            Self::CallerGone => "caller_gone",
            Self::NeverReached => "never_reached",
        }
    }
}
