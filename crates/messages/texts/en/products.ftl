# A product type of the catalogue: its name, and the label of the input for its subscriber.

ELECTRICITY = Electricity
    .subscriber = Meter number
AIRTIME = Airtime
    .subscriber = Phone number
WATER = Water
    .subscriber = Meter number
