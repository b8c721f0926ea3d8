"""Says on which processor something was measured: costs differ threefold between those of one vendor."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from rrgmetrics.utils.text_format import listed

FACTS = Path("/proc/cpuinfo")
VECTORS = {"avx512f": "AVX512", "avx2": "AVX2"}  # the widest first
MATTER = ("avx512_vnni", "avx512_bf16", "amx_int8", "amx_bf16")  # models at 8 and 16 bits are faster with them


def processor() -> str:
    """Describes this machine's processor: `AMD EPYC, AVX512 with VNNI and BF16`; busy, if others use it too."""
    told = FACTS.read_text() if FACTS.is_file() else ""
    name = re.search(r"^model name\s*: (.*)$", told, re.MULTILINE)
    flags = re.search(r"^flags\s*: (.*)$", told, re.MULTILINE)
    has = set(flags[1].split()) if flags else set()
    vectors = next((f", {title}" for flag, title in VECTORS.items() if flag in has), "")
    more = listed([flag.removeprefix("avx512_").upper().replace("_", " ") for flag in MATTER if flag in has])
    busy = ", busy" if _load() > (os.cpu_count() or 1) + 1 else ""  # which makes the time longer
    return f"{name[1] if name else platform.processor() or platform.machine()}{vectors}{more and f' with {more}'}{busy}"


def _load() -> float:
    """Processes that ran or waited in the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
