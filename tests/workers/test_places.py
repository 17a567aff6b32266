"""Where workers run: each GPU once, and no core twice."""

from __future__ import annotations

import pytest

from csd.workers.places import Place, choose_places, cores_by_sibling, cpu_places, gpu_places


def test_each_gpu_has_a_worker_that_sees_no_other():
    assert gpu_places(["cuda:0", "cuda:2"]) == (
        Place("cuda:0", "cuda", (("CUDA_VISIBLE_DEVICES", "0"),)),
        Place("cuda:2", "cuda", (("CUDA_VISIBLE_DEVICES", "2"),)),
    )


def test_numbers_count_the_gpus_that_this_process_sees():
    assert gpu_places(["cuda:1"], "3, GPU-8c")[0].environment == (("CUDA_VISIBLE_DEVICES", "GPU-8c"),)


@pytest.mark.parametrize(
    ("names", "visible", "sentence"),
    [
        ("cuda:0,cuda:0", "", "A device is named twice."),
        ("cuda:0,cpu", "", "There is no device called 'cpu'. Give GPUs by number, such as cuda:0,cuda:1."),
        ("cuda", "", "There is no device called 'cuda'."),
        ("cuda:2", "4,5", "cuda:2 does not exist: CUDA_VISIBLE_DEVICES=4,5 shows 2 of the GPUs."),
    ],
)
def test_devices_that_cannot_be_had(names, visible, sentence, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    with pytest.raises(ValueError, match="^" + sentence.replace("(", "\\(")):
        choose_places(names, None)


@pytest.mark.parametrize(("count", "cores"), [(1, 1), (2, 2), (2, 5), (3, 8)])
def test_cpu_workers_share_out_the_cores(count, cores):
    places = cpu_places(count, range(cores))
    assert sorted(core for place in places for core in place.cores) == list(range(cores))
    assert all(dict(place.environment) == {"OMP_NUM_THREADS": str(len(place.cores))} for place in places)
    assert {dict(place.environment)["OMP_NUM_THREADS"] for place in cpu_places(count, range(cores), 1)} == {"1"}


def test_what_else_is_refused():
    for count in (0, 3, -1):
        with pytest.raises(ValueError, match="from 1 to 2"):
            cpu_places(count, (0, 1))
    with pytest.raises(ValueError, match="not both"):
        choose_places("cuda:0", 2)
    assert choose_places("", None) == ()
    assert len(set(cores_by_sibling())) == len(cores_by_sibling()) > 0
