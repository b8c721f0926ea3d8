"""Hidden references stand in the board's file and nowhere else, whatever goes wrong."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from rrgmetrics import InputError, cli
from rrgmetrics.cli.terminal import Terminal
from rrgmetrics.scoring.prepared import Metrics
from rrgmetrics.spaces.leaderboard import commands, references, schema, scoring
from rrgmetrics.spaces.leaderboard.export import export_board
from rrgmetrics.spaces.leaderboard.model import RefusedError

from .conftest import REFERENCES, SECRET, study_ids, write_csv


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Temporary files and caches land where they can be searched."""
    for variable in ("TMPDIR", "XDG_CACHE_HOME", "HOME"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def echoing_judge():
    """A server of judges that quotes the whole prompt, references and all: in every other reply, else in an error."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = " ".join(str(message["content"]) for message in asked["messages"])
            seen.append(text)
            if len(seen) % 2:
                self.answer(400, {"error": {"message": f"refused: {text[text.find(SECRET) :][:50]}"}})
                return
            message = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "index": 0}
            self.answer(200, {"object": "chat.completion", "created": 0, "model": "m", "id": "1", "choices": [message]})

        def answer(self, status, document):
            body = json.dumps(document)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def files_that_tell(folder) -> list[str]:
    """Files below a folder, but the board's own, that hold a hidden reference."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("board.sqlite") and SECRET.encode() in path.read_bytes()
    ]


def test_nothing_that_is_said_or_written_holds_a_hidden_reference(
    make_board, send, work_off, tmp_path, capfd, caplog, monkeypatch
):
    caplog.set_level(logging.DEBUG)
    board = make_board(metrics=("rouge", "bleu", "green"))
    said: list[object] = [board.info()]
    candidates = ["Small left pleural effusion."] * 12
    first, second = send(board, "A", candidates), send(board, "B", ["The lungs are clear."] * 12)
    said += [board.progress(first), work_off(board)]
    said += [board.standings(), board.system(first), board.system(second), board.head_to_head(first, second)]
    said += [board.examples(first, offset=offset, limit=1000) for offset in (0, 1, -5)]
    for wrong in (["x"], [SECRET.lower()] * 12 + ["", ""]):
        with pytest.raises(RefusedError) as caught:
            send(board, "C", wrong)
        said += [caught.value.problems]

    def quoting(self, pairs, **_):
        logging.getLogger("rrgmetrics").debug("scoring")
        raise ValueError(f"cannot score {pairs}")

    monkeypatch.setattr(Metrics, "score_pairs", quoting)
    third = send(board, "C", candidates)
    said += [work_off(board), board.progress(third)]
    with pytest.raises(InputError) as caught:
        board.system(third)
    said += [str(caught.value)]
    export_board(board, tmp_path / "out")
    Terminal().print(commands.standings_table(board.standings()))

    assert len(board.examples(first, limit=1000)) == 2
    assert SECRET not in repr(said)
    out, err = capfd.readouterr()
    assert SECRET not in out + err + caplog.text
    assert files_that_tell(tmp_path) == []
    assert SECRET.encode() in board.store.path.read_bytes() + _log(board)  # the search would find it


def _log(board) -> bytes:
    wal = board.store.path.with_name(board.store.path.name + "-wal")
    return wal.read_bytes() if wal.exists() else b""


def test_replies_of_judges_stay_beside_the_board(make_board, send, work_off, echoing_judge, tmp_path, capfd, caplog):
    judge = f"green@openai:m?base_url={echoing_judge}&api_key=NO_KEY&retries=0&concurrency=1"
    board = make_board(REFERENCES[2:], n_public=0, metrics=("rouge", judge))
    send(board, "A", ["Small left pleural effusion."] * 10)
    work_off(board)
    line = board.standings().systems[0]
    assert (line.rank, list(line.n_unscored.values())) == (1, [0, 10])  # an echo is no verdict
    replies = board.store.path.with_name("board.sqlite.replies")
    kept = [path for path in replies.rglob("*") if path.is_file()]
    assert any(SECRET in path.read_text() for path in kept)
    assert {oct(path.stat().st_mode & 0o077) for path in [replies, *replies.rglob("*")]} == {"0o0"}
    assert not any(str(replies) in result.signature for result in board.system(line.system.id).results)
    assert all("board.sqlite.replies" in name for name in files_that_tell(tmp_path))
    out, err = capfd.readouterr()
    assert SECRET not in out + err + caplog.text


def test_where_replies_go():
    judge = "green@openai:m?base_url=http://127.0.0.1/v1"
    assert "cache=no" in scoring.private_name(judge, None)  # a database server: nowhere
    assert scoring.private_name("green", None) == "green"
    assert scoring.private_name("bleu", None) == "bleu"
    assert scoring.private_name(f"{judge}&cache=/private", None).endswith("cache=/private")
    with pytest.raises(InputError, match="cannot record replies"):
        scoring.check_metrics([f"{judge}&record=replies.jsonl"])


