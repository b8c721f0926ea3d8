"""`--format`: the same tables on a terminal, in Markdown, LaTeX, CSV and JSON; LaTeX runs where there is one."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess

import pytest

from rrgmetrics.cli import main
from rrgmetrics.reporting.documents import latex, markdown
from rrgmetrics.reporting.tables import Cell, Group, Table

HOSTILE = r"[50%]_a & b~#{}$^\"<|>--é"
REFERENCES = ("Small left pleural effusion. Mild cardiomegaly.", "No pneumothorax.", "Lungs are clear.", "Mild edema.")
BETTER = (*REFERENCES[:3], "Edema.")
WORSE = ("Clear.", "Pneumothorax.", "Lungs are clear.", "Nodule.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("formats")
    for name, reports in (("references", REFERENCES), ("worse", WORSE), ("better", BETTER)):
        rows = [f'{number},"{report}"' for number, report in enumerate(list(reports) * 5)]
        (path / f"{name}.csv").write_text("\n".join(["study_id,report", *rows]) + "\n")
    return path


@pytest.fixture
def compared(folder, capsys):
    def run(*more):
        systems = [f"{HOSTILE}={folder / 'worse.csv'}", f"ours={folder / 'better.csv'}"]
        arguments = ["compare", "--systems", *systems, "--references", str(folder / "references.csv"), "--no-progress"]
        code = main([*arguments, "--trials", "200", "--metrics", "rouge", "bleu", "finding_errors", *more])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def compiled(body: str, folder) -> str:
    """What LaTeX says of a document that holds the body and nothing else of ours."""
    program = next(filter(None, map(shutil.which, ("pdflatex", "tectonic"))), None)
    if program is None:
        pytest.skip("neither pdflatex nor tectonic is on PATH: the structure was tested, the typesetting was not")
    packages = body.splitlines()[0].removeprefix("% ")  # as the comment above the tables says
    paper = rf"\documentclass{{article}}\usepackage[T1]{{fontenc}}{packages}\begin{{document}}"
    (folder / "paper.tex").write_text(f"{paper}\n{body}\n\\end{{document}}\n")
    flags = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in program else []
    ran = subprocess.run([program, *flags, "paper.tex"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert (folder / "paper.pdf").stat().st_size > 1_000
    return ran.stdout


def test_a_terminal_has_best_marks_and_the_floor(compared):
    code, out, err = compared("--no-trivial", "--full")
    assert (code, err) == (0, "")
    assert "≤ 0.015 (floor)" in out  # three tests at 1/201, corrected by Holm: rounded up
    assert "(floor): no smaller p is possible with so many trials." in " ".join(out.split())
    assert f"Best in bold. † differs from {HOSTILE}, p < 0.05" in out.replace("\n", " ")
    assert all(len(line) <= 80 for line in out.splitlines())


def test_a_page_explains_the_floor(compared, tmp_path):
    assert compared("--no-trivial", "--html", str(tmp_path / "page.html"))[0] == 0
    text = (tmp_path / "page.html").read_text()
    assert "≤ 0.015 (floor)" in text
    assert "(floor): no smaller p is possible" in text


def test_markdown(compared):
    code, out, err = compared("--format", "markdown", "--keys", "rouge_1", "finding_errors")
    assert code == 0
    assert "beats every trivial system" in err
    table = out.split("\n\n")[1].splitlines()
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table}) == 1
    assert table[0].endswith("| ours | p |")
    assert [line.split(" |")[0] for line in table[2:]] == ["| ROUGE-1 ↑", "| Finding errors ↓"]
    assert all(re.search(r"\| \*\*[\d.]+†\*\* \[[\d., ]+\] \| ≤ [\d.]+ \|$", line) for line in table[2:])
    assert "bleu" not in out.lower()  # no key of it was chosen: it was not scored


def test_latex_of_any_name_compiles(compared, tmp_path):
    code, out, _ = compared("--format", "latex")
    assert code == 0
    assert out.startswith("% \\usepackage{booktabs,graphicx}\n\\begin{table}")
    for rule in ("toprule", "midrule", "bottomrule"):
        assert out.count(f"\\{rule}") == out.count(r"\begin{table") == out.count(r"\end{table")
    assert r"$\uparrow$" in out
    assert r"\textbf{0." in out
    assert r"$\leq$ 0.015 (floor)" in out
    body = out.split("\n", 1)[1]
    assert not re.search(r"(?<![\\{])[%#]", body)
    assert "{}[50" in body or "& [50" in body
    assert "Overfull" not in compiled(out, tmp_path)


@pytest.mark.slow
def test_paper_table_compiles(folder, capsys, tmp_path):
    arguments = ["score", "--predictions", str(folder / "better.csv"), "--references", str(folder / "references.csv")]
    assert main([*arguments, "--metrics", "paper-table", "--no-progress", "--format", "latex"]) == 0
    said = compiled(capsys.readouterr().out, tmp_path)
    assert "Overfull" not in said
    assert "Float too large" not in said


def test_a_long_table_goes_over_pages(tmp_path):
    lines = tuple((f"row {number}", Cell("0.5", "strong", detail="[0.1, 0.9]")) for number in range(120))
    table = Table(("name", "score ↑"), (Group(lines[:60], (Cell("First", "strong"),)), Group(lines[60:])), title="Long")
    text = latex([table])
    assert "longtable" in text.splitlines()[0]
    assert r"\multicolumn{2}{l}{\textbf{First}}" in text
    assert "Float too large" not in compiled(text, tmp_path)


@pytest.mark.parametrize("n_columns", [1, 4, 12])
def test_a_long_table_is_cut_nowhere(n_columns, tmp_path):
    name = "a false finding before the findings, under a heading that may be skipped"
    cells = (Cell("0.997†", "strong", detail="[0.991, 0.999]"),) * n_columns
    heads = ("kind of error", *(f"metric_{number}† ↑" for number in range(n_columns)))
    text = latex([Table(heads, (Group(tuple((f"  {number}: {name}", *cells) for number in range(60))),), title="Long")])
    assert all(text.count(f"metric\\_{number}\\") == 1 for number in range(n_columns))
    assert text.count("(continued)") == text.count(r"\begin{longtable}") - 1 == (n_columns > 3) * (n_columns // 4)
    assert "Overfull" not in compiled(text, tmp_path)


def test_a_wide_table_takes_both_columns_of_a_page(tmp_path):
    for n_columns, name in ((3, "table"), (5, "table*")):
        cells = (Cell("0.997", detail="[0.991, 0.999]"),) * n_columns
        text = latex([Table(("", *["system"] * n_columns), (Group((("BLEU", *cells),)),), note="A note.")])
        assert text.splitlines()[1] == f"\\begin{{{name}}}"
        assert "Overfull" not in compiled(text, tmp_path)


def test_long_heads_of_a_wide_table_are_broken():
    heads = ("metric", *(f"share of the errors of kind {number} ↑" for number in range(4)))
    text = latex([Table(heads, (Group((("bleu", *["0.50"] * 4),)),))])
    assert r"\shortstack[r]{share of the \\ errors of \\ kind 3 $\uparrow$}" in text


def test_signs_that_pdflatex_lacks_are_written_out():
    text = latex([Table(("5 μm — β",), (Group((("a",),)),))])
    assert r"5 $\mu$m --- $\beta$" in text
    assert "XeLaTeX" not in text


def test_straight_quotes_open_and_close():
    text = latex([Table(('"no" flipped to "a" ("b"); 5" tube',), (Group((("a",),)),))])
    assert "``no'' flipped to ``a'' (``b''); 5'' tube" in text


def test_letters_that_only_newer_latex_has_are_named():
    written = latex([Table(("模型",), (Group((("a",),)),))])
    assert "% XeLaTeX with \\usepackage{xeCJK}, not pdfLaTeX, for 模型" in written


@pytest.mark.parametrize("command", ["score", "compare"])
def test_a_printed_table_for_a_paper_counts_missing_reports(command, folder, capsys, tmp_path):
    system = tmp_path / "gaps.csv"
    system.write_text((folder / "better.csv").read_text().replace("No pneumothorax.", ""))
    arguments = ["--references", str(folder / "references.csv"), "--metrics", "rouge", "--no-trivial", "--no-progress"]
    named = (
        ["--predictions", str(system)] if command == "score" else ["--systems", str(folder / "worse.csv"), str(system)]
    )
    assert main([command, *named, *arguments, "--format", "latex"]) == 0
    assert "are missing and scored as empty reports." in capsys.readouterr().out


def test_csv_and_json_hold_every_digit_and_nothing_else(compared):
    code, out, err = compared("--format", "csv", "--no-trivial")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, err, len(rows)) == (0, "", 6)
    assert float(rows[1]["p_floor"]) == float(rows[1]["p"]) == 1 / 201
    document = json.loads(compared("--format", "json", "--no-trivial")[1])
    assert document["rows"][1]["score"]["value"] == float(rows[1]["value"])
    assert document["rows"][1]["p_floor"] == 1 / 201


def test_score_alone_has_neither_tests_nor_marks(folder, capsys):
    arguments = ["score", "--predictions", str(folder / "better.csv"), "--references", str(folder / "references.csv")]
    arguments += ["--metrics", "rouge", "--no-progress", "--no-trivial"]
    assert main([*arguments, "--format", "csv"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header == "metric,key,title,system,value,low,high,n_unscored"
    assert len(rows) == 3  # rouge_l is rouge
    assert main([*arguments, "--format", "markdown", "--keys", "rouge_2"]) == 0
    assert re.search(r"\| rouge \| ROUGE-2 ↑ \| 0\.\d+ \[", capsys.readouterr().out)
    assert main([*arguments, "--keys", "bleu_1"]) == 2
    assert "it is one of bleu, which is not asked for" in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("green",), ("--aliases",), ("--by", "agreement")])
def test_list_in_every_format(more, capsys, tmp_path):
    found = {}
    for name in ("terminal", "markdown", "latex", "csv", "json"):
        assert main(["list", *more, "--format", name]) == 0
        found[name] = capsys.readouterr().out
    assert len(list(csv.reader(io.StringIO(found["csv"])))) > 3
    assert json.loads(found["json"])
    assert "| --- |" in found["markdown"]
    assert "\x1b" not in found["terminal"]
    compiled(found["latex"], tmp_path)


def test_a_name_is_never_broken_at_any_width(capsys, monkeypatch):
    from rich.console import Console

    name = "a_model_whose_name_is_as_long_as_its_abstract_v2_final"
    lines = tuple((f"  {name}{number}", "0.123", "0.1 [0.0, 0.2]", "≤ 0.0001 (floor)") for number in range(2))
    table = Table(("", "score", "skill [95% interval]", "p"), (Group(lines, (Cell("BLEU-4 ↑"),)),))
    for width in (60, 80, 120):
        console = Console(file=io.StringIO(), width=width)
        console.print(table)
        out = console.file.getvalue()
        assert f"  {name}0" in out
        assert "≤ 0.0001 (floor)" in out
        assert "…" not in out
        assert all(len(line) <= width for line in out.splitlines())


def test_nothing_of_a_cell_is_read_as_markdown():
    table = Table(("a|b",), (Group((("[x](y) *z* `c` <b> &lt;",),)),))
    assert r"\[x" not in markdown([table])
    assert r"[x\](y) \*z\* \`c\` \<b> &amp;lt;" in markdown([table])
    assert r"a\|b" in markdown([table])
