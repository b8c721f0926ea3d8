"""The estimated cost of judges as a table: questions, tokens and price."""

from __future__ import annotations

from collections.abc import Sequence

from rrgmetrics.judges.bill import Amount, Bill
from rrgmetrics.reporting.tables import Cell, Cells, Group, Table
from rrgmetrics.utils.text_format import counted

UNKNOWN = "?"


def bill_table(bills: Sequence[Bill]) -> Table:
    """What is likely and at most asked of each judge, and of all of them."""
    priced = any(each.is_priced for each in bills)
    groups = [
        _group(
            f"{each.metric}, {each.engine}",
            (each.questions, each.cached),
            [(each.likely, _price(each, each.likely)), (each.most, _price(each, each.most))],
            priced=priced,
        )
        for each in bills
    ]
    if len(bills) > 1:
        sums = [_sum([each.likely for each in bills]), _sum([each.most for each in bills])]
        prices = [_sum_price(bills, [each.likely for each in bills]), _sum_price(bills, [each.most for each in bills])]
        questions = sum(each.questions for each in bills), sum(each.cached for each in bills)
        groups.append(_group("all", questions, list(zip(sums, prices, strict=True)), priced=priced))
    heads = ("", "questions", "cached", "requests", "tokens in", "tokens out", *(("price",) if priced else ()))
    title = f"No question was asked; {counted(bills[0].n_pairs, 'pair')}"
    return Table(heads, tuple(groups), title=title)


def bill_notes(bills: Sequence[Bill]) -> list[str]:
    """How the table was counted, and what it leaves open."""
    notes = [
        (
            "Likely: 4 characters per token and no truncated reply. At most: 3 characters per token, and each reply is "
            "truncated and requested once more with twice the tokens."
        ),
        "Not counted: retries of requests that fail at the server (option retries).",
    ]
    notes += [
        (
            f"{each.metric}: {each.guessed:,} of the questions depend on replies that are not cached; their number is "
            'estimated from the reports, so "at most" is not a bound.'
        )
        for each in bills
        if each.guessed
    ]
    if any(each.likely.tokens_out is None for each in bills):
        notes.append("?: unknown until some replies are cached, from whose length it is estimated.")
    notes += [
        f"{each.metric} cannot be run on this machine yet, and cached replies were not looked for: {each.problem}"
        for each in bills
        if each.problem
    ]
    if not all(each.is_priced for each in bills):
        notes.append("For a price, give the prices of a million tokens: ?price_in=...&price_out=...")
    return notes


def _group(head: str, questions: tuple[int, int], lines: Sequence[tuple[Amount, str]], *, priced: bool) -> Group:
    """The two lines of a judge, or of all."""
    rows: list[Cells] = []
    for name, (amount, price) in zip(("likely", "at most"), lines, strict=True):
        numbers = [f"{number:,}" for number in questions] if not rows else ["", ""]
        numbers += [f"{amount.requests:,}", f"{amount.tokens_in:,}"]
        numbers.append(UNKNOWN if amount.tokens_out is None else f"{amount.tokens_out:,}")
        numbers += [price] if priced else []
        rows.append((f"  {name}", *(Cell(number, "number") for number in numbers)))
    return Group(tuple(rows), (Cell(head, "strong"),))


def _price(bill: Bill, amount: Amount) -> str:
    cost = amount.cost(bill.prices)
    return "not named" if not bill.is_priced else UNKNOWN if cost is None else f"{cost:,.4g}"


def _sum_price(bills: Sequence[Bill], amounts: Sequence[Amount]) -> str:
    """The price of all; none if one has no price, as a sum of the others would look like all."""
    if not all(each.is_priced for each in bills):
        return "not named"
    costs = [amount.cost(each.prices) for each, amount in zip(bills, amounts, strict=True)]
    known = [cost for cost in costs if cost is not None]
    return f"{sum(known):,.4g}" if len(known) == len(costs) else UNKNOWN


def _sum(amounts: Sequence[Amount]) -> Amount:
    out = [amount.tokens_out for amount in amounts if amount.tokens_out is not None]
    return Amount(
        sum(amount.requests for amount in amounts),
        sum(amount.tokens_in for amount in amounts),
        sum(out) if len(out) == len(amounts) else None,
    )