def test_the_file_is_its_owners_only(board):
    board.info()
    for path in board.store.path.parent.glob("board.sqlite*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_errors_of_the_database_quote_no_values(board):
    row = {"number": 0, "study_id": "x", "reference": SECRET, "context": "{}", "public": False, "slices": "[]"}
    with pytest.raises(IntegrityError) as caught, board.store.writing() as connection:
        connection.execute(insert(schema.studies).values(**row))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        f'study_id,report\na,"{SECRET}" {SECRET}\n',
        f"study_id,report\na,{SECRET}{SECRET},b\n",
        f"{SECRET}\n{SECRET}\n",
        f"study_id,report\na,{SECRET}\x00\n",
        f"study_id,report\na,{SECRET}\x01\n",
        f'study_id,report\na,"{SECRET}\n',
        f"study_id,report,public\na,Clear.,{SECRET}\n",
        f"study_id,report,age\na,Clear.,{SECRET}\n",
        f'study_id,report,sex\na,Clear.,it\'s "{SECRET}"\n',
        f"a,{'Word ' * 12}{SECRET},{SECRET} seen\nb,x,y\n",  # a first report that is cut, and another after it
        f"study_id,report\na,{SECRET},age\n",
        f"Befund,{SECRET} seen,'{SECRET}' (a)\nx,y,z\n",
    ],
)
def test_messages_about_references_name_the_place_only(tmp_path, content, capsys):
    path = tmp_path / "references.csv"
    path.write_text(content)
    arguments = ["leaderboard", "init", str(tmp_path / "b.sqlite"), "--references", str(path), "--metrics", "rouge"]
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert str(path) in err
    assert SECRET not in out + err
    assert not (tmp_path / "b.sqlite").exists()
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b"study_id,report\na," + SECRET.encode() + b" \xe9 " + SECRET.encode())
    with pytest.raises(InputError, match=r"not UTF-8") as caught:
        references.read_studies(latin)
    assert SECRET not in str(caught.value)


def test_references_need_ids(tmp_path):
    path = write_csv(tmp_path / "references.csv", {"report": REFERENCES})
    with pytest.raises(InputError, match="no column 'study_id'"):
        references.read_studies(path)


def test_public_is_yes_or_no(tmp_path):
    said = ["yes", "no", "TRUE", "0", "", "1"]
    path = write_csv(tmp_path / "r.csv", {"study_id": study_ids(6), "report": REFERENCES[:6], "public": said})
    assert [study.public for study in references.read_studies(path)] == [True, False, True, False, False, True]
    assert not any(study.public for study in references.read_studies(_without_public(tmp_path)))


def _without_public(folder):
    return write_csv(folder / "hidden.csv", {"study_id": study_ids(2), "report": REFERENCES[:2]})


def test_a_worker_beside_the_page_gets_its_address_in_the_environment(monkeypatch):
    monkeypatch.setitem(os.environ, "THE_BOARD", "postgresql://user:password@host/name")
    assert commands.place("env:THE_BOARD").startswith("postgresql://user:password")
    with pytest.raises(InputError, match="'NOWHERE' is not set"):
        commands.place("env:NOWHERE")


def test_columns_of_the_references_are_shown_and_can_be_named(tmp_path, capsys):
    path = tmp_path / "references.csv"
    path.write_text("my_id,chest_findings,No effusion\ns1,The lungs are clear.,x\n")
    command = ["leaderboard", "init", str(tmp_path / "board.sqlite"), "--references", str(path), "--metrics", "bleu"]
    assert cli.main(command) == 2
    said = capsys.readouterr().err
    assert "it has: 'my_id', 'chest_findings', …. Name the right one: --columns " in said
    assert "reference=chest_findings or --columns " in said
    assert "effusion" not in said
    assert cli.main([*command, "--columns", "reference=chest_findings", "study_id=my_id"]) == 0


@pytest.mark.parametrize(
    ("content", "columns", "said"),
    [
        (
            f"study_id,report,Befund\na,{SECRET},x\n",
            ["report=nope"],
            "r.csv has no column 'nope'; it has: 'study_id', 'report', 'Befund'.",
        ),
        (
            f"study_id,report,Befund\na,{SECRET},x\n",
            ["report=Befunde"],
            "it has: 'study_id', 'report', 'Befund'. Did you mean 'Befund'?",
        ),
        (
            f"study_id,report,age\na,Clear.,{SECRET}\n",
            [],
            "age … is not an age; write '072Y', '019M', '3W', '3D', '5 months', '25' or ''. --columns age= leaves the "
            "column 'age' out.",
        ),
        (f"study_id;report\na;{SECRET}\n", [], "engine='python', dtype=str).to_csv('commas.csv', index=False)"),
        (
            f"study_id,Chest findings,Lung findings\na,{SECRET},x\n",
            [],
            "--columns 'reference=Chest findings' or --columns 'reference=Lung findings'",
        ),
    ],
)
def test_our_own_words_and_names_of_columns_are_shown(tmp_path, monkeypatch, capsys, content, columns, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text(content)
    command = ["leaderboard", "init", "b.sqlite", "--references", "r.csv", "--metrics", "rouge"]
    assert cli.main([*command, *(["--columns", *columns] if columns else [])]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert SECRET not in err


def test_a_list_in_the_place_of_a_report_is_hidden(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({"study_id": "a", "report": [f"{SECRET} seen today, and much more of it.", SECRET]}))
    with pytest.raises(InputError) as caught:
        references.read_studies(path)
    assert SECRET not in str(caught.value)


def test_advice_about_a_repeated_id_names_no_option_that_is_lacking(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("study_id,report\na,Clear.\na,Effusion.\n")
    with pytest.raises(InputError) as caught:
        references.read_studies(path)
    where = f"{path}, line 3, column 'study_id': … is already in {path}, line 2"
    assert str(caught.value) == f"{where}; keep one reference of each study."
