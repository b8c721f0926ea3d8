"""No stand-in passes for the published metric: every output that a person reads says "(bundled)"."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from rrgmetrics import SPECS, module_path
from rrgmetrics.cli.listing import metric_table
from rrgmetrics.cli.score import summary_lines
from rrgmetrics.comparing import explain
from rrgmetrics.metaeval import Rated, measure
from rrgmetrics.metaeval.plots import scatter
from rrgmetrics.metaeval.ranked import Ranked, RankedCase, ranked_report
from rrgmetrics.reporting.agreement import agreement_tables
from rrgmetrics.reporting.marks import Explanation
from rrgmetrics.reporting.report import report_page
from rrgmetrics.reporting.results import comparison_table, judge_lines, score_table
from rrgmetrics.reporting.short import STAND_IN, STAND_IN_NOTE, marked
from rrgmetrics.reporting.terminal import verdict
from rrgmetrics.reports import Pair
from rrgmetrics.scoring.prepared import parse_names, prepare
from rrgmetrics.specs import BUNDLED_MARK
from rrgmetrics.specs.names import parse_name
from rrgmetrics.systems.table import compare_systems

STAND_INS = [name for name, spec in SPECS.items() if spec.stand_in]
JUDGES = [name for name in STAND_INS if SPECS[name].judge]
PUBLISHED = [
    *(f"{name}@paper" for name in STAND_INS if "paper" in SPECS[name].configs),
    *(f"{name}@{config}" for name in JUDGES for config in ("replies:replies.jsonl", "openai:model", "hf:org/model")),
    *(f"{name}@{config}" for name in STAND_INS if SPECS[name].takes_checkpoint for config in ("org/model", "/folder")),
    "temporal_f1?form=keywords",
]


def bare(text: str, *names: str) -> list[str]:
    """The titles of these metrics that stand in a text without the mark."""
    specs = [SPECS[name] for name in names or STAND_INS]
    titles = {spec.title for spec in specs} | {key.title for spec in specs for key in spec.keys}
    for title in sorted(titles, key=len, reverse=True):
        text = text.replace(f"{title} {BUNDLED_MARK}", "").replace(f"{title}{STAND_IN}", "")
    told = {spec.title for spec in specs} | {spec.headline.title for spec in specs}
    return sorted(title for title in told if title in text)


def printed(*parts) -> str:
    console = Console(file=io.StringIO(), width=1000)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def scored(reports):
    """Two systems' Results by all metrics, with the verdicts of judges in words."""
    names = [f"{name}?explain=yes" if SPECS[name].judge else name for name in SPECS]
    systems = {"A": reports.altered[:6], "B": reports.references[:6]}
    scored = prepare(names).score_systems(systems=systems, references=reports.references[:6], progress=False)
    return {system: dict(zip(SPECS, results.values(), strict=True)) for system, results in scored.items()}


@pytest.fixture(scope="module")
def pairs(reports):
    systems = {"A": reports.altered[:6], "B": reports.references[:6]}
    return {
        system: [Pair(*texts) for texts in zip(reports.references[:6], candidates, strict=True)]
        for system, candidates in systems.items()
    }


# --- the names


def test_the_headline_carries_the_metrics_name(spec):
    assert spec.title.removesuffix(" F1") in spec.headline.title


def test_a_key_beside_those_of_other_metrics_carries_its_metrics_name(spec):
    titled = parse_name(spec.name).titled
    names = [titled.named(key) for key in titled.keys]
    assert all(spec.title.removesuffix(" F1") in name for name in names)
    assert all(name.count(BUNDLED_MARK) == spec.stand_in for name in names)
    assert len(set(names)) == len(names) or spec.name in ("radgraph_f1", "rouge")  # which have the headline twice


def test_titles_say_which_configuration_ran(spec):
    name = parse_name(spec.name)
    mark = f" {BUNDLED_MARK}" if spec.stand_in else ""
    assert (name.bundled, name.title) == (spec.stand_in, spec.title + mark)
    assert [key.title for key in name.titled.keys] == [key.title + mark for key in spec.keys]
    assert [key.name for key in name.titled.keys] == [key.name for key in spec.keys]


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_was_published_or_named_keeps_its_title(name):
    assert parse_name(name).titled == parse_name(name).spec


def test_a_result_knows_what_scored(scored, spec):
    result = scored["A"][spec.name]
    assert (result.bundled, result.title) == (spec.stand_in, parse_name(spec.name).title)
    assert result.spec == spec


