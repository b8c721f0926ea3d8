"""What the tasks of this folder call."""

from rrgmetrics.integrations.lm_eval import Functions, corpus, no_images

functions = Functions(
    metrics=[
        "bleu",
        "rouge",
        "crepe",
        "finding_score",
        "radgraph_f1",
        "chexbert_f1",
    ],
    reference="reference",  # the column with the radiologist's report
    all_keys=False,
).loaded()
process_results, images = functions.process_results, functions.images

__all__ = ["corpus", "images", "no_images", "process_results"]
