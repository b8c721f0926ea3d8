"""The tables of a rating project (a `Schema` of `spaces.database`).

`candidates.source` is the one place where sources are kept. An item is what is answered in one go: a candidate, or two
candidates of a study that are held against each other. `answers` has one row a rater and item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Boolean, Column, Double, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

from rrgmetrics.spaces.access import tries_table

NOUN = "rating project"
COMMAND = "rrgmetrics rating"
VERSION = 1
MIGRATIONS: Mapping[int, Sequence[str]] = {}
METADATA = MetaData()

project = Table(
    "rating_project",
    METADATA,
    Column("version", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("config", Text, nullable=False),  # JSON: title, ask, seed, notes
    Column("host_sha256", String(64), nullable=False),
    Column("secret", LargeBinary, nullable=False),  # keys the hashes of addresses and the codes of forms
)
HEAD = project

studies = Table(
    "rating_studies",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("study_id", Text, nullable=False, unique=True),
    Column("reference", Text, nullable=False),
    Column("context", Text, nullable=False),  # JSON
)

candidates = Table(
    "rating_candidates",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("study", Integer, ForeignKey("rating_studies.number"), nullable=False, index=True),
    Column("source", Text, nullable=False),
    Column("candidate", Text, nullable=False),
)

items = Table(
    "rating_items",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("study", Integer, ForeignKey("rating_studies.number"), nullable=False, index=True),
    Column("first", Integer, ForeignKey("rating_candidates.number"), nullable=False),
    Column("second", Integer, ForeignKey("rating_candidates.number")),  # of a preference
)

raters = Table(
    "rating_raters",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("verified", Boolean, nullable=False),  # whether the name is an account that was logged in
    Column("joined", Double, nullable=False),
    sqlite_autoincrement=True,
)

sessions = Table(
    "rating_sessions",
    METADATA,
    Column("token_sha256", String(64), primary_key=True),
    Column("rater", Integer, ForeignKey("rating_raters.number")),  # null: the host
    Column("began", Double, nullable=False),
)

answers = Table(
    "rating_answers",
    METADATA,
    Column("rater", Integer, ForeignKey("rating_raters.number"), primary_key=True, autoincrement=False),
    Column("item", Integer, ForeignKey("rating_items.number"), primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),  # JSON, as `answers` writes it
    Column("revision", Integer, nullable=False),  # counts the answers that were replaced
    Column("client", String(40), nullable=False),  # the opened page that wrote it
    Column("step", Integer, nullable=False),  # the page's own count
    Column("saved", Double, nullable=False),
)

finished = Table(
    "rating_finished",
    METADATA,
    Column("rater", Integer, ForeignKey("rating_raters.number"), primary_key=True, autoincrement=False),
    Column("study", Integer, ForeignKey("rating_studies.number"), primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
)

tries = tries_table(METADATA, "rating_tries")
