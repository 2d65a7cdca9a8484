"""Imports point one way: app -> elical_core, db; db -> the words of elical_core; elical_core -> nothing of ours."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = {"torch", "transformers", "peft", "vllm", "sentence_transformers", "accelerate"}
MAY_LOAD_HEAVY = {"models", "sampling", "consistency", "confidence"}
MAY_TOUCH_SQL = {"deps.py", "services"}
DB_MAY_SEE = {"elical_core.domain", "elical_core.errors"}


def imports(path: Path) -> list[str]:
    """The dotted module of every import in the file, wherever it stands."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import; write the whole name"
            found.append(node.module or "")
    return found


def files(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", files("elical_core"), ids=lambda p: str(p.relative_to(ROOT)))
def test_core_knows_no_database_and_no_page(path: Path) -> None:
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in {"app", "db", "streamlit", "sqlalchemy", "alembic", "dbos", "typer", "fastapi"}, module
        if top in HEAVY:
            assert path.relative_to(ROOT).parts[1] in MAY_LOAD_HEAVY, f"{module} outside {sorted(MAY_LOAD_HEAVY)}"


@pytest.mark.parametrize("path", files("db"), ids=lambda p: str(p.relative_to(ROOT)))
def test_db_knows_only_the_words(path: Path) -> None:
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in {"app", "streamlit", "dbos"} | HEAVY, module
        if top == "elical_core":
            assert module in DB_MAY_SEE, module


@pytest.mark.parametrize("path", files("app"), ids=lambda p: str(p.relative_to(ROOT)))
def test_app_loads_no_model_and_keeps_sql_in_services(path: Path) -> None:
    inside = path.relative_to(ROOT / "app").parts[0]
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in HEAVY, module
        if top == "sqlalchemy":
            assert inside in MAY_TOUCH_SQL, f"{module} outside app/services and app/deps.py"
        if top == "streamlit":
            assert inside in {"main.py", "app_pages", "components", "state.py", "shortcuts.py"}, module


def test_pages_and_services_never_load_torch() -> None:
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for folder in ("app/services", "app/components")
        for path in files(folder)
    ]
    code = f"import sys, importlib; [importlib.import_module(n) for n in {names!r}]; sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr or "torch was loaded"
