"""Checks the weights of `paper` configurations: whether they are present, unmodified and reproduce published values.

For each configuration with published weights, the revision is resolved on the Hub, and layout, size, licence and
checksums are compared with the recorded ones; then the classes that load the small files are checked. Weights are
downloaded only if all these checks pass and the disk has room. Then every file is checked, revision and checksums are
stored for later loads, and the authors' examples are scored and compared with the published values. Without a network,
missing files are listed with their size and location. The server of a judge is asked which models it has.
`rrgmetrics doctor` prints the result, and writes it as a report to share where that is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rrgmetrics.backends.checkpoints import answers, cache_folder, keep_pins, offline_by_choice
from rrgmetrics.backends.radgraph.checkpoint import encoder_of
from rrgmetrics.doctor.needs import Need, needs, needs_of
from rrgmetrics.doctor.published import examples, score_example, score_invented
from rrgmetrics.doctor.repositories import (
    GIGABYTE,
    Remark,
    Repository,
    fetch,
    fetch_settings,
    free_room,
    in_one_line,
    leave,
    look_here,
    look_there,
)
from rrgmetrics.doctor.servers import BASE_URL, has_server, look_at_server
from rrgmetrics.doctor.verified import verified
from rrgmetrics.errors import BackendError, MissingExtraError
from rrgmetrics.scorers.build import build_scorer
from rrgmetrics.specs import SPECS
from rrgmetrics.specs.names import READER, parse_name, parse_names
from rrgmetrics.utils.extras import is_installed, need
from rrgmetrics.utils.text_format import counted, listed

HUB = "https://huggingface.co"


@dataclass(frozen=True)
class Checkup:
    """What was seen of one configuration.

    Attributes:
        configuration: The metric with its configuration.
        repositories: Those that it loads.
        remarks: Of its files, its weights and its published values.
    """

    configuration: str
    repositories: tuple[Repository, ...]
    remarks: tuple[Remark, ...]

    @property
    def faults(self) -> list[str]:
        """What is wrong, a sentence each."""
        return [remark.sentence for remark in self.remarks if remark.status == "fault"]

    @property
    def verified(self) -> list[str]:
        """What is verified of its checkpoints, a sentence each, whether they are here or not."""
        known = verified()
        return [known[repo.need.name].sentence for repo in self.repositories if repo.need.name in known]


def configurations(names: Sequence[str] = ()) -> list[str]:
    """The configurations to examine: those that are named, the published one of each metric that is named, or all.

    Raises:
        InputError: A name is not that of a metric.

    Example:
        >>> configurations(["crepe", "radgraph_f1@radgraph", "meteor"])
        ['crepe@paper', 'radgraph_f1@radgraph', 'meteor']
    """
    loaded = {name for need in needs() for name in need.configurations}
    chosen = list[str]()
    for text, name in parse_names(names or list(SPECS)).items():
        published = f"{name.spec.name}@paper"
        chosen.append(published if text == name.spec.name and "paper" in name.spec.configs else str(name))
    if not names:
        chosen += sorted(loaded - set(chosen))
    return list(dict.fromkeys(chosen))


@dataclass
class Doctor:
    """Examines configurations.

    Attributes:
        endpoint: Address of the Hub; "": `HF_ENDPOINT`, else huggingface.co.
        download: Whether to download what is not on this machine.
        score: Whether to load weights and score the published examples.
        most: Gigabytes that a repository may send; None: twice as many as are known of it.
        device: Where networks run; None: CUDA if there is one.
        texts: Folders with the authors' files, such as an unpacked `radeval-2.2.1.tar.gz`, read before the network.
    """

    endpoint: str = ""
    download: bool = True
    score: bool = True
    most: float | None = None
    device: str | None = None
    texts: Sequence[Path] = ()

    def __post_init__(self) -> None:
        self.endpoint = self.endpoint or os.environ.get("HF_ENDPOINT") or HUB
        self._seen = dict[str, Repository]()

    @cached_property
    def silence(self) -> str:
        """Why the Hub is not asked; "" where it answers."""
        if offline_by_choice():
            return "HF_HUB_OFFLINE is set"
        return "" if answers(self.endpoint) else f"{self.endpoint} does not answer"

    def examine(self, names: Sequence[str] = ()) -> Iterator[Checkup]:
        """Examines configurations one after the other.

        Args:
            names: Metrics, with a configuration or without one; none: all.

        Yields:
            What was seen of each, and without names of the server in `OPENAI_BASE_URL`, if there is one. Revisions and
            checksums are kept, and later loads take them.

        Raises:
            InputError: A name is not that of a metric.
        """
        chosen = configurations(names)
        if not self.silence:
            self._ask([need for configuration in chosen for need in needs_of(configuration)])
        for configuration in chosen:
            lacking = _lacking(configuration)
            named = self._repositories(needs_of(configuration), lacking)
            inside = self._repositories([need for found in named for need in _encoders_inside(found)])
            repositories = tuple({found.need.name: found for found in (*inside, *named)}.values())
            remarks = [remark for repository in repositories for remark in repository.remarks]
            if not repositories:
                remarks.append(_server_of(configuration) or _without_weights(configuration))
            if lacking and all(found.is_faultless for found in repositories):
                remarks.append(Remark("fault", lacking))
            elif self.score and not lacking:
                remarks += self._score(configuration, repositories)
            yield Checkup(configuration, repositories, tuple(remarks))
        if not names and has_server():
            yield Checkup(f"judges on {BASE_URL}", (), (look_at_server("", {}),))

    def _ask(self, needed: Sequence[Need]) -> None:
        """Asks the Hub about repositories, and checks all that can be checked before weights are sent."""
        new = {need.name: need for need in needed if need.name not in self._seen}
        self._seen |= {name: look_there(need, self.endpoint, self.most) for name, need in new.items()}
        good = [self._seen[name] for name in new if self._seen[name].is_faultless]
        if not self.download:
            return
        total, room = sum(found.missing for found in good) / GIGABYTE, free_room()
        if total > room:
            for found in good:
                if found.missing:
                    found.say(
                        "fault",
                        f"{found.need.name} was not downloaded: it needs {total:.2f} GB, and {room:.2f} GB are free "
                        f"in {cache_folder()}. Free some space, or name fewer metrics.",
                    )
            return
        for found in good:
            fetch_settings(found, self.endpoint)

    def _repositories(self, needed: Sequence[Need], lacking: str = "") -> list[Repository]:
        """The repositories of a configuration, downloaded where nothing is wrong with any of them.

        `lacking`: what the configuration needs beside them and is not installed.
        """
        if self.silence:
            for need in needed:
                if need.name not in self._seen:
                    self._seen[need.name] = look_here(need)
        else:
            self._ask(needed)
        repositories = [self._seen[need.name] for need in needed]
        wrong = [found.need.name for found in repositories if not found.is_faultless]
        reason = f"{listed(wrong)} cannot be loaded" if wrong else "a package is missing" if lacking else ""
        for found in repositories:
            if not self.silence and found.is_faultless and found.folder is None:
                self._bring(found, reason)
        return repositories

    def _bring(self, found: Repository, wrong: str) -> None:
        """Downloads a repository, unless something is wrong beside it or nothing may be downloaded."""
        if found.missing and (wrong or not self.download):
            if not found.remarks:
                leave(found, wrong)
            return
        found.remarks.clear()  # that it was left, beside another one
        fetch(found, self.endpoint)
        if found.folder:  # of wrong files too: who loads them is told
            keep_pins({found.need.repository: found.pin()})

    def _score(self, configuration: str, repositories: Sequence[Repository]) -> list[Remark]:
        """Computes the published examples of a configuration, or scores an invented pair where none is at hand."""
        spec = SPECS.get(configuration.partition("@")[0])
        published = [each for each in examples() if each.configuration == configuration]
        is_whole = all(repository.is_whole for repository in repositories)
        too_large = bool(is_whole and repositories and spec is not None and spec.judge) and not _has_gpu()
        if not is_whole or too_large:
            published = [each for each in published if each.replies]  # these need no weights
        at_hand = [each for each in published if not self.silence or each.is_in(self.texts)]
        remarks = [score_example(each, self.device, self.texts) for each in at_hand]
        if len(at_hand) < len(published):
            lost = counted(len(published) - len(at_hand), "published example")
            remarks.append(
                Remark("left", f"{lost} not scored: the texts are in the authors' files, which need the network.")
            )
        if too_large:
            remarks.append(Remark("left", "Its examples were not scored, because a model of its size needs a GPU."))
        elif is_whole and repositories and all(remark.status == "left" for remark in remarks):
            remarks.append(score_invented(configuration, self.device))
        return remarks


def _encoders_inside(found: Repository) -> list[Need]:
    """The tokenizer that an archive of RadGraph needs beside it, once the archive is on this machine."""
    if not found.need.file.endswith(".tar.gz") or not found.is_whole or found.folder is None:
        return []
    try:
        encoder = encoder_of(found.folder / found.need.file)
    except BackendError:  # which loading it names
        return []
    if encoder.startswith(("/", ".", "~")):  # a folder
        return []
    return [Need(encoder, 0.01, "", found.need.configurations, holds="any tokenizer")]


def _lacking(configuration: str) -> str:
    """Says which package a configuration's weights or a judge's question need and is not installed; "" if none."""
    name = parse_name(configuration)
    if not needs_of(configuration):
        return ""
    scorer: Any = build_scorer(name)
    try:
        need(configuration, "published")
        _ = scorer.protocol.facts if name.spec.judge else None
    except MissingExtraError as error:
        return in_one_line(str(error))
    return ""


def _server_of(configuration: str) -> Remark | None:
    """What was seen of the server that a judge asks; None for other configurations."""
    scorer: Any = build_scorer(parse_name(configuration))
    kind, _, model = getattr(scorer, "engine_config", "").partition(":")
    return look_at_server(model, scorer.engine) if kind == "openai" else None


def _without_weights(configuration: str) -> Remark:
    name = parse_name(configuration)
    if name.spec.judge and "paper" not in name.spec.configs and name.config in (*READER, "paper"):
        return Remark("ok", "It has no published weights; it uses a model that you name.")
    if name.config not in name.spec.configs:
        return Remark("left", f"{name.config} is a model of your choice, which is not checked.")
    if name.spec.judge and name.config not in READER:
        about = name.spec.configs[name.config].help
        return Remark("left", f"It loads weights that are not checked further: {about}.")
    return Remark("ok", "It loads no weights.")


def _has_gpu() -> bool:
    if not is_installed("torch"):
        return False
    import torch

    return bool(torch.cuda.is_available())
