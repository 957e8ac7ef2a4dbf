//! Every law, in one table: its name, and the harm that an adapter does by breaking it.

use std::fmt;

macro_rules! laws {
    ($($law:ident: $sentence:literal, $danger:literal;)*) => {
        /// A law that every adapter must keep.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Law {
            $(#[doc = $sentence] $law,)*
        }

        impl Law {
            /// Every law, in the order in which they are examined.
            pub const ALL: &'static [Self] = &[$(Self::$law),*];

            /// The law, as a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$law => $sentence,)* }
            }

            /// The harm when an adapter breaks it.
            pub const fn danger(self) -> &'static str {
                match self { $(Self::$law => $danger,)* }
            }
        }
    };
}

laws! {
    // What went well.
    VendIsTold: "a vend that went well is told as a vend",
        "the wallet stays held and the customer waits, although the token is there";
    TokensAsIssued: "the tokens of a vend are those that were issued, in the order in which they are entered",
        "the customer pays and types in a token that the meter refuses";
    SplitAddsUp: "the split of a vend adds up to its amount",
        "the books and the customer's receipt state amounts that were never charged";
    EnquiryTellsTheSame: "an enquiry tells of a vend what its answer told",
        "two answers about one purchase differ, and one of them is wrong";

    // Questions.
    CheckVendsNothing: "a check vends nothing",
        "something is vended that was not bought and is not paid for";
    QuoteVendsNothing: "a quote vends nothing",
        "something is vended that was not bought and is not paid for";
    TrialVendsNothing: "a trial vends nothing",
        "something is vended that was not bought and is not paid for";
    RefusedTrialIsRefused: "a refused trial is a refusal",
        "the caller is told that a sale would succeed which the provider refuses";
    CheckIsForTheSubscriber: "a check that was answered for another subscriber is no answer",
        "the customer confirms a purchase on the name of another customer";
    QuoteIsForTheSale: "a quote for another subscriber, amount or currency is no answer",
        "the customer is shown a price of something else";
    UnansweredQuestion: "a question without a usable answer is neither yes nor no",
        "the caller is told something definite that the provider has not said";

    // What must not leave.
    ClosedGate: "a closed gate sends nothing, and proves it",
        "an order leaves long after its purchase was released, and is vended without being paid";
    GateIsLookedAtLast: "the gate is looked at when the connection stands",
        "an order that was held up while connecting leaves after its purchase was released";
    Unreachable: "what cannot be reached was never sent",
        "money is held for hours although it is certain that nothing was bought";
    AnotherProduct: "a product that the connection does not sell is refused and never sent",
        "the provider vends something else than what was bought";
    AnotherCurrency: "a currency that the connection does not sell in is refused and never sent",
        "the provider reads the amount as its own money, and vends many times what was paid";

    // What proves nothing about a vend.
    ConnectionCut: "a connection that is cut after the order left is doubt",
        "what was vended is refunded, or what was not is charged";
    Silence: "an answer that does not come in time is doubt",
        "what is vended a moment later is refunded";
    HalfReply: "half an answer is doubt",
        "what was vended is refunded on the strength of the half that arrived";
    Garbage: "an answer that cannot be read is doubt",
        "what was vended is refunded because its answer was broken on the way";
    EmptyReply: "an empty answer is doubt",
        "what was vended is refunded because nothing was said about it";
    EndlessReply: "an answer larger than any of the protocol's is doubt",
        "what was vended is refunded, or the process runs out of memory and forgets what it sent";
    ServerError: "a page that says that something broke is doubt",
        "what was vended before something broke is refunded";
    SuccessUnderError: "a success under a status of failure is no refusal",
        "what was vended is refunded because the status was believed and not the answer";
    Redirect: "a redirect is doubt, and is not followed",
        "the order is sent twice, to two places";
    ReferenceOfAnother: "a success under another reference is doubt",
        "the token of another customer is handed out";
    ReferenceMissing: "a success without our reference is doubt",
        "the token of another customer is handed out";
    SubscriberOfAnother: "a success for another subscriber is doubt",
        "the customer pays for another customer's meter";
    AmountOfAnother: "a success about another amount is doubt",
        "the customer gets more or less than what was paid";
    CurrencyOfAnother: "a success in another currency is doubt",
        "the customer gets many times more, or less, than what was paid";
    TokenMissing: "a success without the token that it owes is doubt",
        "the customer pays for a token that does not exist";
    TokenIsDummy: "a success with the dummy token of a trial is doubt",
        "the customer pays for a token that no meter takes";
    UnderWay: "an order that is still under way is neither vended nor refused",
        "a purchase ends before the provider has decided";
    UnclearIsKept: "an answer that proves nothing is kept as it came",
        "what the provider said cannot be found out later";

    // Refusals.
    RefusalIsTold: "a refusal under our own reference is a refusal",
        "money is held for hours although the provider said no";
    RefusalOfAnother: "a refusal under another reference is doubt",
        "what was vended is refunded because another order was refused";
    RefusalWithoutReference: "a refusal without our reference is doubt where refusals carry one",
        "what was vended is refunded on a refusal that may be of another order";
    UnlistedFault: "a fault that is on no list of definite refusals is doubt",
        "what was vended is refunded on a fault that says nothing about it";
    RefusalIsRemembered: "a refusal is found by an enquiry where that is declared",
        "doubt about a refused order never ends";
    Repeat: "a repeated reference vends once where that is declared, and is never refused",
        "what the first copy vended is refunded because the second was turned away";

    // Enquiries.
    EnquiryFindsTheVend: "an enquiry finds a vend whose answer was lost",
        "the customer waits for a token that is there";
    EnquiryFindsNothing: "an enquiry about what never was finds no record",
        "doubt about a lost order never ends";
    EnquiryVendsNothing: "an enquiry vends nothing",
        "asking what became of an order buys it";
    EnquiryUnreachable: "an enquiry that cannot be put finds nothing out",
        "two failures to ask are taken for two proofs that nothing was vended";
    EnquiryUnanswered: "an enquiry that is not answered, or by half, finds nothing out",
        "two lost answers are taken for two proofs that nothing was vended";
    EnquiryGarbled: "an enquiry whose answer cannot be read finds nothing out",
        "two broken answers are taken for two proofs that nothing was vended";
    EnquiryServerError: "an enquiry that meets a failure or a redirect finds nothing out",
        "an outage of the provider is taken for proof that nothing was vended";
    EnquiryRefused: "an enquiry that is itself refused says nothing about the order",
        "what was vended is refunded because the question about it was turned away";
    EnquiryReferenceOfAnother: "an enquiry answered about another reference finds nothing out",
        "the token of another customer is handed out";
    EnquiryReferenceMissing: "an enquiry answered with a success without a reference finds nothing out",
        "the token of another customer is handed out";
    EnquirySubscriberOfAnother: "an enquiry answered with a success for another subscriber finds nothing out",
        "the customer pays for another customer's meter";
    EnquiryAmountOfAnother: "an enquiry answered with a success about another amount finds nothing out",
        "the customer gets more or less than what was paid";
    EnquiryCurrencyOfAnother: "an enquiry answered with a success in another currency finds nothing out",
        "the customer gets many times more, or less, than what was paid";
    EnquiryTokenMissing: "an enquiry answered with a success without its token finds nothing out",
        "the customer pays for a token that does not exist";
    EnquiryTokenIsDummy: "an enquiry answered with the dummy token of a trial finds nothing out",
        "the customer pays for a token that no meter takes";
    EnquiryRefusalOfAnother: "an enquiry answered with the refusal of another reference finds nothing out",
        "what was vended is refunded because another order was refused";
    EnquiryNoRecordOfAnother: "no record, said in answer to another question, finds nothing out",
        "what was vended is refunded because another order is unknown";
    EnquiryUnderWay: "an enquiry about an order that is still under way finds neither vend nor refusal",
        "a purchase ends before the provider has decided";

    // Whatever is called, and whatever comes.
    SendsOnce: "one call sends an order at most once",
        "the provider vends twice, and the customer pays once";
    KeepsDeadlines: "every call ends within its deadline",
        "purchases and threads wait for ever for one provider";
    TokensStaySealed: "no token can be read in anything but the token itself",
        "any reader of the log can use the customer's electricity";
    NeverPanics: "no answer makes the adapter panic",
        "a provider that sends the wrong bytes stops the sale of everything";
}

impl fmt::Display for Law {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.sentence())
    }
}
