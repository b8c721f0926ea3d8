"""The processor that stands beside a cost."""

from __future__ import annotations

import platform

import pytest

from rrgmetrics.utils import machine

FLAGS = "model name\t: Some Chip\nflags\t\t: fpu avx2{more}\n"


@pytest.mark.parametrize(
    ("told", "load", "expected"),
    [
        (FLAGS.format(more=""), 0.0, "Some Chip, AVX2"),
        (FLAGS.format(more=" avx512f avx512_vnni avx512_bf16"), 0.0, "Some Chip, AVX512 with VNNI and BF16"),
        (FLAGS.format(more=""), 1e6, "Some Chip, AVX2, busy"),
        ("", 0.0, "chip of another system"),
    ],
)
def test_processor(monkeypatch, tmp_path, told, load, expected):
    file = tmp_path / "cpuinfo"
    file.write_text(told)
    monkeypatch.setattr(machine, "FACTS", file)
    monkeypatch.setattr(machine, "_load", lambda: load)
    monkeypatch.setattr(platform, "processor", lambda: "chip of another system")
    assert machine.processor() == expected
