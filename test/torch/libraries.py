"""Networks of libraries that users of PyTorch take networks from, with random weights: torchvision,
timm, diffusers, segmentation_models_pytorch, PyTorch Geometric, MONAI, x-transformers and
torchaudio. Those of a library that is not installed in $NNC_CACHE/exports-venv are left out.

    pip install --no-deps torchvision timm diffusers segmentation-models-pytorch torch-geometric \\
        monai x-transformers torchaudio

in a virtual environment on top of it makes them available; PYTHONPATH may name the folder.
"""

import importlib

from torch import nn

from inputs import Spec, floats, ids
from modules import Module

CLASSES = 10
# Networks of timm, with the size of their images and options: one small of each family.
TIMM = """
beit_base_patch16_224:224:depth=2 botnet26t_256:256 lambda_resnet26t:64 eca_botnext26ts_256:256
repvgg_a0:64 gernet_s:64 mobileone_s0:64 cait_xxs24_224:224 coat_lite_tiny:224 convit_tiny:224
test_convnext:64 convnextv2_atto:64 crossvit_tiny_240:240 cspresnet50:64 darknet17:64
davit_tiny:64 deit_tiny_patch16_224:224 densenet121:64 dla34:64 dpn48b:64 edgenext_xx_small:64
efficientformer_l1:224 efficientformerv2_s0:224 mixnet_s:64 tinynet_e:64 efficientnet_lite0:64
efficientvit_b0:64 efficientvit_m0:224 eva02_tiny_patch14_224:224 fasternet_t0:64 fastvit_t8:64
focalnet_tiny_srf:64 gcvit_xxtiny:224 ghostnet_050:64 ghostnetv2_100:64 hardcorenas_a:64
hgnetv2_b0:64 hiera_tiny_224:224 sam2_hiera_tiny:224 hrnet_w18_small:64 inception_next_atto:64
inception_v4:96 levit_128s:224 mambaout_femto:64 test_maxvit:160 test_coatnet:160
caformer_s18:64 poolformer_s12:64 gmlp_ti16_224:224 resmlp_12_224:224 mixer_s32_224:224
lcnet_035:64 mobilenetv3_small_050:64 fbnetc_100:64 mobilenetv4_conv_small:64 mobilevit_xxs:64
mobilevitv2_050:64 mvitv2_tiny:224 nest_tiny_jx:224 nfnet_l0:64 pit_ti_224:224 pvt_v2_b0:64
rdnet_tiny:64 regnetx_002:64 regnetz_005:64 repghostnet_050:64 repvit_m0_9:64 res2net50_48w_2s:64
resnest14d:64 resnet10t:64 skresnet18:64 resnetblur18:64 resnetv2_50x1_bit:64 rexnet_100:64
selecsls42:64 legacy_seresnet18:64 sequencer2d_s:224 shvit_s1:64 starnet_s1:64 swiftformer_xs:224
swin_tiny_patch4_window7_224:224 swinv2_cr_tiny_224:224 tiny_vit_5m_224:224 tnt_s_patch16_224:224
twins_svt_small:64 visformer_tiny:224 test_vit:160 flexivit_small:240:depth=2 vovnet39a:64
vit_srelpos_small_patch16_224:224:depth=2 samvit_base_patch16_224:224:depth=2 volo_d1_224:224
xception41:96 xcit_nano_12_p8_224:224""".split()
TORCHVISION = dict(
    alexnet=64, convnext_tiny=64, densenet121=64, efficientnet_v2_s=64, mnasnet0_5=64,
    mobilenet_v3_small=64, regnet_y_400mf=64, resnext50_32x4d=64, shufflenet_v2_x0_5=64,
    squeezenet1_1=64, swin_t=64, swin_v2_t=64)
SEGMENTATION = ("Unet", "UnetPlusPlus", "Linknet", "FPN", "PSPNet", "PAN", "DeepLabV3", "MAnet",
                "UPerNet", "Segformer")


def find(name):
    """A library, or None."""
    try:
        return importlib.import_module(name)
    except Exception:  # a library may fail in its own way where another one is missing
        return None


class Fixed(nn.Module):
    """A module with arguments that are no inputs, of whose results those that are tensors count."""

    def __init__(self, module, **fixed):
        super().__init__()
        self.module, self.fixed = module, fixed

    def forward(self, *values):
        return self.module(*values, **self.fixed)


def image(make, size, channels=3):
    return Module(make, x=floats(1, channels, size, size))


def from_torchvision(library):
    models = library.models
    networks = {f"torchvision_{name}": image(
        lambda name=name: getattr(models, name)(weights=None, num_classes=CLASSES), size)
        for name, size in TORCHVISION.items()}
    networks["torchvision_lraspp"] = image(
        lambda: models.segmentation.lraspp_mobilenet_v3_large(
            weights=None, weights_backbone=None), 96)
    networks["torchvision_r3d"] = Module(lambda: models.video.r3d_18(weights=None),
                                         x=floats(1, 3, 4, 32, 32))
    networks["torchvision_raft"] = Module(
        lambda: Fixed(models.optical_flow.raft_small(weights=None), num_flow_updates=2),
        x=floats(1, 3, 128, 128), y=floats(1, 3, 128, 128))
    return networks


