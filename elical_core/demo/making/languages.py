"""Questions about two-letter language codes. Languages of populous countries first."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pycountry

from elical_core.demo.making.base import Fact, distinct, words
from elical_core.demo.making.countries import asked

LESS_CLEAR = words("sh no nb nn ie ia io cu ae pi sa kj ng ho")
OTHER_NAMES = {
    "el": ("Greek",), "fa": ("Farsi",), "bn": ("Bangla",), "ps": ("Pashto",), "pa": ("Punjabi",), "or": ("Odia",),
    "ug": ("Uyghur",), "ky": ("Kyrgyz",), "ht": ("Haitian Creole",), "si": ("Sinhalese",), "rn": ("Kirundi",),
    "st": ("Sesotho", "Sotho"), "tn": ("Setswana",), "ny": ("Nyanja", "Chewa"), "kl": ("Greenlandic",),
    "lg": ("Luganda",), "ff": ("Fula", "Fulani"), "dv": ("Dhivehi", "Maldivian"), "ii": ("Nuosu", "Yi"),
    "to": ("Tongan",), "na": ("Nauruan",), "ki": ("Gikuyu",), "ab": ("Abkhaz",), "av": ("Avar",), "fy": ("Frisian",),
    "gd": ("Gaelic",), "ga": ("Irish Gaelic",), "li": ("Limburgish",), "iu": ("Inuit",), "ss": ("Swazi",),
    "az": ("Azeri",), "nd": ("Ndebele",), "nr": ("Ndebele",), "mi": ("Māori",), "eu": ("Euskara",),
    "km": ("Cambodian",),    "nv": ("Navaho",),
}  # fmt: skip


def codes() -> Iterator[Fact]:
    order: dict[str, int] = {}
    for country in asked().values():
        for tag in country["languages"].split(","):
            order.setdefault(tag.split("-")[0], len(order))
    spoken = [language for language in pycountry.languages if hasattr(language, "alpha_2")]
    for language in sorted(spoken, key=lambda one: (order.get(one.alpha_2, 9999), one.alpha_2)):
        code = language.alpha_2
        if code in LESS_CLEAR:
            continue
        plain = re.sub(r"^Modern | \(.*\)$| \(.*\)", "", language.name)
        found = distinct([plain, getattr(language, "common_name", ""), *OTHER_NAMES.get(code, ())])
        question = f"Which language has the ISO 639-1 code “{code}”?"
        yield Fact("language-code", "languages", question, found, f"language-code:{code}")
