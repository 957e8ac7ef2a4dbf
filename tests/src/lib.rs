//! Whole journeys against the real binaries, and the rules of the house.
