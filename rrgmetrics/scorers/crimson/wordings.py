"""CRIMSON's question: in our words, or in the authors', and how they write what is known of the patient.

Wordings: `own`, in our words, for any model; `published`, the authors', as they ask GPT; `checkpoint`, the same without
its guidelines, as medgemma-4b-it-crimson was trained. The authors' texts are taken from their package, which must be
installed for them.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Literal

from rrgmetrics.errors import MissingExtraError
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reading.lexicon import DEFAULT_PACK
from rrgmetrics.reports import Context, dicom_age
from rrgmetrics.utils.extras import install_command

PROMPTS = Prompts("rrgmetrics.scorers.crimson")

Patient = Literal["years", "dicom", "keys"]


def question(
    reference: str,
    candidate: str,
    context: Context,
    wording: str = "own",
    patient: Patient = "years",
    pack: str = DEFAULT_PACK,
) -> str:
    """Returns the user's message; `wording` is own, published or checkpoint, `patient` how context is written."""
    known = described(context, patient)
    if wording == "own":
        lines = "".join(f"{name}: {value}\n" for name, value in known.items())
        about = f"Patient:\n{lines}\n" if lines else ""
        return PROMPTS.fill(PROMPTS.of_pack("question", pack), context=about, reference=reference, candidate=candidate)
    guided = wording == "published"
    text: str = authors_prompts().build_prompt(
        reference,
        candidate,
        patient_context=known or None,
        include_significance_examples=guided,
        include_attribute_guidelines=guided,
        include_context_guidelines=guided,
    )
    return text


def described(context: Context, patient: Patient = "years") -> dict[str, str]:
    """Describes the patient as the authors' questions do.

    Args:
        context: What is known.
        patient: "years": `Age: 72`, the authors' field names; "dicom": `Age: 072Y` as on RadPref, where an age is as it
            was typed ("030M", blank); "keys": `age: 25`, `indication: ...`, as on RadJudge.

    Example:
        >>> described(Context(72.0, "F", "Cough."), "dicom")
        {'Age': '072Y', 'Sex': 'F', 'Indication': 'Cough.'}
        >>> described(Context(25.0), "keys")
        {'age': '25'}
    """
    dicom = patient == "dicom"
    known = {"Age": _age(context, dicom), "Sex": context.sex, "Indication": context.indication.strip()}
    blank = dicom and context.typed_age == ""  # which the authors' program writes too
    return {
        name.lower() if patient == "keys" else name: value
        for name, value in known.items()
        if value or (blank and name == "Age")
    }


def _age(context: Context, dicom: bool) -> str:
    """An age in years, in months below two years, and in days below a month; or as DICOM has it."""
    if dicom and context.typed_age is not None:
        return context.typed_age
    years = context.age
    if years is None:
        return ""
    if dicom:
        return dicom_age(years)
    if years >= 2:
        return f"{years:g}"
    return f"{round(years * 12)} months" if years * 12 >= 1 else f"{round(years * 365.25)} days"


def check_package(wording: str) -> None:
    """Raises MissingExtraError if a wording is the authors' and their package is not installed."""
    if wording != "own" and _prompts_file() is None:
        raise MissingExtraError(
            f"crimson?wording={wording} uses the authors' prompt, which is in their package: "
            f"{install_command('crimson')} (or `pip install --no-deps crimson-score==0.2.0` with older dependencies "
            "than it requires); ?wording=own uses our prompt."
        )


def _prompts_file() -> Path | None:
    package = importlib.util.find_spec("CRIMSON")
    folders = package.submodule_search_locations if package else None
    file = Path(folders[0]) / "prompt_parts.py" if folders else None
    return file if file and file.is_file() else None


@cache
def authors_prompts() -> ModuleType:
    """The module `CRIMSON.prompt_parts` of crimson-score, loaded alone: its package would load models' libraries."""
    check_package("published")
    spec = importlib.util.spec_from_file_location("crimson_prompt_parts", _prompts_file())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
