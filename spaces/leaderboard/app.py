"""The board's web page: Gradio's pages, forms and queue around the HTML of `pages`.

Every page has an address: `/` (`?sort=`, `?tag=`, `?find=`), `/system?id=`, `/versus?first=&second=`, `/submit`,
`/progress?id=`, `/keeper`. What a visitor types reaches the board as text and comes back escaped.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rrgmetrics.errors import BackendError, InputError, MissingExtraError
from rrgmetrics.spaces import theme
from rrgmetrics.spaces.leaderboard import pages
from rrgmetrics.spaces.leaderboard.board import Board
from rrgmetrics.spaces.leaderboard.model import LimitError, RefusedError, StoreError, System

try:
    import gradio  # at the top, for Gradio reads the handlers' annotations
except ImportError as error:
    raise MissingExtraError("The leaderboard's page needs Gradio 6: pip install 'rrgmetrics[spaces]'.") from error

HERE = Path(__file__).parent
KEEP_UPLOADS = 3600  # seconds; a submission is read at once
WHO = {
    True: "The account of Hugging Face that is logged in.",
    False: "Your Hugging Face handle, or a link (https://...); shown as not verified.",
}
OAUTH = ("OAUTH_CLIENT_ID", "OAUTH_CLIENT_SECRET", "OAUTH_SCOPES", "OPENID_PROVIDER_URL")  # as a Space has them
LOOK_AGAIN = 2.0  # seconds between looks at a submission's progress
KEEPER = "Hide a system, or score all of them anew after a metric has changed."
OUT_OF_ORDER = "The board cannot be read or written at the moment; its keeper finds the reason in the server's log."
NO_FILE = pages.refused(["Choose a file."])
NO_ACCOUNT = pages.refused(["Sign in with Hugging Face first: the account that is logged in is the submitter."])
TITLE = "() => { const h = document.querySelector('.board h1'); if (h) document.title = h.textContent.trim(); }"
FOLLOW = """() => {
    const stored = document.querySelector('[data-progress]');
    if (stored) window.location.assign('progress?id=' + encodeURIComponent(stored.dataset.progress));
}"""


def has_accounts() -> bool:
    """Whether visitors can log in with their account of the Hub: on a Space with `hf_oauth: true`."""
    return gradio.utils.get_space() is not None and all(map(os.environ.get, OAUTH))


def leaderboard_app(board: Board, *, proxies: int = 0) -> gradio.Blocks:
    """The web page of a board; `launch_options` has what its `launch` needs.

    Args:
        board: From `open_board`.
        proxies: How many proxies of yours stand before the page (a Space: 1). They are believed about the visitor's
            address, which limits are counted by; anything further in `X-Forwarded-For` may be made up.
    """
    info = board.info()
    site = _Site(board, proxies, accounts=has_accounts())
    with gradio.Blocks(
        title=info.title, analytics_enabled=False, fill_width=True, delete_cache=(KEEP_UPLOADS, KEEP_UPLOADS)
    ) as app:
        _navigation()
        head = gradio.HTML(_waiting(info.title), apply_default_css=False)
        if info.description:
            gradio.Markdown(info.description, elem_classes="description")
        table = gradio.HTML(js_on_load=_script(), apply_default_css=False)
        _on_load(app, site.standings, [head, table], "standings")
    with app.route("System", "/system", show_in_navbar=False):
        _navigation()
        _on_load(app, site.system, gradio.HTML(_waiting("System"), apply_default_css=False), "system")
    with app.route("Head to head", "/versus"):
        _navigation()
        _on_load(app, site.versus, gradio.HTML(_waiting("Head to head"), apply_default_css=False), "versus", at_once=2)
    with app.route("Submit", "/submit"):
        _submit(app, site)
    with app.route("Progress", "/progress", show_in_navbar=False):
        _navigation()
        progress = gradio.HTML(_waiting("Progress"), apply_default_css=False)
        timer = gradio.Timer(LOOK_AGAIN)
        _on_load(app, site.progress, [progress, timer], "progress")
        timer.tick(site.progress, None, [progress, timer], api_visibility="private", show_progress="hidden")
    with app.route("Keeper", "/keeper", show_in_navbar=False):
        _keep(app, site)
    app.queue(default_concurrency_limit=8)
    return app


def launch_options(board: Board) -> dict[str, Any]:
    """What `Blocks.launch` needs for the board: the look, the largest upload, nothing kept in the browser."""
    return {
        "theme": theme.gradio_theme(),
        "head": f"<style>{theme.style_sheet()}\n{(HERE / 'board.css').read_text(encoding='utf-8')}</style>",
        "max_file_size": board.info().limits.file_bytes,
        "run_history": False,
        "footer_links": [],
        "ssr_mode": False,
        "show_error": False,
    }


def serve(board: Board, *, host: str = "127.0.0.1", port: int | None = None, proxies: int = 0) -> None:
    """Serves the board's page until it is stopped; the worker is another process.

    Args:
        board: From `open_board`.
        host: Address to listen on; "0.0.0.0" for all.
        port: None takes `GRADIO_SERVER_PORT`, or the first free one from 7860.
        proxies: As for `leaderboard_app`.
    """
    app = leaderboard_app(board, proxies=proxies)
    app.launch(server_name=host, server_port=port, **launch_options(board))


def visitor(request: gradio.Request, proxies: int) -> str:
    """The address a request comes from: the entry that the outermost of our own proxies wrote.

    Args:
        request: Gradio's.
        proxies: How many of ours stand before the page.
    """
    if proxies:
        hops = [hop.strip() for hop in request.headers.get("x-forwarded-for", "").split(",") if hop.strip()]
        if len(hops) >= proxies:
            return hops[-proxies]
    return request.client.host if request.client else ""


def _closed() -> Any:
    return gradio.Column(visible=False)


def _still() -> Any:
    return gradio.Timer(active=False)


def _unless_broken(*rest: Callable[[], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
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


class _Site:
    """The handlers: what was asked → the board → HTML."""

    def __init__(self, board: Board, proxies: int, *, accounts: bool = False) -> None:
        self.board = board
        self.proxies = proxies
        self.accounts = accounts

    # --- reading

    @_unless_broken(str)
    def standings(self) -> tuple[str, str]:
        standings = self.board.standings()
        return pages.board_head(standings.board), pages.standings_page(standings)

    @_unless_broken()
    def system(self, request: gradio.Request) -> str:
        asked = request.query_params
        id, offset = asked.get("id", ""), _whole(asked.get("from", ""))
        try:
            report = self.board.system(id)
            offset = min(offset, max(0, report.n_examples - 1))
            examples = self.board.examples(id, offset=offset, limit=pages.EXAMPLES)
        except InputError as error:
            return pages.lost("No such system", str(error))
        return pages.system_page(self.board.info(), report, examples, offset=offset, others=self.systems())

    @_unless_broken()
    def versus(self, request: gradio.Request) -> str:
        chosen = [request.query_params.get(name, "") for name in ("first", "second")]
        found, problem = None, ""
        if all(chosen):
            try:
                found = self.board.head_to_head(*chosen)
            except InputError as error:
                problem = str(error)
        return pages.head_to_head_page(self.systems(), found, chosen=chosen, problem=problem)

    def systems(self) -> list[System]:
        """Everything on the board, in its order."""
        return [row.system for row in self.board.standings().systems]

    @_unless_broken(_still)
    def progress(self, request: gradio.Request) -> tuple[str, Any]:
        """The page, and the timer, which stops when there is nothing left to wait for."""
        try:
            found = self.board.progress(request.query_params.get("id", ""))
        except InputError as error:
            return pages.lost("No such submission", str(error)), _still()
        return pages.progress_page(found), gradio.Timer(active=found.state in ("queued", "running"))

    # --- submitting

    @_unless_broken()
    def check(
        self,
        file: str | None,
        name: str,
        submitter: str,
        card: str,
        tags: str,
        request: gradio.Request,
        profile: gradio.OAuthProfile | None = None,
    ) -> str:
        """Everything to mend; stores nothing."""
        if problem := self._lacking(file, profile):
            return problem
        try:
            problems = self.board.check(**self._submission(file, name, submitter, card, tags, request, profile))
        except LimitError as error:
            return pages.limited(str(error), error.retry_after)
        return pages.refused(problems) if problems else pages.fine(self.board.info().n_studies)

    @_unless_broken()
    def submit(
        self,
        file: str | None,
        name: str,
        submitter: str,
        card: str,
        tags: str,
        request: gradio.Request,
        profile: gradio.OAuthProfile | None = None,
    ) -> str:
        """The receipt, or everything to mend; a file that was stored is not kept twice."""
        if problem := self._lacking(file, profile):
            return problem
        try:
            receipt = self.board.submit(**self._submission(file, name, submitter, card, tags, request, profile))
        except RefusedError as error:
            return pages.refused(error.problems)
        except LimitError as error:
            return pages.limited(str(error), error.retry_after)
        with contextlib.suppress(OSError):
            Path(str(file)).unlink()
        return pages.received(receipt)

    def account(self, profile: gradio.OAuthProfile | None) -> str:
        """Who is logged in, for the form."""
        return profile.username if profile else ""

    def _lacking(self, file: str | None, profile: gradio.OAuthProfile | None) -> str:
        if self.accounts and profile is None:
            return NO_ACCOUNT
        return "" if file else NO_FILE

    def _submission(
        self,
        file: str | None,
        name: str,
        submitter: str,
        card: str,
        tags: str,
        request: gradio.Request,
        profile: gradio.OAuthProfile | None,
    ) -> dict[str, Any]:
        """What the board is given; where there are accounts, what the form says of the submitter is not looked at."""
        return {
            "file": file,
            "filename": Path(str(file)).name,
            "name": name,
            "submitter": self.account(profile) if self.accounts else submitter,
            "verified": self.accounts,
            "model_card": card,
            "tags": [tag.strip() for tag in (tags or "").split(",") if tag.strip()],
            "address": visitor(request, self.proxies),
        }

    # --- keeping

    @_unless_broken(_closed, gradio.Dropdown)
    def open(self, token: str, request: gradio.Request) -> tuple[str, Any, Any]:
        """The answer to a token, the keeper's controls, and the systems to choose from."""
        if problem := self._refusal(token, request):
            return problem, _closed(), gradio.Dropdown()
        return pages.told("Welcome."), gradio.Column(visible=True), self._choices()

    def act(self, action: str) -> Callable[..., tuple[str, Any]]:
        """A handler of one of the keeper's buttons; the token is asked for anew each time."""

        @_unless_broken(gradio.Dropdown)
        def handler(token: str, id: str | None, request: gradio.Request) -> tuple[str, Any]:
            if problem := self._refusal(token, request):
                return problem, gradio.Dropdown()
            try:
                return pages.told(_ACTIONS[action](self.board, id or "")), self._choices(id)
            except InputError as error:
                return pages.told(str(error), good=False), gradio.Dropdown()

        return handler

    @_unless_broken(bool)
    def rescore(self, token: str, sure: bool, request: gradio.Request) -> tuple[str, bool]:
        """Opens a new edition, if the keeper has ticked that it is meant; unticks it."""
        if problem := self._refusal(token, request):
            return problem, False
        if not sure:
            return pages.told("Tick the box first: every submission will be scored anew.", good=False), False
        try:
            return pages.told(f"A new edition is open; submissions queued: {self.board.rescore()}."), False
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
        return pages.told("This is not the keeper's token.", good=False)

    def _choices(self, chosen: str | None = None) -> Any:
        rows = self.board.standings(hidden=True).systems
        named = [(f"{row.system.name}{' (hidden)' if row.system.hidden else ''}", row.system.id) for row in rows]
        known = {id for _, id in named}
        return gradio.Dropdown(choices=named, value=chosen if chosen in known else None)


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


