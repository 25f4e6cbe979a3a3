"""The model types that are tried by default, and what single types need beside general rules."""

from typing import Any

FAMILIES = {
    "Text encoders": (
        "bert roberta distilbert xlm-roberta albert electra camembert modernbert eurobert"
        " nomic_bert gte layoutlm esm dpr"
    ),
    "Decoders": (
        "gpt2 gpt_neox opt llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next gemma"
        " gemma2 gemma3_text phi phi3 olmo olmo2 stablelm starcoder2 cohere cohere2 granite smollm3"
        " gpt_oss deepseek_v2 deepseek_v3 glm4 ernie4_5 llama4_text falcon_h1 jamba lfm2"
    ),
    "Encoder–decoders": "t5 mt5 umt5 bart mbart marian pegasus m2m_100 encoder-decoder",
    "Vision": (
        "vit deit beit dinov2 dinov2_with_registers dinov3_vit ijepa swin swinv2 vit_mae segformer"
        " detr yolos rt_detr deformable_detr sam depth_anything videomae vision-encoder-decoder"
        " donut"
    ),
    "Vision and text": (
        "clip siglip siglip2 owlvit blip-2 llava llava_next qwen2_vl qwen2_5_vl qwen3_vl qwen3_5"
        " gemma3 llama4 idefics3 smolvlm internvl paligemma mllama florence2 kosmos-2"
    ),
    "Sound": "whisper wav2vec2 hubert audio-spectrogram-transformer moonshine",
    "Layers that compute their weights": (
        "mpnet deberta deberta-v2 gptj gpt_neo codegen falcon bloom blip layoutlmv3 wavlm"
        " timesformer"
    ),
}

# Types that are put together from two others: the type, its encoder and its decoder.
COMPOSED = {
    "encoder-decoder": ("encoder-decoder", "bert", "bert"),
    "vision-encoder-decoder": ("vision-encoder-decoder", "vit", "gpt2"),
    "donut": ("vision-encoder-decoder", "donut-swin", "mbart"),
}

SECTIONS = {"rope_parameters": {"mrope_section": [3, 3, 2]}}
SWIN = {"image_size": 64, "window_size": 2, "depths": [1, 2, 1, 1], "embed_dim": 24}
DINO: dict[str, Any] = {
    "model_type": "dinov2",
    "num_hidden_layers": 4,
    "image_size": 32,
    "patch_size": 8,
}
DINO |= {"hidden_size": 64, "num_attention_heads": 4, "reshape_hidden_states": False}
DINO |= {"out_features": ["stage1", "stage2", "stage3", "stage4"]}
# Settings that the general sizes do not fit, wherever the type is nested.
SETTINGS: dict[str, dict[str, Any]] = {
    "beit": {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4]},
    "blip-2": {"image_token_index": 119},
    "deepseek_v2": {"num_experts_per_tok": 2, "head_dim": 8},
    "deepseek_v3": {"head_dim": 8},
    "depth_anything": {"backbone_config": DINO},
    "donut-swin": {**SWIN, "hidden_size": 192},
    "esm": {"vocab_size": 128, "pad_token_id": 0, "mask_token_id": 3},
    "falcon_h1": {"mamba_d_ssm": 128, "mamba_n_heads": 8, "mamba_d_head": 16},
    "internvl_vision": {"image_size": [32, 32], "patch_size": [8, 8]},
    "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2},
    "kosmos-2": {"latent_query_num": 4},
    "llama4_vision_model": {"intermediate_size": 256},
    "mllama_vision_model": {"intermediate_layers_indices": [0, 1], "vision_output_dim": 192},
    "qwen2_vl_text": SECTIONS,
    "qwen2_5_vl_text": SECTIONS,
    "swin": SWIN,
    "swinv2": SWIN,
    "yolos": {"image_size": [32, 48]},
    "sam_vision_model": {"num_pos_feats": 32, "global_attn_indexes": [1]},
    "sam_prompt_encoder": {"image_embedding_size": 4},
}
