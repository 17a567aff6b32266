"""transformers' own models: kept while a backend runs them, otherwise loaded again for whoever needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from weakref import ref


def make_reference(models: Mapping[str, Any], load: Callable[[str], Any]) -> Callable[[str], Any]:
    """A function from a name to transformers' model: one of `models` if it is still in use, otherwise a new one.

    Nothing here keeps a model alive, so the weights of one that no backend needs are given back.
    """
    seen = {name: ref(model) for name, model in models.items()}

    def reference(name: str) -> Any:
        model = seen[name]()
        if model is None:
            model = load(name)
            seen[name] = ref(model)
        return model

    return reference
