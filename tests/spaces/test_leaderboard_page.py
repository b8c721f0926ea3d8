"""The leaderboard's pages without a browser: what they say, what they escape, what they never show."""

import csv
import doctest
import math
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

pytest.importorskip("gradio")
pytest.importorskip("sqlalchemy")

from rrgmetrics import SPECS
from rrgmetrics.reporting.drawing import Scale, share
from rrgmetrics.reporting.verdict import favour
from rrgmetrics.spaces import access
from rrgmetrics.spaces.access import LimitError, visitor
from rrgmetrics.spaces.database import StoreError
from rrgmetrics.spaces.leaderboard import app, demo, pages, worker
from rrgmetrics.spaces.leaderboard.handlers import Site
from rrgmetrics.spaces.leaderboard.model import Limits, Progress, Receipt, Standings
from rrgmetrics.stats import Estimate

N = 12
ATTACK = "\"><script>window.attacked = 1</script><img src=x onerror='window.attacked = 1'>{{7*7}}${7*7}"
ELEMENTS = set(
    "a b bdi button caption code dd details div dl dt fieldset form h1 h2 h3 i input label legend li mark nav ol "
    "option p pre section select span summary table tbody td th thead tr u ul".split()
)


class Parsed(HTMLParser):
    """Elements, links and texts of a page; fails at an element or attribute that ours never have."""

    def __init__(self, html):
        super().__init__()
        self.links, self.texts = [], []
        self.feed(html)
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        assert tag in ELEMENTS, tag
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name in ("href", "action", "src"):
                self.links.append(value)

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("board")
    limits = Limits(token_guesses=3)
    return demo.demo_board(folder / "board.sqlite", n_studies=N, systems=demo.SYSTEMS[::2], trials=200, limits=limits)


@pytest.fixture(scope="module")
def board(made):
    return made.board


@pytest.fixture
def site(board):
    return Site(board, proxies=0)


def request(address="192.0.2.1", headers=None, **query):
    return SimpleNamespace(query_params=query, client=SimpleNamespace(host=address), headers=headers or {})


def ids(board):
    return [row.system.id for row in board.standings().systems]


def all_pages(site, board):
    """Everything that anyone can open."""
    first, second, *_ = ids(board)
    yield from site.standings()
    for offset in ("0", "5", "10", "-1", "x", "99999999999"):
        for id in ids(board):
            yield site.system(request(id=id, **{"from": offset}))
    yield site.versus(request(first=first, second=second))
    yield site.versus(request(first=first, second=first))
    yield site.versus(request())
    yield site.system(request(id=ATTACK))
    yield site.versus(request(first=ATTACK, second=first))
    yield site.progress(request(id=first))[0]
    yield site.progress(request(id=ATTACK))[0]
    yield pages.submit_page(board.info())


def test_the_standings_say_what_ranks_and_which_way(board):
    head, table = (Parsed(html).text for html in Site(board, 0).standings())
    assert "Ranked by Finding errors, lower is better" in head
    assert [name for name in ("Careful resident", "Tired resident", "Vivid imagination") if name in table]
    assert "ROUGE-L ↑ higher is better" in table
    assert "not ranked" not in table.split("How to read this")[0]


def test_the_page_says_that_equal_systems_share_a_rank(board):
    standings = board.standings()
    first, second, *_ = standings.systems
    tied = replace(second, rank=1, best_rank=1, scores=first.scores)
    text = Parsed(pages.standings_page(replace(standings, systems=(first, tied)))).text
    assert "Systems with equal scores share a rank and are listed in the order of submission." in text
    assert "ranked higher" not in text


def test_systems_that_are_not_ranked_stand_apart_with_the_reason(board):
    standings = board.standings()
    *ranked, last = standings.systems
    unranked = replace(
        last, rank=None, best_rank=None, reason="2 of 12 studies are not scored.", n_unscored={"rouge": 2}
    )
    counted = replace(ranked[0], n_unscored={"rouge": 3}, n_worst={"rouge": 2})
    html = pages.standings_page(replace(standings, systems=(counted, *ranked[1:], unranked)))
    assert "3 not scored, 2 counted as its worst score" in Parsed(html).text
    assert "At most 2% of the studies are left out" in Parsed(html).text
    before, after = Parsed(html).text.split("Listed, not ranked")
    assert last.system.name not in before.split("Head to head")[0]
    assert "2 of 12 studies are not scored." in after
    assert "2 not scored" in after


