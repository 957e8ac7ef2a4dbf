//! The table of all requirements: name, sentence, and the harm of a violation.

use std::fmt;

macro_rules! requirements {
    ($($requirement:ident: $sentence:literal, $danger:literal;)*) => {
        /// A requirement that every adapter must meet. More are added as more dangers become known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Requirement {
            $(#[doc = $sentence] $requirement,)*
        }

        impl Requirement {
            /// Every requirement, in the order of the examination.
            pub const ALL: &'static [Self] = &[$(Self::$requirement),*];

            /// The requirement as a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$requirement => $sentence,)* }
            }

            /// The harm that a violation causes.
            pub const fn danger(self) -> &'static str {
                match self { $(Self::$requirement => $danger,)* }
            }
        }
    };
}

requirements! {
    // Successes.
    VendIsTold: "a successful vend is reported as a vend",
        "the hold on the wallet stays and the customer waits, although the token exists";
    TokensAsIssued: "the tokens of a vend are the issued ones, in the order in which they are entered",
        "the customer pays and enters a token that the meter refuses";
    SplitAddsUp: "the split of a vend adds up to its amount",
        "the ledger and the customer's receipt state amounts that were never charged";
    EnquiryTellsTheSame: "an enquiry reports a vend exactly as the answer to the vend did",
        "two answers about one purchase differ, and one of them is wrong";

    // Questions.
    CheckVendsNothing: "a check vends nothing",
        "a vend happens that was neither bought nor paid for";
    QuoteVendsNothing: "a quote vends nothing",
        "a vend happens that was neither bought nor paid for";
    TrialVendsNothing: "a trial vends nothing",
        "a vend happens that was neither bought nor paid for";
    FloatVendsNothing: "a question for the float vends nothing",
        "a vend happens that was neither bought nor paid for";
    RefusedTrialIsRefused: "a refused trial is a refusal",
        "the caller learns that a sale would succeed, but the provider refuses it";
    CheckIsForTheSubscriber: "a check that was answered for another subscriber is no answer",
        "the customer sees the name of another customer and confirms the purchase";
    QuoteIsForTheSale: "a quote for another subscriber, amount or currency is no answer",
        "the customer sees the price of another sale";
    UnansweredQuestion: "a question without a usable answer is neither yes nor no",
        "the caller gets a definite answer that the provider did not give";

    // What must not be sent.
    ClosedGate: "behind a closed gate nothing is sent, and the result proves it",
        "an order is sent long after its purchase was released, and is vended without payment";
    GateIsLookedAtLast: "the gate is checked after the connection is open",
        "an order that was delayed while connecting is sent after its purchase was released";
    Unreachable: "an order to an unreachable provider was never sent",
        "money is held for hours although it is certain that nothing was bought";
    AnotherProduct: "a product that the connection does not sell is refused and never sent",
        "the provider vends another product than the one that was bought";
    AnotherCurrency: "a currency that the connection does not sell in is refused and never sent",
        "the provider reads the amount in its own currency, and vends many times what was paid";

    // What proves nothing about a vend.
    ConnectionCut: "a connection that is cut after the order was sent is doubt",
        "a vend is refunded, or a vend that did not happen is charged";
    Silence: "an answer that does not come in time is doubt",
        "what is vended a moment later is refunded";
    HalfReply: "half an answer is doubt",
        "a vend is refunded because of the half that arrived";
    Garbage: "an answer that cannot be read is doubt",
        "a vend is refunded because its answer was damaged in the network";
    EmptyReply: "an empty answer is doubt",
        "a vend is refunded because its answer was empty";
    EndlessReply: "an answer that is larger than the protocol allows is doubt",
        "a vend is refunded, or the process runs out of memory and loses what it sent";
    ServerError: "an error page is doubt",
        "a vend that was made before the error is refunded";
    SuccessUnderError: "a success with a failure status is not a refusal",
        "a vend is refunded because the adapter trusted the status instead of the answer";
    Redirect: "a redirect is doubt, and is not followed",
        "the order is sent twice, to two addresses";
    ReferenceOfAnother: "a success under another reference is doubt",
        "the customer gets the token of another customer";
    ReferenceMissing: "a success without our reference is doubt",
        "the customer gets the token of another customer";
    SubscriberOfAnother: "a success for another subscriber is doubt",
        "the customer pays for another customer's meter";
    AmountOfAnother: "a success with another amount is doubt",
        "the customer gets more or less than what was paid";
    CurrencyOfAnother: "a success in another currency is doubt",
        "the customer gets many times more, or less, than what was paid";
    TokenMissing: "a success without a required token is doubt",
        "the customer pays for a token that does not exist";
    TokenIsDummy: "a success with the dummy token of a trial is doubt",
        "the customer pays for a token that no meter accepts";
    UnderWay: "an order that is still in progress is neither vended nor refused",
        "a purchase ends before the provider has decided";
    UnclearIsKept: "an answer that proves nothing is kept unchanged",
        "the provider's answer cannot be examined later";

    // Refusals.
    RefusalIsTold: "a refusal under our own reference is a refusal",
        "money is held for hours although the provider refused";
    RefusalOfAnother: "a refusal under another reference is doubt",
        "a vend is refunded because another order was refused";
    RefusalWithoutReference: "a refusal without our reference is doubt if the provider's refusals have one",
        "a vend is refunded because of a refusal that may belong to another order";
    UnlistedFault: "a fault that is not listed as a definite refusal is doubt",
        "a vend is refunded because of a fault that says nothing about it";
    RefusalIsRemembered: "an enquiry finds a refusal if this is declared",
        "doubt about a refused order never ends";
    Repeat: "a repeated reference vends once if this is declared, and is never refused",
        "the vend of the first copy is refunded because the second copy was rejected";

    // Enquiries.
    EnquiryFindsTheVend: "an enquiry finds a vend whose answer was lost",
        "the customer waits for a token that exists";
    EnquiryFindsNothing: "an enquiry about an order that was never sent finds no record",
        "doubt about a lost order never ends";
    EnquiryVendsNothing: "an enquiry vends nothing",
        "a question about an order executes the order";
    EnquiryUnreachable: "an enquiry that cannot be sent proves nothing",
        "two failed enquiries count as two proofs that nothing was vended";
    EnquiryUnanswered: "an enquiry with no answer, or with half an answer, proves nothing",
        "two lost answers count as two proofs that nothing was vended";
    EnquiryGarbled: "an enquiry whose answer cannot be read proves nothing",
        "two damaged answers count as two proofs that nothing was vended";
    EnquiryServerError: "an enquiry that gets a failure or a redirect proves nothing",
        "an outage of the provider counts as proof that nothing was vended";
    EnquiryRefused: "an enquiry that is itself refused proves nothing about the order",
        "a vend is refunded because the enquiry about it was refused";
    EnquiryReferenceOfAnother: "an enquiry answered about another reference proves nothing",
        "the customer gets the token of another customer";
    EnquiryReferenceMissing: "an enquiry answered with a success without a reference proves nothing",
        "the customer gets the token of another customer";
    EnquirySubscriberOfAnother: "an enquiry answered with a success for another subscriber proves nothing",
        "the customer pays for another customer's meter";
    EnquiryAmountOfAnother: "an enquiry answered with a success with another amount proves nothing",
        "the customer gets more or less than what was paid";
    EnquiryCurrencyOfAnother: "an enquiry answered with a success in another currency proves nothing",
        "the customer gets many times more, or less, than what was paid";
    EnquiryTokenMissing: "an enquiry answered with a success without its token proves nothing",
        "the customer pays for a token that does not exist";
    EnquiryTokenIsDummy: "an enquiry answered with the dummy token of a trial proves nothing",
        "the customer pays for a token that no meter accepts";
    EnquiryRefusalOfAnother: "an enquiry answered with the refusal of another reference proves nothing",
        "a vend is refunded because another order was refused";
    EnquiryNoRecordOfAnother: "\"no record\" in answer to another question proves nothing",
        "a vend is refunded because another order is unknown";
    EnquiryUnderWay: "an enquiry about an order that is still in progress finds neither vend nor refusal",
        "a purchase ends before the provider has decided";

    // All calls and all answers.
    SendsOnce: "one call sends an order at most once",
        "the provider vends twice, and the customer pays once";
    KeepsDeadlines: "every call ends within its deadline",
        "purchases and threads wait for ever for one provider";
    TokensStaySealed: "no token is readable anywhere except in the token field",
        "any reader of the log can use the customer's electricity";
    NeverPanics: "no answer makes the adapter panic",
        "a provider that sends the wrong bytes stops all sales";
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.sentence())
    }
}
