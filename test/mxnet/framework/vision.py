"""Networks of images: those of MXNet's own model zoo, and of GluonCV."""

import numpy as np
from mxnet.gluon.model_zoo import vision

# Sizes of the inputs: of mxnet.gluon.model_zoo's networks, and of GluonCV's.
ZOO = {"alexnet": 224, "densenet121": 224, "inceptionv3": 299, "mobilenet0.25": 64,
       "mobilenetv2_0.25": 64, "resnet18_v1": 64, "resnet18_v2": 64, "resnet50_v1": 64,
       "squeezenet1.1": 224, "vgg11_bn": 64}
GLUONCV = {
    "googlenet": (224, 224), "dla34": (64, 64), "hrnet_w18_small_v1_s": (64, 64),
    "mobilenetv3_small": (64, 64), "resnest14": (64, 64), "resnet50_v1s": (64, 64),
    "se_resnet18_v1": (64, 64), "shufflenet_v1": (64, 64), "shufflenet_v2": (64, 64),
    "xception": (299, 299), "cifar_residualattentionnet56": (32, 32),
    "ssd_300_mobilenet0.25_voc": (300, 300), "yolo3_mobilenet0.25_voc": (96, 96),
    "fcn_resnet50_voc": (480, 480), "psp_resnet50_ade": (480, 480),
    "faster_rcnn_resnet50_v1b_voc": (128, 128),
    "simple_pose_resnet18_v1b": (256, 192), "mobile_pose_mobilenetv3_small": (256, 192),
    "r2plus1d_resnet18_kinetics400": (8, 112, 112), "slowfast_4x16_resnet50_kinetics400":
    (36, 64, 64)}
# Without a base, which is downloaded.
BASED = ("ssd", "yolo", "fcn", "psp", "faster_rcnn", "simple", "mobile_pose")


def image(random, *shape):
    return random.normal(0, 1, (1, 3, *shape)).astype(np.float32)


def make_zoo(name, random):
    size = ZOO[name]
    return vision.get_model(name, classes=20), [image(random, size, size)]


def make_gluoncv(name, random):
    from gluoncv.model_zoo import get_model
    options = {"pretrained_base": False} if name.startswith(BASED) else {}
    return get_model(name, pretrained=False, **options), [image(random, *GLUONCV[name])]


BLOCKS = {**{f"zoo_{name}": (make_zoo, name) for name in ZOO},
          **{f"cv_{name}": (make_gluoncv, name) for name in GLUONCV}}
