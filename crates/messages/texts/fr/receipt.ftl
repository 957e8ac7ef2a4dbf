# Le reçu d'un client. Les libellés sont courts : le papier le plus étroit a 32 colonnes.

receipt-title = Reçu
receipt-sold-at = Date
receipt-provider = Fournisseur
receipt-customer = Client
receipt-reference = Réf
receipt-external-reference = Vente no
receipt-provider-transaction = Réf fournisseur
receipt-units = Unités
receipt-token = Code
receipt-tokens-in-order = Saisir ces codes dans cet ordre :
receipt-key-change-token = Changement de clé
receipt-credit-token = Crédit
receipt-token-erased = Le code n'est plus conservé.
receipt-no-token = Crédité directement. Il n'y a pas de code à saisir.
receipt-amounts = Montants
receipt-cost = Coût des unités
receipt-vat = TVA
receipt-levy = Taxe
receipt-regulatory-fee = Redevance
receipt-provider-charge = Frais fournisseur
receipt-amount = Montant
receipt-charge = Frais de service
receipt-total = Total payé
