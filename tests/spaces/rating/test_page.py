"""The page over HTTP: what leaves for a rater is blind, what comes is checked."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

import huggingface_hub
from fastapi.testclient import TestClient

from rrgmetrics.spaces.database import StoreError
from rrgmetrics.spaces.rating import app as page
from rrgmetrics.spaces.rating import export

from .conftest import SOURCES, answer

ATTACK = '</script><img src=x onerror=alert(1)> "quoted" {{7*7}} & <b>'


@pytest.fixture
def browser(project):
    return TestClient(page.rating_app(project), headers={"origin": "http://testserver"})


def entered(browser, name="Ada"):
    shown = browser.post("/enter", data={"name": name})
    assert "0 of " in shown.text
    return browser


def state(browser, n=1):
    text = browser.get(f"/study?n={n}").text
    return json.loads(re.search(r'id="state">(.*?)</script>', text, re.DOTALL)[1])


def test_nothing_that_a_rater_gets_names_a_source_or_a_study(browser, project):
    answer(project, project.enter("Bob"), 1)
    entered(browser)
    bodies = [browser.get(path).text for path in ("/", "/rating.js", "/rating.css", "/host", "/ratings.csv")]
    for n in range(1, 5):
        shown = browser.get(f"/study?n={n}")
        bodies.append(shown.text + str(shown.headers))
        sent = {"n": n, "item": "1", "content": {"rating": 2}, "client": "c", "step": 1, "revision": 0}
        bodies.append(browser.post("/save", json=sent).text + browser.post("/finish", json={"n": n}).text)
    for body in bodies:
        assert not [word for word in (*SOURCES, "id-0", "id-1", "id-2", "id-3", "Bob") if word in body]
    assert "pleural effusion" in bodies[5]


def test_an_answer_comes_back_as_it_was_given(browser):
    entered(browser)
    assert state(browser)["items"]["1"] == {"content": {"errors": [], "rating": None}, "revision": 0, "writer": ""}
    content = {"errors": [["D", False, [["candidate", 0, 4]]]], "rating": 4}
    sent = {"n": 1, "item": "1", "content": content, "client": "c", "step": 1, "revision": 0}
    assert browser.post("/save", json=sent).json() == {"revision": 1}
    assert state(browser)["items"]["1"] == {"content": content, "revision": 1, "writer": "c"}
    stale = browser.post("/save", json={**sent, "client": "d"})
    assert (stale.status_code, "another window" in stale.json()["message"]) == (409, True)
    assert browser.post("/finish", json={"n": 1}).json()["missing"][0] == "a rating for report 2"
    assert "Study 1 still lacks a rating for report 2" in browser.get("/").text
    for item, value in {"2": {"rating": 1}, "12": {"choice": "2", "confidence": 3}}.items():
        assert browser.post("/save", json={**sent, "item": item, "content": value}).status_code == 200
    assert browser.post("/finish", json={"n": 1}).json() == {"missing": [], "next": 2}
    assert "1 of 4 studies finished" in browser.get("/").text


def test_a_name_that_has_begun_is_asked_about(browser, project):
    answer(project, project.enter("Ada"), 2)
    asked = browser.post("/enter", data={"name": "ADA"})
    assert "The name <b>Ada</b> is already in use: 1 of 4 studies finished. Was that you?" in asked.text
    assert "1 of 4 studies" in browser.post("/enter", data={"name": "ADA", "same": "yes"}).text
    assert "Your name" in browser.post("/leave").text
    assert browser.get("/study?n=1", follow_redirects=False).headers["location"] == "./"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"content": b"{"}, 400),
        ({"json": []}, 400),
        ({"json": {}}, 400),
        ({"json": {"n": 9, "item": "1", "content": {}, "client": "c", "step": 1, "revision": 0}}, 400),
        ({"json": {"n": 1, "item": "1", "content": {"errors": 3}, "client": "c", "step": 1, "revision": 0}}, 400),
        ({"json": {"x": "y" * 300_000}}, 413),
        ({"json": {}, "headers": {"origin": "https://evil.example"}}, 403),
        ({"json": {}, "headers": {"origin": "null"}}, 403),
        ({"data": {"n": 1}}, 400),
    ],
)
def test_what_no_page_of_ours_sends_is_refused(browser, project, sent, status):
    entered(browser)
    if "content" in sent:
        sent = {**sent, "headers": {"content-type": "application/json"}}
    assert browser.post("/save", **sent).status_code == status
    assert project.states(project.enter("Ada")) == ["open"] * 4


def test_without_a_name_nothing_is_shown_or_saved(browser):
    sent = {"n": 1, "item": "1", "content": {}, "client": "c", "step": 1, "revision": 0}
    assert browser.post("/save", json=sent).status_code == browser.post("/finish", json={"n": 1}).status_code == 401
    assert "Your name" in browser.get("/study?n=1").text
    assert "Type your name" in browser.post("/enter", data={"name": "  "}).text
    for path in ("/study?n=99", "/study?n=x", "/study?n=%F0"):
        entered(browser, f"Ada {path[-3:]}x")
        assert browser.get(path).status_code == 400


def test_the_export_is_the_hosts_alone(browser, project):
    answer(project, project.enter("Ada"), 1)
    assert "Host token" in browser.get("/ratings.csv").text
    assert browser.post("/host", data={"token": "wrong"}).status_code == 403
    opened = browser.post("/host", data={"token": project.token})
    assert "1 of 4" in opened.text
    table = browser.get("/ratings.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.text.count(SOURCES[0]) == len(export.ratings(project)["rater"]) // 2 == 1
    assert browser.get("/preferences.csv").text.count("Ada") == 1
    for _ in range(5):
        wrong = browser.post("/host", data={"token": "wrong"})
    assert "Too many wrong tokens" in wrong.text
    browser.post("/leave")
    assert "Host token" in browser.get("/ratings.csv").text


def test_what_is_typed_or_read_is_no_markup(make_project):
    rows = [{"study_id": "a", "reference": ATTACK, "candidate": ATTACK, "source": "x"}]
    project = make_project(rows, ask=["errors"], title=ATTACK, notes=ATTACK)
    browser = TestClient(page.rating_app(project))
    entered(browser, ATTACK[:50])
    bodies = [browser.get(path) for path in ("/", "/study?n=1")]
    browser.post("/host", data={"token": project.token})
    for shown in (*bodies, browser.get("/host")):
        assert "<img" not in shown.text
        assert "49" not in shown.text.replace("#", "")
        assert "script-src 'self'" in shown.headers["content-security-policy"]
        assert shown.headers["cache-control"] == "no-store"
    assert state(browser)["reference"] == ATTACK


def test_a_database_that_fails_is_one_sentence(browser, project, monkeypatch):
    entered(browser)

    def broken(*arguments, **keywords):
        raise StoreError("/secret/p.sqlite is damaged.")

    monkeypatch.setattr(type(project), "save", broken)
    monkeypatch.setattr(type(project), "states", broken)
    sent = {"n": 1, "item": "1", "content": {}, "client": "c", "step": 1, "revision": 0}
    for shown in (browser.post("/save", json=sent), browser.get("/")):
        assert shown.status_code == 500
        assert "cannot be read or written" in shown.text
        assert "secret" not in shown.text


def test_on_the_hub_the_account_rates(project, monkeypatch):
    logged_in = []
    monkeypatch.setattr(huggingface_hub, "attach_huggingface_oauth", lambda app: None)
    monkeypatch.setattr(huggingface_hub, "parse_huggingface_oauth", lambda request: logged_in and logged_in[0])
    browser = TestClient(page.rating_app(project, accounts=True))
    assert "Log in with Hugging Face" in browser.get("/").text
    assert "Log in" in browser.post("/enter", data={"name": "ada"}).text  # what was typed is not looked at
    logged_in.append(SimpleNamespace(user_info=SimpleNamespace(preferred_username="ada")))
    assert "Logged in as <b>ada</b>" in browser.get("/").text
    assert "0 of 4" in browser.post("/enter", data={"name": "other"}).text
    assert [(row.rater, row.verified) for row in project.progress()] == [("ada", True)]
    other = TestClient(page.rating_app(project, accounts=True))
    assert "0 of 4" in other.post("/enter").text
