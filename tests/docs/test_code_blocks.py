"""The runner of code blocks finds what fails, and counts what cannot run here."""

from __future__ import annotations

import pytest

from code_blocks import run_page

PAGE = """
# A page

```python
import rrgmetrics
score = rrgmetrics.score("rouge", predictions=["a b"], references=["a b"], progress=False)["rouge"].scores["rouge"]
```

1. In a list, a session that goes on:

    ```python
    >>> score
    1.0
    ```

```csv title="in/pairs.csv"
reference,candidate
Small effusion.,Small left effusion.
```

<!-- (network: 15 GB) rrgmetrics score in/*.csv -->
```bash
pip install rrgmetrics
rrgmetrics score in/pairs.csv --metrics rouge \\
    --no-progress --output scores.csv          # a comment
rrgmetrics score in/*.csv --metrics green@paper
cat scores.csv | head -1
```

```console
$ rrgmetrics score nothing.csv
rrgmetrics: ...nothing.csv... does not exist...
```

<!-- (sketch) -->
```python
trainer = Trainer(...)
```

```json
{"this is": "for reading"}
```
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path / "page.md"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_it_runs_and_counts(page, folder):
    assert run_page(page, folder) == {"python": 2, "shell": 3, "network": 2, "sketch": 1}
    assert (folder / "scores.csv").is_file()


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ("score = rrg", "score = rgg", r"page.md:5: NameError: name 'rggmetrics'"),
        ("1.0", "2.0", r"Expected:\s+2.0\s+Got:\s+1.0"),
        ("--metrics rouge", "--metrics rogue", r"ended with 2:(.|\n)*rogue"),
        ("head -1", "grep nothing", "ended with 1:"),
        ("does not exist", "is empty", "and not\nrrgmetrics: ...nothing.csv... is empty"),
    ],
)
def test_what_fails_is_named(page, folder, right, wrong, what):
    page.write_text(PAGE.replace(right, wrong, 1))
    with pytest.raises(AssertionError, match=what):
        run_page(page, folder)
