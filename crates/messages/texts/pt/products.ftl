# Um tipo de produto do catálogo: o seu nome, e a etiqueta do campo para o assinante.

ELECTRICITY = Eletricidade
    .subscriber = Número do contador
AIRTIME = Crédito telefónico
    .subscriber = Número de telefone
WATER = Água
    .subscriber = Número do contador
