"""What people read: tables, scores and marked reports, on a terminal, as HTML and in notebooks.

`numbers` and `kinds` say how a number is written and how a kind of phrase is marked. `marks` and `tables` are the
models of a marked report and of a table; `explanations` makes the first and `results` the second from what was scored.
Tables draw themselves; `terminal`, `html` and `report` (the self-contained page) draw the rest.
"""
