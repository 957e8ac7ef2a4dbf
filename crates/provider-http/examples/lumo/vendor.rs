//! A simulator of Lumo: it logs its vends, remembers every order and rejects repeats.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use provider::conformance::{Answer, Made, Mishap, Operation, Request};
use serde_json::{Value, json};

#[derive(Default)]
pub struct Vendor(Mutex<State>);

#[derive(Default)]
struct State {
    vends: Vec<Made>,
    orders: BTreeMap<String, Value>,
    script: VecDeque<(Operation, Mishap)>,
}

/// Which operation a request belongs to.
pub fn operation_of(line: &str) -> Option<Operation> {
    let all = [
        ("/meters/check", Operation::Check),
        ("/quotes", Operation::Quote),
        ("/rehearsals", Operation::Trial),
        ("/orders", Operation::Vend),
        ("/orders/find", Operation::Enquiry),
    ];
    let path = line.split(' ').nth(1)?;
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
        let asked = operation_of(request.line).zip(serde_json::from_str(request.body).ok());
        let Some((operation, message)) = asked else { return Answer { status: 400, body: Vec::new() } };
        let mut state = self.state();
        let due = state.script.iter().position(|(due, _mishap)| *due == operation);
        let mishap = due.and_then(|index| state.script.remove(index)).map(|(_operation, mishap)| mishap);
        let reply = match operation {
            Operation::Vend => state.vend(&message, mishap),
            Operation::Enquiry => state.recall(&message, mishap),
            Operation::Check | Operation::Quote | Operation::Trial => ask(&message, mishap),
        };
        Answer { status: 200, body: reply.to_string().into_bytes() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn text<'a>(message: &'a Value, name: &str) -> &'a str {
    message.get(name).and_then(Value::as_str).unwrap_or_default()
}

impl State {
    fn vend(&mut self, order: &Value, mishap: Option<Mishap>) -> Value {
        let reference = text(order, "reference").to_owned();
        if self.orders.contains_key(&reference) {
            return json!({ "status": "duplicate", "reference": reference });
        }
        let decided = match mishap {
            Some(Mishap::Refused | Mishap::RefusedForAnother | Mishap::RefusedWithoutReference) => {
                json!({ "status": "declined", "reference": reference, "reason": "blocked" })
            }
            Some(Mishap::UnlistedFault) => return json!({ "status": "oops", "reference": reference }),
            Some(Mishap::StillUnderWay) => json!({ "status": "processing", "reference": reference }),
            _ => self.made(order, &reference),
        };
        self.orders.insert(reference, decided.clone());
        falsified(decided, mishap)
    }

    fn made(&mut self, order: &Value, reference: &str) -> Value {
        let number = self.vends.len();
        let tokens = [format!("{number:020}").replace('0', "7"), format!("{:020}", 90_000_000 + number)];
        self.vends.push(Made { reference: reference.to_owned(), tokens: tokens.to_vec() });
        json!({
            "status": "delivered",
            "reference": reference,
            "meter": text(order, "meter"),
            "amount": text(order, "amount"),
            "tokens": tokens,
            "receipt": format!("R{number}"),
        })
    }

    fn recall(&self, question: &Value, mishap: Option<Mishap>) -> Value {
        let call = text(question, "call");
        match (self.orders.get(text(question, "reference")), mishap) {
            (_, Some(Mishap::Refused)) => json!({ "call": call, "status": "declined", "reason": "blocked" }),
            (_, Some(Mishap::NoRecordForAnother)) => json!({ "call": "another", "status": "no_such_order" }),
            (None, _) => json!({ "call": call, "status": "no_such_order" }),
            (Some(order), _) => {
                json!({ "call": call, "status": "found", "order": falsified(order.clone(), mishap) })
            }
        }
    }
}

fn ask(question: &Value, mishap: Option<Mishap>) -> Value {
    let mut answer = question.clone();
    if mishap == Some(Mishap::Refused) {
        set(&mut answer, "reason", "blocked");
        set(&mut answer, "status", "declined");
    } else {
        set(&mut answer, "status", "ok");
    }
    falsified(answer, mishap)
}

fn set(message: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(fields) = message.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}

fn falsified(mut reply: Value, mishap: Option<Mishap>) -> Value {
    let message = &mut reply;
    match mishap {
        Some(Mishap::AnswersAnotherReference | Mishap::RefusedForAnother) => {
            set(message, "reference", "another");
        }
        Some(Mishap::ReferenceLeftOut | Mishap::RefusedWithoutReference) => set(message, "reference", ""),
        Some(Mishap::AnswersAnotherSubscriber) => set(message, "meter", "07040904562"),
        Some(Mishap::AnswersAnotherAmount) => set(message, "amount", "BWP 100.01"),
        Some(Mishap::AnswersAnotherCurrency) => set(message, "amount", "ZAR 100.00"),
        Some(Mishap::TokenLeftOut) => set(message, "tokens", Vec::<Value>::new()),
        Some(Mishap::TokenDummy) => set(message, "tokens", vec!["00000000000000000000"]),
        _ => {}
    }
    reply
}
