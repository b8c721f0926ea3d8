"""A stand-in of the Hub as provider of logins, for Spaces whose visitors have accounts."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

httpx = pytest.importorskip("httpx")
jwk = pytest.importorskip("joserfc.jwk")
jwt = pytest.importorskip("joserfc.jwt")
for needed in ("gradio", "authlib", "itsdangerous"):
    pytest.importorskip(needed)

SECRET = "not a secret"


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

    def environment(self):
        """What the Hub sets for a Space with accounts."""
        return {
            "SYSTEM": "spaces",
            "SPACE_ID": "lab/board",
            "OAUTH_CLIENT_ID": "board",
            "OAUTH_CLIENT_SECRET": SECRET,
            "OAUTH_SCOPES": "openid profile",
            "OPENID_PROVIDER_URL": self.address,
            "GRADIO_ANALYTICS_ENABLED": "False",
        }


@contextmanager
def running() -> Iterator[Hub]:
    """A provider that runs until the block ends."""
    made = Hub()
    yield made
    made.server.shutdown()


class Visitor:
    """A browser: it keeps the session's cookie, which is for https only."""

    def __init__(self, address):
        self.address = address
        self.cookie = ""
        self.client = httpx.Client(timeout=120, verify=False)  # on http: reading certificates takes 30 ms

    def get(self, url):
        headers = {"Cookie": self.cookie} if url.startswith(self.address) else {}
        answer = self.client.get(url, headers=headers)
        if url.startswith(self.address) and "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def follow(self, path, end):
        """Follows redirects from a path of the Space to another one."""
        url = f"{self.address}{path}"
        while url != f"{self.address}{end}" and (answer := self.get(url)).is_redirect:
            url = str(answer.next_request.url)
        assert url == f"{self.address}{end}", answer.text
