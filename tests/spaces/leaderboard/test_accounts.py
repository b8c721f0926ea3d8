"""Who submits on the Hub is the account that is logged in: with a stand-in of the Hub as provider of logins."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from rrgmetrics.spaces.leaderboard import open_board

httpx = pytest.importorskip("httpx")
jwt = pytest.importorskip("joserfc.jwt")
jwk = pytest.importorskip("joserfc.jwk")
for needed in ("gradio", "authlib", "itsdangerous"):
    pytest.importorskip(needed)

SECRET = "not a secret"
APP = """
import sys
from rrgmetrics.spaces.leaderboard import open_board
from rrgmetrics.spaces.leaderboard.app import serve
serve(open_board(sys.argv[1]), port=int(sys.argv[2]))
"""


class Hub:
    """A provider of OpenID Connect that lets everybody in, as `account`."""

    def __init__(self):
        self.account = "lab"
        self.key = jwk.RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
        self.nonces = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handler(self):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(asked.query).items()}
                if asked.path == "/.well-known/openid-configuration":
                    self.answer(hub.configuration())
                elif asked.path == "/jwks":
                    self.answer({"keys": [hub.key.as_dict(private=False)]})
                else:  # /authorize: as if the user had clicked on "Authorize"
                    code = f"{hub.account}-{len(hub.nonces)}"
                    hub.nonces[code] = query["nonce"]
                    joint = "&" if "?" in query["redirect_uri"] else "?"
                    place = query["redirect_uri"] + joint + urlencode({"code": code, "state": query["state"]})
                    self.send_response(302)
                    self.send_header("Location", place)
                    self.end_headers()

            def do_POST(self):  # /token
                said = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                assert base64.b64decode(self.headers["Authorization"].split()[1]).decode() == f"board:{SECRET}"
                self.answer(hub.token(said["code"][0]))

            def answer(self, document):
                body = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        return Handler

    def configuration(self):
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/jwks",
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def token(self, code):
        account, now = code.rpartition("-")[0], int(time.time())
        claims = {
            "iss": self.address,
            "sub": account,
            "aud": "board",
            "iat": now,
            "exp": now + 3600,
            "nonce": self.nonces[code],
            "name": account.title(),
            "preferred_username": account,
            "profile": f"https://huggingface.co/{account}",
            "picture": "",
        }
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return {"access_token": "x", "token_type": "bearer", "expires_in": 3600, "scope": "openid", "id_token": signed}


@pytest.fixture
def hub():
    made = Hub()
    yield made
    made.server.shutdown()


class Visitor:
    """A browser: it keeps the session's cookie, which is for https only."""

    def __init__(self, address):
        self.address = address
        self.cookie = ""
        self.client = httpx.Client(timeout=120)

    def get(self, url):
        headers = {"Cookie": self.cookie} if url.startswith(self.address) else {}
        answer = self.client.get(url, headers=headers)
        if url.startswith(self.address) and "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def log_in(self):
        url = f"{self.address}/login/huggingface?_target_url=/submit"
        while url != f"{self.address}/submit" and (answer := self.get(url)).is_redirect:
            url = str(answer.next_request.url)
        assert url == f"{self.address}/submit", answer.text

    def submit(self, file, name, submitter=""):
        api, headers = f"{self.address}/gradio_api", {"Cookie": self.cookie}
        (path,) = self.client.post(f"{api}/upload", files={"files": file.open("rb")}, headers=headers).json()
        upload = {"path": path, "meta": {"_type": "gradio.FileData"}}
        said = {"data": [upload, name, submitter, "", ""]}
        event = self.client.post(f"{api}/call/submit", json=said, headers=headers).json()["event_id"]
        return self.client.get(f"{api}/call/submit/{event}", headers=headers).text


@pytest.fixture
def space(board, hub, free_port, monkeypatch):
    """The board's page as on a Space; returns its address."""
    for name, value in {
        "SYSTEM": "spaces",
        "SPACE_ID": "lab/board",
        "OAUTH_CLIENT_ID": "board",
        "OAUTH_CLIENT_SECRET": SECRET,
        "OAUTH_SCOPES": "openid profile",
        "OPENID_PROVIDER_URL": hub.address,
        "GRADIO_ANALYTICS_ENABLED": "False",
    }.items():
        monkeypatch.setenv(name, value)
    process = subprocess.Popen([sys.executable, "-c", APP, board.place, str(free_port)])
    address = f"http://127.0.0.1:{free_port}"
    while process.poll() is None:
        try:
            httpx.get(address, timeout=60)
            break
        except httpx.TransportError:
            time.sleep(0.1)
    assert process.poll() is None
    yield address
    process.kill()
    process.wait()


def test_who_submits_is_who_is_logged_in(board, space, hub, write_reports):
    visitor = Visitor(space)
    file = write_reports([""] * 12)
    assert "Sign in with Hugging Face first" in visitor.submit(file, "A", "lab")
    assert board.info().n_queued == 0
    visitor.log_in()
    assert "data-progress" in visitor.submit(file, "A", "somebody-else")
    hub.account = "other"
    other = Visitor(space)
    other.log_in()
    assert "data-progress" in other.submit(file, "B", "lab")
    with open_board(board.place).store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT name, submitter, verified FROM submissions ORDER BY name").all()
    assert [tuple(row) for row in rows] == [("A", "lab", True), ("B", "other", True)]
    forged = Visitor(space)
    forged.cookie = visitor.cookie[:-4] + "AAAA"
    assert "Sign in with Hugging Face first" in forged.submit(file, "C", "lab")
