//! Details of error codes, for codes whose single message would not say what to correct.

mod row;

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
    /// The organisation could buy from the provider, and cannot any more. `provider`.
    OfferRemoved,
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
    /// Not a list of the lines of a batch. `field`.
    ExpectedLines,
    /// A batch with no line or too many. `field`, `limit`.
    BadLineCount,
    /// Lines of a batch cannot be bought. `wrong`, `lines`.
    LinesWrong,
    /// Two lines of a batch have the same reference. `field`, `line`.
    LineReferenceRepeated,
    /// The sum of the amounts of a batch is too large. `field`.
    BatchTooLarge,
    /// The reference belongs to a batch with other content. `field`.
    BatchReferenceReused,
    /// The organisation has as many unfinished batches as it may have. `limit`.
    TooManyBatches,
    /// The status of the batch does not allow it. `status`.
    BatchNotSo,
    /// Not a table of comma-separated values. `line`.
    BadCsv,
    /// A column that a batch does not have. `field`, `allowed`.
    UnknownColumn,
    /// A column that occurs twice. `field`.
    ColumnRepeated,
    /// An `Idempotency-Key` that begins like one of the service. `prefix`.
    ReservedIdempotencyKey,
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
    /// The purchase that a retry asks about is open. The versioned surface says so.
    StillOpen,
    /// A retry has just given a final answer for the external reference.
    ReferenceRests,
    /// The caller closed its connection before the purchase began.
    CallerGone,
    /// The request of a purchase never reached its provider.
    NeverReached,
    /// The provider's sales are paused, and no end is planned. `provider`.
    ProviderPaused,
    /// The provider's sales are paused until a moment. `provider`, `until`.
    ProviderPausedUntil,
    /// A purchase has succeeded, but its token cannot be decrypted here.
    TokenUnreadable,
    /// A purchase has failed, so it has no receipt.
    NotSold,
    /// A purchase is open, so it has no receipt yet.
    NotSoldYet,
    /// A purchase is open, so it has no certificate yet.
    NotFinalYet,
    /// A purchase was sold, but its token has been erased.
    TokenErased,
    /// The phone number of a purchase has been erased. `field`.
    NumberErased,
    /// The message of a purchase was sent again too often within a day. `limit`.
    MessagesOfTheDay,
}

impl Detail {
    /// Every detail.
    pub const ALL: [Self; 94] = [
        Self::Login,
        Self::Refresh,
        Self::OrganisationSuspended,
        Self::AccountNotDebitable,
        Self::NoDefaultProvider,
        Self::OfferRemoved,
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
        Self::ExpectedLines,
        Self::BadLineCount,
        Self::LinesWrong,
        Self::LineReferenceRepeated,
        Self::BatchTooLarge,
        Self::BatchReferenceReused,
        Self::TooManyBatches,
        Self::BatchNotSo,
        Self::BadCsv,
        Self::UnknownColumn,
        Self::ColumnRepeated,
        Self::ReservedIdempotencyKey,
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
        Self::StillOpen,
        Self::ReferenceRests,
        Self::CallerGone,
        Self::NeverReached,
        Self::ProviderPaused,
        Self::ProviderPausedUntil,
        Self::TokenUnreadable,
        Self::NotSold,
        Self::NotSoldYet,
        Self::NotFinalYet,
        Self::TokenErased,
        Self::NumberErased,
        Self::MessagesOfTheDay,
    ];

    /// The code that it belongs to.
    pub const fn code(self) -> ErrorCode {
        self.row().0
    }

    /// The name of the Fluent attribute that holds its text.
    pub(crate) const fn attribute(self) -> &'static str {
        self.row().1
    }
}
