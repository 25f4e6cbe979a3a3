"""Inputs of the model types that take more than texts, images and sound, by model type.

Each entry makes guesses from the config; the first that the library's own model runs is used.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

BATCH, TOKENS, TARGET = 2, 11, 7
Inputs = dict[str, Any]
Makers = Callable[[Any], list[Inputs]]


def dice(seed: int) -> torch.Generator:
    """A generator of random numbers."""
    return torch.Generator().manual_seed(seed)


def draw_ids(count: int, seed: int = 3) -> Tensor:
    """Token ids, `batch token`."""
    return torch.randint(5, 60, (BATCH, count), generator=dice(seed))


def normal(*shape: int) -> Tensor:
    """Numbers of a normal distribution."""
    return torch.randn(*shape, generator=dice(7))


def ones(*shape: int) -> Tensor:
    """A mask that hides nothing."""
    return torch.ones(*shape, dtype=torch.long)


# --- series ---------------------------------------------------------------------------------------


def _series(config: Any) -> list[Inputs]:
    """Of a model that is given lagged values, time features, and the future's."""
    past, future = config.context_length + max(config.lags_sequence), config.prediction_length
    features = config.num_time_features
    return [
        {
            "past_values": normal(BATCH, past),
            "past_time_features": normal(BATCH, past, features),
            "past_observed_mask": torch.ones(BATCH, past),
            "future_values": normal(BATCH, future),
            "future_time_features": normal(BATCH, future, features),
        }
    ]


def _channels(config: Any) -> list[Inputs]:
    return [{"past_values": normal(BATCH, config.context_length, config.num_input_channels)}]


def _timesfm(config: Any) -> list[Inputs]:
    values = {"past_values": normal(BATCH, 4 * config.patch_length)}
    if config.model_type == "timesfm":
        values["past_values_padding"] = torch.zeros(BATCH, 4 * config.patch_length)
        values["freq"] = torch.zeros(BATCH, 1, dtype=torch.long)
    return [values]


def _decisions(config: Any) -> list[Inputs]:
    steps = torch.arange(TARGET).expand(BATCH, -1)
    return [
        {
            "states": normal(BATCH, TARGET, config.state_dim),
            "actions": normal(BATCH, TARGET, config.act_dim),
            "rewards": normal(BATCH, TARGET, 1),
            "returns_to_go": normal(BATCH, TARGET, 1),
            "timesteps": steps,
        }
    ]


# --- text -----------------------------------------------------------------------------------------


def _text() -> Inputs:
    ids = draw_ids(TOKENS)
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def _blt_encoder(config: Any) -> list[Inputs]:
    places = torch.arange(TOKENS).expand(BATCH, -1) // 3
    return [{"input_ids": draw_ids(TOKENS), "num_patches": 4, "patch_ids": places}]


def _blt_decoder(config: Any) -> list[Inputs]:
    width = config.hidden_size_global
    embeds = normal(BATCH, TOKENS, config.hidden_size)
    return [{"inputs_embeds": embeds, "patch_embeds": normal(BATCH, 4, width)}]


def _dia_decoder(config: Any) -> list[Inputs]:
    channels = config.num_channels
    ids = draw_ids(TARGET * channels, 4).view(BATCH, TARGET, channels)
    states = normal(BATCH, TOKENS, config.cross_hidden_size)
    return [{"input_ids": ids, "encoder_hidden_states": states}]


def _gemma_assistant(config: Any) -> list[Inputs]:
    """Keys and values of the main model, of which the assistant has none of its own."""
    text = config.get_text_config()
    keys = {
        "full_attention": getattr(text, "global_head_dim", None) or text.head_dim,
        "sliding_attention": text.head_dim,
    }
    heads = {
        "full_attention": getattr(text, "num_global_key_value_heads", None)
        or text.num_key_value_heads,
        "sliding_attention": text.num_key_value_heads,
    }
    states = {
        kind: (normal(BATCH, heads[kind], TOKENS, width), normal(BATCH, heads[kind], TOKENS, width))
        for kind, width in keys.items()
    }
    embeds = normal(BATCH, 1, 2 * config.backbone_hidden_size)
    place = torch.full((BATCH, 1), TOKENS)
    return [{"inputs_embeds": embeds, "shared_kv_states": states, "position_ids": place}]


