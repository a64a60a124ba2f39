"""Saves networks with random weights as SavedModels and frozen graphs, and what TensorFlow
computes with them.

    networks.py DIR [NETWORK...]

For each network: DIR/NETWORK (a SavedModel), DIR/NETWORK.pb (its frozen graph) and
DIR/NETWORK.npz with the arrays in_NAME and out_NAME.
"""

import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow import keras  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2)

L = keras.layers
BATCHES = 1


def application(name, size=64, **options):
    return lambda: getattr(keras.applications, name)(
        weights=None, input_shape=(size, size, 3), classes=10, **options)


def sequence(*layers):
    return lambda: keras.Sequential(list(layers))


def attention():
    tokens = keras.Input((16,), dtype="int32")
    x = L.Embedding(50, 32)(tokens)
    x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 8)(x, x))
    x = L.LayerNormalization()(x + L.Dense(32)(L.Dense(64, activation="gelu")(x)))
    x = L.GlobalAveragePooling1D()(x)
    return keras.Model(tokens, L.Dense(3, activation="softmax")(x))


def u_net():
    image = keras.Input((32, 32, 3))
    a = L.Conv2D(8, 3, padding="same", activation="relu")(image)
    b = L.Conv2D(16, 3, padding="same", activation="relu")(L.MaxPool2D()(a))
    c = L.Conv2DTranspose(8, 3, strides=2, padding="same")(b)
    d = L.UpSampling2D(2, interpolation="bilinear")(L.Concatenate()([a, c]))
    return keras.Model(image, L.Conv2D(2, 1)(d))


class Sound(tf.Module):
    """Cepstral coefficients of a signal."""

    @tf.function(input_signature=[tf.TensorSpec([1, 2048], tf.float32)])
    def __call__(self, signal):
        frames = tf.abs(tf.signal.stft(signal, 256, 128))
        filters = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 80.0, 3800.0)
        bands = tf.math.log(tf.tensordot(frames, filters, 1) + 1e-6)
        return {"cepstrum": tf.signal.mfccs_from_log_mel_spectrograms(bands)}


class Quantized(tf.Module):
    """A convolution as quantization-aware training leaves it."""

    def __init__(self):
        random = np.random.RandomState(0)
        self.weights = tf.Variable(random.randn(3, 3, 3, 8).astype("f") * 0.3)
        self.bias = tf.Variable(random.randn(8).astype("f") * 0.1)

    @tf.function(input_signature=[tf.TensorSpec([1, 12, 12, 3], tf.float32)])
    def __call__(self, image):
        round_to = tf.quantization.fake_quant_with_min_max_args
        weights = tf.quantization.fake_quant_with_min_max_vars_per_channel(
            self.weights, [-1.0] * 8, [1.0] * 8, narrow_range=True)
        y = tf.nn.conv2d(round_to(image, -1.0, 1.0), weights, 2, "SAME")
        return {"y": round_to(tf.nn.relu6(tf.nn.bias_add(y, self.bias)), 0.0, 6.0)}


class Branches(tf.Module):
    """A branch and a loop that the data decide."""

    @tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32)])
    def __call__(self, x):
        if tf.reduce_sum(x) > 0:
            y = x * 2.0
        else:
            y = x - 1.0
        while tf.reduce_sum(y) < 20.0:
            y = y + 1.0
        return {"y": y, "products": tf.einsum("bi,bj->bij", x, y)}


# Networks whose frozen graphs have loops and branches as TensorFlow 1 writes them.
LOWERED = ("gru", "branches")
# Networks that tf.saved_model.save() saves.
SAVED = ("u_net", "dense")

