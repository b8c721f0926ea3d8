"""A PostgreSQL of our own: in a folder that goes afterwards, reached by a socket there and by nothing else."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEBIAN = Path("/usr/lib/postgresql")  # where Debian's packages have the programs, by version
USERS = ("postgres", "nobody")  # who runs it where we are root, which PostgreSQL refuses to be


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`; None if they are not installed."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else sorted(DEBIAN.glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """Runs a server; gives the URL of its database `postgres`."""
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: a socket's path has 107 characters; ours: others read it
    if user is not None:
        shutil.chown(folder, user.pw_name)
    data = str(folder / "data")
    name = "postgres"
    settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    try:
        _run(user, programs / "initdb", "-D", data, "-U", name, "-A", "trust", "-E", "UTF8", "--no-sync")
        _run(user, programs / "pg_ctl", "-D", data, "-o", settings, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql+psycopg://{name}@/{name}?host={folder}"
        finally:
            _run(user, programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _user() -> pwd.struct_passwd | None:
    if os.getuid():
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return next(known[name] for name in USERS if name in known)


def _run(user: pwd.struct_passwd | None, *command: str | Path) -> None:
    who = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, **who)
