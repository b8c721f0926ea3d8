"""The rating Space's web page: HTML from `templates`, answers as JSON, every one of them saved when it is given.

`/` (who rates, how far), `/study?n=` (one study), `/host` (progress and export, for whoever has the host token). Names
are typed, or are the accounts of the Hub on a Space with `hf_oauth: true`. Nothing that leaves for a rater names a
source, a study's id or another rater's answers.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup

from rrgmetrics.comparing import ErrorCategory
from rrgmetrics.errors import InputError, MissingExtraError
from rrgmetrics.files import csv_text
from rrgmetrics.reporting import html, theme
from rrgmetrics.reporting.kinds import KINDS
from rrgmetrics.reporting.patients import patient
from rrgmetrics.spaces.access import LimitError, has_accounts, visitor
from rrgmetrics.spaces.database import StoreError
from rrgmetrics.spaces.rating import conventions, export
from rrgmetrics.spaces.rating.answers import MAX_ERRORS
from rrgmetrics.spaces.rating.project import Project, Rater, Sheet, StaleError, Stamp
from rrgmetrics.utils.extras import install_command
from rrgmetrics.utils.text_format import counted

try:
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.concurrency import run_in_threadpool
    from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
except ImportError as error:
    raise MissingExtraError(f"The rating page needs Gradio 6's server: {install_command('spaces')}") from error

HERE = Path(__file__).parent
RATER, HOST = "rating", "rating_host"  # cookies
BODY_BYTES = 200_000
COOKIE_SECONDS = 365 * 86_400
HOW = "; arrow keys select words, Shift extends the selection"
LETTERED = [(category.value, KINDS[category.value]) for category in ErrorCategory]
OUT_OF_ORDER = "The project cannot be read or written at the moment; the server's log shows its host why."
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
        "img-src data:; base-uri 'none'; frame-ancestors 'self' https://huggingface.co"
    ),
}


def rating_app(project: Project, *, proxies: int = 0, accounts: bool | None = None) -> FastAPI:
    """The web page of a project.

    Args:
        project: From `open_project`.
        proxies: How many proxies of yours stand before the page (a Space: 1); see `access.visitor`.
        accounts: Whether raters log in with their account of the Hub; None: where the Space has such accounts.
    """
    app = FastAPI(openapi_url=None)
    site = Site(project, proxies, accounts=has_accounts() if accounts is None else accounts)
    if site.accounts:
        from huggingface_hub import attach_huggingface_oauth

        attach_huggingface_oauth(app)
    for path, handler in {"/": site.home, "/study": site.study, "/host": site.host}.items():
        app.get(path)(handler)
    for path, handler in {"/ratings.csv": site.ratings, "/preferences.csv": site.preferences}.items():
        app.get(path)(handler)
    for name, kind in {"rating.css": "text/css", "rating.js": "text/javascript"}.items():
        app.get(f"/{name}")(_file(name, kind))
    for path, (read, act) in {
        "/enter": (_form, site.enter),
        "/leave": (_form, site.leave),
        "/host": (_form, site.open_host),
        "/save": (_json, site.save),
        "/finish": (_json, site.finish),
    }.items():
        app.post(path)(_handler(read, act))
    app.middleware("http")(site.guard)
    for fault in (InputError, StoreError):
        app.exception_handler(fault)(site.failed)
    return app


def serve(project: Project, *, host: str = "127.0.0.1", port: int = 7860, proxies: int = 0) -> None:
    """Serves a project's page until it is stopped; arguments as for `rating_app`, and where to listen."""
    uvicorn.run(rating_app(project, proxies=proxies), host=host, port=port, log_level="warning", server_header=False)


