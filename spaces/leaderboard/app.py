"""The board's web page: Gradio's pages, forms and queue around the HTML of `pages`; `handlers` answers.

Every page has an address: `/` (`?sort=`, `?tag=`, `?find=`), `/system?id=`, `/versus?first=&second=`, `/submit`,
`/progress?id=`, `/administrator` (`/keeper` leads there). What a visitor types reaches the board as text and comes back
escaped.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.spaces import theme
from rrgmetrics.spaces.access import has_accounts, visitor
from rrgmetrics.spaces.framework import launched
from rrgmetrics.spaces.leaderboard import pages, uploads
from rrgmetrics.spaces.leaderboard.board import Board
from rrgmetrics.utils.extras import install_command

try:
    import gradio

    from rrgmetrics.spaces.leaderboard.handlers import Site
except ImportError as error:
    raise MissingExtraError(f"The leaderboard's page needs Gradio 6: {install_command('spaces')}") from error

HERE = Path(__file__).parent
KEEP_UPLOADS = int(uploads.KEPT_SECONDS)  # a submission is read at once
WHO = {
    True: "The Hugging Face account that is logged in.",
    False: "Your Hugging Face user name, or a link (https://...); shown as not verified.",
}
LOOK_AGAIN = 2.0  # seconds between looks at a submission's progress
ADMINISTRATOR = "Hide a system, or rescore all systems after a metric has changed."
OUT_OF_ORDER = "The board cannot be read or written at the moment; the server's log shows its administrator why."
NO_FILE = pages.refused(["Choose a file."])
NO_ACCOUNT = pages.refused(["Sign in with Hugging Face first: the account that is logged in is the submitter."])
TITLE = "() => { const h = document.querySelector('.board h1'); if (h) document.title = h.textContent.trim(); }"
FOLLOW = """() => {
    const stored = document.querySelector('[data-progress]');
    if (stored) window.location.assign('progress?id=' + encodeURIComponent(stored.dataset.progress));
}"""


def leaderboard_app(board: Board, *, proxies: int = 0) -> gradio.Blocks:
    """The web page of a board; `launch_options` has what its `launch` needs.

    Args:
        board: From `open_board`.
        proxies: How many proxies of yours stand before the page (a Space: 1). They are believed about the visitor's
            address, which limits are counted by; anything further in `X-Forwarded-For` may be made up.
    """
    info = board.info()
    site = Site(board, proxies, accounts=has_accounts())
    with gradio.Blocks(
        title=info.title, analytics_enabled=False, fill_width=True, delete_cache=(KEEP_UPLOADS, KEEP_UPLOADS)
    ) as app:
        _navigation()
        head = gradio.HTML(_waiting(info.title), apply_default_css=False)
        if info.description:
            gradio.Markdown(info.description, elem_classes="description")
        table = gradio.HTML(js_on_load=_script(), apply_default_css=False)
        _on_load(app, site.standings, [head, table], "standings")
        gradio.api(site.table, api_name="table", concurrency_limit=2)
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
    with app.route("Administrator", "/administrator", show_in_navbar=False):
        _administrate(app, site)
    with app.route("Keeper", "/keeper", show_in_navbar=False):  # its address in version 0.1
        _navigation()
        app.load(None, js="() => window.location.replace('administrator')")
    app.queue(default_concurrency_limit=8)
    return app


def launch_options(board: Board, *, proxies: int = 0) -> dict[str, object]:
    """What `Blocks.launch` needs for the board: the look, limits on uploads, nothing kept in the browser."""
    from starlette.middleware import Middleware

    limits = Middleware(uploads.UploadLimits, board=board, visitor=lambda request: visitor(request, proxies))
    return {
        "app_kwargs": {"middleware": [limits]},
        "theme": theme.gradio_theme(),
        "head": f"<style>{theme.style_sheet('drawn.css')}\n{(HERE / 'board.css').read_text(encoding='utf-8')}</style>",
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
    with uploads.folder_of(board):
        app = leaderboard_app(board, proxies=proxies)
        launched(app, server_name=host, server_port=port, **launch_options(board, proxies=proxies))


# --- pages of widgets -------------------------------------------------------------------------------------------------


def _submit(app: gradio.Blocks, site: Site) -> None:
    _navigation()
    head = gradio.HTML(_submit_page(site), apply_default_css=False)
    with gradio.Column(elem_classes="board-form"):
        if site.accounts:
            gradio.LoginButton()
        with gradio.Row():
            name = gradio.Textbox(label="Name of the system", info="The name on the board, which must be unique.")
            submitter = gradio.Textbox(label="Submitter", interactive=not site.accounts, info=WHO[site.accounts])
        with gradio.Row():
            card = gradio.Textbox(label="Model card (optional)", info="A Hub id such as org/model, or a link.")
            tags = gradio.Textbox(label="Tags (optional)", info="At most ten short words, separated by commas.")
        file = gradio.File(label="Reports (CSV or JSONL)", file_types=[".csv", ".jsonl"], type="filepath", height=150)
        with gradio.Row():
            check = gradio.Button("Check")
            submit = gradio.Button("Submit", variant="primary")
    answer = gradio.HTML(elem_id="answer", apply_default_css=False)
    form = [file, name, submitter, card, tags]
    limit: dict[str, Any] = {"concurrency_limit": 2, "concurrency_id": "files", "api_visibility": "undocumented"}
    _on_load(app, lambda: _submit_page(site), head, None)
    if site.accounts:
        app.load(site.account, None, submitter, api_visibility="private", show_progress="hidden")
    check.click(site.check, form, answer, api_name="check", **limit)
    submit.click(site.submit, form, answer, api_name="submit", **limit).then(None, js=FOLLOW)


def _submit_page(site: Site) -> str:
    return pages.submit_page(site.board.info(), site.board.study_ids, accounts=site.accounts)


def _administrate(app: gradio.Blocks, site: Site) -> None:
    _navigation()
    gradio.HTML(pages.heading("Administrator", ADMINISTRATOR), apply_default_css=False)
    with gradio.Column(elem_classes="board-form"):
        token = gradio.Textbox(
            label="Token",
            type="password",
            info="Shown when the board was created, or by `rrgmetrics leaderboard token`, which replaces it.",
        )
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
                    "retry": gradio.Button("Rescore a submission that failed or has studies without a score"),
                }
            sure = gradio.Checkbox(label="A metric has changed: rescore every submission")
            rescore = gradio.Button("Open a new round", variant="stop")
    private: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": 1, "concurrency_id": "administrator"}
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
    visibility: Any = "undocumented" if api_name else "private"  # HTML, of no use to agents
    waits: dict[str, Any] = {"queue": at_once is not None, "concurrency_limit": at_once}
    loaded = app.load(
        handler, None, outputs, api_name=api_name, api_visibility=visibility, show_progress="hidden", **waits
    )
    loaded.then(None, js=TITLE)


def _waiting(title: str) -> str:
    return pages.heading(title, "…")


def _script() -> str:
    return (HERE / "board.js").read_text(encoding="utf-8")