def _muse_assistant(config: Any) -> list[Inputs]:
    layers = len(getattr(config, "target_layer_ids", None) or (0,))
    context = normal(BATCH, TOKENS, layers * config.hidden_size)
    hidden = dict.fromkeys(("full_attention", "sliding_attention"))  # every token is seen
    return [
        {
            "noise_embeds": normal(BATCH, 4, config.hidden_size),
            "context_hidden_states": context,
            "attention_mask": hidden,
        }
    ]


def _jev(config: Any) -> list[Inputs]:
    marks = torch.tensor([[3, 6]])
    return [
        {
            "input_ids": draw_ids(TOKENS)[:1],
            "marks": marks,
            "num_options": torch.tensor([[2, 2]]),
            "question_type_ids": torch.zeros_like(marks),
        }
    ]


def _musicgen_decoder(config: Any) -> list[Inputs]:
    ids = draw_ids(config.num_codebooks * TARGET).view(-1, TARGET)
    return [{"input_ids": ids, "encoder_hidden_states": normal(BATCH, 6, config.hidden_size)}]


def _musicgen(config: Any) -> list[Inputs]:
    ids = draw_ids(config.decoder.num_codebooks * TARGET).view(-1, TARGET)
    return [{**_text(), "decoder_input_ids": ids}]


def _moshi_depth(config: Any) -> list[Inputs]:
    count = config.num_codebooks
    return [
        {
            "input_ids": draw_ids(count),
            "last_hidden_state": normal(BATCH, 1, config.input_size),
            "attention_mask": ones(BATCH, count),
        }
    ]


def _kyutai(config: Any) -> list[Inputs]:
    books = config.num_codebooks + 1
    return [{"input_ids": draw_ids(TOKENS * books).view(BATCH, TOKENS, books)}]


def _rag(config: Any) -> list[Inputs]:
    documents = config.n_docs
    context = draw_ids(documents * TOKENS).view(-1, TOKENS)
    return [
        {
            **_text(),
            "context_input_ids": context,
            "context_attention_mask": torch.ones_like(context),
            "doc_scores": normal(BATCH, documents),
            "decoder_input_ids": draw_ids(TARGET, 4),
        }
    ]


def _embeds(config: Any) -> list[Inputs]:
    return [{"inputs_embeds": normal(BATCH, TOKENS, config.hidden_size)}]


def _cross(config: Any) -> list[Inputs]:
    return [{**_text(), "encoder_hidden_states": normal(BATCH, 6, config.hidden_size)}]


def _xmod(config: Any) -> list[Inputs]:
    return [{**_text(), "lang_ids": torch.zeros(BATCH, dtype=torch.long)}]


def _voxtral_text(config: Any) -> list[Inputs]:
    return [{**_text(), "t_cond": normal(BATCH, 1, config.hidden_size)}]


def _voxtral_realtime(config: Any) -> list[Inputs]:
    """A token for each frame of sound."""
    audio = config.audio_config
    frames = TOKENS * audio.downsample_factor if hasattr(audio, "downsample_factor") else TOKENS * 4
    features = normal(BATCH, audio.num_mel_bins, 2 * frames)
    return [{**_text(), "input_features": features, "num_delay_tokens": 6}]


# --- images ---------------------------------------------------------------------------------------


def _pixels(config: Any, channels: int = 3) -> Tensor:
    size = config.image_size
    rows, cols = (size, size) if isinstance(size, int) else size
    return normal(BATCH, channels, rows, cols)


def _packed_patches(config: Any) -> list[Inputs]:
    """Patches of all images in one row, 4 × 4 of each."""
    patch, sizes = config.patch_size, torch.tensor([[4, 4]] * BATCH)
    pixels = normal(1, 3, patch, BATCH * 16 * patch)
    return [{"pixel_values": pixels, "target_sizes": sizes}]


def _inkling_vision(config: Any) -> list[Inputs]:
    patch, frames = config.patch_size, getattr(config, "temporal_patch_size", 2)
    return [
        {"pixel_values": normal(4, frames, patch, patch, 3)},
        {"pixel_values": normal(4, frames, 3, patch, patch)},
        {"pixel_values": normal(4, 3, frames, patch, patch)},
    ]