NETWORKS = {
    "mobilenet_v1": application("MobileNet"),
    "mobilenet_v2": application("MobileNetV2"),
    "mobilenet_v3_small": application("MobileNetV3Small"),
    "mobilenet_v3_large": application("MobileNetV3Large"),
    "resnet50": application("ResNet50"),
    "resnet50_v2": application("ResNet50V2"),
    "resnet101": application("ResNet101"),
    "efficientnet_b0": application("EfficientNetB0"),
    "efficientnet_v2_b0": application("EfficientNetV2B0"),
    "densenet121": application("DenseNet121"),
    "inception_v3": application("InceptionV3", 96),
    "inception_resnet_v2": application("InceptionResNetV2", 96),
    "xception": application("Xception", 96),
    "nasnet_mobile": application("NASNetMobile"),
    "vgg16": application("VGG16", 32),
    "vgg19": application("VGG19", 32),
    "convnext_tiny": application("ConvNeXtTiny"),
    "lstm": sequence(keras.Input((12,)), L.Embedding(50, 16), L.LSTM(8), L.Dense(3)),
    "gru": sequence(keras.Input((12, 6)), L.GRU(8, return_sequences=True), L.Dense(3)),
    "two_way_lstm": sequence(keras.Input((12, 6)),
                             L.Bidirectional(L.LSTM(8, return_sequences=True)), L.Dense(3)),
    "simple_rnn": sequence(keras.Input((5, 6)), L.SimpleRNN(8), L.Dense(3)),
    "conv_lstm": sequence(keras.Input((4, 6, 6, 2)), L.ConvLSTM2D(3, 3, padding="same")),
    "attention": attention,
    "u_net": u_net,
    "conv_1d": sequence(
        keras.Input((40, 6)),
        L.Conv1D(8, 5, dilation_rate=2, padding="causal", activation="relu"),
        L.SeparableConv1D(8, 3, padding="same"), L.MaxPool1D(), L.GlobalMaxPooling1D(),
        L.Dense(4)),
    "conv_3d": sequence(
        keras.Input((8, 8, 8, 2)), L.Conv3D(4, 3, padding="same", activation="elu"),
        L.MaxPool3D(2), L.AveragePooling3D(2), L.Conv3DTranspose(3, 3, strides=2), L.Flatten(),
        L.Dense(3)),
    "dense": sequence(
        keras.Input((20,)), L.Dense(16, activation="selu"), L.BatchNormalization(),
        L.Dense(8, activation="swish"), L.LeakyReLU(), L.PReLU(),
        L.Dense(3, activation="softmax")),
    "norms": sequence(
        keras.Input((8, 8, 8)), L.GroupNormalization(4), L.UnitNormalization(),
        L.Conv2D(6, 3, dilation_rate=2), L.ZeroPadding2D(2), L.Cropping2D(1), L.UpSampling2D(2),
        L.DepthwiseConv2D(3, strides=2, padding="same"), L.ReLU(6), L.Flatten()),
    "sound": Sound,
    "quantized": Quantized,
    "branches": Branches,
}


def randomize(model, random):
    """Gives statistics and biases values other than those they begin with."""
    for variable in model.variables:
        if "variance" in variable.path:
            variable.assign(random.uniform(0.5, 2, variable.shape))
        elif any(part in variable.path for part in ("moving_mean", "beta", "bias")):
            variable.assign(random.randn(*variable.shape) * 0.2)


def save(name, folder):
    keras.utils.set_random_seed(1)
    random = np.random.RandomState(3)
    model = NETWORKS[name]()
    path = str(folder / name)
    if isinstance(model, keras.Model):
        randomize(model, random)
        if name in SAVED:
            tf.saved_model.save(model, path)
        else:
            model.export(path, verbose=False)
    else:
        tf.saved_model.save(model, path, signatures=model.__call__)
    loaded = tf.saved_model.load(path)  # its variables live as long as it does
    signature = loaded.signatures["serving_default"]
    feeds = {}
    for key, spec in signature.structured_input_signature[1].items():
        shape = [BATCHES if size is None else size for size in spec.shape]
        array = (random.randint(0, 50, shape) if name in ("lstm", "attention")
                 else random.randn(*shape))
        feeds[key] = array.astype(spec.dtype.as_numpy_dtype)
    results = signature(**{key: tf.constant(array) for key, array in feeds.items()})
    np.savez(f"{path}.npz", **{f"in_{key}": array for key, array in feeds.items()},
             **{f"out_{key}": array.numpy() for key, array in results.items()})
    frozen = convert_variables_to_constants_v2(signature, lower_control_flow=name in LOWERED)
    pathlib.Path(f"{path}.pb").write_bytes(frozen.graph.as_graph_def().SerializeToString())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or NETWORKS:
        save(name, folder)


if __name__ == "__main__":
    main()
