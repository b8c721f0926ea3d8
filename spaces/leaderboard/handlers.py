"""What the page's forms and addresses do: what was asked → the board → HTML. A form's values are text, as typed."""

from __future__ import annotations

import contextlib
import functools
import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio  # at the top, for Gradio reads the handlers' annotations

from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.spaces.access import LimitError, visitor
from rrgmetrics.spaces.database import StoreError
from rrgmetrics.spaces.leaderboard import pages
from rrgmetrics.spaces.leaderboard.board import Board
from rrgmetrics.spaces.leaderboard.model import RefusedError, System
from rrgmetrics.stats import Estimate

OUT_OF_ORDER = "The board cannot be read or written at the moment; the server's log shows its administrator why."
NO_FILE = pages.refused(["Choose a file."])
GONE = pages.refused(
    ["Choose the file again: an upload is kept for ten minutes, and a rejected one is removed at once."]
)
NO_ACCOUNT = pages.refused(["Sign in with Hugging Face first: the account that is logged in is the submitter."])


def _estimate(score: Estimate) -> dict[str, float | None]:
    values = zip(("value", "low", "high"), score, strict=False)
    return {name: value if math.isfinite(value) else None for name, value in values}


def _closed() -> Any:
    return gradio.Column(visible=False)


def _still() -> Any:
    return gradio.Timer(active=False)


