# A customer's receipt. The labels are short: the narrowest paper has 32 columns.

receipt-title = Receipt
receipt-sold-at = Date
receipt-provider = Provider
receipt-customer = Customer
receipt-reference = Ref
receipt-external-reference = Sale no.
receipt-provider-transaction = Provider ref
receipt-units = Units
receipt-token = Token
receipt-tokens-in-order = Enter these tokens in this order:
receipt-key-change-token = Key change
receipt-credit-token = Credit
receipt-token-erased = The token is no longer stored.
receipt-no-token = Credited directly. There is no token to enter.
receipt-amounts = Amounts
receipt-cost = Cost of units
receipt-vat = VAT
receipt-levy = Levy
receipt-regulatory-fee = Regulatory fee
receipt-provider-charge = Provider charges
receipt-amount = Amount
receipt-charge = Service charge
receipt-total = Total paid