def test_a_bare_title_is_found():
    assert bare("GREEN 0.9, GREEN (bundled) 0.9", "green") == ["GREEN"]
    assert bare("RadGraph F1, simple (bundled)", "radgraph_f1") == []
    assert "CheXbert F1 micro-14" in bare("CheXbert F1 micro-14 ↑")


# --- outputs of the core


@pytest.fixture(params=STAND_INS)
def stand_in(request) -> str:
    return request.param


def test_tables_of_the_terminal(scored, stand_in):
    results = {system: {stand_in: by_metric[stand_in]} for system, by_metric in scored.items()}
    rows = compare_systems(results, all_keys=True, trials=20)
    titled = parse_name(stand_in).titled
    title = titled.headline.title
    whole = printed(comparison_table(rows, n_pairs=6, correction="holm"))
    known = {row.key.name for row in rows if row.key.per_pair or row.score.value == row.score.value}
    assert all(f"{marked(titled.named(key))} {key.arrow}" in whole for key in titled.keys if key.name in known)
    assert " ".join(whole.split()).count(STAND_IN_NOTE) == 1
    for table in (
        score_table([row for row in rows if row.system == "A"], n_pairs=6),
        comparison_table(rows, n_pairs=6, correction="holm"),
    ):
        text = printed(table)
        assert marked(title) in text
        assert bare(text, stand_in) == []


def test_the_list_marks_what_is_bundled(stand_in):
    assert f"{stand_in} *" in printed(metric_table([SPECS[stand_in]]))


def test_the_report_page(scored, pairs, stand_in):
    results = {system: {stand_in: by_metric[stand_in]} for system, by_metric in scored.items()}
    page = report_page(results, pairs)
    assert parse_name(stand_in).titled.headline.title in page
    assert bare(page, stand_in) == []


@pytest.mark.parametrize("judge", JUDGES)
def test_verdicts_of_judges(scored, pairs, judge):
    result = scored["A"][judge]
    pair = pairs["A"][0]
    above = Explanation.of(explain(reference=pair.reference, candidate=pair.candidate))
    text = printed(verdict(judge, result, pair, above), judge_lines({judge: result}, "replies.jsonl"))
    assert BUNDLED_MARK in text
    assert bare(text, judge) == []


def test_the_summary_of_green(scored):
    (text,) = summary_lines({"green": scored["A"]["green"]})
    assert text.startswith("GREEN (bundled): mean ")
    assert bare(text, "green") == []


def test_agreement_with_radiologists(scored, pairs, stand_in):
    values = {
        "total_errors": [[0, 4, 1, 3, 2, 6]],
        "missing_finding": [[0, 2, 1, 1, 1, 3]],
        "rating": [[5, 2, 4, 3, 3, 2]],
    }
    rated = Rated(
        "lab",
        pairs["A"],
        [f"case {n // 2}" for n in range(6)],
        ["a radiologist"],
        {target: np.array(rows, dtype=float) for target, rows in values.items()},
    )
    report = measure(rated, {stand_in: scored["A"][stand_in]}, trials=20)
    text = printed(*agreement_tables([report]))
    assert f"{stand_in} {BUNDLED_MARK}" in text
    assert text.count(stand_in) == text.count(f"{stand_in} {BUNDLED_MARK}")
    figure = scatter(report, stand_in)
    words = "\n".join([figure.get_suptitle(), *(axes.get_xlabel() for axes in figure.axes)])
    assert words.count(parse_name(stand_in).titled.headline.title) == 3
    assert bare(words, stand_in) == []


def test_cases_of_radjudge(scored, pairs, stand_in):
    wrong = ("C1 > C2", "C2 > C1")  # nobody can pass it: the table of what was not passed is shown too
    cases = [RankedCase(f"case {n}", "any", {"C1": pairs["A"][n], "C2": pairs["A"][n + 1]}, wrong) for n in (0, 2, 4)]
    report = ranked_report(Ranked("radjudge", tuple(cases)), {stand_in: scored["A"][stand_in]})
    assert printed(*agreement_tables([report])).count(f"{stand_in} {BUNDLED_MARK}") == 2


# --- pages


@pytest.fixture(scope="module")
def ui():
    pytest.importorskip("gradio")
    from rrgmetrics.spaces import ui

    return ui