def test_an_empty_board_invites(board):
    html = pages.standings_page(Standings(board.info(), (), {}, ()))
    assert "No system is on the board yet." in html
    assert "submit" in Parsed(html).links


def test_a_system_page_has_errors_parts_comparisons_and_examples(site, board):
    last = board.standings().systems[-1].system
    text = Parsed(site.system(request(id=last.id))).text
    for words in ("Rank 3", "Errors by kind", "Missing finding", "Abnormal studies", "Against the systems above it"):
        assert words in text
    assert "study-001" in text  # every fourth is public
    assert "study-002" not in text


def test_head_to_head_begins_with_the_two_best(site, board):
    first, second, _ = ids(board)
    assert site.versus(request()) == site.versus(request(first=first, second=second))
    assert "Corrected p" in Parsed(site.versus(request())).text


def test_head_to_head_is_the_mirror_of_itself(site, board):
    first, _, last = ids(board)
    one = Parsed(site.versus(request(first=first, second=last))).text
    other = Parsed(site.versus(request(first=last, second=first))).text
    assert "first is better" in one.split("Corrected p")[1]
    assert "Careful resident is better in Finding errors" in one
    assert "Careful resident is better in Finding errors" in other


def test_no_page_holds_a_hidden_reference(site, board, tmp_path, monkeypatch):
    references = {}
    monkeypatch.setattr(
        demo, "create_board", lambda path, **said: references.update(_read(said["references"])) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        demo.demo_board(tmp_path / "other.sqlite", n_studies=N)
    html = "\n".join(all_pages(site, board))
    shown = " ".join(Parsed(html).text.split())
    for study_id, row in references.items():
        words = row["report"].split()
        runs = [" ".join(words[i : i + 8]) for i in range(len(words) - 7)]
        if row["public"] == "yes":
            assert study_id in shown
        else:
            assert study_id not in shown
            assert [run for run in runs if run in shown] == []
    assert sum(row["public"] == "no" for row in references.values()) == 9


def _read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return {row["study_id"]: row for row in csv.DictReader(file)}


def test_what_submitters_typed_comes_back_as_text(site, board, monkeypatch):
    """As if a board let through what its own checks refuse."""

    def hostile(system):
        return replace(
            system,
            name=ATTACK,
            submitter=ATTACK,
            tags=(ATTACK,),
            submitter_url="javascript:alert(1)",
            model_card="data:,x",
        )

    standings, report = board.standings(), board.system(ids(board)[-1])
    rows = tuple(replace(row, system=hostile(row.system), reason=ATTACK) for row in standings.systems)
    attacked = replace(report.standing, system=hostile(report.standing.system))
    examples = [
        replace(example, candidate=ATTACK, study_id=ATTACK) for example in board.examples(ids(board)[0], limit=1)
    ]
    duel = board.head_to_head(*ids(board)[:2])
    systems = [hostile(row.system) for row in standings.systems]
    for html in (
        pages.standings_page(replace(standings, systems=rows, tags=(ATTACK,))),
        pages.standings_page(replace(standings, systems=tuple(replace(row, rank=None) for row in rows))),
        pages.system_page(board.info(), replace(report, standing=attacked), examples, others=systems),
        pages.head_to_head_page(systems, replace(duel, first=hostile(duel.first)), problem=ATTACK),
        pages.progress_page(Progress("abc", ATTACK, "failed", 0, report.standing.system.submitted, ATTACK)),
        pages.refused([ATTACK]),
        pages.limited(ATTACK, 3),
        pages.received(Receipt("abc", ATTACK, 0)),
        pages.told(ATTACK),
        pages.lost(ATTACK, ATTACK),
    ):
        page = Parsed(html)
        assert "<script>window.attacked" in page.text
        outside = [link for link in page.links if ":" in link.split("?")[0]]
        assert [link for link in outside if not link.startswith(f"{pages.CARDS}/")] == []


@pytest.mark.parametrize(
    ("url", "is_link"),
    [
        ("https://huggingface.co/org/model", True),
        ("http://example.org", True),
        ("HTTPS://example.org", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("//example.org", False),
        ("https:", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_links_are_web_addresses(url, is_link):
    assert pages.is_web(url) is is_link


def test_examples_of_the_docstrings():
    assert doctest.testmod(pages).failed == 0


def test_places_on_an_axis():
    scale = Scale(0.2, 0.6)
    assert [share(value, scale) for value in (0.2, 0.4, 9.0, -9.0)] == ["0.00%", "50.00%", "100.00%", "0.00%"]
    assert share(math.nan, scale, 0.4) == "50.00%"
    assert share(0.3, Scale(0.3, 0.3)) == "50.00%"


def test_signs_of_differences():
    rouge = SPECS["rouge"].headline
    assert [pages.signed(value, rouge) for value in (0.25, -0.25, 0.0, 0.0001)] == [
        "+0.250",
        "−0.250",
        "0.000",
        "0.000",
    ]


def test_bars_to_the_right_favour_the_first(board):
    first, *_, last = ids(board)
    rows = board.head_to_head(first, last).rows
    errors = next(row for row in rows if row.metric.name == "finding_errors")
    assert errors.test.difference.value < 0
    turned = favour(errors)
    assert turned.low <= turned.value <= turned.high
    assert turned.value > 0


def test_a_file_is_checked_then_stored_once(made, site, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    demo.demo_submission(good, n_studies=N)
    bad.write_text("study_id,report\nstudy-001,Clear.\nstudy-001,Clear.\nstudy-999,Clear.\n", encoding="utf-8")
    said = ("Newcomer", "someone", "", "7B, new")
    assert "Choose a file" in site.submit(None, *said, request=request())
    refused = Parsed(site.check(str(bad), *said, request=request())).text
    for words in ("study-999", "study-002", "nothing was stored"):
        assert words in refused
    bad.write_bytes("study_id,report\nstudy-001,Clear.\n".encode("utf-16"))
    assert "bad.csv looks like UTF-16 text; save it as UTF-8." in site.check(str(bad), *said, request=request())
    assert "No errors: 12 studies" in site.check(str(good), *said, request=request())
    stored = site.submit(str(good), *said, request=request())
    assert "data-progress" in stored
    assert not good.exists()  # the upload
    id = stored.split("progress?id=")[1].split('"')[0]
    html, timer = site.progress(request(id=id))
    assert 'data-state="queued"' in html
    assert timer.active
    assert not site.progress(request(id="nobody"))[1].active


def test_a_board_that_cannot_be_read_is_said_without_its_place(site, board, monkeypatch, tmp_path):
    def broken():
        raise StoreError("/secret/board.sqlite is damaged.")

    file = tmp_path / "reports.csv"
    file.write_text("study_id,report\n", encoding="utf-8")
    form = (str(file), "Name", "someone", "", "", request())
    first, second, *_ = ids(board)
    monkeypatch.setattr(board.store, "reading", broken)
    monkeypatch.setattr(board.store, "writing", broken)
    for html in (
        site.standings()[0],
        site.system(request(id=first)),
        site.versus(request(first=first, second=second)),
        site.progress(request(id=first))[0],
        site.check(*form),
        site.submit(*form),
        site.open("token", request())[0],
        site.act("hide")("token", first, request())[0],
        site.rescore("token", True, request())[0],
    ):
        text = Parsed(html).text
        assert "The board cannot be read or written at the moment" in text
        assert "/secret" not in text


def profile(username):
    """As Gradio gives a handler the account that is logged in."""
    said = {"name": "", "preferred_username": username, "profile": f"https://huggingface.co/{username}", "picture": ""}
    return app.gradio.OAuthProfile(said)


def test_where_there_are_accounts_they_submit_and_their_submissions_are_counted(tmp_path):
    limits = Limits(submissions_per_day=1)
    board = demo.demo_board(
        tmp_path / "b.sqlite", n_studies=N, systems=demo.SYSTEMS[:1], trials=200, limits=limits
    ).board
    site, typed = Site(board, 0, accounts=True), Site(board, 0)
    file = tmp_path / "reports.csv"
    assert "1 submission of one account in 24 hours" in Parsed(pages.submit_page(board.info(), accounts=True)).text

    def sent(site, name, submitter, *account, address):
        demo.demo_submission(file, n_studies=N)
        return site.submit(str(file), name, submitter, "", "", request(address), *account)

    assert "Sign in with Hugging Face first" in sent(site, "A", "lab", None, address="192.0.2.1")
    assert "Sign in with Hugging Face first" in site.check(str(file), "A", "lab", "", "", request())
    assert "data-progress" in sent(typed, "T", "lab", address="192.0.2.1")  # what others type does not count
    assert "data-progress" in sent(site, "A", "me", profile("lab"), address="192.0.2.1")
    assert "One submitter may send 1 submission a day" in sent(site, "B", "you", profile("lab"), address="192.0.2.2")
    assert "data-progress" in sent(site, "B", "lab", profile("1ab"), address="192.0.2.3")  # another account
    worker.work(board, once=True)
    by_name = {row.system.name: row.system for row in board.standings().systems}
    assert (by_name["A"].submitter, by_name["A"].verified) == ("lab", True)
    assert (by_name["T"].submitter, by_name["T"].verified) == ("lab", False)
    table = Parsed(site.standings()[1]).text
    assert table.count("not verified") == 2
    assert "not verified" in Parsed(site.system(request(id=by_name["T"].id))).text
    assert "not verified" not in Parsed(site.system(request(id=by_name["A"].id))).text


def test_the_form_of_a_space_has_a_button_to_log_in(board, monkeypatch):
    monkeypatch.setattr("gradio.routes.attach_oauth", lambda app: None)  # asks for authlib, and for a provider
    for name in access.OAUTH:
        monkeypatch.setenv(name, "x")
    for system, expected in (("spaces", 1), ("", 0)):
        monkeypatch.setenv("SYSTEM", system)
        monkeypatch.setenv("SPACE_ID", "lab/board")
        built = app.leaderboard_app(board)
        assert [type(block).__name__ for block in built.blocks.values()].count("LoginButton") == expected
        assert built.expects_oauth == bool(expected)


def test_the_account_is_shown(site):
    assert (site.account(profile("lab")), site.account(None)) == ("lab", "")


def test_limits_are_told_with_the_time_to_wait(site, tmp_path, monkeypatch):
    def full(*args, **said):
        raise LimitError("Too many submissions.", 125.0)

    monkeypatch.setattr(site.board, "submit", full)
    file = tmp_path / "reports.csv"
    file.write_text("study_id,report\n", encoding="utf-8")
    text = Parsed(site.submit(str(file), "Name", "someone", "", "", request=request())).text
    assert "Try again in 3 minutes" in text
    assert not file.exists()  # nothing of what is refused stays


def test_the_administrator_hides_and_puts_back_and_nobody_else(made, site):
    id = ids(made.board)[-1]
    answer, controls, _ = site.open("guess", request("192.0.2.7"))
    assert "not the administrator" in answer
    assert not controls.visible
    assert "not the administrator" in site.act("hide")("guess", id, request("192.0.2.7"))[0]
    assert id in ids(made.board)

    answer, controls, systems = site.open(made.admin_token, request())
    assert controls.visible
    assert id in [value for _, value in systems.choices]
    assert "Hidden" in site.act("hide")(made.admin_token, id, request())[0]
    assert id not in ids(made.board)
    assert "No such system" in site.system(request(id=id))
    answer, systems = site.act("unhide")(made.admin_token, id, request())
    assert "Back" in answer
    assert id in ids(made.board)
    assert 'role="alert"' in site.act("hide")(made.admin_token, "nobody", request())[0]


def test_a_new_round_wants_the_token_and_a_tick(made, site):
    before = made.board.info().round
    assert "not the administrator" in site.rescore("guess", True, request("192.0.2.6"))[0]
    assert "Tick the box" in site.rescore(made.admin_token, False, request())[0]
    assert made.board.info().round == before


def test_guessing_tokens_ends(made, site):
    answers = [site.open(f"guess {i}", request("192.0.2.8"))[0] for i in range(5)]
    assert "Try again in" in answers[-1]
    assert "Try again in" in site.act("hide")("guess", ids(made.board)[0], request("192.0.2.8"))[0]
    assert "Welcome" in site.open(made.admin_token, request("192.0.2.8"))[0]  # the right one is not locked out


def test_the_visitor_is_who_our_own_proxies_saw():
    forged = request("10.0.0.1", {"x-forwarded-for": "6.6.6.6, 192.0.2.5"})
    assert visitor(forged, 0) == "10.0.0.1"
    assert visitor(forged, 1) == "192.0.2.5"
    assert visitor(request("10.0.0.1"), 1) == "10.0.0.1"


def test_the_app_names_every_page_and_its_uploads_are_limited(board):
    built = app.leaderboard_app(board)
    assert [path for path, _, _ in built.pages] == [
        "",
        "system",
        "versus",
        "submit",
        "progress",
        "administrator",
        "keeper",
    ]
    options = app.launch_options(board)
    assert options["max_file_size"] == board.info().limits.file_bytes
    assert options["run_history"] is False


def test_an_unscored_value_is_no_number(board):
    standings = board.standings()
    row = standings.systems[0]
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    html = pages.standings_page(replace(standings, systems=(replace(row, scores=row.scores | {"rouge": nothing}),)))
    assert "not scored" in html
    assert "nan" not in html.lower().replace("resonance", "")
