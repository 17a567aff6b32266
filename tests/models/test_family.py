"""Families: what they need, what is refused and in which words, tokens spelled, and models loaded from folders."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from huggingface_hub import errors
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from csd.models import catalog, family
from csd.models.backends import llama_cpu as llama
from csd.models.catalog import READY, FamilyError, custom, find, memory_needed, short_names
from csd.models.family import open_family
from csd.models.pieces import speller
from csd.record.trace import spell

ROOT = Path(__file__).resolve().parents[2]
TEXTS = (
    "Once upon a time, there was a fox.\n\n\tIt said: 'No!'  Twice, 1234.5 times.",
    "na\u00efve caf\u00e9, \u20ac 5, \u4f60\u597d\uff0c\u4e16\u754c, \u0434\u0430",
    "faces \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 and a flag \U0001f1e9\U0001f1ea",
    "def f(x):\n    return x ** 2  # \u00fc\n",
)


def byte_level(
    size: int = 280, words: str = "the fox and the owl said that they had seen the moon"
) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(
        [words] * 3, trainers.BpeTrainer(vocab_size=size, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    )
    return PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|end|>")


def byte_fallback() -> PreTrainedTokenizerFast:
    """Like Llama's first tokenizer: marks for spaces, bytes for what is unknown, <s> in front."""
    tokens = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "\u2581",
        *"abcdefghijklmnopqrstuvwxyz",
    ]
    merges = [("\u2581", "t"), ("h", "e"), ("\u2581t", "he"), ("o", "x"), ("f", "ox"), ("\u2581", "fox")]
    vocab = {token: id for id, token in enumerate([*tokens, *("".join(pair) for pair in merges)])}
    tok = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tok.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def save(folder: Path, tok: PreTrainedTokenizerFast, vocab: int = 320, eos: int | list[int] = 0, **config) -> str:
    """A tiny Llama with random weights and a tokenizer, as a folder."""
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(**{**shape, "vocab_size": vocab, "max_position_embeddings": 64, "eos_token_id": 0, **config})
    )
    model.generation_config.eos_token_id = eos
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    return str(folder)


def refusal(*ids: str, **options) -> str:
    with pytest.raises(FamilyError) as caught:
        open_family(custom(ids[0], ids[1:]), "cpu", **options)
    return str(caught.value)


@pytest.fixture(scope="module")
def embedded():
    return open_family(READY[0], "cpu")


@pytest.fixture
def pair(tmp_path):
    """A target and a draft that pads its vocabulary less and reads less."""
    target = save(tmp_path / "big", byte_level(), 320, [0, 7])
    draft = save(tmp_path / "small", byte_level(), 304, num_hidden_layers=1, max_position_embeddings=32)
    return target, draft


# --- the table -----------------------------------------------------------------------------------------------------


def test_table_needs_no_torch():
    check = "import sys, csd.models.catalog as c; c.find('embedded'); sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


def test_embedded_is_first_and_sizes_are_true(embedded):
    assert READY[0].name == "embedded"
    for spec, seen in zip(READY[0].models, embedded.spec.models):
        model = embedded.models[spec.name]
        assert (spec.parameters, spec.cache, spec.context) == (model.num_parameters(), seen.cache, seen.context)


def test_memory_is_weights_and_three_caches_and_a_margin():
    spec = find("Vicuna")
    weights = 6_738_415_616 + 162_417_408 + 68_030_208
    caches = 3 * (2 * 32 * 32 * 128 * 4096 + 2 * 12 * 12 * 64 * 2048 + 2 * 2 * 12 * 64 * 2048)
    assert memory_needed(spec, "bfloat16") == round(1.1 * 2 * (weights + caches)) + 512 * 2**20
    copies = 4 * (162_417_408 + 68_030_208)  # small enough for a CPU's second copy
    assert memory_needed(spec, "float32") == round(1.1 * (4 * (weights + caches) + copies)) + 512 * 2**20
    assert llama.LARGEST == catalog.FUSED
    assert memory_needed(custom("someone/something"), "float32") is None


def test_a_model_that_names_its_format_keeps_it():
    spec = READY[0]
    halved = replace(spec, target=replace(spec.target, dtype="bfloat16"))
    assert memory_needed(spec, "bfloat16") < memory_needed(halved, "float32") < memory_needed(spec, "float32")


def test_short_names_are_unique():
    assert short_names(["a/x", "b/x", "/m/x/", "y/target", "MaxGram"]) == ("x", "x-2", "x-3", "target-2", "MaxGram-2")