def from_timm(library):
    networks = {}
    for entry in TIMM:
        name, size, *options = entry.split(":")
        more = {key: int(value) for key, value in (o.split("=") for o in options)}
        networks[f"timm_{name}"] = image(
            lambda name=name, more=more: library.create_model(name, num_classes=CLASSES, **more),
            int(size))
    return networks


def from_diffusers(library):
    small = dict(block_out_channels=(8, 16), norm_num_groups=4, layers_per_block=1)
    return {
        "diffusers_unet": Module(lambda: Fixed(library.UNet2DModel(
            sample_size=16, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"), **small), return_dict=False),
            x=floats(1, 3, 16, 16), t=ids(1)),
        "diffusers_conditional": Module(lambda: Fixed(library.UNet2DConditionModel(
            sample_size=16, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=16,
            attention_head_dim=4, **small), return_dict=False),
            x=floats(1, 4, 16, 16), t=ids(1), words=floats(1, 7, 16)),
        "diffusers_vae": Module(lambda: Fixed(library.AutoencoderKL(
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2, **small), return_dict=False),
            x=floats(1, 3, 16, 16)),
        "diffusers_vq": Module(lambda: Fixed(library.VQModel(
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2, num_vq_embeddings=16, **small),
            return_dict=False), x=floats(1, 3, 16, 16)),
    }


def from_segmentation(library):
    return {f"smp_{name}": image(
        lambda name=name: getattr(library, name)("resnet18", encoder_weights=None, classes=2), 64)
        for name in SEGMENTATION}


def from_geometric(library):
    edges = Spec((2, 12), lambda random, shape: random.integers(0, 6, shape))
    layers = importlib.import_module("torch_geometric.nn")
    return {f"pyg_{name}": Module(lambda name=name: getattr(layers, name)(8, 16, 2, 4),
                                  x=floats(6, 8), edges=edges)
            for name in ("GCN", "GraphSAGE", "GIN", "GAT", "EdgeCNN")}


def from_monai(library):
    nets = importlib.import_module("monai.networks.nets")
    volume = dict(x=floats(1, 1, 16, 16, 16))
    return {
        "monai_unet": Module(lambda: nets.UNet(3, 1, 2, (4, 8, 16), (2, 2)), **volume),
        "monai_segresnet": Module(lambda: nets.SegResNet(
            3, 8, 1, 2, blocks_down=(1, 1, 1), blocks_up=(1, 1)), **volume),
        "monai_dynunet": Module(lambda: nets.DynUNet(
            3, 1, 2, [3, 3, 3], [1, 2, 2], [2, 2], filters=[4, 8, 16]), **volume),
        "monai_attention": image(lambda: nets.AttentionUnet(2, 1, 2, (8, 16), (2,)), 32, 1),
    }


def from_transformers(library):
    options = dict(plain={}, rotary=dict(rotary_pos_emb=True), alibi=dict(alibi_pos_bias=True),
                   relative=dict(rel_pos_bias=True), gated=dict(ff_glu=True, use_rmsnorm=True),
                   memory=dict(attn_num_mem_kv=2), shifted=dict(shift_tokens=1))
    return {f"x_{name}": Module(lambda more=more: library.TransformerWrapper(
        num_tokens=50, max_seq_len=32, attn_layers=library.Decoder(
            dim=32, depth=2, heads=4, attn_dim_head=8, **more)), tokens=ids(1, 12, high=50, low=0))
        for name, more in options.items()}


def from_torchaudio(library):
    models, transforms = library.models, library.transforms
    return {
        "audio_wav2letter": Module(lambda: models.Wav2Letter(CLASSES, "waveform", 1),
                                   x=floats(1, 1, 4000)),
        "audio_deepspeech": Module(lambda: models.DeepSpeech(16, 32, CLASSES),
                                   x=floats(1, 1, 20, 16)),
        "audio_wavernn": Module(lambda: models.WaveRNN(
            [5, 5, 8], 16, 200, 2, 16, 16, 5, 16, 16, 16), x=floats(1, 1, 1000),
            spectrum=floats(1, 1, 16, 9)),
        "audio_mfcc": Module(lambda: transforms.MFCC(
            16000, 13, melkwargs=dict(n_fft=400, n_mels=23)), x=floats(1, 3200)),
        "audio_inverse": Module(lambda: nn.Sequential(
            transforms.Spectrogram(256, power=None), transforms.InverseSpectrogram(256)),
            x=floats(1, 3200)),
    }


MAKERS = {"torchvision": from_torchvision, "timm": from_timm, "diffusers": from_diffusers,
          "segmentation_models_pytorch": from_segmentation, "torch_geometric": from_geometric,
          "monai": from_monai, "x_transformers": from_transformers,
          "torchaudio": from_torchaudio}


def list_networks():
    """The networks of the libraries that are installed, and the names of the others."""
    networks, missing = {}, []
    for name, make in MAKERS.items():
        library = find(name)
        if library is None:
            missing.append(name)
        else:
            networks.update(make(library))
    return networks, missing
