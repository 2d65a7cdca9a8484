"""The embedded corpus: short factual questions with reference answers, from easy to obscure (see SOURCES.md)."""

from elical_core.demo.corpus import corpus, corpus_path

__all__ = ["corpus", "corpus_path"]
