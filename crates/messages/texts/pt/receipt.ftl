# O recibo de um cliente. As etiquetas são curtas: o papel mais estreito tem 32 colunas.

receipt-title = Recibo
receipt-sold-at = Data
receipt-provider = Fornecedor
receipt-customer = Cliente
receipt-reference = Ref
receipt-external-reference = Venda n.
receipt-provider-transaction = Ref fornecedor
receipt-units = Unidades
receipt-token = Código
receipt-tokens-in-order = Introduza estes códigos por esta ordem:
receipt-key-change-token = Mudança de chave
receipt-credit-token = Crédito
receipt-token-erased = O código já não está guardado.
receipt-no-token = Creditado diretamente. Não há código para introduzir.
receipt-amounts = Montantes
receipt-cost = Custo das unidades
receipt-vat = IVA
receipt-levy = Taxa
receipt-regulatory-fee = Taxa reguladora
receipt-provider-charge = Encargos fornecedor
receipt-amount = Montante
receipt-charge = Taxa de serviço
receipt-total = Total pago
