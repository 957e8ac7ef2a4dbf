# Um tipo de produto do catálogo: o seu nome, e a etiqueta do campo para o assinante.

ELECTRICITY = Eletricidade
    .subscriber = Número do contador
AIRTIME = Crédito telefónico
    .subscriber = Número de telefone
WATER = Água
    .subscriber = Número do contador

# O comprimento do identificador de um assinante, quando o catálogo não tem indicação própria.
length-exactly = { $most } caracteres
length-between = { $least } a { $most } caracteres
length-at-least = Pelo menos { $least } caracteres
length-at-most = No máximo { $most } caracteres
