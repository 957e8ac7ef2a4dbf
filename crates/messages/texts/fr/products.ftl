# Un type de produit du catalogue : son nom, et l'intitulé de la saisie pour son abonné.

ELECTRICITY = Électricité
    .subscriber = Numéro de compteur
AIRTIME = Crédit téléphonique
    .subscriber = Numéro de téléphone
WATER = Eau
    .subscriber = Numéro de compteur

# La longueur de l'identifiant d'un abonné, quand le catalogue n'a pas d'indication propre.
length-exactly = { $most } caractères
length-between = { $least } à { $most } caractères
length-at-least = Au moins { $least } caractères
length-at-most = Au plus { $most } caractères
