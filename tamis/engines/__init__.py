"""The engines: one algorithm each, behind one small Protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module

from tamis.engines.protocol import Engine

__all__ = ["DEFAULT", "ENGINES", "Engine"]


class _Engines(Mapping[str, Callable[..., Engine]]):
    """The engines by name, each imported on first use: importing Numba takes half a second."""

    _MODULES: Mapping[str, tuple[str, str]] = {
        "block": ("tamis.engines.block", "BlockEngine"),
        "atree": ("tamis.engines.atree", "AtreeEngine"),
        "bdd": ("tamis.engines.bdd", "BddEngine"),
        "bloom": ("tamis.engines.bloom", "BloomEngine"),
        "counting": ("tamis.engines.baselines.counting", "CountingEngine"),
        "gryphon": ("tamis.engines.baselines.gryphon", "GryphonEngine"),
        "siena": ("tamis.engines.baselines.siena", "SienaEngine"),
        "forest": ("tamis.engines.baselines.forest", "ForestEngine"),
        "brute": ("tamis.engines.baselines.brute", "BruteEngine"),
    }

    def __getitem__(self, name: str) -> Callable[..., Engine]:
        module, engine = self._MODULES[name]
        factory: Callable[..., Engine] = getattr(import_module(module), engine)
        return factory

    def __contains__(self, name: object) -> bool:
        return name in self._MODULES

    def __iter__(self) -> Iterator[str]:
        return iter(self._MODULES)

    def __len__(self) -> int:
        return len(self._MODULES)


ENGINES: Mapping[str, Callable[..., Engine]] = _Engines()
DEFAULT = "block"