def test_the_page_of_a_metric(scored, pairs, stand_in, ui, tmp_path):
    from rrgmetrics import files
    from rrgmetrics.spaces import batch
    from rrgmetrics.spaces.pair_view import pair_view

    studies = files.Studies([f"study {n}" for n in range(6)], pairs["A"])
    *_, results = batch.score_file(stand_in, studies)
    file = batch.Scored(stand_in, studies, results)
    one, pair = ui.answer(SPECS[stand_in], *pairs["A"][0][:2])
    written = [Path(path).read_text(encoding="utf-8") for path in batch.write_scores(file, str(tmp_path))]
    for text in (
        ui.build_space(stand_in).title,
        ui.heading(SPECS[stand_in]).partition("<p")[0],
        ui.nothing_yet(SPECS[stand_in]),
        pair_view(one, pair),
        batch.overview(file),
        written[1],
    ):
        assert BUNDLED_MARK in text
        assert bare(text, stand_in) == []
    assert BUNDLED_MARK not in written[0]  # the columns are read by machines


def test_the_comparison_of_reports(reports, ui):
    from rrgmetrics.comparing import explain
    from rrgmetrics.metaeval.measured import DEVELOPMENT, measured_sets
    from rrgmetrics.reporting.marks import Explanation
    from rrgmetrics.spaces.compare import tables
    from rrgmetrics.spaces.compare.scoring import compare_reports
    from rrgmetrics.spaces.compare.verdict import summary

    lines = compare_reports(reports.references[0], [reports.altered[0], reports.altered[1]])
    measured = measured_sets()[DEVELOPMENT]
    read = [Explanation.of(explain(candidate=text, reference=reports.references[0])) for text in reports.altered[:2]]
    for part in (
        tables.verdict_part(summary(lines, read, measured)),
        tables.score_part(lines, measured),
        tables.agreement_part(measured),
    ):
        assert BUNDLED_MARK in part
        assert bare(part) == []


@pytest.fixture(scope="module")
def board(tmp_path_factory, reports):
    """A board of all stand-ins with two systems, scored."""
    pytest.importorskip("sqlalchemy")
    from rrgmetrics.spaces.leaderboard import create_board
    from rrgmetrics.spaces.leaderboard.worker import work

    folder = tmp_path_factory.mktemp("board")

    def write(name, texts, **columns):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["study_id", "report", *columns])
            writer.writerows(
                [f"study {n}", text, *(column[n] for column in columns.values())] for n, text in enumerate(texts)
            )
        return folder / name

    references = write("references.csv", reports.references[:6], public=["yes"] * 6)
    made = create_board(folder / "board.sqlite", references=references, metrics=STAND_INS, trials=100)
    for name, texts in (("first", reports.altered[:6]), ("second", reports.references[:6])):
        made.board.submit(write(f"{name}.csv", texts), name=name, submitter="lab")
    work(made.board, once=True)
    yield made.board
    made.board.close()


def test_the_leaderboard(board):
    from rrgmetrics.spaces.leaderboard import commands, pages

    standings = board.standings()
    first, second = (line.system.id for line in standings.systems)
    report = board.system(first)
    for text in (
        pages.board_head(board.info()),
        pages.submit_page(board.info()),
        pages.standings_page(standings),
        pages.system_page(board.info(), report, board.examples(first)),
        pages.head_to_head_page([line.system for line in standings.systems], board.head_to_head(first, second)),
        printed(commands.standings_table(standings)),
    ):
        assert BUNDLED_MARK in text
        assert bare(text) == []


def test_what_a_board_publishes_for_machines_is_named_as_before(board, tmp_path):
    from rrgmetrics.spaces.leaderboard.export import export_board

    export_board(board, tmp_path)
    header = (tmp_path / "standings.csv").read_text(encoding="utf-8").partition("\n")[0].split(",")
    assert set(STAND_INS) <= set(header)


# --- cards


def test_cards(stand_in):
    card = (module_path(stand_in) / "README.md").read_text(encoding="utf-8")
    title = parse_name(stand_in).title
    front, _, text = card.partition("\n---\n")
    assert f"\ntitle: {title}\n" in front
    heading, _, first = text.strip().partition("\n\n")
    assert heading == f"# Metric Card for {title}"
    line = first.partition("\n\n")[0]
    assert line.startswith(f"**{title}**")
    assert "not comparable with published" in line
    assert f"`{stand_in}@{'paper' if 'paper' in SPECS[stand_in].configs else 'openai:<model>'}`" in line


def test_machine_readable_names_stay():
    names = parse_names(list(SPECS))
    assert [name.slug for name in names.values()] == list(SPECS)
    assert not any(BUNDLED_MARK in key.name for name in names.values() for key in name.titled.keys)
