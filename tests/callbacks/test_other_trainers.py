"""Rewards called as verl 0.9, OpenRLHF 0.11 and TRL's asynchronous rewards call them."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from rrgmetrics.callbacks import make_async_reward, make_reward, verl
from rrgmetrics.callbacks.reward import Reward, _Metric
from rrgmetrics.errors import InputError

REFERENCE = "Small left pleural effusion."
WRONG_SIDE = "Small right pleural effusion."


@pytest.fixture(autouse=True)
def forgotten():
    """Rewards that verl would keep for the process are not kept for other tests."""
    yield
    verl._reward.cache_clear()


def with_kwargs(raw, extra, *args, **kwargs):
    """verl's `_call_with_kwargs`: what the configuration says wins."""
    return raw(*args, **{**kwargs, **extra})


def of_configuration(path, name, **reward_kwargs):
    """verl's `load_extern_object` and `get_custom_reward_fn`."""
    module = importlib.import_module(path.removeprefix("pkg://").replace("/", "."))
    return partial(with_kwargs, getattr(module, name), reward_kwargs)


def test_verl_s_naive_manager_calls_it_from_threads():
    compute_score = of_configuration("pkg://rrgmetrics.callbacks.verl", "compute_score", metric="finding_errors")
    assert not inspect.iscoroutinefunction(compute_score)
    info = {"index": 3, "split": "train", "age": "72", "sex": None, "num_turns": 2, "rollout_reward_scores": {}}

    def one(solution):
        return compute_score(
            data_source="mimic-cxr", solution_str=solution, ground_truth=REFERENCE, extra_info=dict(info)
        )

    with ThreadPoolExecutor(4) as pool:
        rewards = list(pool.map(one, [REFERENCE, WRONG_SIDE, "", "Normal chest."] * 4))
    expected = make_reward("finding_errors", scale="unit")(
        completions=[REFERENCE, WRONG_SIDE, "", "Normal chest."], reference=[REFERENCE] * 4
    )
    assert rewards == expected * 4
    assert rewards[0] == 1.0 > rewards[1]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("metrics", "write metric="),
        ("metric_name", "write metric="),
        ("transforms", "write transform="),
        ("unscore", "write unscored="),
        ("scal", "rewards are scaled to 0 to 1"),
        ("scale", "rewards are scaled to 0 to 1"),
    ],
)
def test_a_misspelt_argument_of_verl_s_reward_is_refused(name, advice):
    given = {"data_source": "mimic", "solution_str": "Clear lungs.", "ground_truth": "Clear lungs."}
    theirs = {"reward_router_address": None, "reward_model_tokenizer": None, "sandbox_fusion_url": None}
    theirs |= {"concurrent_semaphore": None, "memory_limit_mb": 1024, "max_resp_len": 512, "overlong_buffer_cfg": None}
    assert verl.compute_score(**given, **theirs) == 1.0
    with pytest.raises(InputError, match=f"no argument {name!r}; {advice}.* metric, key, transform and unscored"):
        verl.compute_score(**given, **{name: "bleu"})
    with pytest.raises(InputError, match=advice):
        verl.compute_scores(["mimic"], ["Clear lungs."], ["Clear lungs."], **{name: "bleu"})


def test_verl_s_batch_manager_before_0_7_1():
    compute_scores = of_configuration("pkg://rrgmetrics.callbacks.verl", "compute_scores", transform="signed")
    scores = compute_scores(
        data_sources=["a", "b"],
        solution_strs=[REFERENCE, WRONG_SIDE],
        ground_truths=[REFERENCE] * 2,
        extra_infos=[{"rollout_reward_scores": {}}, {"rollout_reward_scores": {}}],
    )
    assert scores == make_reward("finding_score")(completions=[REFERENCE, WRONG_SIDE], reference=[REFERENCE] * 2)


def test_verl_gets_a_number_where_nothing_can_be_scored():
    compute_score = of_configuration("pkg://rrgmetrics.callbacks.verl", "compute_score", unscored=0.25)
    french = "Épanchement pleural gauche de faible abondance sans pneumothorax."
    assert compute_score(data_source="x", solution_str=REFERENCE, ground_truth=french, extra_info=None) == 0.25


def test_openrlhf_loads_a_file_and_reads_tensors(tmp_path):
    file = tmp_path / "reward.py"
    file.write_text(
        "from rrgmetrics.callbacks.openrlhf import make_reward_func\nreward_func = make_reward_func('finding_errors')\n"
    )
    spec = importlib.util.spec_from_file_location("reward_func", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    prompt = "<|im_start|>user\nDescribe the image.<|im_end|>\n<|im_start|>assistant\n"

    async def fetch(query):
        return await asyncio.to_thread(module.reward_func, [query], [prompt], [REFERENCE])

    ours = make_reward("finding_errors", scale="unit")
    for text in (REFERENCE, WRONG_SIDE):
        info = asyncio.run(fetch(f"{prompt}{text}<|im_end|>\n"))
        assert set(info) == {"rewards", "scores", "extra_logs"}
        assert info["rewards"].tolist() == pytest.approx(ours(completions=[text], reference=[REFERENCE]))


def test_trl_awaits_rewards_at_the_same_time(monkeypatch):
    running, most = 0, 0
    real = Reward.__call__

    def slow(self, completions, **columns):
        nonlocal running, most
        running, before = running + 1, running
        most = max(most, before + 1)
        time.sleep(0.05)
        running -= 1
        return real(self, completions, **columns)

    monkeypatch.setattr(Reward, "__call__", slow)
    rewards = [make_async_reward(name, reference="report") for name in ("finding_errors", "bleu")]
    for reward in rewards:  # TRL's `is_async_callable`
        assert inspect.iscoroutinefunction(reward.__call__)
    assert [reward.__name__ for reward in rewards] == ["finding_errors", "bleu"]

    async def gather():
        columns = {"prompts": ["p"] * 2, "completion_ids": [[1], [2]], "trainer_state": None, "report": [REFERENCE] * 2}
        return await asyncio.gather(*(each(completions=[REFERENCE, WRONG_SIDE], **columns) for each in rewards))

    errors, bleu = asyncio.run(gather())
    assert errors == [0.0, -1.0]
    assert bleu[1] < bleu[0] == pytest.approx(1.0)
    assert most == 2
    again = pickle.loads(pickle.dumps(rewards[0]))
    assert asyncio.run(again(completions=[REFERENCE], report=[REFERENCE])) == [0.0]


def test_rewards_of_one_metric_take_turns(monkeypatch):
    running, most = 0, 0
    real = _Metric._score

    def slow(self, pairs):
        nonlocal running, most
        running += 1
        most = max(most, running)
        time.sleep(0.02)
        running -= 1
        return real(self, pairs)

    monkeypatch.setattr(_Metric, "_score", slow)
    rewards = [make_reward("finding_errors", name=name) for name in "abcd"]
    with ThreadPoolExecutor(4) as pool:
        calls = [
            pool.submit(each, completions=[f"{REFERENCE} {i}"], reference=[REFERENCE]) for i, each in enumerate(rewards)
        ]
        assert len([call.result() for call in calls]) == 4
    assert most == 1
