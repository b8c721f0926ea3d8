"""Uploads to the Hugging Face Hub: what must be there first, and what went wrong in one sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rrgmetrics.backends.checkpoints import PROBE_SECONDS, answers
from rrgmetrics.errors import BackendError, InputError
from rrgmetrics.version import VERSION

if TYPE_CHECKING:
    from huggingface_hub import HfApi

ORGANISATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){1,41}")


def check_organisation(name: str) -> str:
    """The name of a user or an organisation of the Hub; InputError if it cannot be one."""
    if not ORGANISATION.fullmatch(name):
        raise InputError(
            f"{name!r} is not a user or organisation of the Hub; write the name only, as in --push my-lab."
        )
    return name


def hub_api() -> HfApi:
    """The Hub's client; BackendError, within seconds, without a network or a token."""
    from huggingface_hub import HfApi, constants, get_token

    if constants.HF_HUB_OFFLINE:
        raise BackendError("HF_HUB_OFFLINE is set; unset it to upload, or write the folders with --build DIR.")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    if not answers(endpoint):
        raise BackendError(
            f"{endpoint} did not answer in {PROBE_SECONDS} s; upload when there is a network, or write the folders "
            "with --build DIR and push them with git."
        )
    if get_token() is None:
        raise BackendError("There is no Hub token on this machine; run `hf auth login`, or set HF_TOKEN.")
    return HfApi()


@contextmanager
def hub_errors(what: str) -> Iterator[None]:
    """Turns what goes wrong between us and the Hub into a BackendError that says `what` was being done."""
    try:
        yield
    except Exception as error:  # the Hub client has a dozen kinds of failure, all of which end here
        raise BackendError(f"The Hub was {what} and failed: {error}") from error


def upload(
    api: HfApi, repo_id: str, files: Mapping[str, bytes], *, repo_type: str, space_sdk: str | None = None
) -> str:
    """Makes a repository if there is none, and commits files to it; the other files there stay.

    Args:
        api: As `hub_api` gives it.
        repo_id: `organisation/name`.
        files: Contents by path in the repository.
        repo_type: "space", "dataset" or "model".
        space_sdk: Of a Space: "gradio".

    Returns:
        The repository's address.

    Raises:
        BackendError: The Hub refuses, or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd

    with hub_errors(f"sent {repo_id}"):
        address = str(api.create_repo(repo_id, repo_type=repo_type, space_sdk=space_sdk, exist_ok=True))
        operations = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=content) for path, content in files.items()]
        api.create_commit(repo_id, operations, commit_message=f"rrgmetrics {VERSION}", repo_type=repo_type)
    return address
