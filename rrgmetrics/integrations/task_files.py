"""Writes the tasks that lm-evaluation-harness and lmms-eval read with `--include_path`.

The folders in `rrgmetrics/integrations/tasks` are what it writes by default.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rrgmetrics.integrations.documents import DEFAULT_METRICS
from rrgmetrics.integrations.lm_eval import Functions

SHIPPED = Path(__file__).parent / "tasks"
DATA = "reports.jsonl"
LOADERS = {".jsonl": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet"}

FUNCTIONS = '''\
"""What the tasks of this folder call."""

from rrgmetrics.integrations.lm_eval import Functions, corpus, no_images

functions = Functions(
    metrics=[
{metrics}    ],
    reference="reference",  # the column with the radiologist's report
    all_keys={all_keys},
).loaded()
process_results, images = functions.process_results, functions.images

__all__ = ["corpus", "images", "no_images", "process_results"]
'''

TASK = """\
task: rrgmetrics_{task}
{data}
test_split: test
output_type: generate_until
{question}
doc_to_target: "{{{{reference}}}}"
generation_kwargs:
  until: []
  {longest}: 512
  do_sample: false
process_results: !function functions.process_results
metric_list:
{metrics}metadata:
  version: 1.0
"""

METRIC = """\
  - metric: {column}
    aggregation: !function functions.corpus
    higher_is_better: {direction}
"""

SUMMARISE = 'doc_to_text: "Findings: {{findings}}\\nImpression:"'
QUESTIONS = {  # harness → task → what the model is asked
    "lm-eval": {
        "report_summarisation": SUMMARISE,
        "report_generation": 'doc_to_image: !function functions.images\ndoc_to_text: "<image>Write the report:"',
    },
    "lmms-eval": {
        "report_summarisation": f"doc_to_visual: !function functions.no_images\n{SUMMARISE}",
        "report_generation": 'doc_to_visual: !function functions.images\ndoc_to_text: "Write the report:"',
    },
}
LONGEST = {"lm-eval": "max_gen_toks", "lmms-eval": "max_new_tokens"}


def shipped(harness: str) -> Path:
    """Returns the folder of tasks that ships for a harness, `lm-eval` or `lmms-eval`."""
    return SHIPPED / harness.replace("-", "_")


def task_files(
    harness: str, metrics: Sequence[str] = DEFAULT_METRICS, *, data: str = DATA, all_keys: bool = False
) -> dict[str, str]:
    """Returns the tasks of a harness with metrics of one's choice: the text of each file by its name.

    Args:
        harness: `lm-eval` or `lmms-eval`.
        metrics: Names as in `rrgmetrics.score`.
        data: A file (`.jsonl`, `.csv`, `.parquet`) or the id of a data set on the Hub, with the columns `reference` and
            `findings` or `image`.
        all_keys: Whether each metric gives all its keys, or its headline alone.

    Raises:
        InputError: A name or option that cannot be used.
    """
    columns = Functions(metrics, all_keys=all_keys).columns
    entries = [METRIC.format(column=column, direction=json.dumps(better)) for column, better in columns.items()]
    files = {
        f"{task}.yaml": TASK.format(
            task=task, data=_source(data), question=question, longest=LONGEST[harness], metrics="".join(entries)
        )
        for task, question in QUESTIONS[harness].items()
    }
    named = "".join(f"        {json.dumps(metric, ensure_ascii=False)},\n" for metric in metrics)
    return {"functions.py": FUNCTIONS.format(metrics=named, all_keys=all_keys), **files}


def _source(data: str) -> str:
    """Returns the lines of a task that say where its data are."""
    loader = LOADERS.get(Path(data).suffix)
    if loader is None:
        return f"dataset_path: {json.dumps(data)}"
    return f"dataset_path: {loader}\ndataset_kwargs:\n  data_files:\n    test: {json.dumps(data)}"
