"""Questions about the chemical elements: symbol, name, number. Abundant elements first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mendeleev import get_all_elements

from elical_core.demo.making.base import Fact

SPELLINGS = {"Aluminum": ("Aluminium",), "Sulfur": ("Sulphur",), "Cesium": ("Caesium",)}


def every_element() -> list[Any]:
    """The most abundant in the Earth's crust first; those without a figure last, by number."""
    return sorted(get_all_elements(), key=lambda e: (-(e.abundance_crust or 0), e.atomic_number))


def symbols() -> Iterator[Fact]:
    for e in every_element():
        question = f"What is the chemical symbol for {e.name.lower()}?"
        yield Fact("symbol", "elements", question, (e.symbol,), f"symbol:{e.symbol}")


def of_symbols() -> Iterator[Fact]:
    for e in every_element():
        question = f"Which chemical element has the symbol {e.symbol}?"
        yield Fact("element", "elements", question, (e.name, *SPELLINGS.get(e.name, ())), f"symbol:{e.symbol}")


def numbers() -> Iterator[Fact]:
    for e in every_element():
        question = f"What is the atomic number of {e.name.lower()}?"
        yield Fact("atomic-number", "elements", question, (str(e.atomic_number),), f"number:{e.symbol}")


def of_numbers() -> Iterator[Fact]:
    for e in every_element():
        question = f"Which chemical element has the atomic number {e.atomic_number}?"
        yield Fact("element-number", "elements", question, (e.name, *SPELLINGS.get(e.name, ())), f"number:{e.symbol}")
