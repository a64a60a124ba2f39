"""One network in the formats of all ages of Caffe: a convolution, a ReLU in place, a pool and an
inner product with a Softmax."""

import numpy as np

from caffemodel import blob, caffemodel, field, text_of

RANDOM = np.random.default_rng(5)
WEIGHTS = {"conv": [RANDOM.standard_normal((4, 3, 3, 3)), RANDOM.standard_normal(4)],
           "fc": [RANDOM.standard_normal((5, 64)) * 0.1, RANDOM.standard_normal(5)]}
IMAGE = RANDOM.standard_normal((1, 3, 9, 9)).astype(np.float32)

LAYERS = """
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 4 kernel_size: 3 pad: 1 stride: 1
                            weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
        pooling_param { pool: MAX kernel_size: 3 stride: 2 round_mode: CEIL } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
        param { lr_mult: 1 decay_mult: 1 } inner_product_param { num_output: 5 } }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
"""
# V1's names of layers, and its fields that today's layers lack.
V1 = """
layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1 blobs_lr: 2
         weight_decay: 1 convolution_param { num_output: 4 kernel_size: 3 pad: 1 } }
layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
layers { name: "pool" type: POOLING bottom: "conv" top: "pool"
         pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
layers { name: "fc" type: INNER_PRODUCT bottom: "pool" top: "fc"
         inner_product_param { num_output: 5 } }
layers { name: "prob" type: SOFTMAX bottom: "fc" top: "prob" }
"""
V0 = """
layers { layer { name: "pad" type: "padding" pad: 1 } bottom: "data" top: "padded" }
layers { layer { name: "conv" type: "conv" num_output: 4 kernelsize: 3 blobs_lr: 1. }
         bottom: "padded" top: "conv" }
layers { layer { name: "relu" type: "relu" } bottom: "conv" top: "conv" }
layers { layer { name: "pool" type: "pool" pool: MAX kernelsize: 3 stride: 2 }
         bottom: "conv" top: "pool" }
layers { layer { name: "fc" type: "innerproduct" num_output: 5 } bottom: "pool" top: "fc" }
layers { layer { name: "prob" type: "softmax" } bottom: "fc" top: "prob" }
"""
DIMS = 'input: "data" input_dim: 1 input_dim: 3 input_dim: 9 input_dim: 9\n'
SHAPE = 'input: "data" input_shape { dim: 1 dim: 3 dim: 9 dim: 9 }\n'
INPUT = """layer { name: "data" type: "Input" top: "data"
        input_param { shape { dim: 1 dim: 3 dim: 9 dim: 9 } } }\n"""
# A network for training: layers of data and losses for both phases.
TRAINING = """
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TRAIN }
        transform_param { mirror: true crop_size: 9 mean_value: 104 mean_value: 117
                          mean_value: 123 }
        data_param { source: "train" batch_size: 64 backend: LMDB } }
layer { name: "data" type: "Data" top: "data" top: "label" include { phase: TEST }
        transform_param { crop_size: 9 mean_value: 104 mean_value: 117 mean_value: 123
                          scale: 0.5 }
        data_param { source: "test" batch_size: 50 backend: LMDB } }
""" + LAYERS.replace('layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }', """
layer { name: "not" type: "Dropout" bottom: "fc" top: "fc" include { not_stage: "debug" } }
layer { name: "prob" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "prob" }
""") + """
layer { name: "accuracy" type: "Accuracy" bottom: "fc" bottom: "label" top: "accuracy"
        include { phase: TEST } }
layer { name: "only" type: "Python" bottom: "fc" top: "only" exclude { phase: TEST }
        python_param { module: "m" layer: "L" } }
layer { name: "deep" type: "Python" bottom: "fc" top: "deep" include { min_level: 1 } }
layer { name: "stage" type: "Python" bottom: "fc" top: "stage" include { stage: "debug" } }
"""

TEXTS = {"dims": DIMS + LAYERS, "shape": SHAPE + LAYERS, "input": INPUT + LAYERS,
         "v1": DIMS + V1, "v0": DIMS + V0, "training": TRAINING}


def whole_model():
    """A .caffemodel that has the whole network with its input, as nets of forks do."""
    def sizes(*dims):
        return field(8, b"".join(field(1, d) for d in dims))

    def layer(kind, name, bottom, top, *more):
        return field(100, field(1, name) + field(2, kind) + field(3, bottom) + field(4, top)
                     + b"".join(more))
    blobs = {name: [field(7, blob(a)) for a in arrays] for name, arrays in WEIGHTS.items()}
    return (field(1, "net") + field(3, "data") + sizes(1, 3, 9, 9)
            + layer("Convolution", "conv", "data", "conv", *blobs["conv"],
                    field(106, field(1, 4) + field(4, 3) + field(3, 1)))
            + layer("ReLU", "relu", "conv", "conv")
            + layer("Pooling", "pool", "conv", "pool",
                    field(121, field(2, 3) + field(3, 2)))
            + layer("InnerProduct", "fc", "pool", "fc", *blobs["fc"],
                    field(117, field(1, 5)))
            + layer("Softmax", "prob", "fc", "prob"))


def blobs_in_text():
    """The network with its weights in the text."""
    def put(name, text):
        arrays = [{"shape": {"dim": list(a.shape)}, "data": [float(v) for v in a.flat]}
                  for a in WEIGHTS[name]]
        return text.replace(f'name: "{name}"', f'name: "{name}"\n' + text_of({"blobs": arrays}))
    return put("conv", put("fc", DIMS + LAYERS))


def networks():
    """(text, weights) of all."""
    for name, text in TEXTS.items():
        yield text, caffemodel(WEIGHTS, "legacy" if name < "j" else "shape",
                               {"v1": 1, "v0": 0}.get(name, 2))
    yield DIMS + LAYERS, whole_model()