def unless_broken(*rest: Callable[[], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Of a handler: a sentence for visitors where the database fails, and what its other outputs are then."""

    def decorate(handler: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(handler)
        def handled(*arguments: Any, **keywords: Any) -> Any:
            try:
                return handler(*arguments, **keywords)
            except StoreError as error:
                logging.getLogger(__name__).error("%s", error)
                answer = pages.lost("Out of order", OUT_OF_ORDER)
                return (answer, *(make() for make in rest)) if rest else answer

        return handled

    return decorate


class Site:
    """The handlers: what was asked → the board → HTML."""

    def __init__(self, board: Board, proxies: int, *, accounts: bool = False) -> None:
        self.board = board
        self.proxies = proxies
        self.accounts = accounts
        self.check = self._of_form(self._check)
        self.submit = self._of_form(self._submit)

    # --- reading

    @unless_broken(str)
    def standings(self) -> tuple[str, str]:
        """The board's head, and its table."""
        standings = self.board.standings()
        return pages.board_head(standings.board), pages.standings_page(standings)

    def table(self) -> list[dict[str, object]]:
        """The leaderboard's table: rank, system, and its value of each metric with the 95% interval; null: no score."""
        try:
            return [
                {
                    "rank": row.rank,
                    "system": row.system.name,
                    "why_not_ranked": row.reason,
                    "scores": {name: _estimate(score) for name, score in row.scores.items()},
                }
                for row in self.board.standings().systems
            ]
        except StoreError as error:
            logging.getLogger(__name__).error("%s", error)
            raise gradio.Error(OUT_OF_ORDER, print_exception=False) from None

    @unless_broken()
    def system(self, request: gradio.Request) -> str:
        """A system's page, or that there is none."""
        asked = request.query_params
        id, offset = asked.get("id", ""), whole_number(asked.get("from", ""))
        try:
            report = self.board.system(id)
            offset = min(offset, max(0, report.n_examples - 1))
            examples = self.board.examples(id, offset=offset, limit=pages.EXAMPLES)
        except InputError as error:
            return pages.lost("No such system", str(error))
        return pages.system_page(self.board.info(), report, examples, offset=offset, others=self.systems())

    @unless_broken()
    def versus(self, request: gradio.Request) -> str:
        """Two systems head to head: those that were asked for, else the two best."""
        systems = self.systems()
        chosen = [request.query_params.get(name, "") for name in ("first", "second")]
        if not any(chosen):
            chosen = [system.id for system in systems[:2]]
        compared, problem = None, ""
        if len(chosen) == 2 and all(chosen):
            try:
                compared = self.board.head_to_head(*chosen)
            except InputError as error:
                problem = str(error)
        return pages.head_to_head_page(systems, compared, chosen=chosen, problem=problem)

    def systems(self) -> list[System]:
        """Everything on the board, in its order."""
        return [row.system for row in self.board.standings().systems]

    @unless_broken(_still)
    def progress(self, request: gradio.Request) -> tuple[str, Any]:
        """The page, and the timer, which stops when there is nothing left to wait for."""
        try:
            progress = self.board.progress(request.query_params.get("id", ""))
        except InputError as error:
            return pages.lost("No such submission", str(error)), _still()
        return pages.progress_page(progress), gradio.Timer(active=progress.state in ("queued", "running"))

    # --- submitting

    def account(self, profile: gradio.OAuthProfile | None) -> str:
        """Who is logged in, for the form."""
        return profile.username if profile else ""

    def _of_form(self, act: Callable[[dict[str, Any]], str]) -> Callable[..., str]:
        """A handler of the form: refuses what lacks a file or an account, else acts on what the board is given."""

        @unless_broken()
        def handler(
            file: str | None,
            name: str,
            submitter: str,
            card: str,
            tags: str,
            request: gradio.Request,
            profile: gradio.OAuthProfile | None = None,
        ) -> str:
            if self.accounts and profile is None:
                return NO_ACCOUNT
            if not file:
                return NO_FILE
            if not Path(file).is_file():
                return GONE
            given = {
                "file": file,
                "filename": Path(file).name,
                "name": name,
                "submitter": self.account(profile) if self.accounts else submitter,  # what was typed is not looked at
                "verified": self.accounts,
                "model_card": card,
                "tags": [tag.strip() for tag in (tags or "").split(",") if tag.strip()],
                "address": visitor(request, self.proxies),
            }
            try:
                return act(given)
            except RefusedError as error:
                if error.is_of_file:
                    _remove(file)
                return pages.refused(error.problems)
            except LimitError as error:
                _remove(file)
                return pages.limited(str(error), error.retry_after)

        return handler

    def _check(self, given: dict[str, Any]) -> str:
        """Everything that is to be corrected; stores nothing."""
        problems = self.board.check(**given)
        return pages.refused(problems) if problems else pages.fine(self.board.info().n_studies)

    def _submit(self, given: dict[str, Any]) -> str:
        """The receipt; a file that was stored is not kept twice."""
        receipt = self.board.submit(**given)
        _remove(given["file"])
        return pages.received(receipt)

    # --- administration

    @unless_broken(_closed, gradio.Dropdown)
    def open(self, token: str, request: gradio.Request) -> tuple[str, Any, Any]:
        """The answer to a token, the administrator's controls, and the systems to choose from."""
        if problem := self._refusal(token, request):
            return problem, _closed(), gradio.Dropdown()
        return pages.told("Welcome."), gradio.Column(visible=True), self._choices()

    def act(self, action: str) -> Callable[..., tuple[str, Any]]:
        """A handler of one of the administrator's buttons; the token is asked for anew each time."""

        @unless_broken(gradio.Dropdown)
        def handler(token: str, id: str | None, request: gradio.Request) -> tuple[str, Any]:
            if problem := self._refusal(token, request):
                return problem, gradio.Dropdown()
            try:
                return pages.told(_ACTIONS[action](self.board, id or "")), self._choices(id)
            except InputError as error:
                return pages.told(str(error), good=False), gradio.Dropdown()

        return handler

    @unless_broken(bool)
    def rescore(self, token: str, sure: bool, request: gradio.Request) -> tuple[str, bool]:
        """Opens a new round, if the administrator has ticked that it is meant; unticks it."""
        if problem := self._refusal(token, request):
            return problem, False
        if not sure:
            return pages.told("Tick the box first: every submission will be rescored.", good=False), False
        try:
            return pages.told(f"A new round is open; submissions queued: {self.board.rescore()}."), False
        except StoreError:
            raise
        except (InputError, BackendError) as error:
            return pages.told(str(error), good=False), False

    def _refusal(self, token: str, request: gradio.Request) -> str:
        """What to answer to whoever has not the token; "" for who has."""
        try:
            if self.board.verify_admin(token or "", visitor(request, self.proxies)):
                return ""
        except LimitError as error:
            return pages.limited(str(error), error.retry_after)
        return pages.told("This is not the administrator's token.", good=False)

    def _choices(self, chosen: str | None = None) -> Any:
        rows = self.board.standings(hidden=True).systems
        named = [(f"{row.system.name}{' (hidden)' if row.system.hidden else ''}", row.system.id) for row in rows]
        known = {id for _, id in named}
        return gradio.Dropdown(choices=named, value=chosen if chosen in known else None)


def _remove(file: str) -> None:
    """Removes an upload, and the folder that Gradio made for it."""
    with contextlib.suppress(OSError):
        Path(file).unlink()
        Path(file).parent.rmdir()


def _hide(board: Board, id: str) -> str:
    board.hide(id)
    return "Hidden. Nothing was deleted."


def _unhide(board: Board, id: str) -> str:
    board.unhide(id)
    return "Back on the board."


def _retry(board: Board, id: str) -> str:
    board.retry(id)
    return "Queued again."


_ACTIONS: dict[str, Callable[[Board, str], str]] = {
    "hide": _hide,
    "unhide": _unhide,
    "retry": _retry,
}


def whole_number(text: str) -> int:
    """A number of an address; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
