//! What may happen to a shop.

/// One thing that happens. Purchases have the numbers of their reserves in the shop, from 0, and the numbers begin again after
/// the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A confirm reserves for one of two subscribers under one of two references.
    Reserve {
        /// The subscriber.
        subscriber: u8,
        /// The external reference.
        reference: u8,
        /// How old the request is, in seconds.
        age_s: u64,
    },
    /// A reserve runs again.
    ReserveAgain {
        /// Whose.
        purchase: usize,
    },
    /// An event is recorded.
    Record {
        /// About which purchase.
        purchase: usize,
        /// What is reported.
        news: News,
        /// Whether it is reported under the fence before the current one.
        behind: bool,
    },
    /// An integrator takes a turn.
    TakeTurn {
        /// For which purchase.
        purchase: usize,
        /// Whether it knows only the fence before the current one.
        behind: bool,
    },
    /// A holder renews its lease.
    Renew {
        /// Of which purchase.
        purchase: usize,
        /// Whether it knows only the fence before the current one.
        behind: bool,
    },
    /// A retry looks for a purchase.
    Find {
        /// The subscriber.
        subscriber: u8,
        /// The external reference.
        reference: u8,
    },
    /// A retry closes the reference of a purchase.
    Close {
        /// The purchase that the answer is about.
        purchase: usize,
        /// Whether the answer says that it was bought.
        bought: bool,
    },
    /// Time passes.
    Pass {
        /// How much, in seconds.
        seconds: u64,
    },
}

/// What a process tells about a purchase: the kind of an event, without the data that depends on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A vend, under one of two transactions.
    Vended(u8),
    /// A refusal.
    Refused {
        /// Whether it is definite.
        for_good: bool,
        /// Whether the answer to the order said so, and not an enquiry.
        is_answer: bool,
    },
    /// The order was never sent.
    NeverSent,
    /// The outcome is unknown.
    Lost,
    /// A process takes the purchase over.
    Claimed,
    /// An enquiry found no record.
    NoRecord,
    /// The holder releases its lease.
    LeaseReleased,
    /// The same order is about to be sent again.
    SentAgain,
    /// A new attempt is about to be sent.
    AttemptStarted,
    /// Nothing more will be sent.
    WindowClosed,
    /// An operator vouches that nothing was vended.
    OperatorNotVended,
}

/// Lengths of which no sum is at an edge of the default time chain.
const PAUSES: [u64; 5] = [2, 7, 97, 701, 1_907];
const PURCHASES: u64 = 5;

/// A number that is taken apart: each choice uses up a part of it.
struct Number(u64);

impl Number {
    const fn choice(&mut self, of: u64) -> u64 {
        let chosen = self.0 % of;
        self.0 /= of;
        chosen
    }

    fn small(&mut self, of: u64) -> u8 {
        u8::try_from(self.choice(of)).unwrap_or_default()
    }

    fn purchase(&mut self) -> usize {
        self.small(PURCHASES).into()
    }

    /// One in four.
    const fn seldom(&mut self) -> bool {
        self.choice(4) == 0
    }
}

impl Happening {
    /// The happening that this number stands for. Every number stands for one: take them from a generator of random numbers, such as
    /// that of a property test.
    pub fn numbered(number: u64) -> Self {
        let mut number = Number(number);
        match number.choice(16) {
            0..=2 => Self::Reserve {
                subscriber: number.small(2),
                reference: number.small(2),
                age_s: if number.seldom() { 15 } else { 0 },
            },
            3 => Self::ReserveAgain { purchase: number.purchase() },
            4 => Self::TakeTurn { purchase: number.purchase(), behind: number.seldom() },
            5 => Self::Renew { purchase: number.purchase(), behind: number.seldom() },
            6 => Self::Find { subscriber: number.small(2), reference: number.small(2) },
            7 => Self::Close { purchase: number.purchase(), bought: number.choice(2) == 0 },
            8 | 9 => {
                let chosen = usize::from(number.small(5));
                Self::Pass { seconds: PAUSES.get(chosen).copied().unwrap_or_default() }
            }
            _record => Self::Record {
                purchase: number.purchase(),
                behind: number.seldom(),
                news: News::of(&mut number),
            },
        }
    }
}

impl News {
    fn of(number: &mut Number) -> Self {
        match number.choice(16) {
            0 | 14 | 15 => Self::Vended(number.small(2)),
            1 | 2 => Self::Refused { for_good: number.choice(2) == 0, is_answer: number.choice(2) == 0 },
            3 => Self::NeverSent,
            4 | 5 => Self::Lost,
            6 | 7 => Self::Claimed,
            8 => Self::NoRecord,
            9 => Self::LeaseReleased,
            10 => Self::SentAgain,
            11 => Self::AttemptStarted,
            12 => Self::WindowClosed,
            _last => Self::OperatorNotVended,
        }
    }
}