# --- pages of widgets -------------------------------------------------------------------------------------------------


def _submit(app: gradio.Blocks, site: _Site) -> None:
    _navigation()
    head = gradio.HTML(_submit_page(site), apply_default_css=False)
    with gradio.Column(elem_classes="board-form"):
        if site.accounts:
            gradio.LoginButton()
        with gradio.Row():
            name = gradio.Textbox(label="Name of the system", info="How it stands on the board; no other may have it.")
            submitter = gradio.Textbox(label="Submitter", interactive=not site.accounts, info=WHO[site.accounts])
        with gradio.Row():
            card = gradio.Textbox(label="Model card (optional)", info="A Hub id such as org/model, or a link.")
            tags = gradio.Textbox(label="Tags (optional)", info="At most ten short words, commas between.")
        file = gradio.File(label="Reports (CSV or JSONL)", file_types=[".csv", ".jsonl"], type="filepath", height=150)
        with gradio.Row():
            check = gradio.Button("Check")
            submit = gradio.Button("Submit", variant="primary")
    answer = gradio.HTML(elem_id="answer", apply_default_css=False)
    form = [file, name, submitter, card, tags]
    limit: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "files"}
    _on_load(app, lambda: _submit_page(site), head, None)
    if site.accounts:
        app.load(site.account, None, submitter, api_visibility="private", show_progress="hidden")
    check.click(site.check, form, answer, api_name="check", **limit)
    submit.click(site.submit, form, answer, api_name="submit", **limit).then(None, js=FOLLOW)