def test_custom_splits_off_a_revision():
    spec = custom(" org/big@v1 ", ["org/small"])
    assert (spec.target.id, spec.target.revision) == ("org/big", "v1")
    assert (spec.drafts[0].name, spec.drafts[0].revision) == ("small", "main")
    with pytest.raises(FamilyError, match="name is empty"):
        custom("org/big", [" "])


def test_find_lists_the_names():
    with pytest.raises(FamilyError, match="no family called 'nope'.*embedded, SmolLM2"):
        find("nope")


# --- opening -------------------------------------------------------------------------------------------------------


def test_embedded_opens(embedded):
    assert [(level.name, level.level) for level in embedded.levels] == [
        ("draft-small", 1),
        ("draft-mid", 2),
        ("target", 3),
    ]
    assert list(embedded.models) == [level.name for level in embedded.levels]
    assert (embedded.context, embedded.vocab, embedded.eos, embedded.dtype) == (1024, 8192, {0}, "float32")
    assert embedded.notes == ()
    assert not any(weight.requires_grad for weight in embedded.models["target"].parameters())
    assert all(
        Path(level.model).parts[0] == "assets" for level in embedded.levels
    )  # no path of this machine in a record


@pytest.mark.parametrize("name", ["target", "draft-mid", "draft-small"])
def test_each_embedded_folder_loads_by_itself(name):
    model = AutoModelForCausalLM.from_pretrained(ROOT / "assets" / "family" / name)
    assert model.config.vocab_size == 8192


def test_folders_open_through_the_same_code(pair):
    said = []
    opened = open_family(custom(pair[0], pair[1:]), "cpu", "float64", said.append)
    assert [level.name for level in opened.levels] == ["small", "target"]
    assert opened.vocab == 304  # the smaller of the two paddings, over a tokenizer of 280
    assert opened.eos == {0, 7}
    assert opened.contexts == {"small": 32, "target": 64}
    assert opened.notes[-1] == "small reads 32 tokens and the target 64; beyond that it is skipped."
    assert opened.bigram is None
    assert family.NO_BIGRAM in opened.notes
    assert "loading target (1 of 2)" in said
    assert "loading small (2 of 2)" in said
    assert {model.dtype for model in opened.models.values()} == {torch.float64}
    assert opened.models["target"].config._attn_implementation == "sdpa"
    assert opened.spec.target.parameters == opened.models["target"].num_parameters()


def test_sessions_are_separate_and_as_wide_as_the_vocabulary(pair):
    from csd.decoding.tokens import TokenSequence

    opened = open_family(custom(pair[0], pair[1:]), "cpu", "float64")
    ids = list(opened.encode("the fox and the owl"))
    rows = opened.session("target", 64).logits(TokenSequence(ids), len(ids)).clone()
    other = opened.session("target", 64).logits(TokenSequence(ids[:3]), 3)
    assert rows.shape == other.shape == (1, opened.vocab)
    with torch.inference_mode():
        expected = opened.models["target"](torch.tensor([ids])).logits[0, -1, : opened.vocab]
    torch.testing.assert_close(rows[0], expected)


def test_a_target_needs_no_draft(pair):
    opened = open_family(custom(pair[0]), "cpu")
    assert [level.name for level in opened.levels] == ["target"]


def test_a_longer_context_is_cut(tmp_path):
    target = save(tmp_path / "long", byte_level(), max_position_embeddings=2 * catalog.LONGEST)
    assert open_family(custom(target), "cpu").context == catalog.LONGEST


# --- prompts and pieces --------------------------------------------------------------------------------------------


def test_chat_template_makes_a_turn(tmp_path):
    tok = byte_level()
    tok.chat_template = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}[bot]{% endif %}"
    target = save(tmp_path / "chat", tok)
    opened = open_family(custom(target), "cpu")
    assert opened.tokenizer.decode(opened.encode("hello")) == "[user]hello[bot]"
    plain = open_family(custom(target, chat=False), "cpu")
    assert plain.tokenizer.decode(plain.encode("hello")) == "hello"


def test_a_turn_without_a_template(pair):
    spec = replace(custom(pair[0], chat=True), turn="USER: {} BOT:")
    opened = open_family(spec, "cpu")
    assert opened.tokenizer.decode(opened.encode("a {} b")) == "USER: a {} b BOT:"
    with pytest.raises(FamilyError, match="no chat template"):
        open_family(custom(pair[0], chat=True), "cpu")


def test_special_tokens_as_the_tokenizer_says(tmp_path):
    opened = open_family(custom(save(tmp_path / "bos", byte_fallback())), "cpu")
    assert opened.encode("the fox")[0] == 1
    assert opened.opening == (1,)
    assert opened.pieces([0, 1, 2, 319]) == {0: "<unk>", 1: "<s>", 2: "</s>", 319: "<319>"}
    assert opened.eos == {0, 2}


@pytest.mark.parametrize("text", TEXTS)
def test_spelling_equals_decoding(embedded, text):
    for tok in (embedded.tokenizer, byte_level(), byte_fallback()):
        ids = tok(text, add_special_tokens=False)["input_ids"]
        pieces = json.loads(json.dumps(speller(tok).pieces(ids)))  # a record keeps them as JSON
        found = spell(tuple(ids), {int(id): piece for id, piece in pieces.items()})
        # Llama's first tokenizers drop the space of a text's first word when they decode; behind a prompt it is there.
        assert found in (tok.decode(ids), " " + tok.decode(ids))
        assert found.removeprefix(" ") == text


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_spelled_as_decoded(text):
    for tok in (_BYTES, _FALLBACK):
        ids = tok(text, add_special_tokens=False)["input_ids"]
        found = spell(tuple(ids), speller(tok).pieces(ids))
        assert found in (tok.decode(ids), " " + tok.decode(ids))


_BYTES, _FALLBACK = byte_level(), byte_fallback()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 279), max_size=20))
def test_halves_of_characters_are_spelled_as_decoded(ids):
    assert spell(tuple(ids), speller(_BYTES).pieces(ids)) == _BYTES.decode(ids)


def test_a_part_of_a_character_is_bytes(embedded):
    ids = embedded.encode("\U0001f600")
    pieces = embedded.pieces(ids)
    assert [byte for id in ids for byte in pieces[id]] == list("\U0001f600".encode())
    assert all(isinstance(piece, tuple) for piece in pieces.values())
    fallback = speller(byte_fallback())
    assert fallback.piece(3 + 0xF0) == (0xF0,)
    assert fallback.piece(3 + 0x0A) == "\n"


def test_special_tokens_give_their_name(embedded):
    assert embedded.pieces([0]) == {0: "<|endoftext|>"}


def test_every_piece_of_the_embedded_vocabulary(embedded):
    pieces = embedded.pieces(range(embedded.vocab))
    for id in range(0, embedded.vocab, 7):
        assert spell((id,), pieces) == embedded.tokenizer.decode([id])


# --- refusals ------------------------------------------------------------------------------------------------------


def test_too_big_for_the_memory_names_both_figures(monkeypatch):
    monkeypatch.setattr(family, "memory_free", lambda device: 5 * 2**30)
    with pytest.raises(FamilyError, match=r"Vicuna needs about 43.7 GiB in float32, and cpu has 5.0 GiB free"):
        open_family(find("Vicuna"), "cpu")


def test_a_folder_is_measured_before_it_is_loaded(pair, monkeypatch):
    monkeypatch.setattr(family, "memory_free", lambda device: 10 * 2**20)
    monkeypatch.setattr(family, "_load", None)
    assert "needs about 51" in refusal(*pair)
    assert "cpu has 10 MiB free" in refusal(*pair)


def test_unknown_size_is_said_and_goes_on(pair, monkeypatch):
    monkeypatch.setattr(family, "_stored", lambda model, folder: 0)
    assert "is not known" in open_family(custom(pair[0]), "cpu").notes[0]


def test_memory_free_of_this_machine():
    free = family.memory_free("cpu")
    assert free is None or 0 < free < 2**45


@pytest.mark.parametrize(("limit", "left"), [("1000", 1000 - 700 + 200), ("max", None)])
def test_a_containers_limit_counts(tmp_path, monkeypatch, limit, left):
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert family._container(tmp_path) == left


def test_unknown_device_and_format():
    for device, said in (("tpu", "no device called 'tpu'"), ("cuda:99", "no GPU 'cuda:99'")):
        with pytest.raises(FamilyError, match=said):
            open_family(READY[0], device)
    with pytest.raises(FamilyError, match="no number format called 'int3'.*auto, float64"):
        open_family(READY[0], "cpu", "int3")


def test_a_folder_without_a_model(tmp_path):
    assert "config.json is missing" in refusal(str(tmp_path))


def test_a_folder_without_weights(pair):
    Path(pair[0], "model.safetensors").unlink()
    assert "holds no complete weights" in refusal(pair[0])


def test_damaged_weights(pair):
    Path(pair[0], "model.safetensors").write_bytes(b"not a model")
    assert "could not be loaded" in refusal(pair[0])


def test_incomplete_weights(tmp_path):
    target = save(tmp_path / "shallow", byte_level(), num_hidden_layers=1)
    config = tmp_path / "shallow" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "num_hidden_layers": 2}))
    assert "are incomplete" in refusal(target)


