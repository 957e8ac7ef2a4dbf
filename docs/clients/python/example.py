#!/usr/bin/env python3
"""A till of a few lines on top of vendgate.py, against a running sandbox: python3 example.py target/sandbox/sandbox.json"""

import json
import sys
from decimal import Decimal

from vendgate import Journal, NotBought, Order, Transaction, Unsettled, Vendgate

with open(sys.argv[1], encoding="utf-8") as file:
    sandbox = json.load(file)
client = Vendgate(sandbox["base_url"], sandbox["credentials"], Journal("till-7.journal"))

# First of all, the sales that an earlier run left open: power cuts happen between confirm and its answer.
for reference, outcome in client.settle_open_sales():
    print(reference, outcome.tokens if isinstance(outcome, Transaction) else outcome)

order = Order(
    product_type="ELECTRICITY",
    provider_code="BPC",
    debited_account_id=sandbox["account_id"],
    beneficiary_phone_number="26771234567",
    subscriber_identifier=sandbox["subscribers"]["electricity"]["lost_reply"],
    amount=Decimal("100.00"),
)
quote = client.validate(order)
print(f"{quote.subscriber_details}: {quote.units} for {quote.total}")
try:
    purchase = client.buy(order)
    for token in purchase.tokens:
        print(f"{token.description or 'Token'}: {token.digits}")
except NotBought as refusal:
    print("Nothing was charged:", refusal.reason)
except Unsettled as doubt:
    print("Not known yet. The next run of this program asks again:", doubt.reference)
