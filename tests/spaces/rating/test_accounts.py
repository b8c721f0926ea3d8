"""Who rates on the Hub is the account that is logged in: with a stand-in of the Hub as provider of logins."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

from .. import logins

APP = """
import sys
from rrgmetrics.spaces.rating import app, open_project
app.serve(open_project(sys.argv[1]), port=int(sys.argv[2]))
"""


def test_who_rates_is_who_is_logged_in(project):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with logins.running() as hub:
        command = [sys.executable, "-c", APP, project.place, str(port)]
        process = subprocess.Popen(command, env=os.environ | hub.environment())
        try:
            while process.poll() is None:
                try:
                    assert "Log in with Hugging Face" in logins.httpx.get(address, timeout=60, verify=False).text
                    break
                except logins.httpx.TransportError:
                    time.sleep(0.1)
            visitor = logins.Visitor(address)
            visitor.follow("/oauth/huggingface/login?_target_url=/", "/")
            assert "Logged in as <b>lab</b>" in visitor.get(f"{address}/").text
            headers = {"Cookie": visitor.cookie, "Origin": address}
            entered = visitor.client.post(f"{address}/enter", data={"name": "somebody else"}, headers=headers)
            assert entered.status_code == 303
            cookie = entered.headers["set-cookie"].lower()
            assert "samesite=none" in cookie
            assert "secure" in cookie
        finally:
            process.kill()
            process.wait()
    assert [(row.rater, row.verified) for row in project.progress()] == [("lab", True)]
