# Les lignes des SMS et des courriels. Un SMS a 160 lettres : elles sont donc brèves.

bought = { $product } { $amount } pour { $subscriber }
token = Code : { $token }
in-order = Saisir ces codes dans cet ordre :
key-change-token = { $number }. Clé : { $token }
credit-token = { $number }. Crédit : { $token }
other-token = { $number }. { $description } : { $token }
units = Unités : { $units }
reference = Réf { $reference }
not-delivered = { $product } { $amount } pour { $subscriber } : non livré. Le vendeur a récupéré l'argent ; adressez-vous à lui.
refunded = { $product } { $amount } pour { $subscriber } : non livré. { $total } de nouveau disponibles sur votre compte.
receipt = Reçu : { $product } { $amount } pour { $subscriber }
paid = Payé : { $total }
paid-with-charges = Payé : { $total }, dont { $charge } de frais
customer = Client : { $name }
external-reference = Votre référence : { $reference }
provider-transaction = Transaction du fournisseur : { $transaction }
bought-at = Acheté le { $at }
automatic = Ce message est envoyé automatiquement. Personne ne lit les réponses.
