"""The engine `replies:<file>`: recorded replies, so that scores can be made again without the model."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.judges.base import Prompt
from rrgmetrics.judges.cache import Record, read_records
from rrgmetrics.judges.engines.asking import Answer, impossible


@dataclass(frozen=True)
class ReplyFile:
    """A source of replies: a file in which they were recorded.

    Attributes:
        path: JSON lines with `protocol`, `prompt_sha256`, `reply`, `engine`, `parameters`.
        sha256: Of its bytes.
        records: By protocol and prompt.
    """

    path: Path
    sha256: str
    records: Mapping[tuple[str, str], Record]

    @classmethod
    def read(cls, path: Path) -> ReplyFile:
        """Reads a file; raises InputError for anything but records, or two different replies to one prompt."""
        records: dict[tuple[str, str], Record] = {}
        lines: dict[tuple[str, str], int] = {}
        for number, record in read_records(path.expanduser()):
            key = record.protocol, record.prompt_sha256
            if key in records and records[key].answer != record.answer:
                raise InputError(
                    f"{path}, lines {lines[key]} and {number} are different replies to one prompt of "
                    f"{record.protocol}; keep one of them."
                )
            records.setdefault(key, record)
            lines.setdefault(key, number)
        if not records:
            raise InputError(f"{path} contains no recorded replies.")
        return cls(path, hashlib.sha256(path.expanduser().read_bytes()).hexdigest(), records)

    @property
    def identity(self) -> str:
        """The identity: the checksum of the file's content."""
        return f"replies@sha256:{self.sha256[:8]}"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """No parameters: each record has its own."""
        return {}

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the engine that gave the replies."""
        return {"recorded_from": "+".join(sorted({record.engine or "unknown" for record in self.records.values()}))}

    def stream(self, prompts: Sequence[Prompt]) -> Generator[Answer, None, None]:
        """Yields the recorded reply to each prompt.

        Raises:
            BackendError: The file has replies, but none to this version of the protocol.
        """
        asked = {prompt.protocol for prompt in prompts}
        there = {protocol for protocol, _ in self.records}
        if not asked & there:
            raise BackendError(
                f"{self.path} contains replies to {', '.join(sorted(there))}, and none to "
                f"{', '.join(sorted(asked))}; record them again with `rrgmetrics judge --record`."
            )
        for index, prompt in enumerate(prompts):
            record = self.records.get((prompt.protocol, prompt.sha256))
            if record is None:
                reason = f"{self.path.name} has no reply to this prompt; check the reports and options."
                yield impossible(index, reason, "outage")
            else:
                yield Answer(index, record.answer, True)
