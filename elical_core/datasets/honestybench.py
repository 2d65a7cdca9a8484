"""HonestyBench records: questions with the answers that a model gave, so that no sampling is needed.

One JSON object a line: ``question``, ``answer`` (gold answers), ``greedy_response`` [text], ``greedy_correctness``
(0/1), ``greedy_tokens`` [[...]], ``greedy_logprobs`` [[...]], ``greedy_cumulative_logprobs`` [number],
``sampling_response`` [k texts], ``sampling_correctness`` [k times 0/1]; optional ``id``, ``split``, ``dataset``.
``consistency_judgement`` is not read: agreement is computed here, by one definition for all data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elical_core.consistency.clean import classify
from elical_core.datasets.convert import SPLIT_WORDS, convert
from elical_core.datasets.encoding import find_encoding
from elical_core.datasets.jsonrows import jsonl_rows
from elical_core.datasets.opening import Format, open_file
from elical_core.datasets.options import ReadOptions
from elical_core.datasets.rows import ParsedRow, ProblemKind, RawRow, RowProblem
from elical_core.datasets.values import Unusable, text_of
from elical_core.domain import Answer, QuestionRecord
from elical_core.errors import ImportRefused

MARKS = ("greedy_response", "sampling_response")  # what makes a JSON Lines file one of records
MAPPING = {"question": "question", "answer": "answer", "domain": "dataset", "context": "context"}
SUM_TOLERANCE = 0.01  # between the tokens' log-probabilities and their stated sum; records round to 4 digits
LENIENT = json.JSONDecoder(parse_constant=lambda constant: None)  # a log-probability may be NaN or -Infinity: missing


@dataclass(frozen=True, slots=True)
class HonestyRecord:
    """A question with recorded answers. ``greedy_correct`` is None when the record does not say; ``samples_correct`` is
    row-aligned with ``samples``, or empty when the record does not say."""

    row: int
    question: QuestionRecord
    greedy: Answer
    samples: tuple[Answer, ...]
    greedy_correct: bool | None
    samples_correct: tuple[bool, ...]
    split_given: bool


def looks_like_records(path: Path | str) -> bool:
    """Whether the first row of the file is a record with answers. Raises ImportRefused for an unreadable file."""
    file = open_file(path)
    if file.format is not Format.JSONL:
        return False
    encoding = find_encoding(file, None)
    first = next((row for row in jsonl_rows(file, encoding.name, LENIENT) if not row.blank), None)
    return first is not None and first.values is not None and all(mark in first.values for mark in MARKS)


def read_records(
    path: Path | str, options: ReadOptions = ReadOptions(), *, max_new_tokens: int | None = None
) -> Iterator[HonestyRecord | RowProblem]:
    """Every row as a record or as the reason why not; streamed.

    A record's split "pool" or "train" is left to the seeded hash (pool or audit); "test", "ood" and the like are held
    out. The id is "<split>-<id>". ``max_new_tokens``: a greedy answer of that many tokens that does not end in an end
    mark is truncated; None = answers are classified by their text alone. Raises ImportRefused when the file is not JSON
    Lines.
    """
    file = open_file(path)
    if file.format is not Format.JSONL:
        raise ImportRefused(f"{file.name} is {file.format}; records are JSON Lines, one object a line")
    encoding = find_encoding(file, options.encoding)
    for raw in jsonl_rows(file, encoding.name, LENIENT):
        yield _record(raw, options, max_new_tokens)


def _record(raw: RawRow, options: ReadOptions, max_new_tokens: int | None) -> HonestyRecord | RowProblem:
    if raw.values is None:
        return _problem_of(convert(raw, MAPPING, options))
    values = raw.values
    try:
        split = _split_word(values)
        greedy = _greedy(values, max_new_tokens)
        samples = tuple(Answer(text=text, answer_class=classify(text, truncated=False)) for text in _samples(values))
        greedy_correct = _flag(_single(values.get("greedy_correctness")), "greedy_correctness")
        samples_correct = _flags(values.get("sampling_correctness"), len(samples))
        plain = {**_question_values(values), "id": _identity(values), "split": split}
        gold = {"gold_greedy": _digit(greedy_correct), "gold_samples": "".join(map(_digit, samples_correct))}
        plain |= {name: flags for name, flags in gold.items() if flags}
    except Unusable as error:
        reason = str(error)
        return RowProblem(row=raw.row, line=raw.line, kind=ProblemKind.REJECTED, reason=reason)
    mapping = {**MAPPING, "id": "id", "split": "split"}
    parsed = convert(RawRow(raw.row, raw.line, plain), mapping, options)
    if isinstance(parsed, RowProblem):
        return parsed
    return HonestyRecord(
        raw.row, parsed.record, greedy, samples, greedy_correct, samples_correct, split_given=parsed.split_given
    )


def _problem_of(parsed: ParsedRow | RowProblem) -> RowProblem:
    if isinstance(parsed, ParsedRow):
        raise TypeError("a row without values cannot be a question")
    return parsed


def _question_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in MAPPING.values() if name in values}


def _split_word(values: Mapping[str, Any]) -> str:
    word = (text_of(values.get("split")) or "").strip().lower().replace("_", "-")
    if word in {"pool", "train", "training", ""}:
        return ""
    if word in {"ood", "out-of-domain"}:
        return "held-out"
    if word not in SPLIT_WORDS:
        raise Unusable(f"the split {word[:40]!r} is none of pool, train, test, ood, audit, held-out")
    return word


def _identity(values: Mapping[str, Any]) -> str:
    identity = (text_of(values.get("id")) or "").strip()
    split = (text_of(values.get("split")) or "").strip()
    return f"{split}-{identity}" if split and identity else identity


def _greedy(values: Mapping[str, Any], max_new_tokens: int | None) -> Answer:
    text = text_of(_single(values.get("greedy_response")))
    if text is None:
        raise Unusable("greedy_response is missing; a record needs the greedy answer")
    tokens = tuple(text_of(token) or "" for token in _inner(values.get("greedy_tokens"), "greedy_tokens"))
    logprobs = tuple(_logprob(value) for value in _inner(values.get("greedy_logprobs"), "greedy_logprobs"))
    if tokens and logprobs and len(tokens) != len(logprobs):
        raise Unusable(
            f"greedy_tokens has {len(tokens)} entries and greedy_logprobs {len(logprobs)}; they must be equal"
        )
    _check_sum(values.get("greedy_cumulative_logprobs"), logprobs)
    cut = max_new_tokens is not None and len(tokens) >= max_new_tokens and not _ends(tokens[-1])
    return Answer(text=text, answer_class=classify(text, truncated=cut), tokens=tokens, logprobs=logprobs)


def _ends(token: str) -> bool:
    return "\n" in token or (token.startswith("<") and token.endswith(">"))


def _check_sum(stated: Any, logprobs: tuple[float | None, ...]) -> None:
    total = _single(stated)
    known = [value for value in logprobs if value is not None]
    if not known or len(known) < len(logprobs) or not isinstance(total, (int, float)):
        return
    if abs(math.fsum(known) - total) > SUM_TOLERANCE + 1e-3 * len(known):
        raise Unusable(f"greedy_cumulative_logprobs is {total}, but greedy_logprobs sum to {math.fsum(known):.4f}")


def _samples(values: Mapping[str, Any]) -> list[str]:
    found = values.get("sampling_response")
    if not isinstance(found, list) or not found:
        raise Unusable("sampling_response is missing or empty; a record needs at least one sampled answer")
    return [text_of(sample) or "" for sample in found]


def _single(value: Any) -> Any:
    """The only element of a list of one, or the value itself."""
    if isinstance(value, list):
        if len(value) != 1:
            raise Unusable(f"a list of {len(value)} where one greedy value is needed")
        return value[0]
    return value


def _inner(value: Any, name: str) -> list[Any]:
    """The list inside a list of one, or the list itself; empty when missing."""
    if value is None:
        return []
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if not isinstance(value, list) or any(isinstance(element, (list, dict)) for element in value):
        raise Unusable(f"{name} must be a list in a list of one, as in [[...]]")
    return value


def _logprob(value: Any) -> float | None:
    """None where the model gave none. Rounding may leave a log-probability a hair above 0."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unusable(f"the log-probability {value!r} is not a number")
    if value > 1e-3:
        raise Unusable(f"the log-probability {value} is above 0")
    return min(float(value), 0.0) if math.isfinite(value) else None


def _flags(value: Any, wanted: int) -> tuple[bool, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) != wanted:
        length = len(value) if isinstance(value, list) else "no"
        raise Unusable(f"sampling_response has {wanted} entries and sampling_correctness {length}; they must be equal")
    flags = tuple(_flag(element, "sampling_correctness") for element in value)
    if any(flag is None for flag in flags):
        raise Unusable("sampling_correctness has an entry without a value; 0 or 1 is needed")
    return tuple(bool(flag) for flag in flags)


def _flag(value: Any, name: str) -> bool | None:
    if value is None:
        return None
    if value not in (0, 1):
        raise Unusable(f"{name} holds {value!r}; 0 or 1 is needed")
    return bool(value)


def _digit(flag: bool | None) -> str:
    return "" if flag is None else str(int(flag))
