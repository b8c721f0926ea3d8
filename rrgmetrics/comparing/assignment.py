"""The best assignment of rows to columns, each at most once.

The method and its choice between equal sums are those of scipy's `linear_sum_assignment` (Crouse 2016, shortest
augmenting paths), whose import takes longer than all the rest of a first reading; large tables are left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

LARGEST = 400  # entries of a table; a larger one is faster in scipy


def best_assignment(gains: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Assigns rows to columns so that the sum of gains is greatest.

    Args:
        gains: Of each row, one for each column; at least one of both.

    Returns:
        Rows with their columns, by row; as many as there are rows or columns, whichever are fewer.

    Example:
        >>> best_assignment([[3.0, 2.0], [2.0, 0.0]])
        [(0, 1), (1, 0)]
    """
    if len(gains) * len(gains[0]) > LARGEST:
        from scipy.optimize import linear_sum_assignment

        return [(int(r), int(c)) for r, c in zip(*linear_sum_assignment(gains, maximize=True), strict=True)]
    if len(gains) > len(gains[0]):
        return sorted((r, c) for c, r in _assign([[-gain for gain in column] for column in zip(*gains, strict=True)]))
    return _assign([[-gain for gain in row] for row in gains])


def _assign(costs: list[list[float]]) -> list[tuple[int, int]]:
    """Assigns every row a column at the least cost; there are no more rows than columns."""
    of_rows, of_columns = [0.0] * len(costs), [0.0] * len(costs[0])  # the dual variables
    column_of, row_of = [-1] * len(costs), [-1] * len(costs[0])
    for first in range(len(costs)):
        column, reached, least, came_from, lengths = _shortest_path(costs, first, row_of, of_rows, of_columns)
        shortest = lengths[column]
        of_rows[first] += shortest
        for visited in reached[1:]:
            of_rows[visited] += shortest - lengths[column_of[visited]]
        for visited in least:
            of_columns[visited] -= shortest - lengths[visited]
        row = -1
        while row != first:
            row = row_of[column] = came_from[column]
            column_of[row], column = column, column_of[row]
    return list(enumerate(column_of))


def _shortest_path(
    costs: list[list[float]], row: int, row_of: list[int], of_rows: list[float], of_columns: list[float]
) -> tuple[int, list[int], list[int], list[int], list[float]]:
    """Finds the shortest path from a row to a free column.

    Returns:
        The column, the rows and the columns on the way, the row before each column, and the length to each column.
    """
    n = len(of_columns)
    remaining = list(range(n - 1, -1, -1))
    came_from, lengths = [-1] * n, [inf] * n
    rows, columns = list[int](), list[int]()
    length = 0.0
    while True:
        rows.append(row)
        lowest, index = inf, -1
        for place, column in enumerate(remaining):
            reduced = length + costs[row][column] - of_rows[row] - of_columns[column]
            if reduced < lengths[column]:
                came_from[column], lengths[column] = row, reduced
            known = lengths[column]
            if known < lowest or (known == lowest and row_of[column] == -1):
                lowest, index = known, place
        length, column = lowest, remaining[index]
        columns.append(column)
        if row_of[column] == -1:
            return column, rows, columns, came_from, lengths
        row = row_of[column]
        remaining[index] = remaining[-1]
        remaining.pop()
