"""A vision encoder–decoder, its tokenizer and its way of reading images: from scratch, or from pre-trained parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from examples.train_report_generator.config import Config
from examples.train_report_generator.data import LENGTH_STEP, read_grey
from rrgmetrics.backends.checkpoints import find_checkpoint
from rrgmetrics.backends.checkpoints.loading import load_config, load_model, load_tokenizer

BEGIN, END, PAD = "<s>", "</s>", "<pad>"


class Parts(NamedTuple):
    """A model, its tokenizer, and a function from an image to `pixel_values`."""

    model: Any
    tokenizer: Any
    read_image: Callable[[Any], Any]


def make_parts(config: Config, reports: Sequence[str]) -> Parts:
    """The parts that the configuration asks for; `reports` teach the vocabulary of a model from scratch."""
    parts = _pretrained(config) if config.encoder else _from_scratch(config, reports)
    model, tokenizer = parts.model, parts.tokenizer
    for settings in (model.config, model.config.decoder, model.generation_config):
        settings.decoder_start_token_id = tokenizer.bos_token_id
        settings.eos_token_id = tokenizer.eos_token_id
        settings.pad_token_id = tokenizer.pad_token_id
    model.generation_config.max_length = None
    model.generation_config.max_new_tokens = config.max_tokens
    model.generation_config.num_beams = config.num_beams
    return parts


def _from_scratch(config: Config, reports: Sequence[str]) -> Parts:
    from transformers import GPT2Config, VisionEncoderDecoderConfig, VisionEncoderDecoderModel, ViTConfig

    tokenizer = train_tokenizer(reports, config.vocabulary_size)
    encoder = ViTConfig(
        image_size=config.image_size,
        patch_size=config.patch_size,
        num_channels=1,
        hidden_size=config.hidden_size,
        num_hidden_layers=config.encoder_layers,
        num_attention_heads=config.attention_heads,
        intermediate_size=4 * config.hidden_size,
    )
    decoder = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=config.max_tokens + LENGTH_STEP,  # labels are filled up to a multiple
        n_embd=config.hidden_size,
        n_layer=config.decoder_layers,
        n_head=config.attention_heads,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    both = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    return Parts(VisionEncoderDecoderModel(both), tokenizer, partial(read_grey, size=config.image_size))


def _pretrained(config: Config) -> Parts:
    from PIL import Image
    from transformers import VisionEncoderDecoderConfig, VisionEncoderDecoderModel

    seeing, writing = find_checkpoint(config.encoder), find_checkpoint(config.decoder)
    settings = load_config(writing)
    settings.is_decoder = settings.add_cross_attention = True  # the attention to the image is new
    encoder, _ = load_model("AutoModel", seeing)
    decoder, _ = load_model("AutoModelForCausalLM", writing, config=settings)
    both = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder.config, decoder.config)
    both.tie_word_embeddings = False
    model = VisionEncoderDecoderModel(encoder=encoder, decoder=decoder, config=both)
    tokenizer = load_tokenizer(writing)
    tokenizer.bos_token = tokenizer.bos_token or tokenizer.cls_token
    tokenizer.eos_token = tokenizer.eos_token or tokenizer.sep_token
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    processor = load_tokenizer(seeing, "AutoImageProcessor")

    def read_image(image: Any) -> Any:
        with Image.open(image) as opened:
            return processor(opened.convert("RGB"), return_tensors="pt").pixel_values[0]

    return Parts(model, tokenizer, read_image)


def train_tokenizer(reports: Sequence[str], vocabulary_size: int) -> Any:
    """Byte pairs of the training reports; decoding gives a report back as it was written."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size, special_tokens=[BEGIN, END, PAD], initial_alphabet=alphabet, show_progress=False
    )
    pairs.train_from_iterator(reports, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=pairs, bos_token=BEGIN, eos_token=END, pad_token=PAD)
