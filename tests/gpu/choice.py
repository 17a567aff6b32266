"""What the host pays around a pass: launching, waiting, and choosing tokens by each rule of acceptance."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpu.figures import Figure, Figures, seconds
from gpu.timing import capture, host_seconds

VOCABULARIES = {"cuda": (8192, 151_936), "cpu": (500,)}  # the embedded family's, Qwen's
ROWS = (1, 9)  # a draft step; a review of 8 tokens
REPEATS = {"cuda": 200, "cpu": 5}


@torch.no_grad()
def main(device: str, path: Path) -> None:
    figures, dtype = Figures(path), torch.bfloat16 if device == "cuda" else torch.float32
    one = torch.zeros(1, device=device)
    wait = "one small kernel and a wait"
    figures.measure(wait, lambda: seconds(wait, host_seconds(lambda: one.add_(1).item(), REPEATS[device])))
    for vocab in VOCABULARIES[device]:
        for rows in ROWS:
            logits = torch.randn(rows, vocab, device=device, dtype=dtype)
            for name in ("greedy", "coupled", "coupled, top-p", "rejection"):
                what = f"{name}, rows {rows}, vocabulary {vocab:,}"
                figures.measure(what, partial(_time_review, what, name, logits, device))
            if device == "cuda":
                what = f"greedy inside the graph, rows {rows}, vocabulary {vocab:,}"
                figures.measure(what, partial(_time_in_graph, what, logits))


def _time_review(what: str, name: str, logits: Tensor, device: str) -> Figure:
    return seconds(what, host_seconds(_review(name, logits), REPEATS[device]))


def _time_in_graph(what: str, logits: Tensor) -> Figure:
    return seconds(what, host_seconds(_chosen_in_graph(logits), REPEATS["cuda"]))


def _review(name: str, logits: Tensor) -> Callable[[], Any]:
    """The engine's own rule over a draft of likely tokens, each time at new positions, as decoding does."""
    from csd.decoding.acceptance import Coupled, Greedy, Rejection
    from csd.decoding.draft import Draft
    from csd.decoding.noise import GumbelNoise
    from csd.decoding.sampling import LogitsWarper, Sampler

    rows, vocab = logits.shape
    noise = GumbelNoise(0, vocab, logits.device)
    rule = {
        "greedy": Greedy(),
        "coupled": Coupled(LogitsWarper(), noise),
        "coupled, top-p": Coupled(LogitsWarper(top_p=0.9), noise),
        "rejection": Rejection(LogitsWarper(), Sampler(0, logits.device)),
    }[name]
    tokens = tuple(logits.argmax(-1).tolist()[: rows - 1])
    draft, starts = Draft(tokens, ("draft",) * len(tokens)), count(1, rows)
    return lambda: rule.launch(draft, logits, next(starts)).fetch()


def _chosen_in_graph(logits: Tensor) -> Callable[[], Any]:
    """Best token, best and second best score of each row, computed and copied to the host by the graph itself."""
    back = torch.zeros(len(logits), 3, dtype=torch.float64, pin_memory=True)

    def choose() -> Tensor:
        best, token = logits.max(-1)
        second = logits.scatter(-1, token[:, None], -torch.inf).amax(-1)
        chosen = torch.stack([token.double(), best.double(), second.double()], -1)
        return back.copy_(chosen, non_blocking=True)

    replay, kept = capture([choose])
    stream = torch.cuda.current_stream()

    def run(kept: list[Any]) -> list[list[float]]:
        replay()
        stream.synchronize()
        return back.tolist()

    return partial(run, kept)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
