# Un type de produit du catalogue : son nom, et l'intitulé de la saisie pour son abonné.

ELECTRICITY = Électricité
    .subscriber = Numéro de compteur
AIRTIME = Crédit téléphonique
    .subscriber = Numéro de téléphone
WATER = Eau
    .subscriber = Numéro de compteur
