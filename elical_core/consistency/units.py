"""Units that may follow a number, with exact factors to the base of their dimension."""

from __future__ import annotations

import re
from fractions import Fraction

CURRENCIES = {"$": "usd", "us$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr", "₩": "krw", "₽": "rub"}

# unit word -> (dimension, factor to the dimension's base)
UNITS: dict[str, tuple[str, Fraction]] = {}


def _unit(dimension: str, factor: str, names: str) -> None:
    """Names are separated by blanks; "_" stands for a blank inside a name."""
    for name in names.split():
        UNITS[name.replace("_", " ")] = (dimension, Fraction(factor))


_unit("length", "1", "m meter meters metre metres")
_unit("length", "1000", "km kilometer kilometers kilometre kilometres kms")
_unit("length", "1/100", "cm centimeter centimeters centimetre centimetres")
_unit("length", "1/1000", "mm millimeter millimeters millimetre millimetres")
_unit("length", "0.3048", "ft foot feet")
_unit("length", "0.0254", "inch inches")
_unit("length", "0.9144", "yd yard yards")
_unit("length", "1609.344", "mi mile miles")
_unit("area", "1", "m2 sqm square_meters square_metres m^2")
_unit("area", "1000000", "km2 km^2 square_kilometers square_kilometres sq_km square_km")
_unit("area", "2589988.110336", "square_miles sq_mi sq_miles square_mile")
_unit("area", "10000", "ha hectare hectares")
_unit("area", "4046.8564224", "acre acres")
_unit("mass", "1", "kg kgs kilogram kilograms kilo kilos")
_unit("mass", "1/1000", "g gram grams")
_unit("mass", "1/1000000", "mg milligram milligrams")
_unit("mass", "1000", "tonne tonnes")
_unit("mass", "0.45359237", "lb lbs pound pounds")
_unit("mass", "0.028349523125", "oz ounce ounces")
_unit("time", "1", "s sec secs second seconds")
_unit("time", "60", "min mins minute minutes")
_unit("time", "3600", "h hr hrs hour hours")
_unit("time", "86400", "day days")
_unit("time", "604800", "week weeks")
_unit("months", "1", "month months")
_unit("months", "12", "year years yr yrs")
_unit("months", "120", "decade decades")
_unit("months", "1200", "century centuries")
_unit("speed", "1", "m/s mps")
_unit("speed", "5/18", "km/h kmh kph kilometers_per_hour")
_unit("speed", "0.44704", "mph miles_per_hour")
_unit("volume", "1", "l liter liters litre litres")
_unit("volume", "1/1000", "ml milliliter milliliters millilitre millilitres")
_unit("volume", "3.785411784", "gallon gallons gal")
_unit("share", "1/100", "% percent pct per_cent percentage")
_unit("celsius", "1", "°c degrees_celsius celsius")
_unit("fahrenheit", "1", "°f degrees_fahrenheit fahrenheit")
_unit("kelvin", "1", "kelvin k")
_unit("angle", "1", "° degree degrees")
_unit("power", "1", "w watt watts")
_unit("power", "1000", "kw kilowatt kilowatts")
_unit("power", "1000000", "mw megawatt megawatts")
_unit("energy", "1", "j joule joules")
_unit("frequency", "1", "hz hertz")
_unit("frequency", "1000000", "mhz megahertz")
_unit("usd", "1", "usd dollar dollars us_dollars")
_unit("usd", "1/100", "cent cents")
_unit("eur", "1", "eur euro euros")
_unit("gbp", "1", "gbp sterling pounds_sterling british_pounds")
_unit("jpy", "1", "jpy yen")
_unit("inr", "1", "inr rupee rupees")
UNIT_AFTER = re.compile(
    r"[ -]?(?P<unit>{})(?![\w/])".format("|".join(re.escape(u) for u in sorted(UNITS, key=len, reverse=True)))
)