def _submit_page(site: _Site) -> str:
    return pages.submit_page(site.board.info(), accounts=site.accounts)


def _keep(app: gradio.Blocks, site: _Site) -> None:
    _navigation()
    gradio.HTML(pages.heading("Keeper", KEEPER), apply_default_css=False)
    with gradio.Column(elem_classes="board-form"):
        token = gradio.Textbox(label="Token", type="password", info="Shown when the board was made.")
        enter = gradio.Button("Open", variant="primary")
        answer = gradio.HTML(elem_id="answer", apply_default_css=False)
        with gradio.Column(visible=False) as controls:
            chosen = gradio.Dropdown(
                label="System", choices=[], allow_custom_value=True, info="From the list, or an id."
            )
            with gradio.Row():
                buttons = {
                    "hide": gradio.Button("Hide"),
                    "unhide": gradio.Button("Put back"),
                    "retry": gradio.Button("Score a failed one again"),
                }
            sure = gradio.Checkbox(label="A metric has changed: every submission is to be scored anew")
            rescore = gradio.Button("Open a new edition", variant="stop")
    private: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": 1, "concurrency_id": "keeper"}
    for event in (enter.click, token.submit):
        event(site.open, token, [answer, controls, chosen], **private)
    for action, button in buttons.items():
        button.click(site.act(action), [token, chosen], [answer, chosen], **private)
    rescore.click(site.rescore, [token, sure], [answer, sure], **private)
    app.load(None, js=TITLE)


# --- small things -----------------------------------------------------------------------------------------------------


def _navigation() -> None:
    """The bar on top; Gradio wants one on every page."""
    gradio.Navbar(main_page_name="Standings")


def _on_load(
    app: gradio.Blocks, handler: Callable[..., Any], outputs: Any, api_name: str | None, *, at_once: int | None = None
) -> None:
    """Fills a page when it is opened, and gives it its title; `at_once`: how many at a time, the others wait."""
    visibility: Any = "public" if api_name else "private"
    waits: dict[str, Any] = {"queue": at_once is not None, "concurrency_limit": at_once}
    loaded = app.load(
        handler, None, outputs, api_name=api_name, api_visibility=visibility, show_progress="hidden", **waits
    )
    loaded.then(None, js=TITLE)


def _waiting(title: str) -> str:
    return pages.heading(title, "…")


def _script() -> str:
    return (HERE / "board.js").read_text(encoding="utf-8")


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
