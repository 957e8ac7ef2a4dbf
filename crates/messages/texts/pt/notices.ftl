# As linhas dos SMS e dos e-mails. Um SMS tem 160 letras: por isso são breves.

bought = { $product } { $amount } para { $subscriber }
token = Código: { $token }
in-order = Introduza estes códigos por esta ordem:
key-change-token = { $number }. Chave: { $token }
credit-token = { $number }. Crédito: { $token }
other-token = { $number }. { $description }: { $token }
units = Unidades: { $units }
reference = Ref. { $reference }
not-delivered = { $product } { $amount } para { $subscriber }: não foi entregue. O vendedor recebeu o dinheiro de volta; fale com ele.
refunded = { $product } { $amount } para { $subscriber }: não foi entregue. { $total } novamente disponíveis na sua conta.
receipt = Recibo: { $product } { $amount } para { $subscriber }
paid = Pago: { $total }
paid-with-charges = Pago: { $total }, dos quais { $charge } de encargos
customer = Cliente: { $name }
external-reference = A sua referência: { $reference }
provider-transaction = Transação do fornecedor: { $transaction }
bought-at = Comprado em { $at }
automatic = Esta mensagem foi enviada automaticamente. Ninguém lê as respostas.
