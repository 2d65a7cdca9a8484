"""Agreement with judged pairs, by hand."""

import json
from pathlib import Path

import pytest

from elical_core.consistency import Sampled, TableEmbedder
from elical_core.consistency.bench import bench_clusters, bench_equivalence
from elical_core.domain import Answer, AnswerClass
from elical_core.errors import InputError


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def pair(a: str, b: str, label: str, contestable: bool = False) -> dict[str, object]:
    return {"question": "What is it?", "a": a, "b": b, "label": label, "contestable": contestable}


def test_by_hand(tmp_path: Path) -> None:
    rows = [
        pair("5", "five", "same"),  # typed, agrees
        pair("5", "6", "same"),  # typed, does not agree
        pair("Paris", "paris.", "same"),  # exact
        pair("muscles", "liver", "different"),  # open without embeddings
        pair("x", "y", "unsure"),  # left out
        pair("x", "y", "different", contestable=True),  # left out
    ]
    result = bench_equivalence(write(tmp_path / "pairs.jsonl", rows))
    assert result["pairs"] == 4
    assert result["decided"] == pytest.approx(3 / 4)
    assert result["agreement"] == pytest.approx(2 / 3)
    assert result["by_step"]["typed"] == {"share": 0.5, "agreement": 0.5}
    assert result["by_step"]["exact"] == {"share": 0.25, "agreement": 1.0}
    assert result["different"] == {"same": 0, "different": 0, "unresolved": 1}
    assert [(e["a"], e["b"]) for e in result["errors"]] == [("5", "6")]


def test_no_pairs(tmp_path: Path) -> None:
    result = bench_equivalence(write(tmp_path / "none.jsonl", []))
    assert (result["pairs"], result["decided"], result["agreement"]) == (0, None, None)


@pytest.mark.parametrize(("line", "message"), [("{", "line 2: not JSON"), ('{"question": "q"}', "line 2: a, b, label")])
def test_a_broken_file_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(pair("a", "b", "same")) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        bench_equivalence(path)


def test_clusters_by_hand() -> None:
    def answer(text: str) -> Answer:
        return Answer(text=text, answer_class=AnswerClass.ANSWER)

    samples = [answer(t) for t in ("liver", "muscles", "5", "liver")]
    item = Sampled(question="What is it?", greedy=answer("liver"), samples=samples)
    result = bench_clusters([item], embedder=TableEmbedder({"liver": (1.0, 0.0), "muscles": (0.1, 1.0)}))
    assert (result["same"], result["different"], result["unresolved"]) == (0.5, 0.5, 0.0)
    assert (result["clusters_per_question"], result["with_target"], result["embedding_calls"]) == (3, 1, 1)
    assert bench_clusters([])["same"] is None
