"""Old names give the class of today and warn; unknown ones are errors as in any module."""

from __future__ import annotations

import importlib

import pytest

RENAMED = [
    ("rrgmetrics.scorers.base", "Explaining", "SupportsDetails"),
    ("rrgmetrics.scorers.base", "Noting", "SupportsNotes"),
    ("rrgmetrics.scorers.base", "UsingReferences", "SupportsReferenceStatistics"),
    ("rrgmetrics.backends.base", "LookingAhead", "SupportsLookahead"),
]


@pytest.mark.parametrize(("module", "old", "new"), RENAMED)
def test_an_old_name_gives_the_class_and_warns(module, old, new):
    imported = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new} now"):
        assert getattr(imported, old) is getattr(imported, new)


def test_a_name_that_never_was_is_an_attribute_error():
    module = importlib.import_module("rrgmetrics.scorers.base")
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing
