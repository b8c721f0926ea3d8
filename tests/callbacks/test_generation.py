"""Reports from each kind of model, and that what is cut off is the prompt."""

from __future__ import annotations

import pytest

from rrgmetrics.callbacks import ReportMetricsCallback
from rrgmetrics.callbacks.evaluation_set import EvaluationSet
from rrgmetrics.callbacks.generation import make_generation, make_settings
from rrgmetrics.errors import InputError

TURNS = [{"role": "user", "content": [{"type": "text", "text": "Describe"}]}]


def nothing(examples):
    return {}


def generate(model, tokenizer, examples, collate=nothing, processor=None, **given):
    settings = {"max_new_tokens": 5} | given.pop("settings", {})
    model.eval()
    made = make_generation(model, processor or tokenizer, tokenizer, collate, examples[0], settings=settings, **given)
    return made(model, examples)


def one_by_one(model, tokenizer, examples, **given):
    """What the batch must give too: padding changes nothing."""
    return [generate(model, tokenizer, [example], **given)[0] for example in examples]


def direct(model, tokenizer, ids):
    import torch

    out = model.generate(torch.tensor([ids]), max_new_tokens=5, do_sample=False)
    return tokenizer.decode(out[0][len(ids) :], skip_special_tokens=True).strip()


def test_vision_encoder_decoder(make_trainer, vision_model):
    """The defaults: collator, tokenizer, references from the column; the report is no longer than the decoder."""
    trainer = make_trainer(vision_model)
    ReportMetricsCallback(["bleu", "finding_errors"]).attach(trainer)
    trainer.train()
    rows = [row for row in trainer.state.log_history if "eval_bleu" in row]
    assert [(row["eval_reports"], row["eval_finding_errors_n_unscored"]) for row in rows] == [(6, 0), (6, 0)]


def test_text_to_text(make_trainer, text_model, tokenizer, studies):
    from transformers import DataCollatorForSeq2Seq

    rows = [
        {"input_ids": tokenizer("Describe the image .").input_ids, "labels": study["labels"].tolist()}
        for study in studies
    ]
    trainer = make_trainer(
        text_model,
        train_dataset=rows,
        eval_dataset=[row | {"report": study["report"]} for row, study in zip(rows, studies, strict=True)],
        collator=DataCollatorForSeq2Seq(tokenizer, text_model),  # cannot make a tensor of the column `report`
    )
    ReportMetricsCallback("bleu", generation_config={"max_new_tokens": 4}).attach(trainer)
    trainer.train()
    assert sum("eval_bleu" in row for row in trainer.state.log_history) == 2


def test_prompts_of_several_lengths(causal_model, tokenizer):
    examples = [{"prompt": "Describe the image ."}, {"prompt": "Findings"}]
    reports = generate(causal_model, tokenizer, examples)
    assert reports == one_by_one(causal_model, tokenizer, examples)
    assert reports == [direct(causal_model, tokenizer, tokenizer(each["prompt"]).input_ids) for each in examples]
    assert tokenizer.padding_side == "right"
    assert reports[0]
    assert "Describe" not in reports[0]


def test_a_chat_without_its_answer(causal_model, tokenizer):
    answered = [*TURNS, {"role": "assistant", "content": "The lungs are clear."}]
    reports = generate(causal_model, tokenizer, [{"messages": answered}])
    ids = tokenizer("user : Describe assistant :").input_ids
    assert reports == [direct(causal_model, tokenizer, ids)]
    assert generate(causal_model, tokenizer, [{"turns": TURNS}], prompt="turns") == reports
    assert generate(causal_model, tokenizer, [0], prompt=lambda example: TURNS) == reports


def test_labels_that_mask_the_prompt(causal_model, tokenizer):
    def row(prompt, report, padded):
        asked, answer = tokenizer(prompt).input_ids, tokenizer(report).input_ids
        ids = [0] * padded + asked + answer
        mask = [0] * padded + [1] * len(asked + answer)
        return {"input_ids": ids, "attention_mask": mask, "labels": [-100] * (padded + len(asked)) + answer}

    examples = [row("Describe the image .", "The lungs are clear.", 0), row("Findings", "No pneumothorax.", 2)]
    reports = generate(causal_model, tokenizer, examples)
    ids = [tokenizer(text).input_ids for text in ("Describe the image .", "Findings")]
    assert reports == [direct(causal_model, tokenizer, each) for each in ids]
    chosen = EvaluationSet(examples, reference=None, tokenizer=tokenizer, n_reports=None, seed=0)
    assert chosen.reference(examples[1], 1) == "No pneumothorax ."  # as the tokenizer writes it
    with pytest.raises(InputError, match=r"must mask the prompt .* pass prompt= and reference="):
        generate(causal_model, tokenizer, [{"input_ids": [5, 6], "labels": [5, 6]}])


USER = {"role": "user", "content": [{"type": "text", "text": "Moderate right effusion ?"}]}


@pytest.mark.parametrize("content", ["No pneumothorax.", [{"type": "text", "text": "No pneumothorax."}]])
@pytest.mark.parametrize("reference", [None, "messages", "completion"])
def test_the_reference_of_a_conversation_is_its_answer(tokenizer, content, reference):
    """TRL's labels of `messages` mask nothing, unless `assistant_only_loss` says so."""
    answer = {"role": "assistant", "content": content}
    row = {"messages": [USER, answer], "completion": [answer], "labels": tokenizer("Findings").input_ids}
    chosen = EvaluationSet([row], reference=reference, tokenizer=tokenizer, n_reports=None, seed=0)
    assert chosen.reference(row, 0) == "No pneumothorax."
    assert {pair.reference for pair in chosen.pairs()} <= {"No pneumothorax."}
    assert chosen.labels() == []
    asked = {"messages": [USER], "labels": row["labels"]}  # no answer: the labels
    assert EvaluationSet([asked], reference=None, tokenizer=tokenizer, n_reports=None, seed=0).reference(asked, 0)


def test_the_end_token_of_a_column_is_no_part_of_the_report(tokenizer):
    """TRL adds it to the columns `completion` and `text`."""
    rows = [{"completion": f"No pneumothorax.{end}"} for end in ("", "</s>", " </s>")]
    chosen = EvaluationSet(rows, reference="completion", tokenizer=tokenizer, n_reports=None, seed=0)
    assert {pair.reference for pair in chosen.pairs()} == {"No pneumothorax."}


def test_a_processor_gets_the_images_in_the_order_of_the_prompts(causal_model, tokenizer):
    seen = {}

    class Processor:
        chat_template = tokenizer.chat_template
        apply_chat_template = staticmethod(tokenizer.apply_chat_template)

        def __call__(self, *, text, images, **keywords):
            seen.update(text=text, images=images, padding_side=tokenizer.padding_side)
            return tokenizer(text, **keywords)

    turns = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Describe"}]}]
    generate(
        causal_model,
        tokenizer,
        [{"messages": turns, "image": "a.png"}, {"messages": turns, "image": "b.png"}],
        processor=Processor(),
    )
    assert seen["images"] == [["a.png"], ["b.png"]]
    assert seen["text"][0].split() == "user : <image> Describe assistant :".split()
    assert seen["padding_side"] == "left"


def test_a_llava_model_with_its_processor(tokenizer):
    """Image tokens in the prompt, pixels beside it."""
    import torch
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    torch.manual_seed(0)
    small = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlavaForConditionalGeneration(
        LlavaConfig(
            vision_config=CLIPVisionConfig(**small, image_size=8, patch_size=4, projection_dim=8),
            text_config=LlamaConfig(**small, vocab_size=len(tokenizer), num_key_value_heads=2),
            image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
            vision_feature_layer=-1,
        )
    )
    model.generation_config.pad_token_id = tokenizer.pad_token_id

    class Processor:
        """What LlavaProcessor does, without its image library: four image tokens an image."""

        chat_template = tokenizer.chat_template
        apply_chat_template = staticmethod(tokenizer.apply_chat_template)

        def __call__(self, *, text, images, **keywords):
            texts = [each.replace("<image>", " ".join(["<image>"] * 4)) for each in text]
            return {**tokenizer(texts, **keywords), "pixel_values": torch.stack([each[0] for each in images])}

    turns = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Describe"}]}]
    longer = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Describe the image ."}]}]
    examples = [
        {"messages": turns, "image": torch.randn(3, 8, 8)},
        {"messages": longer, "image": torch.randn(3, 8, 8)},
    ]
    reports = generate(model, tokenizer, examples, processor=Processor())
    assert reports == one_by_one(model, tokenizer, examples, processor=Processor())
    assert "<image>" not in reports[0]


def test_settings(vision_model, causal_model, tokenizer):
    vision_model.generation_config.max_length = 20  # what the Trainer writes there
    assert make_settings(vision_model, tokenizer).max_new_tokens == 15  # the decoder has 16 positions
    assert make_settings(causal_model, tokenizer).max_new_tokens == 256
    assert make_settings(causal_model, tokenizer, {"max_length": 7}).max_new_tokens is None
    causal_model.generation_config.use_cache = False  # as gradient checkpointing wants it
    assert make_settings(causal_model, tokenizer).use_cache is True
    assert causal_model.generation_config.use_cache is False
    with pytest.raises(InputError, match="beems"):
        make_settings(causal_model, tokenizer, {"num_beems": 2})


def test_a_prompt_is_needed(causal_model, tokenizer):
    with pytest.raises(InputError, match="continues a prompt"):
        generate(causal_model, tokenizer, [{"image": 0, "report": "Clear lungs."}])
