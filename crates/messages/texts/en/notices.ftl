# The lines of text messages and e-mails. A text message has 160 letters, so they are short.

bought = { $product } { $amount } for { $subscriber }
token = Token: { $token }
in-order = Enter these tokens in this order:
key-change-token = { $number }. Key change: { $token }
credit-token = { $number }. Credit: { $token }
other-token = { $number }. { $description }: { $token }
units = Units: { $units }
reference = Ref { $reference }
not-delivered = { $product } { $amount } for { $subscriber } was not delivered. The seller has the money back: ask there.
refunded = { $product } { $amount } for { $subscriber } was not delivered. { $total } is available in your account again.
receipt = Receipt: { $product } { $amount } for { $subscriber }
paid = Paid: { $total }
paid-with-charges = Paid: { $total }, charges of { $charge } included
customer = Customer: { $name }
external-reference = Your reference: { $reference }
provider-transaction = Provider's transaction: { $transaction }
bought-at = Bought on { $at }
automatic = This message was sent automatically. Nobody reads answers to it.
