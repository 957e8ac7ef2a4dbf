//! A small scripted vendor. It logs its vends, remembers every reply and rejects repeats.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use provider::conformance::{Answer, Made, Mishap, Operation, Request};

use super::message::Message;

#[derive(Default)]
pub struct Vendor(Mutex<State>);

#[derive(Default)]
struct State {
    vends: Vec<Made>,
    replies: BTreeMap<String, Message>,
    script: VecDeque<(Operation, Mishap)>,
}

/// Which operation a request belongs to.
pub fn operation_of(line: &str) -> Option<Operation> {
    let path = line.split(' ').nth(1)?;
    let all = [
        ("/check", Operation::Check),
        ("/quote", Operation::Quote),
        ("/trial", Operation::Trial),
        ("/vend", Operation::Vend),
        ("/enquiry", Operation::Enquiry),
    ];
    all.into_iter().find(|(known, _operation)| *known == path).map(|(_path, operation)| operation)
}

impl Vendor {
    pub fn arrange(&self, operation: Operation, mishap: Mishap) {
        self.state().script.push_back((operation, mishap));
    }

    pub fn forget_script(&self) {
        self.state().script.clear();
    }

    pub fn vends(&self) -> Vec<Made> {
        self.state().vends.clone()
    }

    pub fn answer(&self, request: &Request<'_>) -> Answer {
        let asked = operation_of(request.line).zip(Message::read(request.body.as_bytes()));
        let Some((operation, message)) = asked else {
            return Answer { status: 400, body: Message::of("fault").to_bytes() };
        };
        let mut state = self.state();
        let due = state.script.iter().position(|(due, _mishap)| *due == operation);
        let mishap = due.and_then(|index| state.script.remove(index)).map(|(_operation, mishap)| mishap);
        let reply = match operation {
            Operation::Vend => state.vend(&message, mishap),
            Operation::Enquiry => state.recall(&message, mishap),
            Operation::Check | Operation::Quote | Operation::Trial => ask(&message, mishap),
        };
        let status = if matches!(reply.kind(), "refused" | "fault" | "repeated") { 409 } else { 200 };
        Answer { status, body: reply.to_bytes() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn vend(&mut self, order: &Message, mishap: Option<Mishap>) -> Message {
        let reference = order.get("reference").unwrap_or_default().to_owned();
        if self.replies.contains_key(&reference) {
            return Message::of("repeated").with("reference", &reference);
        }
        let refused = Message::of("refused").with("reference", &reference).with("reason", &"blocked");
        let decided = match mishap {
            Some(Mishap::Refused | Mishap::RefusedForAnother | Mishap::RefusedWithoutReference) => refused,
            Some(Mishap::UnlistedFault) => return Message::of("fault").with("reference", &reference),
            Some(Mishap::StillUnderWay) => Message::of("processing").with("reference", &reference),
            _ => self.made(order, &reference),
        };
        self.replies.insert(reference, decided.clone());
        falsified(decided, mishap)
    }

    fn made(&mut self, order: &Message, reference: &str) -> Message {
        let number = self.vends.len();
        let tokens = [format!("{number:020}").replace('0', "7"), format!("{:020}", 90_000_000 + number)];
        self.vends.push(Made { reference: reference.to_owned(), tokens: tokens.to_vec() });
        Message::of("vended")
            .with("reference", &reference)
            .with("subscriber", &order.get("subscriber").unwrap_or_default())
            .with("amount", &order.get("amount").unwrap_or_default())
            .with("tokens", &tokens.join(","))
            .with("transaction", &format!("T{number}"))
    }

    fn recall(&self, question: &Message, mishap: Option<Mishap>) -> Message {
        let call = question.get("call").unwrap_or_default();
        match (self.replies.get(question.get("about").unwrap_or_default()), mishap) {
            (_, Some(Mishap::Refused)) => {
                Message::of("refused").with("call", &call).with("reason", &"blocked")
            }
            (_, Some(Mishap::NoRecordForAnother)) => Message::of("no_record").with("call", &"another"),
            (None, _) => Message::of("no_record").with("call", &call),
            (Some(reply), _) => {
                falsified(reply.clone(), mishap).within(Message::of("record").with("call", &call), "was.")
            }
        }
    }
}

fn ask(question: &Message, mishap: Option<Mishap>) -> Message {
    let said = |name| question.get(name).unwrap_or_default();
    if mishap == Some(Mishap::Refused) {
        return Message::of("refused").with("call", &said("call")).with("reason", &"blocked");
    }
    let answer = Message::of("answer").with("call", &said("call")).with("subscriber", &said("subscriber"));
    falsified(answer.with("amount", &said("amount")), mishap)
}

fn falsified(mut reply: Message, mishap: Option<Mishap>) -> Message {
    match mishap {
        Some(Mishap::AnswersAnotherReference | Mishap::RefusedForAnother) => {
            reply.set("reference", "another");
        }
        Some(Mishap::ReferenceLeftOut | Mishap::RefusedWithoutReference) => reply.remove("reference"),
        Some(Mishap::AnswersAnotherSubscriber) => reply.set("subscriber", "07040904562"),
        Some(Mishap::AnswersAnotherAmount) => reply.set("amount", "BWP 100.01"),
        Some(Mishap::AnswersAnotherCurrency) => reply.set("amount", "XTS 100.00"),
        Some(Mishap::TokenLeftOut) => reply.remove("tokens"),
        Some(Mishap::TokenDummy) => reply.set("tokens", "00000000000000000000"),
        _ => {}
    }
    reply
}