class Site:
    """The handlers: a request → the project → a page."""

    def __init__(self, project: Project, proxies: int, *, accounts: bool) -> None:
        self.project = project
        self.proxies = proxies
        self.accounts = accounts

    # --- pages

    def home(self, request: Request) -> Response:
        """Who rates; for a rater how far he is."""
        rater = self._rater(request)
        if rater is None:
            return self._entrance(request)
        states = self.project.states(rater)
        open_ones = (place for place, state in enumerate(states, 1) if state != "finished")
        done = states.count("finished")
        begun = (place for place, state in enumerate(states, 1) if state == "begun")
        missing = {place: self.project.missing(self.project.sheet(rater, place)) for place in begun}
        return self._page("overview", rater=rater, states=states, done=done, missing=missing, next=next(open_ones, 0))

    def study(self, request: Request, n: str = "") -> Response:
        """One study to rate."""
        rater = self._rater(request)
        if rater is None:
            return RedirectResponse("./", 303)
        sheet = self.project.sheet(rater, int(n) if n.isascii() and n.isdigit() and len(n) < 10 else 0)
        about = ". ".join(filter(None, (patient(sheet.context), sheet.context.indication)))
        state = json.dumps(self._state(rater, sheet), ensure_ascii=False)
        for sign in "<>&":  # within the script element nothing may look like markup
            state = state.replace(sign, f"\\u{ord(sign):04x}")
        return self._page("study", rater=rater, sheet=sheet, n=self.project.n_studies, about=about, state=Markup(state))

    def _state(self, rater: Rater, sheet: Sheet) -> Mapping[str, Any]:
        """What the script of a study's page starts from."""
        return {
            "n": sheet.place,
            "store": f"rrgmetrics-rating/{self.project.code(rater, -1)}/{sheet.place}",
            "reference": sheet.reference,
            "reports": sheet.reports,
            "kinds": {kind.letter: {"name": name, "title": kind.title} for name, kind in LETTERED},
            "most": MAX_ERRORS,
            "items": {
                item: {"content": asdict(saved.answer), "revision": saved.revision, "writer": saved.client}
                for item, saved in sheet.items.items()
            },
        }

    def host(self, request: Request) -> Response:
        """The host's page, or the form that asks for the token."""
        is_host = self._is_host(request)
        progress = self.project.progress() if is_host else []
        return self._page("host", is_host=is_host, progress=progress, message="")

    def ratings(self, request: Request) -> Response:
        """The table of ratings, for the host."""
        return self._csv(request, "ratings.csv", export.ratings)

    def preferences(self, request: Request) -> Response:
        """The table of preferences, for the host."""
        return self._csv(request, "preferences.csv", export.preferences)

    # --- forms

    def enter(self, request: Request, form: Mapping[str, Any]) -> Response:
        """Lets a rater in: a name that somebody has begun with is asked about first."""
        name = self._account(request) if self.accounts else str(form.get("name") or "")
        known = self.project.find_rater(name)
        if known and not self.accounts and form.get("same") != "yes":
            done = self.project.states(known).count("finished")
            return self._page("enter", again=known, done=done, accounts=False, message="", name="")
        try:
            rater = self.project.enter(name, verified=self.accounts, address=visitor(request, self.proxies))
        except InputError as error:
            return self._entrance(request, str(error), name)
        return _with_cookie(RedirectResponse("./", 303), RATER, self.project.begin_session(rater))

    def leave(self, request: Request, form: Mapping[str, Any]) -> Response:
        """Ends the sessions of this browser."""
        response = RedirectResponse("./", 303)
        for cookie in (RATER, HOST):
            if token := request.cookies.get(cookie):
                self.project.end_session(token)
                response.delete_cookie(cookie)
        return response

    def open_host(self, request: Request, form: Mapping[str, Any]) -> Response:
        """Opens the host's page to whoever has the token."""
        try:
            if self.project.verify_host(str(form.get("token") or ""), visitor(request, self.proxies)):
                return _with_cookie(RedirectResponse("host", 303), HOST, self.project.begin_session(None))
            message = "This is not the host's token."
        except LimitError as error:
            message = str(error)
        return self._page("host", 403, is_host=False, progress=[], message=message)

    # --- what the script sends

    def save(self, request: Request, value: Mapping[str, Any]) -> Response:
        """Saves one answer."""
        rater = self._rater(request)
        if rater is None:
            return JSONResponse({"message": "you have left; enter your name again to send the answer."}, 401)
        try:
            stamp = Stamp(str(value["client"]), int(value["step"]), int(value["revision"]))
            place, item, content = int(value["n"]), str(value["item"]), value["content"]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("The answer does not come from this page.") from None
        return JSONResponse({"revision": self.project.save(rater, place, item, content, stamp)})

    def finish(self, request: Request, value: Mapping[str, Any]) -> Response:
        """Finishes a study; answers with what is missing, or with the next study that is not finished."""
        rater = self._rater(request)
        if rater is None:
            return JSONResponse({"message": "You have left; enter your name again."}, 401)
        place = value.get("n")
        if not isinstance(place, int):
            raise InputError("The answer is not what this page sends.")
        missing = self.project.finish(rater, place)
        states = self.project.states(rater)
        places = [*range(place + 1, len(states) + 1), *range(1, place)]
        return JSONResponse({"missing": missing, "next": next((n for n in places if states[n - 1] != "finished"), 0)})

    # --- around all of them

    async def guard(self, request: Request, respond: Callable[[Request], Any]) -> Response:
        """Refuses what another site's page sends, and what is too large; adds the headers of every answer."""
        origin = urlsplit(request.headers.get("origin", ""))
        hosts = {request.headers.get("host"), request.headers.get("x-forwarded-host")}
        response: Response
        if request.method == "POST" and (origin.scheme or origin.path) and origin.netloc not in hosts:
            response = JSONResponse({"message": "This request comes from another site."}, 403)
        elif request.method == "POST" and _size(request) > BODY_BYTES:
            response = JSONResponse({"message": "This is too large for an answer."}, 413)
        else:
            response = await respond(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    async def failed(self, request: Request, error: Exception) -> Response:
        """One sentence in the place of what was asked for."""
        status = 500 if isinstance(error, StoreError) else 409 if isinstance(error, StaleError) else 400
        message = OUT_OF_ORDER if status == 500 else str(error)
        if status == 500:
            logging.getLogger(__name__).error("%s", error)
        if "json" in request.headers.get("content-type", ""):
            return JSONResponse({"message": message}, status)
        return self._page("message", status, heading="Out of order" if status == 500 else "Not found", message=message)

    # ---

    def _entrance(self, request: Request, message: str = "", name: str = "") -> Response:
        account = self._account(request) if self.accounts else ""
        return self._page("enter", again=None, accounts=self.accounts, account=account, message=message, name=name)

    def _account(self, request: Request) -> str:
        """The account of the Hub that is logged in, or ""."""
        from huggingface_hub import parse_huggingface_oauth

        info = parse_huggingface_oauth(request)
        return info.user_info.preferred_username if info else ""

    def _rater(self, request: Request) -> Rater | None:
        token = request.cookies.get(RATER)
        return self.project.rater_of(token) if token else None

    def _is_host(self, request: Request) -> bool:
        token = request.cookies.get(HOST)
        return bool(token) and self.project.is_host(str(token))

    def _csv(self, request: Request, name: str, columns: Callable[[Project], export.Columns]) -> Response:
        if not self._is_host(request):
            return RedirectResponse("host", 303)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(csv_text(columns(self.project)), media_type="text/csv; charset=utf-8", headers=headers)

    def _page(self, template: str, status: int = 200, *, rater: Rater | None = None, **values: Any) -> Response:
        page = _environment().get_template(f"{template}.html.j2").render(project=self.project, rater=rater, **values)
        return HTMLResponse(page, status)


def _handler(read: Callable[[Request], Any], act: Callable[[Request, Any], Response]) -> Callable[[Request], Any]:
    """Reads a body, and acts on it in a thread: the database may let it wait."""

    async def handler(request: Request) -> Response:
        return await run_in_threadpool(act, request, await read(request))

    return handler


async def _form(request: Request) -> Mapping[str, Any]:
    form: Mapping[str, Any] = await request.form()
    return form


async def _json(request: Request) -> dict[str, object]:
    if "json" not in request.headers.get("content-type", ""):
        raise InputError("An answer must be JSON.")
    try:
        value = json.loads(await request.body())
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError("The answer is not what this page sends.")
    return value


def _with_cookie(response: Response, name: str, token: str) -> Response:
    """On the Hub the page stands in a frame of another site, where a cookie must say so."""
    is_framed = "SPACE_ID" in os.environ
    response.set_cookie(
        name, token, COOKIE_SECONDS, httponly=True, secure=is_framed, samesite="none" if is_framed else "lax"
    )
    return response


def _size(request: Request) -> int:
    """Bytes of a request's body, as it says; one that does not is too large."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else BODY_BYTES + 1


def _file(name: str, kind: str) -> Callable[[], Response]:
    text = (HERE / name).read_text(encoding="utf-8")
    if kind == "text/css":
        text = f"{theme.style_sheet(dark=theme.BY_PREFERENCE)}\n{text}"

    def handler() -> Response:
        return Response(text, media_type=kind)

    return handler


def moment(seconds: float) -> str:
    """A time as the host reads it; "" for 0."""
    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M}" if seconds else ""


@cache
def _environment() -> Any:
    return html.environment(
        "rrgmetrics.spaces.rating",
        counted=counted,
        moment=moment,
        HOW=HOW,
        LETTERED=LETTERED,
        **{name: getattr(conventions, name) for name in ("CATEGORIES", "SIGNIFICANT", "CONVENTIONS", "RATING")},
    )
