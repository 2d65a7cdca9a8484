"""Import: a file of questions, seen as it will be stored before anything is stored."""

from pathlib import Path

import streamlit as st

from app import state
from app.components.gate import chosen_project, show_notice
from app.components.import_tables import counts, file_words, preview_table, problem_table
from app.components.literal import Tone, literal
from app.components.uploads import keep_upload
from app.components.words import count
from app.services import importing, progress
from app.services.importing import ImportPreview
from app.services.projects import ProjectView
from app.theme import MAX_UPLOAD_MIB
from elical_core.datasets import FIELDS, Preview, ReadOptions, file_columns
from elical_core.errors import ElicalError

KINDS = ["csv", "tsv", "txt", "jsonl", "ndjson", "json", "parquet", "xlsx", "gz"]
ENCODINGS = ["utf-8", "utf-16", "cp1252", "latin-1", "cp1251", "shift_jis", "gb18030", "big5", "euc-kr"]
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LABELS = {"answer": "reference answers", "id": "id", "group": "near-duplicate group"}
FOUND_OUT, NOT_READ = "(found out)", "(not read)"


def chosen_file() -> Path | None:
    """The uploaded file, or the one named by path; None before there is one."""
    uploaded = st.file_uploader(
        "A file of questions",
        type=KINDS,
        max_upload_size=MAX_UPLOAD_MIB,
        key="upload",
        help="CSV, TSV, JSON Lines, JSON, Parquet or XLSX, each also gzipped.",
    )
    if uploaded is not None:
        return keep_upload(state.settings().home / "uploads", uploaded.file_id, uploaded.name, uploaded)
    with st.expander(f"Larger than {MAX_UPLOAD_MIB} MB, or already on this machine?", icon=":material/folder_open:"):
        named = st.text_input("Path of the file", key="path", placeholder="/data/questions.jsonl.gz")
        st.caption("Or on the command line, which shows progress and has no limit:")
        st.code(f"elical import {_quoted(state.current_project() or 'NAME')} FILE", language=None)
    return Path(named).expanduser() if named.strip() else None


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "'\\''") + "'" if not name.isalnum() else name


def reading(file: Path) -> ReadOptions:
    """What the person changed; everything else is found out again at every draw."""
    kept = st.session_state

    def told(name: str) -> str | None:
        value = kept.get(f"{name}_{file.name}")
        return None if value == FOUND_OUT else value

    mapping = {name: kept[key] for name in FIELDS if kept.get(key := f"map_{name}_{file.name}")}
    return ReadOptions(
        mapping={name: "" if column == NOT_READ else column for name, column in mapping.items()},
        encoding=told("encoding"),
        separator=told("separator"),
        answer_separator=kept.get(f"answer_separator_{file.name}", ""),
    )


def mapping_controls(file: Path, columns: list[str], mapping: dict[str, str], guessed: tuple[str, ...]) -> None:
    """Which column is which; a guess says so until it is changed."""
    st.markdown("#### Which column is which?")
    for start in range(0, len(FIELDS), 4):
        for column, name in zip(st.columns(4), FIELDS[start : start + 4], strict=False):
            at = mapping.get(name)
            column.selectbox(
                LABELS.get(name, name) + (" (guessed)" if name in guessed else ""),
                columns if name == "question" else [NOT_READ, *columns],
                index=None
                if at is None and name == "question"
                else ([NOT_READ, *columns].index(at) if at else 0) - (name == "question"),
                key=f"map_{name}_{file.name}",
                placeholder="choose a column",
            )


