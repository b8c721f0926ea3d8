"""Tables, scores and marked reports for the terminal, HTML pages and notebooks.

`numbers` and `kinds` define how numbers are formatted and how kinds of phrases are marked. `marks` and `tables` are the
models of a marked report and of a table; `explanations` and `results` make them from scores. Tables draw themselves;
`terminal`, `html` and `report` (the self-contained page) draw the rest.
"""
