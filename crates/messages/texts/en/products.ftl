# A product type of the catalogue: its name, and the label of the input for its subscriber.

ELECTRICITY = Electricity
    .subscriber = Meter number
AIRTIME = Airtime
    .subscriber = Phone number
WATER = Water
    .subscriber = Meter number

# How long the identifier of a subscriber is, where the catalogue has no hint of its own.
length-exactly = { $most } characters
length-between = { $least } to { $most } characters
length-at-least = At least { $least } characters
length-at-most = At most { $most } characters
