"""Submissions as rows: which the board has, which names are taken, and new ones."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict

from sqlalchemy import Connection, insert, select, update

from rrgmetrics.errors import InputError
from rrgmetrics.spaces import identity
from rrgmetrics.spaces.leaderboard import jobs, schema
from rrgmetrics.spaces.leaderboard.submissions import Checked, Form

ID_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another


def number_of(connection: Connection, id: str) -> int:
    """The number of a submission by its id; raises InputError for an unknown one."""
    number = connection.execute(select(schema.submissions.c.number).where(schema.submissions.c.id == id)).scalar()
    if number is None:
        raise InputError(f"There is no submission {id[:20]!r} on this board.")
    return int(number)


def id_of(connection: Connection, number: int) -> str:
    """The id of a submission by its number."""
    id: str = connection.execute(
        select(schema.submissions.c.id).where(schema.submissions.c.number == number)
    ).scalar_one()
    return id


def n_unscored(connection: Connection, number: int, round_: int) -> dict[str, int]:
    """How many pairs of a submission have no score, by metric."""
    table = schema.results.c
    rows = connection.execute(
        select(table.metric, table.unscored).where(table.submission == number, table.round == round_)
    )
    return {metric: len(json.loads(unscored)) for metric, unscored in rows}


def known_number(connection: Connection, form: Form, checked: Checked) -> int | None:
    """Number of the same submission, if it was sent before."""
    table = schema.submissions.c
    query = select(table.number).where(
        table.name_key == form.name_key,
        table.submitter_key == form.submitter_key,
        table.verified == form.verified,
        table.sha256 == checked.sha256,
    )
    return connection.execute(query).scalar()


def name_problems(connection: Connection, form: Form, checked: Checked) -> list[str]:
    """What is wrong with the names on a form, for somebody else has them or ones that look alike."""
    if checked.reports and known_number(connection, form, checked):
        return []
    table = schema.submissions.c
    rows = connection.execute(select(table.name, table.submitter_key)).all()
    problems = []
    name_look, submitter_look = identity.look(form.name), identity.look(form.submitter_key)
    if any(identity.key(row.name) == form.name_key for row in rows):
        problems.append(f"The name {form.name!r} is taken; add a version, for example {form.name + ' v2'!r}.")
    elif any(identity.look(row.name) == name_look for row in rows):
        problems.append(f"The name {form.name!r} looks like the name of another system; choose another.")
    others = {row.submitter_key for row in rows} - {form.submitter_key}
    if not form.verified and any(identity.look(other) == submitter_look for other in others):
        problems.append(f"The submitter {form.submitter!r} looks like another submitter; enter a link instead.")
    return problems


def add(connection: Connection, form: Form, checked: Checked, address_key: str) -> int:
    """Stores a submission with its reports and queues it; returns its number."""
    row = {**asdict(form), "tags": json.dumps(form.tags)}
    number: int = connection.execute(
        insert(schema.submissions)
        .values(
            **row,
            id="".join(secrets.choice(ID_LETTERS) for _ in range(12)),
            submitted=time.time(),
            address_key=address_key,
            sha256=checked.sha256,
            hidden=False,
        )
        .returning(schema.submissions.c.number)
    ).scalar_one()
    connection.execute(
        insert(schema.reports),
        [{"submission": number, "study": i, "report": report} for i, report in enumerate(checked.reports)],
    )
    jobs.enqueue(connection, number, jobs.current_round(connection))
    jobs.bump(connection)
    return number


def set_hidden(connection: Connection, id: str, hidden: bool) -> None:
    """Takes a system off the board, or puts it back."""
    number = number_of(connection, id)
    connection.execute(update(schema.submissions).where(schema.submissions.c.number == number).values(hidden=hidden))
    jobs.bump(connection)
