"""Small configurations of architectures of the transformers library, with random weights."""

import transformers

from flat import Flat
from inputs import (AUDIO, DECODER, IMAGE, IMAGE64, SEQ2SEQ, TEXT, TEXT_IMAGE, Inputs, floats, ids,
                    pixels)

# Values of a configuration that has these fields; an entry's own ones come after.
SMALL = dict(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    intermediate_size=64, vocab_size=99, max_position_embeddings=64, head_dim=8,
    d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, n_embd=32, n_layer=2,
    n_head=4, n_positions=64, n_ctx=64, n_inner=64, dim=32, n_heads=4, n_layers=2, hidden_dim=64,
    embedding_size=32, image_size=32, patch_size=8, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
    num_decoder_layers=2, num_experts=4, num_local_experts=4, n_routed_experts=4,
    num_experts_per_tok=2, moe_intermediate_size=32, max_source_positions=64,
    max_target_positions=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, use_cache=False,
    decoder_start_token_id=1, sliding_window=None, emb_dim=32, ffn_dim=64, num_channels=3)


class Architecture:
    """One model class of transformers. `settings` are the fields of its configuration that
    differ from SMALL, `inputs` are its inputs, and `outputs` is the number of results that are
    kept."""

    def __init__(self, model, inputs, outputs=None, **settings):
        self.model, self.inputs, self.outputs, self.settings = model, inputs, outputs, settings

    def build(self):
        model_class = getattr(transformers, self.model)
        config_class = model_class.config_class
        known = set(config_class().to_dict())
        fields = {name: value for name, value in SMALL.items() if name in known}
        fields.update(self.settings)
        config = config_class(**fields)
        # Exporters know no operators for groups of rows that one expert computes.
        config._experts_implementation = "eager"
        return Flat(model_class(config), self.inputs.names, self.outputs)


def text(model, **settings):
    return Architecture(model, TEXT, **settings)


def decoder(model, **settings):
    return Architecture(model, DECODER, **settings)


def seq2seq(model, **settings):
    return Architecture(model, SEQ2SEQ, **settings)


def image(model, **settings):
    return Architecture(model, IMAGE, **settings)


def image64(model, **settings):
    return Architecture(model, IMAGE64, **{"image_size": 64, **settings})


def audio(model, **settings):
    return Architecture(model, AUDIO, **{**SPEECH, **settings})


# Convolutions of models that read sound.
SPEECH = dict(conv_dim=[16, 16, 16], conv_stride=[5, 4, 2], conv_kernel=[10, 8, 4],
              num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
              num_feat_extract_layers=3)
SMALL_ROPE = dict(rope_parameters={"rope_type": "default", "rope_theta": 10000.0})
STAGES = dict(depths=[1, 1, 1, 1], hidden_sizes=[16, 24, 32, 40])
SWIN = dict(embed_dim=16, depths=[1, 2], num_heads=[2, 4], window_size=4, patch_size=4)
RESNET = dict(model_type="resnet", embedding_size=16, hidden_sizes=[16, 16, 32, 32],
              depths=[1, 1, 1, 1], layer_type="basic",
              out_features=["stage2", "stage3", "stage4"])
LATENT = dict(q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
              v_head_dim=8, num_key_value_heads=4, n_group=2, topk_group=1,
              first_k_dense_replace=1, n_shared_experts=1)
DETECTOR = dict(use_timm_backbone=False, use_pretrained_backbone=False, num_queries=10)
MAMBA = dict(state_size=8, conv_kernel=4, expand=2, time_step_rank=4)
CLIP = dict(text_config=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                             intermediate_size=64, vocab_size=99, max_position_embeddings=64,
                             projection_dim=16, eos_token_id=2),
            vision_config=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=64, image_size=32, patch_size=8,
                               projection_dim=16),
            projection_dim=16)


def with_config(field, kind, **settings):
    """A setting that is a configuration itself."""
    return {field: transformers.AutoConfig.for_model(kind, **settings)}


