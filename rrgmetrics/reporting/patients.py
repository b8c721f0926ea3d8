"""The context of a patient in words."""

from __future__ import annotations

from rrgmetrics.reports import Context
from rrgmetrics.utils.text_format import counted

SEXES = {"F": "female", "M": "male", "O": "other"}


def patient(context: Context) -> str:
    """Age and sex, as far as they are known.

    Example:
        >>> patient(Context(72.0, "F", "Cough")), patient(Context(1.5))
        ('72 years, female', '18 months')
    """
    age = ""
    if context.age is not None:
        months = round(context.age * 12)
        age = f"{context.age:.0f} years" if months >= 24 else counted(months, "month")
    return ", ".join(filter(None, (age, SEXES.get(context.sex, ""))))
