"""Makes corpus.jsonl: ``python -m elical_core.demo.make_corpus [FILE]``. Needs the development packages.

Each family of questions runs from well-known to obscure. A share of each family is kept, evenly along that line, ids
are given in that order, about 15% of the subjects are held out by a seeded hash, and the file is written in an order
whose every beginning has all families and all difficulties in their shares.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from elical_core.datasets.splits import hash_share
from elical_core.demo.making import countries, elements, languages, places
from elical_core.demo.making.base import Fact

SEED = 0
HELD_OUT_SHARE = 0.15
IN_THE_PROMPT = frozenset({"capital:AU", "symbol:Na"})  # the few-shot prompt's examples give these away

FAMILIES: dict[Callable[[], Iterable[Fact]], int] = {  # how many questions of a family are kept
    countries.capitals: 60,
    countries.capitals_of: 30,
    countries.currencies: 71,
    countries.of_currencies: 37,
    countries.continents: 50,
    countries.neighbours: 110,
    countries.main_languages: 25,
    countries.of_calling_codes: 15,
    countries.of_top_level_domains: 90,
    countries.of_iso_codes: 100,
    places.cities: 360,
    places.us_cities: 90,
    places.counties: 220,
    places.regions: 20,
    elements.symbols: 70,
    elements.of_symbols: 70,
    elements.numbers: 10,
    elements.of_numbers: 20,
    languages.codes: 30,
}


def thin(facts: list[Fact], keep: int) -> list[Fact]:
    """``keep`` facts, evenly spaced along the list; all of them when there are fewer."""
    if len(facts) <= keep:
        return facts
    return [facts[i * len(facts) // keep] for i in range(keep)]


def radical_inverse(n: int, base: int = 2) -> float:
    """Van der Corput's sequence in [0, 1): 0, 1/2, 1/4, 3/4, ...; every beginning is spread evenly."""
    value, scale = 0.0, 1.0
    while n:
        scale /= base
        value += scale * (n % base)
        n //= base
    return value


def spread(size: int, shift: float) -> list[int]:
    """The numbers below ``size``, each once, in an order whose every beginning is spread over the whole range.

    ``shift`` in [0, 1) turns the range, so that not every family begins with its easiest question."""
    cells = 1 << max(size - 1, 0).bit_length()
    places = (int((radical_inverse(n) + shift) % 1 * cells) for n in range(cells))
    return [place for place in places if place < size]


def rows() -> Iterator[dict[str, Any]]:
    placed: list[tuple[float, str, dict[str, Any]]] = []
    for number, (family, keep) in enumerate(FAMILIES.items()):
        facts = thin([fact for fact in family() if fact.subject not in IN_THE_PROMPT], keep)
        offset, shift = radical_inverse(number + 1, base=3), radical_inverse(number + 1, base=5)
        for turn, rank in enumerate(spread(len(facts), shift)):
            fact = facts[rank]
            identity = f"{fact.kind}-{rank + 1:04d}"
            row: dict[str, Any] = {
                "id": identity,
                "question": fact.question,
                "answers": list(fact.answers),
                "domain": fact.domain,
                "group": fact.subject,
            }
            if hash_share(fact.subject, SEED, "held-out") < HELD_OUT_SHARE:
                row["split"] = "held-out"
            placed.append(((turn + offset) / len(facts), identity, row))
    return (row for _, _, row in sorted(placed, key=lambda item: item[:2]))


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("corpus.jsonl")
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows()]
    target.write_text("".join(lines), encoding="utf-8")
    sys.stdout.write(f"{len(lines)} questions in {target}\n")


if __name__ == "__main__":
    main()