def test_a_damaged_config(tmp_path):
    (tmp_path / "config.json").write_text("{")
    assert "config of" in refusal(str(tmp_path))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]}, "encoder-decoder"),
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "does not write text from left to right"),
        ({"model_type": "vit", "architectures": ["ViTModel"]}, "does not write text from left to right"),
        ({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "sliding_window": 64}, "cannot be rewound"),
        ({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"]}, "cannot be rewound"),
        ({"model_type": "mamba", "architectures": ["MambaForCausalLM"]}, "is recurrent"),
        ({"model_type": "nobody-knows"}, "config of"),
    ],
)
def test_models_of_the_wrong_kind(tmp_path, config, said):
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert said in refusal(str(tmp_path))


def test_a_window_that_is_switched_off_is_none(tmp_path):
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "use_sliding_window": False})
    )
    assert "tokenizer" in refusal(str(tmp_path))  # the config passes, the next thing is missing


def test_a_missing_tokenizer(pair):
    for file in Path(pair[0]).glob("tokenizer*"):
        file.unlink()
    assert "tokenizer of" in refusal(pair[0])


def test_different_tokenizers(pair, tmp_path):
    other = save(tmp_path / "other", byte_level(words="quite another text about ships, harbours and the sea"))
    assert "have different tokenizers" in refusal(pair[0], other)


def test_other_added_tokens_do_not_matter(pair, tmp_path):
    tok = byte_level()
    tok.add_tokens(["<|turn|>"])
    draft = save(tmp_path / "chatty", tok)
    assert open_family(custom(pair[0], [draft]), "cpu").vocab == 320


def test_a_model_smaller_than_its_tokenizer(tmp_path):
    target = save(tmp_path / "narrow", byte_level(), vocab=270)
    assert "knows 270 tokens, and the tokenizer has 280" in refusal(target)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errors.GatedRepoError, "is gated. Accept its licence at https://huggingface.co/org/big"),
        (errors.RepositoryNotFoundError, "There is no model 'org/big'"),
        (errors.RevisionNotFoundError, "no revision called 'v9'"),
        (errors.LocalEntryNotFoundError, "the Hugging Face Hub cannot be reached"),
        (ConnectionError, "the Hugging Face Hub cannot be reached"),
    ],
)
def test_what_the_hub_answers(monkeypatch, error, said):
    def answer(*args, **options):
        raise error.__new__(error)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", answer)
    assert said in refusal("org/big@v9")


def test_no_network_and_nothing_cached(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    assert "cannot be reached" in refusal("nobody/nothing")
    assert "There is no model" in refusal("no/such/folder")


# --- the Hub, played by a folder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sharded", [False, True])
def test_a_hub_model_is_fetched_checked_and_loaded(tmp_path, monkeypatch, sharded):
    source = tmp_path / "source"
    save(source, byte_level())
    if sharded:
        model = AutoModelForCausalLM.from_pretrained(source)
        (source / "model.safetensors").unlink()
        model.save_pretrained(source, max_shard_size="20KB")
    cache = tmp_path / "snapshots" / "c0ffee"
    cache.mkdir(parents=True)
    fetched, metadata = [], SimpleNamespace(parameter_count={"F32": 12345})

    def snapshot(id, revision, allow_patterns, ignore_patterns):
        for path in source.iterdir():
            if path.suffix != ".safetensors":
                (cache / path.name).write_bytes(path.read_bytes())
        return str(cache)

    def download(id, name, revision):
        fetched.append((id, name, revision))
        (cache / name).write_bytes((source / name).read_bytes())

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    monkeypatch.setattr(huggingface_hub, "get_safetensors_metadata", lambda id, revision: metadata)
    said = []
    opened = open_family(custom("org/big"), "cpu", progress=said.append)
    assert {name for _, name, _ in fetched} == {path.name for path in source.glob("*.safetensors")}
    assert all(revision == "c0ffee" for _, _, revision in fetched)
    assert opened.spec.target.parameters == 12345
    assert opened.levels[0].model == "org/big"
    first = next(sentence for sentence in said if sentence.startswith("downloading"))
    assert first == f"downloading target (1 of 1): {f'file 1 of {len(fetched)}' if sharded else 'one file'}"


# --- a GPU ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu(pair, tmp_path, monkeypatch):
    monkeypatch.setenv("CSD_HOME", str(tmp_path / "home"))
    opened = open_family(custom(pair[0], pair[1:]))
    assert (opened.device, opened.dtype) == ("cuda", "bfloat16")
    assert opened.models["target"].device.type == "cuda"
    assert 0 < family.memory_free("cuda") < 2**42
    assert len(opened.bigram) == opened.vocab
    assert len(list((tmp_path / "home" / "bigram").iterdir())) == 1