ARCHITECTURES = {
    # Encoders of text.
    "albert": text("AlbertModel"),
    "bert": text("BertModel"),
    "bert_classifier": text("BertForSequenceClassification", num_labels=3),
    "bert_masked": text("BertForMaskedLM"),
    "bert_tokens": text("BertForTokenClassification", num_labels=5),
    "bert_answers": text("BertForQuestionAnswering"),
    "big_bird": text("BigBirdModel", attention_type="original_full"),
    "camembert": text("CamembertModel", max_position_embeddings=80),
    "canine": text("CanineModel", num_hash_functions=4, num_hash_buckets=64,
                   local_transformer_stride=8, downsampling_rate=4),
    "convbert": text("ConvBertModel"),
    "data2vec_text": text("Data2VecTextModel"),
    "deberta": text("DebertaModel", relative_attention=True, pos_att_type=["p2c", "c2p"],
                    max_relative_positions=16, type_vocab_size=0),
    "deberta_v2": text("DebertaV2Model", relative_attention=True, pos_att_type=["p2c", "c2p"],
                       position_buckets=8, type_vocab_size=0),
    "distilbert": text("DistilBertModel"),
    "electra": text("ElectraModel"),
    "ernie": text("ErnieModel"),
    "esm": text("EsmModel", mask_token_id=5),
    "eurobert": text("EuroBertModel", **SMALL_ROPE),
    "flaubert": text("FlaubertModel"),
    "fnet": Architecture("FNetModel", Inputs(input_ids=ids())),
    "funnel": text("FunnelModel", d_head=8, d_inner=64, block_sizes=[1, 1], n_head=4),
    "gte": text("GteModel"),
    "ibert": text("IBertModel"),
    "layoutlm": text("LayoutLMModel"),
    "lilt": text("LiltModel", channel_shrink_ratio=2, hidden_size=48),
    "longformer": text("LongformerModel", attention_window=4),
    "megatron_bert": text("MegatronBertModel"),
    "mobilebert": text("MobileBertModel", embedding_size=16, intra_bottleneck_size=16,
                       true_hidden_size=16),
    "modernbert": text("ModernBertModel", global_attn_every_n_layers=2, local_attention=4,
                       cls_token_id=1, sep_token_id=2),
    "mpnet": text("MPNetModel"),
    "nomic_bert": text("NomicBertModel"),
    "nystromformer": text("NystromformerModel", num_landmarks=8, segment_means_seq_len=8),
    "rembert": text("RemBertModel", input_embedding_size=16, output_embedding_size=32),
    "roberta": text("RobertaModel", max_position_embeddings=80),
    "roberta_prelayernorm": text("RobertaPreLayerNormModel"),
    "roc_bert": text("RoCBertModel", enable_pronunciation=False, enable_shape=False,
                     shape_vocab_size=20, pronunciation_vocab_size=20),
    "roformer": text("RoFormerModel"),
    "splinter": text("SplinterModel"),
    "squeezebert": text("SqueezeBertModel", q_groups=2, k_groups=2, v_groups=2,
                        post_attention_groups=1, intermediate_groups=2, output_groups=2),
    "xlm": text("XLMModel"),
    "xlm_roberta": text("XLMRobertaModel", max_position_embeddings=80),
    "xlnet": text("XLNetModel", d_inner=64, n_head=4),
    "xmod": text("XmodModel", languages=["en_XX"], default_language="en_XX"),
    "yoso": text("YosoModel", use_expectation=True),
    # Decoders of text.
    "arcee": decoder("ArceeForCausalLM"),
    "biogpt": decoder("BioGptForCausalLM"),
    "bitnet": decoder("BitNetForCausalLM"),
    "bloom": decoder("BloomForCausalLM"),
    "codegen": decoder("CodeGenForCausalLM", rotary_dim=4),
    "cohere": decoder("CohereForCausalLM"),
    "cohere2": decoder("Cohere2ForCausalLM", sliding_window=4),
    "ctrl": decoder("CTRLLMHeadModel", dff=64),
    "diffllama": decoder("DiffLlamaForCausalLM"),
    "ernie4_5": decoder("Ernie4_5ForCausalLM"),
    "exaone4": decoder("Exaone4ForCausalLM", sliding_window=4),
    "falcon": decoder("FalconForCausalLM"),
    "falcon_mamba": decoder("FalconMambaForCausalLM", **MAMBA),
    "gemma": decoder("GemmaForCausalLM"),
    "gemma2": decoder("Gemma2ForCausalLM", sliding_window=4),
    "gemma3": decoder("Gemma3ForCausalLM", sliding_window=4),
    "glm": decoder("GlmForCausalLM"),
    "glm4": decoder("Glm4ForCausalLM"),
    "gpt2": decoder("GPT2LMHeadModel"),
    "gpt_bigcode": decoder("GPTBigCodeForCausalLM"),
    "gpt_neo": decoder("GPTNeoForCausalLM", attention_types=[[["global", "local"], 1]],
                       window_size=4),
    "gpt_neox": decoder("GPTNeoXForCausalLM"),
    "gptj": decoder("GPTJForCausalLM", rotary_dim=4),
    "granite": decoder("GraniteForCausalLM"),
    "helium": decoder("HeliumForCausalLM"),
    "llama": decoder("LlamaForCausalLM"),
    "mamba": decoder("MambaForCausalLM", **MAMBA),
    "minicpm3": decoder("MiniCPM3ForCausalLM", q_lora_rank=16, kv_lora_rank=16,
                        qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8,
                        num_key_value_heads=4),
    "mistral": decoder("MistralForCausalLM", sliding_window=4),
    "mpt": decoder("MptForCausalLM", max_seq_len=64),
    "nemotron": decoder("NemotronForCausalLM"),
    "olmo": decoder("OlmoForCausalLM"),
    "olmo2": decoder("Olmo2ForCausalLM"),
    "openai_gpt": decoder("OpenAIGPTLMHeadModel"),
    "opt": decoder("OPTForCausalLM", word_embed_proj_dim=32),
    "persimmon": decoder("PersimmonForCausalLM"),
    "phi": decoder("PhiForCausalLM"),
    "phi3": decoder("Phi3ForCausalLM"),
    "qwen2": decoder("Qwen2ForCausalLM"),
    "qwen3": decoder("Qwen3ForCausalLM"),
    "recurrent_gemma": decoder("RecurrentGemmaForCausalLM", lru_width=32,
                               attention_window_size=8, conv1d_width=4,
                               block_types=["recurrent", "attention"]),
    "rwkv": decoder("RwkvForCausalLM", attention_hidden_size=32, context_length=64),
    "smollm3": decoder("SmolLM3ForCausalLM"),
    "stablelm": decoder("StableLmForCausalLM"),
    "starcoder2": decoder("Starcoder2ForCausalLM"),
    "xglm": decoder("XGLMForCausalLM", attention_heads=4),
    # Mixtures of experts.
    "deepseek_v3": decoder("DeepseekV3ForCausalLM", **LATENT),
    "gpt_oss": decoder("GptOssForCausalLM", sliding_window=4),
    "granitemoe": decoder("GraniteMoeForCausalLM"),
    "mixtral": decoder("MixtralForCausalLM"),
    "olmoe": decoder("OlmoeForCausalLM"),
    "phimoe": decoder("PhimoeForCausalLM"),
    "qwen2_moe": decoder("Qwen2MoeForCausalLM", shared_expert_intermediate_size=32),
    "qwen3_moe": decoder("Qwen3MoeForCausalLM"),
    "switch_transformers": seq2seq("SwitchTransformersForConditionalGeneration",
                                   expert_capacity=16),
    # Encoders and decoders.
    "bart": seq2seq("BartForConditionalGeneration"),
    "blenderbot": seq2seq("BlenderbotForConditionalGeneration"),
    "fsmt": seq2seq("FSMTForConditionalGeneration", langs=["en", "de"], src_vocab_size=99,
                    tgt_vocab_size=99),
    "led": seq2seq("LEDForConditionalGeneration", attention_window=4,
                   max_encoder_position_embeddings=64, max_decoder_position_embeddings=64),
    "longt5": seq2seq("LongT5ForConditionalGeneration", local_radius=3),
    "m2m_100": seq2seq("M2M100ForConditionalGeneration"),
    "marian": seq2seq("MarianMTModel"),
    "mbart": seq2seq("MBartForConditionalGeneration"),
    "mt5": seq2seq("MT5ForConditionalGeneration"),
    "pegasus": seq2seq("PegasusForConditionalGeneration"),
    "prophetnet": seq2seq("ProphetNetForConditionalGeneration", num_encoder_layers=2,
                          num_encoder_attention_heads=4, num_decoder_attention_heads=4),
    "t5": seq2seq("T5ForConditionalGeneration"),
    "umt5": seq2seq("UMT5ForConditionalGeneration"),
    # Images.
    "beit": image("BeitModel", use_relative_position_bias=True),
    "bit": image("BitModel", embedding_size=16, hidden_sizes=[16, 32, 32, 64],
                 depths=[1, 1, 1, 1], num_groups=4),
    "convnext": image("ConvNextModel", patch_size=4, **STAGES),
    "convnextv2": image("ConvNextV2ForImageClassification", patch_size=4, **STAGES),
    "cvt": image64("CvtModel", embed_dim=[16, 32, 48], num_heads=[1, 2, 3], depth=[1, 2, 3],
                   mlp_ratio=[2.0, 2.0, 2.0]),
    "data2vec_vision": image("Data2VecVisionModel"),
    "deit": image("DeiTModel"),
    "dinov2": image("Dinov2Model"),
    "efficientnet": image64("EfficientNetModel", width_coefficient=0.25, depth_coefficient=0.25,
                            hidden_dim=320, depth_divisor=4, num_hidden_layers=16),
    "focalnet": image("FocalNetModel", embed_dim=16, depths=[1, 1], focal_levels=[2, 2],
                      focal_windows=[3, 3], patch_size=4),
    "hiera": image64("HieraModel", embed_dim=16, depths=[1, 1, 1, 1], num_heads=[1, 2, 2, 4],
                     image_size=[64, 64],
                     patch_size=[7, 7]),
    "ijepa": image("IJepaModel"),
    "imagegpt": Architecture("ImageGPTModel", Inputs(input_ids=ids())),
    "levit": image64("LevitModel", hidden_sizes=[16, 24, 32], num_attention_heads=[2, 2, 2],
                     depths=[1, 1, 1], key_dim=[8, 8, 8], mlp_ratio=[2, 2, 2],
                     attention_ratio=[2, 2, 2], patch_size=16),
    "mobilenet_v1": image("MobileNetV1Model", depth_multiplier=0.25),
    "mobilenet_v2": image("MobileNetV2ForImageClassification", depth_multiplier=0.25),
    "mobilevit": image64("MobileViTForImageClassification", hidden_sizes=[16, 24, 32],
                         neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32], patch_size=2),
    "mobilevitv2": image64("MobileViTV2Model", width_multiplier=0.25, patch_size=2,
                           base_attn_unit_dims=[32, 48, 64], n_attn_blocks=[1, 1, 1]),
    "poolformer": image64("PoolFormerModel", hidden_sizes=[8, 16, 24, 32], depths=[1] * 4,
                          patch_size=16),
    "pvt": image64("PvtModel", hidden_sizes=[8, 16, 24, 32], depths=[1] * 4,
                   num_attention_heads=[1, 2, 3, 4], patch_size=4),
    "pvt_v2": image64("PvtV2Model", hidden_sizes=[8, 16, 24, 32], depths=[1] * 4,
                      num_attention_heads=[1, 2, 3, 4]),
    "regnet": image("RegNetForImageClassification", embedding_size=16,
                    hidden_sizes=[16, 16, 32, 32], depths=[1, 1, 1, 1], groups_width=8),
    "resnet": image("ResNetForImageClassification", embedding_size=16,
                    hidden_sizes=[16, 32, 32, 64], depths=[1, 1, 1, 1], layer_type="bottleneck"),
    "swiftformer": image64("SwiftFormerModel", embed_dims=[8, 16, 24, 32], depths=[1] * 4),
    "swin": image("SwinModel", **SWIN),
    "swinv2": image("Swinv2Model", **SWIN),
    "swin2sr": image("Swin2SRForImageSuperResolution", embed_dim=16, depths=[2], num_heads=[2],
                     window_size=4, patch_size=1, upscale=2),
    "textnet": image64("TextNetModel", stem_out_channels=8, hidden_sizes=[8, 8, 16, 16, 24]),
    "timesformer": Architecture("TimesformerModel",
                                Inputs(pixel_values=floats("batch", 4, 3, 32, 32)), num_frames=4),
    "videomae": Architecture("VideoMAEModel",
                             Inputs(pixel_values=floats("batch", 4, 3, 32, 32)), num_frames=4,
                             tubelet_size=2),
    "vit": image("ViTModel"),
    "vit_classifier": image("ViTForImageClassification", num_labels=4),
    "vit_msn": image("ViTMSNModel"),
    "vivit": Architecture("VivitModel", Inputs(pixel_values=floats("batch", 4, 3, 32, 32)),
                          num_frames=4, tubelet_size=[2, 8, 8]),
    # Segmentation, depth, detection.
    "beit_segmentation": image64("BeitForSemanticSegmentation", num_hidden_layers=4,
                                 out_indices=[1, 2, 3, 4], pool_scales=[1, 2], num_labels=4,
                                 patch_size=16),
    "conditional_detr": image64("ConditionalDetrForObjectDetection", backbone_config=RESNET,
                                **DETECTOR),
    "dab_detr": image64("DabDetrForObjectDetection", backbone_config=RESNET, **DETECTOR),
    "deformable_detr": image64("DeformableDetrForObjectDetection", backbone_config=RESNET,
                               num_feature_levels=3, **DETECTOR),
    "depth_anything": Architecture(
        "DepthAnythingForDepthEstimation", Inputs(pixel_values=pixels(56)),
        reassemble_hidden_size=32, neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16,
        head_hidden_size=8, patch_size=14, **with_config(
            "backbone_config", "dinov2", image_size=56, patch_size=14, hidden_size=32,
            num_hidden_layers=4, num_attention_heads=4, out_indices=[1, 2, 3, 4],
            apply_layernorm=True, reshape_hidden_states=False)),
    "detr": image64("DetrForObjectDetection", backbone_config=RESNET, **DETECTOR),
    "dpt": image64("DPTForDepthEstimation", num_hidden_layers=4, backbone_out_indices=[0, 1, 2, 3],
                   neck_hidden_sizes=[8, 16, 24, 32], fusion_hidden_size=16, patch_size=16),
    "glpn": image64("GLPNForDepthEstimation", hidden_sizes=[8, 16, 24, 32], depths=[1] * 4,
                    num_attention_heads=[1, 2, 3, 4], decoder_hidden_size=16),
    "mask2former": image64("Mask2FormerForUniversalSegmentation", **with_config(
        "backbone_config", "swin", image_size=64, embed_dim=16, depths=[1, 1, 1, 1],
        num_heads=[2, 2, 2, 2], window_size=2,
        out_features=["stage1", "stage2", "stage3", "stage4"]),
        feature_size=32, mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=32,
        dim_feedforward=32, num_queries=5, num_labels=4),
    "maskformer": image64("MaskFormerForInstanceSegmentation", **with_config(
        "backbone_config", "swin", image_size=64, embed_dim=16, depths=[1, 1, 1, 1],
        num_heads=[2, 2, 2, 2], window_size=2,
        out_features=["stage1", "stage2", "stage3", "stage4"]), **with_config(
            "decoder_config", "detr", d_model=32, encoder_layers=1, decoder_layers=1,
            num_queries=5, encoder_ffn_dim=32, decoder_ffn_dim=32,
            encoder_attention_heads=4, decoder_attention_heads=4),
        fpn_feature_size=32, mask_feature_size=32),
    "mobilenet_v2_segmentation": image64("MobileNetV2ForSemanticSegmentation",
                                         depth_multiplier=0.25),
    "mobilevit_segmentation": image64("MobileViTForSemanticSegmentation",
                                      hidden_sizes=[16, 24, 32],
                                      neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32],
                                      patch_size=2, aspp_out_channels=16),
    "rt_detr": image64("RTDetrForObjectDetection", num_queries=10, encoder_hidden_dim=32,
                       encoder_in_channels=[16, 32, 32], encoder_ffn_dim=32, d_model=32,
                       decoder_in_channels=[32, 32, 32], decoder_ffn_dim=32,
                       num_feature_levels=3, encoder_attention_heads=4,
                       backbone_config=transformers.RTDetrResNetConfig(
                           embedding_size=16, hidden_sizes=[16, 16, 32, 32],
                           depths=[1, 1, 1, 1], layer_type="basic",
                           out_features=["stage2", "stage3", "stage4"])),
    "sam_vision": image64("SamVisionModel", output_channels=16, window_size=2,
                          global_attn_indexes=[1], num_pos_feats=8),
    "segformer": image64("SegformerForSemanticSegmentation", hidden_sizes=[8, 16, 24, 32],
                         depths=[1] * 4, num_attention_heads=[1, 2, 3, 4],
                         decoder_hidden_size=16),
    "table_transformer": image64("TableTransformerForObjectDetection", backbone_config=RESNET,
                                 **DETECTOR),
    "upernet": image64("UperNetForSemanticSegmentation", hidden_size=16, pool_scales=[1, 2],
                       auxiliary_channels=8, auxiliary_in_channels=32, num_labels=4,
                       **with_config("backbone_config", "convnext", hidden_sizes=[8, 16, 32, 40],
                                     depths=[1] * 4,
                                     out_features=["stage1", "stage2", "stage3", "stage4"])),
    "vitmatte": Architecture("VitMatteForImageMatting",
                             Inputs(pixel_values=floats("batch", 4, 64, 64)), hidden_size=32,
                             convstream_hidden_sizes=[8, 8, 16],
                             fusion_hidden_sizes=[32, 16, 16, 8], **with_config(
                                 "backbone_config", "vitdet", image_size=64, hidden_size=32,
                                 num_channels=4, num_hidden_layers=2, num_attention_heads=4,
                                 out_features=["stage2"])),
    "yolos": image64("YolosForObjectDetection", num_detection_tokens=10, image_size=[64, 64],
                     patch_size=16, num_labels=4),
    # Images and text.
    "align_text": text("AlignTextModel"),
    "altclip_text": text("AltCLIPTextModel", project_dim=16, max_position_embeddings=80),
    "blip_vision": image("BlipVisionModel"),
    "chinese_clip": Architecture("ChineseCLIPModel", TEXT_IMAGE, outputs=4, **CLIP),
    "clip": Architecture("CLIPModel", TEXT_IMAGE, outputs=4, **CLIP),
    "clip_text": text("CLIPTextModel"),
    "clip_vision": image("CLIPVisionModel"),
    "clipseg": Architecture("CLIPSegForImageSegmentation", TEXT_IMAGE, outputs=1,
                            extract_layers=[0, 1], reduce_dim=16,
                            decoder_intermediate_size=32, decoder_num_attention_heads=4, **CLIP),
    "git": Architecture("GitModel", TEXT_IMAGE, vision_config=CLIP["vision_config"]),
    "owlvit": Architecture("OwlViTModel", TEXT_IMAGE, outputs=4, **CLIP),
    "siglip": Architecture("SiglipModel", TEXT_IMAGE, outputs=4, **CLIP),
    "siglip_vision": image("SiglipVisionModel"),
    "vilt": Architecture("ViltModel", TEXT_IMAGE, max_image_length=-1),
    "visual_bert": text("VisualBertModel", visual_embedding_dim=32),
    # Speech and sound.
    "ast": Architecture("ASTModel", Inputs(input_values=floats("batch", 32, 16)), max_length=32,
                        num_mel_bins=16, frequency_stride=4, time_stride=4, patch_size=8),
    "data2vec_audio": audio("Data2VecAudioModel", conv_pos_kernel_size=5),
    "encodec": Architecture("EncodecModel", Inputs(input_values=floats("batch", 1, 320)),
                            num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16,
                            upsampling_ratios=[4, 2]),
    "hubert": audio("HubertModel"),
    "sew": audio("SEWModel", squeeze_factor=2),
    "sew_d": audio("SEWDModel", squeeze_factor=2, max_position_embeddings=64, position_buckets=8),
    "speech_to_text": Architecture("Speech2TextForConditionalGeneration",
                                   Inputs(input_features=floats("batch", "frames", 16),
                                          decoder_input_ids=ids("batch", "target")),
                                   input_feat_per_channel=16, conv_channels=16),
    "unispeech": audio("UniSpeechModel", num_codevectors_per_group=8),
    "univnet": Architecture("UnivNetModel", Inputs(input_features=floats("batch", 8, 16),
                                                   noise_sequence=floats("batch", 8, 8)),
                            model_in_channels=8, model_hidden_channels=8, num_mel_bins=16,
                            resblock_kernel_sizes=[3], resblock_stride_sizes=[4],
                            resblock_dilation_sizes=[[1, 3]],
                            kernel_predictor_hidden_channels=8),
    "wav2vec2": audio("Wav2Vec2Model"),
    "wav2vec2_ctc": audio("Wav2Vec2ForCTC"),
    "wav2vec2_bert": Architecture(
        "Wav2Vec2BertModel", Inputs(input_features=floats("batch", "frames", 16)),
        feature_projection_input_dim=16, conv_depthwise_kernel_size=5,
        position_embeddings_type="relative_key"),
    "wav2vec2_conformer": audio("Wav2Vec2ConformerModel", conv_depthwise_kernel_size=5),
    "wavlm": audio("WavLMModel", num_buckets=16, max_bucket_distance=32),
    "whisper": Architecture("WhisperForConditionalGeneration",
                            Inputs(input_features=floats("batch", 16, 64),
                                   decoder_input_ids=ids("batch", "target")),
                            num_mel_bins=16, max_source_positions=32),
    # Time series, decisions.
    "decision_transformer": Architecture(
        "DecisionTransformerModel",
        Inputs(states=floats("batch", "length", 5), actions=floats("batch", "length", 3),
               returns_to_go=floats("batch", "length", 1),
               timesteps=ids("batch", "length", high=20)),
        state_dim=5, act_dim=3, max_ep_len=32),
    "patchtsmixer": Architecture("PatchTSMixerForPrediction",
                                 Inputs(past_values=floats("batch", 32, 3)), context_length=32,
                                 patch_length=8, patch_stride=8, num_input_channels=3,
                                 prediction_length=8, d_model=16),
    "patchtst": Architecture("PatchTSTForPrediction", Inputs(past_values=floats("batch", 32, 3)),
                             context_length=32, patch_length=8, patch_stride=8,
                             num_input_channels=3, prediction_length=8, do_mask_input=False),
}
