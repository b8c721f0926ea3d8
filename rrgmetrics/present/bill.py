"""The judge's bill as a table: questions, tokens and price before anything is asked."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.judges.bill import Bill
from rrgmetrics.present.tables import Cell, Cells, Group, Table


def bill_table(bills: Sequence[Bill]) -> Table:
    """Questions, distinct and cached ones, tokens and price, a column a judge."""
    facts: dict[str, list[str]] = {
        "pairs": [f"{each.n_pairs:,}" for each in bills],
        "questions": [f"{each.questions:,}" for each in bills],
        "distinct": [f"{each.distinct:,}" for each in bills],
        "cached": [f"{each.cached:,}" for each in bills],
        "to ask": [f"{each.asked:,}" for each in bills],
        "tokens asked": [f"about {each.tokens_in:,}" for each in bills],
        "tokens answered": [_answered(each) for each in bills],
        "price": [_price(each) for each in bills],
    }
    lines: list[Cells] = [(fact, *(Cell(value, "number") for value in values)) for fact, values in facts.items()]
    judges = (f"{each.metric}, {each.engine}" for each in bills)
    return Table(("", *judges), (Group(tuple(lines)),), title="Nothing was asked")


def bill_notes(bills: Sequence[Bill]) -> list[str]:
    """What the table leaves open."""
    notes = ["Tokens are counted as characters / 4."]
    notes += [
        f"{each.metric}: {each.waiting:,} pairs have further questions, which depend on the first replies."
        for each in bills
        if each.waiting
    ]
    if not all(any(each.prices) for each in bills):
        notes.append("For a price name those of a million tokens: ?price_in=...&price_out=...")
    return notes


def _answered(bill: Bill) -> str:
    most = f"at most {bill.longest_out:,}"
    return most if bill.tokens_out is None else f"about {bill.tokens_out:,}, {most}"


def _price(bill: Bill) -> str:
    if not any(bill.prices):
        return "not named"
    most = f"at most {bill.cost(bill.longest_out):,.4g}"
    return most if bill.tokens_out is None else f"about {bill.cost(bill.tokens_out):,.4g}, {most}"
