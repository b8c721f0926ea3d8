"""The tables, and how boards of earlier versions are brought up to date (a `Schema` of `spaces.database`).

`studies.reference` is the one place where hidden references lie. `results.stats` are the statistics of every pair, from
which intervals, slices and paired tests follow without a second scoring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
)

from rrgmetrics.spaces.access import tries_table

NOUN = "board"
COMMAND = "rrgmetrics leaderboard"
VERSION = 3
# From version n to n + 1: the statements, in SQL that SQLite and PostgreSQL both take.
MIGRATIONS: Mapping[int, Sequence[str]] = {
    1: ["ALTER TABLE submissions ADD COLUMN verified BOOLEAN NOT NULL DEFAULT FALSE"],
    2: ["ALTER TABLE tries ADD COLUMN amount DOUBLE PRECISION NOT NULL DEFAULT 0"],
}

# Boards of version 0.1 called a round an edition and a signature a recipe; their tables keep these names (`key`).
METADATA = MetaData()

board = Table(
    "board",
    METADATA,
    Column("version", Integer, nullable=False),
    Column("created", Double, nullable=False),
    Column("config", Text, nullable=False),  # JSON: title, metrics, primary, trials, limits, ...
    Column("admin_sha256", String(64), nullable=False),
    Column("secret", LargeBinary, nullable=False),  # keys the hashes of addresses
    Column("revision", Integer, nullable=False),
)
HEAD = board

studies = Table(
    "studies",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("study_id", Text, nullable=False, unique=True),
    Column("reference", Text, nullable=False),
    Column("context", Text, nullable=False),  # JSON
    Column("public", Boolean, nullable=False),
    Column("slices", Text, nullable=False),  # JSON: names
)

rounds = Table(
    "editions",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("opened", Double, nullable=False),
    Column("recipes", Text, key="signatures"),  # JSON: by metric; null until a worker has fixed them
)

submissions = Table(
    "submissions",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("id", String(12), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False, unique=True),
    Column("submitter", Text, nullable=False),
    Column("submitter_key", Text, nullable=False),
    Column("submitter_url", Text, nullable=False),
    Column("verified", Boolean, nullable=False, server_default=false()),  # whether the submitter was logged in
    Column("model_card", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("tags", Text, nullable=False),  # JSON
    Column("submitted", Double, nullable=False),
    Column("address_key", String(64), nullable=False),
    Column("sha256", String(64), nullable=False),  # of the reports
    Column("hidden", Boolean, nullable=False),
    sqlite_autoincrement=True,
)

reports = Table(
    "reports",
    METADATA,
    Column("submission", Integer, ForeignKey("submissions.number"), primary_key=True, autoincrement=False),
    Column("study", Integer, ForeignKey("studies.number"), primary_key=True, autoincrement=False),
    Column("report", Text, nullable=False),
)

jobs = Table(
    "jobs",
    METADATA,
    Column("submission", Integer, ForeignKey("submissions.number"), primary_key=True, autoincrement=False),
    Column("edition", Integer, ForeignKey("editions.number"), key="round", primary_key=True, autoincrement=False),
    Column("state", String(8), nullable=False),
    Column("since", Double, nullable=False),
    Column("free_at", Double, nullable=False),  # from when a worker may take it; of a running job the lease's end
    Column("claim", String(32), nullable=False),  # of the worker that has it
    Column("interruptions", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("message", Text, nullable=False),
    Index("jobs_by_state", "state", "free_at"),
)

results = Table(
    "results",
    METADATA,
    Column("submission", Integer, ForeignKey("submissions.number"), primary_key=True, autoincrement=False),
    Column("edition", Integer, ForeignKey("editions.number"), key="round", primary_key=True, autoincrement=False),
    Column("metric", Text, primary_key=True),
    Column("recorded", Double, nullable=False),
    Column("signature", Text, nullable=False),
    Column("unscored", Text, nullable=False),  # JSON: numbers of studies
    Column(
        "estimates", Text, nullable=False
    ),  # JSON: [value, low, high, n] by key (and `scoring.SKILL`), of the pairs scored here
    Column("slices", Text, nullable=False),  # JSON: [value, low, high, n] of the headline by slice
    Column("stats", LargeBinary, nullable=False),  # (n_studies, n_stats), as `numpy.savez_compressed`
)

figures = Table(  # intervals on common pairs and paired tests, kept by what they were computed from
    "figures",
    METADATA,
    Column("key", String(64), primary_key=True),
    Column("edition", Integer, nullable=False, key="round"),
    Column("value", Text, nullable=False),  # JSON
)

tries = tries_table(METADATA, "tries")
