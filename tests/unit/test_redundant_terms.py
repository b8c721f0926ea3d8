"""The command that lists terms which change no reading."""

from __future__ import annotations

from pathlib import Path

from benchmark import benchmark
from edited_lexicon import bundled_in, edited_bundled, write_small_lexicon


def test_a_term_that_shorter_ones_make_up_is_redundant(tmp_path: Path) -> None:
    module = benchmark("redundant_terms")
    line = "    - aeration disturbance\n"
    more = "    - (focal opacity|golden septal line)\n"
    small = write_small_lexicon(tmp_path / "small")
    with bundled_in(small), edited_bundled(tmp_path, "chest_xray/lung.yaml", line, line + more):
        terms = {module.Term("chest_xray", "lung", "opacity", text) for text in ("focal opacity", "golden septal line")}
        assert [term.text for term in module.redundant(terms, "chest_xray")] == ["focal opacity"]