def _inkling2_vision(config: Any) -> list[Inputs]:
    """Squares of merged patches, 2 × 2 of each image."""
    side = config.patch_size * config.spatial_merge_size
    pixels = normal(BATCH * 4, side, side, config.num_channels)
    return [{"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, 2, 2]] * BATCH)}]


def _frames(config: Any) -> list[Inputs]:
    """The frames of all videos in one row."""
    size = config.image_size
    return [{"pixel_values": normal(BATCH * config.num_frames, 3, size, size)}]


def _tvp(config: Any) -> list[Inputs]:
    """One item: the library adds positions to a batch of one only."""
    size = config.max_img_size
    text = {name: value[:1] for name, value in _text().items()}
    return [{**text, "pixel_values": normal(1, config.num_frames, 3, size, size)}]


def _depth_pro(config: Any) -> list[Inputs]:
    size = 4 * config.patch_size
    return [{"pixel_values": normal(BATCH, 3, size, size)}]


def _molmo_patches(config: Any) -> list[Inputs]:
    cells = config.patch_size**2 * 3
    return [{"pixel_values": normal(BATCH, config.num_position_embeddings, cells)}]


def _molmo_adapter(config: Any) -> list[Inputs]:
    layers = len(config.vision_feature_layer)
    features = normal(BATCH, 16, layers * config.hidden_size)
    return [{"image_features": features, "pooled_patches_idx": torch.arange(32).view(8, 4)}]


def _florence_vision(config: Any) -> list[Inputs]:
    return [{"hidden_states": normal(BATCH, config.in_channels, 64, 64)}]


def _deepseek_encoder(config: Any) -> list[Inputs]:
    return [{"inputs_embeds": normal(BATCH, 8, config.hidden_size), "num_patches": 4}]


def _patch_embeds(config: Any) -> list[Inputs]:
    side = config.image_size // config.patch_size
    return [{"patch_embeds": normal(BATCH, config.hidden_size, side, side)}]


def _keypoint_pairs(config: Any) -> list[Inputs]:
    return [{"pixel_values": normal(1, 2, 3, 64, 64).sigmoid()}]


def _seggpt(config: Any) -> list[Inputs]:
    rows, cols = config.image_size
    images = [normal(BATCH, 3, rows // 2, cols) for _ in range(3)]
    names = ("pixel_values", "prompt_pixel_values", "prompt_masks")
    return [dict(zip(names, images, strict=True))]


def _oneformer(config: Any) -> list[Inputs]:
    return [
        {"pixel_values": normal(BATCH, 3, 128, 128), "task_inputs": draw_ids(config.task_seq_len)}
    ]


def _points(config: Any) -> list[Inputs]:
    """An image and a point in it."""
    size = config.prompt_encoder_config.image_size
    return [
        {
            "pixel_values": normal(BATCH, 3, size, size),
            "input_points": torch.tensor([[[[9.0, 5.0]]]] * BATCH),
            "input_labels": torch.ones(BATCH, 1, 1, dtype=torch.long),
        }
    ]


def _detr_encoder(config: Any) -> list[Inputs]:
    maps = normal(BATCH, config.hidden_size, 4, 4)
    text = normal(BATCH, 6, config.hidden_size)
    return [{"vision_features": [maps], "vision_pos_embeds": [maps.flip(0)], "text_features": text}]


def _detr_decoder(config: Any) -> list[Inputs]:
    maps = normal(BATCH, 16, config.hidden_size)
    return [
        {
            "vision_features": maps,
            "vision_pos_encoding": maps.flip(0),
            "text_features": normal(BATCH, 6, config.hidden_size),
            "spatial_shapes": torch.tensor([[4, 4]]),
        }
    ]


def _mask_decoder(config: Any) -> list[Inputs]:
    width = config.hidden_size
    return [
        {
            "decoder_queries": normal(BATCH, 5, width),
            "backbone_features": [normal(BATCH, width, side, side) for side in (16, 8, 4)],
            "encoder_hidden_states": normal(BATCH, 16, width),
            "prompt_features": normal(BATCH, 6, width),
        }
    ]


def _pi0(config: Any) -> list[Inputs]:
    """A camera image, whose placeholders come first, and actions."""
    vision = config.vlm_config.vision_config
    text, count = _text(), (vision.image_size // vision.patch_size) ** 2
    pictures = torch.full((BATCH, count), config.vlm_config.image_token_id)
    ids = torch.cat([pictures, text["input_ids"]], 1)
    return [
        {
            "input_ids": ids,
            "attention_mask": torch.ones_like(ids),
            "pixel_values": normal(BATCH, 1, 3, vision.image_size, vision.image_size),
            "pixel_attention_mask": ones(BATCH, 1),
            "action_embeds": normal(BATCH, 5, config.dit_config.hidden_size),
        }
    ]


# --- sound ----------------------------------------------------------------------------------------


def _spectrogram(config: Any) -> list[Inputs]:
    return [{"spectrogram": normal(BATCH, 20, config.model_in_dim)}]


def _features(config: Any) -> list[Inputs]:
    """Of encoders that take only sounds of full length."""
    length = 2 * config.max_source_positions
    return [{"input_features": normal(BATCH, config.num_mel_bins, length)}]


def _row_features(config: Any) -> list[Inputs]:
    """Sounds one after the other, with the length of each."""
    lengths = torch.tensor([64, 48])
    features = normal(config.num_mel_bins, int(lengths.sum()))
    return [{"input_features": features, "feature_lens": lengths}]


def _chunks(config: Any) -> list[Inputs]:
    """Mel frames, whose lengths are given in samples."""
    lengths = torch.tensor([64, 48]) * config.hop_length
    return [
        {"input_features": normal(BATCH, bins, 64), "chunk_sample_lengths": lengths}
        for bins in (128, 80)
    ]


def _gemma3n_audio(config: Any) -> list[Inputs]:
    mask = torch.zeros(BATCH, 64, dtype=torch.bool)
    return [{"audio_mel": normal(BATCH, 64, config.input_feat_size), "audio_mel_mask": mask}]


def _audio_ids(config: Any) -> list[Inputs]:
    return [{"audio_input_ids": draw_ids(config.n_mel_bins * TOKENS).view(-1, config.n_mel_bins)}]


def _stacked(config: Any) -> list[Inputs]:
    """Frames that are several stacked."""
    widths = [getattr(config, "input_size", 320)]
    return [
        {"input_features": normal(BATCH, TOKENS, width), mask: ones(BATCH, TOKENS)}
        for width in widths
        for mask in ("attention_mask", "input_features_mask")
    ]


def _unmasked_features(config: Any) -> list[Inputs]:
    return [{"input_features": normal(BATCH, config.num_mel_bins, 64)}]


def _masked_features(config: Any) -> list[Inputs]:
    return [
        {
            "hidden_states": normal(BATCH, 64, config.input_size),
            "mask": torch.ones(BATCH, 64).bool(),
        },
        {"hidden_states": normal(BATCH, 64, config.input_size), "mask": None},
    ]


def _wave(config: Any) -> list[Inputs]:
    return [{"input_values": normal(BATCH, 1, count)} for count in (3840, 7680, 16000, 32000)]


def _waves_and_features(config: Any) -> list[Inputs]:
    return [
        {"input_values": normal(BATCH, 1, 6400), "input_features": normal(BATCH, 20, width)}
        for width in (160, 80)
    ]


def _text_and_wave(config: Any) -> list[Inputs]:
    return [{**_text(), "input_values": normal(BATCH, 1, 16000)}]


def _mel(config: Any) -> list[Inputs]:
    return [{"mel_spectrogram": normal(BATCH, config.mel_dim, 20)}]


def _long_wave(config: Any) -> list[Inputs]:
    return [{name: normal(BATCH, 1, 6400)} for name in ("input_values", "hidden_states")]


def _latents(config: Any) -> list[Inputs]:
    return [
        {name: normal(BATCH, width, 8)}
        for width in (config.hidden_size, 512)
        for name in ("latents", "hidden_states")
    ]


def _speech(config: Any) -> list[Inputs]:
    """What the encoder without a prenet takes, and the decoder."""
    width = config.hidden_size
    return [
        {
            "input_values": normal(BATCH, TOKENS, width),
            "attention_mask": ones(BATCH, TOKENS),
            "decoder_input_values": normal(BATCH, TARGET, width),
        }
    ]


def _flow(config: Any) -> list[Inputs]:
    frames, repeats = 16, config.repeats
    return [
        {
            "hidden_states": normal(BATCH, frames, config.mel_dim),
            "condition_vector": normal(BATCH, 40, config.mel_dim),
            "speaker_embedding": normal(BATCH, frames, config.enc_emb_dim),
            "quantized_code": draw_ids(frames // repeats),
            "time_step": torch.tensor(0.3),
            "apply_cfg": False,
        }
    ]


INPUTS: dict[str, Makers] = {
    "autoformer": _series,
    "informer": _series,
    "time_series_transformer": _series,
    "patchtst": _channels,
    "patchtsmixer": _channels,
    "timesfm": _timesfm,
    "timesfm2_5": _timesfm,
    "decision_transformer": _decisions,
    "blt_local_encoder": _blt_encoder,
    "blt_local_decoder": _blt_decoder,
    "dia_decoder": _dia_decoder,
    "gemma4_assistant": _gemma_assistant,
    "gemma4_unified_assistant": _gemma_assistant,
    "muse_glimmer_assistant": _muse_assistant,
    "jev": _jev,
    "musicgen": _musicgen,
    "musicgen_melody": _musicgen,
    "musicgen_decoder": _musicgen_decoder,
    "musicgen_melody_decoder": _musicgen_decoder,
    "moshi_depth": _moshi_depth,
    "kyutai_speech_to_text": _kyutai,
    "rag": _rag,
    "qwen3_omni_moe_talker_code_predictor": _embeds,
    "qwen3_omni_moe_talker_text": _embeds,
    "t5gemma2_decoder": _cross,
    "xmod": _xmod,
    "voxtral_realtime_text": _voxtral_text,
    "voxtral_realtime": _voxtral_realtime,
    "minicpm_ocr_vision": _packed_patches,
    "minicpmv4_6_vision": _packed_patches,
    "minicpmv4_7_vision": _packed_patches,
    "inkling_vision": _inkling_vision,
    "inkling2_vision": _inkling2_vision,
    "xclip_vision_model": _frames,
    "tvp": _tvp,
    "depth_pro": _depth_pro,
    "molmo2_vision": _molmo_patches,
    "molmo2_adapter": _molmo_adapter,
    "florence_vision": _florence_vision,
    "deepseek_ocr2_encoder": _deepseek_encoder,
    "unlimited_ocr_vision_encoder": _patch_embeds,
    "lightglue": _keypoint_pairs,
    "superglue": _keypoint_pairs,
    "efficientloftr": _keypoint_pairs,
    "seggpt": _seggpt,
    "oneformer": _oneformer,
    "sam": _points,
    "sam_hq": _points,
    "sam2": _points,
    "sam3_tracker": _points,
    "edgetam": _points,
    "sam3_detr_encoder": _detr_encoder,
    "sam3_lite_text_detr_encoder": _detr_encoder,
    "sam3_detr_decoder": _detr_decoder,
    "sam3_lite_text_detr_decoder": _detr_decoder,
    "sam3_mask_decoder": _mask_decoder,
    "sam3_lite_text_mask_decoder": _mask_decoder,
    "pi0": _pi0,
    "fastspeech2_conformer_hifigan": _spectrogram,
    "speecht5_hifigan": _spectrogram,
    "qwen2_audio_encoder": _features,
    "voxtral_encoder": _features,
    "moss_transcribe_diarize_audio": _features,
    "qwen2_5_omni_audio_encoder": _row_features,
    "qwen3_omni_moe_audio_encoder": _row_features,
    "dots3_note_audio_encoder": _chunks,
    "gemma3n_audio": _gemma3n_audio,
    "inkling_audio": _audio_ids,
    "granite_speech5_encoder": _stacked,
    "granite_speech5_ctc": _stacked,
    "fun_asr_nano_encoder": _stacked,
    "voxtral_realtime_encoder": _unmasked_features,
    "phi4_multimodal_audio": _masked_features,
    "pe_audio_encoder": _wave,
    "pe_audio": _text_and_wave,
    "xcodec": _wave,
    "mimi_encoder": _wave,
    "pocket_tts_audio_tokenizer": _wave,
    "pocket_tts_audio_tokenizer_encoder": _wave,
    "qwen2_5_omni_bigvgan": _mel,
    "vibevoice_acoustic_tokenizer": _long_wave,
    "vibevoice_acoustic_tokenizer_encoder": _long_wave,
    "vibevoice_acoustic_tokenizer_decoder": _latents,
    "mimi_decoder": _latents,
    "pocket_tts_audio_tokenizer_decoder": _latents,
    "neucodec": _waves_and_features,
    "xcodec2": _waves_and_features,
    "speecht5": _speech,
    "qwen2_5_omni_dit": _flow,
}