def text_controls(file: Path, seen: Preview) -> None:
    """Encoding and separator of text files, each with what was found out; and how one cell holds several answers."""
    encoding, separator = seen.encoding, seen.separator
    left, middle, right = st.columns(3)
    left.selectbox(
        f"Encoding (found: {encoding})" if encoding else "Encoding",
        [FOUND_OUT, *ENCODINGS],
        key=f"encoding_{file.name}",
        disabled=encoding is None,
        accept_new_options=True,
    )
    middle.selectbox(
        f"Separator (found: {SEPARATORS.get(separator or '', separator)})" if separator else "Separator",
        [FOUND_OUT, *SEPARATORS],
        format_func=lambda one: SEPARATORS.get(one, one),
        key=f"separator_{file.name}",
        disabled=separator is None,
    )
    right.text_input(
        "Several answers in one cell are split at",
        key=f"answer_separator_{file.name}",
        placeholder="for example |",
        max_chars=3,
    )
    if encoding and not seen.encoding_certain:
        literal(
            f"The encoding {encoding} was {seen.encoding_how}.",
            Tone.WARNING,
            key="doubt",
        )


def run_import(project: ProjectView, file: Path, options: ReadOptions) -> None:
    """Store the file, wholly or not at all, with progress; then draw the page anew with the result."""
    bar = st.progress(0.0, text="reading rows")

    def progress(done: int, total: int, message: str) -> None:
        bar.progress(done / total if total else 0.0, text=f"{message}: {done:,}" + (f" of {total:,}" if total else ""))

    try:
        report = importing.import_questions(
            state.database(), state.current_actor(), project.id, file, options, progress=progress
        )
    except ElicalError as refused:
        state.notify(str(refused), ok=False)
    else:
        left_out = f", {report.rejected:,} left out" if report.rejected else ""
        words = f"Imported {count(report.imported, 'question')}; {report.skipped:,} skipped{left_out}."
        state.notify(words, ok=True)
    st.rerun()


def act(project: ProjectView, file: Path, options: ReadOptions, found: ImportPreview) -> None:
    new = None if found.report is None else found.report.imported
    words = "Import the file" if new is None else f"Import {count(new, 'question')}"
    if st.button(words, key="import", type="primary", icon=":material/upload:", disabled=new == 0):
        run_import(project, file, options)


def choose_question(file: Path, options: ReadOptions, refused: ElicalError) -> None:
    """The file cannot be used as it is mapped: say why, and let the question column be chosen if there are columns."""
    literal(str(refused), Tone.ERROR, key="refused")
    try:
        columns = list(file_columns(file, options))
    except ElicalError:  # the same refusal: the file cannot be read, whatever the mapping
        return
    mapping_controls(file, columns, {name: column for name, column in options.mapping.items() if column in columns}, ())


def _preview(file: Path, options: ReadOptions, project_id: int, stored: int) -> ImportPreview:
    """``stored`` questions are in the project: another number makes another cache entry."""
    return importing.preview_import(state.database(), state.current_actor(), project_id, file, options)


preview_of = st.cache_data(_preview, max_entries=4, ttl=600, show_spinner=False)


def look(project: ProjectView, file: Path) -> None:
    options = reading(file)
    try:
        with st.spinner("Reading the file", show_time=True):
            stored = progress.project_state(state.database(), state.current_actor(), project.id).total
            found = preview_of(file, options, project.id, stored)
    except ElicalError as refused:
        choose_question(file, options, refused)
        return
    seen = found.preview
    literal(file_words(seen), Tone.QUIET, key="file")
    mapping_controls(file, list(seen.columns), seen.mapping, seen.guessed)
    text_controls(file, seen)
    st.markdown("#### The first rows, as they will be stored")
    preview_table(seen)
    if found.report is None:
        st.caption("This file is too large to count before the import; the counts come with its result.")
        act(project, file, options, found)
        return
    counts(found.report)
    act(project, file, options, found)
    for note in found.report.notes:
        if "--encoding" not in note:  # the page has said it beside its own control
            literal(note, Tone.WARNING)
    if found.report.problems:
        problem_table(found.report.problems, found.report.problems_left_out)


project = chosen_project()
st.title("Import questions", anchor=False)
literal(f"into {project.name} · up to {MAX_UPLOAD_MIB} MB by upload", Tone.QUIET, key="into")
show_notice()
file = chosen_file()
if file is None:
    st.caption(
        "One question a row, with its reference answers if there are any. Column names such as question, answer, "
        "context, id, group and split are understood; anything else you map here. Nothing is stored before you press "
        "the button."
    )
else:
    look(project, file)
