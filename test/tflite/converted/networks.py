"""Small networks of Keras and TensorFlow with random weights, for convert.py: each function
returns a Keras model, or a tf.function with the shapes of its inputs."""

import keras
import tensorflow as tf
from keras import layers as L
from keras import ops

NETWORKS = {}  # (function, forms) by name


def network(*forms):
    """Says that the function below makes a network, and what it is converted to."""
    def enter(make):
        NETWORKS[make.__name__] = make, forms or ("float", "int8")
        return make
    return enter


def conv(x, filters, kernel=3, stride=1, activation="relu", **more):
    """A convolution, its batch normalization and an activation."""
    x = L.Conv2D(filters, kernel, stride, padding="same", use_bias=False, **more)(x)
    return finish(x, activation)


def depthwise(x, kernel=3, stride=1, activation="relu", **more):
    x = L.DepthwiseConv2D(kernel, stride, padding="same", use_bias=False, **more)(x)
    return finish(x, activation)


def finish(x, activation):
    x = L.BatchNormalization()(x)
    return L.Activation(activation)(x) if activation else x


def squeeze_excite(x, reduced, activation="relu", gate="sigmoid"):
    channels = x.shape[-1]
    y = L.GlobalAveragePooling2D(keepdims=True)(x)
    y = L.Conv2D(reduced, 1, activation=activation)(y)
    return x * L.Conv2D(channels, 1, activation=gate)(y)


def classify(x, classes=10):
    return L.Dense(classes, activation="softmax")(L.GlobalAveragePooling2D()(x))


# -- images -----------------------------------------------------------------------------


@network("float", "half", "int8", "int16")
def plain_cnn():
    x = given = keras.Input((28, 28, 1))
    x = L.Conv2D(8, 5, activation="relu")(x)
    x = L.MaxPooling2D()(x)
    x = L.Conv2D(12, 3, activation="relu6")(x)
    x = L.MaxPooling2D(3, 2, padding="same")(x)
    x = L.Dense(32, activation="relu")(L.Flatten()(x))
    return keras.Model(given, L.Dense(10, activation="softmax")(x))


@network()
def mobilenet_v1():
    x = given = keras.Input((33, 33, 3))
    x = conv(x, 8, stride=2, activation="relu6")
    for filters, stride in ((16, 1), (24, 2), (24, 1), (40, 2)):
        x = conv(depthwise(x, stride=stride, activation="relu6"), filters, 1, activation="relu6")
    return keras.Model(given, classify(x))


def inverted(x, filters, stride, factor, kernel=3, activation="relu6", excite=False):
    """MobileNetV2's block: wider inside, a sum around it where shapes are equal."""
    y = conv(x, x.shape[-1] * factor, 1, activation=activation)
    y = depthwise(y, kernel, stride, activation)
    if excite:
        y = squeeze_excite(y, 8, gate="hard_sigmoid")
    y = conv(y, filters, 1, activation=None)
    return x + y if x.shape == y.shape else y


@network("float", "dynamic", "int8", "int16")
def mobilenet_v2():
    x = given = keras.Input((32, 32, 3))
    x = conv(x, 8, stride=2, activation="relu6")
    for filters, stride in ((8, 1), (12, 2), (12, 1), (20, 2), (20, 1)):
        x = inverted(x, filters, stride, 4)
    return keras.Model(given, classify(conv(x, 48, 1, activation="relu6"), 7))


@network()
def mobilenet_v3():
    x = given = keras.Input((32, 32, 3))
    x = conv(x, 8, stride=2, activation="hard_swish")
    x = inverted(x, 8, 1, 2, activation="relu", excite=True)
    x = inverted(x, 12, 2, 3, 5, "hard_swish", True)
    x = inverted(x, 12, 1, 3, 5, "hard_swish", True)
    x = L.GlobalAveragePooling2D(keepdims=True)(conv(x, 32, 1, activation="hard_swish"))
    x = L.Conv2D(40, 1, activation="hard_swish")(x)
    return keras.Model(given, L.Flatten()(L.Conv2D(9, 1)(x)))


@network("float", "int8", "int16")
def resnet():
    x = given = keras.Input((30, 26, 3))
    x = L.MaxPooling2D(3, 2, padding="same")(conv(x, 8, 7, 2))
    for filters, stride in ((8, 1), (16, 2), (16, 1)):
        y = conv(conv(x, filters, 3, stride), filters, activation=None)
        if x.shape != y.shape:
            x = conv(x, filters, 1, stride, None)
        x = L.Activation("relu")(L.Add()([x, y]))
    return keras.Model(given, classify(x))


@network()
def bottlenecks():
    """ResNet's bottlenecks with groups, as in ResNeXt, and a leaky activation."""
    x = given = keras.Input((20, 20, 6))
    for stride in (1, 2):
        y = conv(x, 8, 1, activation="leaky_relu")
        y = conv(y, 8, 3, stride, groups=2, activation="leaky_relu")
        y = conv(y, 16, 1, activation=None)
        x = L.LeakyReLU(0.1)(L.Add()([conv(x, 16, 1, stride, None), y]))
    return keras.Model(given, classify(x))


@network()
def efficientnet():
    x = given = keras.Input((32, 32, 3))
    x = conv(x, 8, stride=2, activation="swish")
    for filters, stride, kernel in ((12, 2, 3), (12, 1, 5)):
        y = conv(x, x.shape[-1] * 4, 1, activation="swish")
        y = squeeze_excite(depthwise(y, kernel, stride, "swish"), 3, "swish")
        y = conv(y, filters, 1, activation=None)
        x = L.Add()([x, y]) if x.shape == y.shape else y
    return keras.Model(given, classify(conv(x, 24, 1, activation="swish")))


@network()
def densenet():
    x = given = keras.Input((24, 24, 3))
    x = conv(x, 8)
    for _ in range(2):
        for _ in range(3):
            y = conv(L.Activation("relu")(L.BatchNormalization()(x)), 6)
            x = L.Concatenate()([x, y])
        x = L.AveragePooling2D(2)(conv(x, 12, 1))
    return keras.Model(given, classify(x))


@network()
def inception():
    x = given = keras.Input((17, 17, 4))
    for _ in range(2):
        x = L.Concatenate()([
            conv(x, 5, 1), conv(conv(x, 4, 1), 6, 3),
            conv(conv(conv(x, 4, 1), 6, (1, 5)), 6, (5, 1)),
            conv(L.AveragePooling2D(3, 1, padding="same")(x), 3, 1)])
        x = L.MaxPooling2D(3, 2)(x)
    return keras.Model(given, classify(x))


@network("float", "int8", "int16")
def u_net():
    x = given = keras.Input((24, 32, 1))
    skips = []
    for filters in (6, 10):
        x = conv(x, filters)
        skips.append(x)
        x = L.MaxPooling2D()(x)
    x = conv(x, 14)
    x = L.Conv2DTranspose(10, 2, 2, padding="same")(x)
    x = conv(L.Concatenate()([x, skips[1]]), 10)
    x = L.UpSampling2D(interpolation="bilinear")(x)
    x = conv(L.Concatenate()([x, skips[0]]), 6)
    return keras.Model(given, L.Conv2D(2, 1, activation="sigmoid")(x))


@network()
def auto_encoder():
    x = given = keras.Input((20, 20, 3))
    for filters in (6, 9):
        x = L.Conv2D(filters, 4, 2, padding="same", activation="leaky_relu")(x)
    x = L.Dense(16, activation="tanh")(L.Flatten()(x))
    x = L.Reshape((5, 5, 6))(L.Dense(150, activation="relu")(x))
    x = L.Conv2DTranspose(5, 3, 2, padding="same", activation="relu")(x)
    x = L.Conv2DTranspose(3, 4, 2, padding="valid")(x)
    return keras.Model(given, L.Cropping2D(((1, 1), (0, 2)))(x))


@network()
def super_resolution():
    x = given = keras.Input((13, 11, 3))
    x = L.PReLU(shared_axes=[1, 2])(L.Conv2D(8, 5, padding="same")(x))
    x = L.PReLU(shared_axes=[1, 2])(L.Conv2D(12, 3, padding="same")(x))
    # TFLite's kernels move depth to space too, but the reference ones no integers.
    x = L.Permute((1, 3, 2, 4, 5))(L.Reshape((13, 11, 2, 2, 3))(x))
    x = L.Reshape((26, 22, 3))(x)
    nearest = L.Resizing(26, 22, interpolation="nearest")(given)
    return keras.Model(given, L.Add()([x, nearest]))


@network()
def dilated():
    """A context network: filters with gaps, as in DeepLab, and a resized result."""
    x = given = keras.Input((25, 21, 3))
    x = conv(x, 8, stride=2)
    branches = [conv(x, 6, 1)]
    for rate in (2, 3):
        branches.append(conv(x, 6, 3, dilation_rate=rate))
    branches.append(conv(depthwise(x, dilation_rate=2), 4, 1))
    pooled = conv(L.GlobalAveragePooling2D(keepdims=True)(x), 4, 1)
    branches.append(L.UpSampling2D((13, 11), interpolation="bilinear")(pooled))
    x = L.Conv2D(5, 1)(L.Concatenate()(branches))
    return keras.Model(given, L.Resizing(25, 21)(x))


@network()
def multiplied():
    """Depthwise layers with several filters a channel, odd strides and pads."""
    x = given = keras.Input((19, 14, 3))
    x = L.DepthwiseConv2D((3, 5), 2, depth_multiplier=3, padding="valid", activation="relu")(x)
    x = L.ZeroPadding2D(((1, 2), (0, 1)))(x)
    x = L.DepthwiseConv2D(2, 1, depth_multiplier=2, padding="same")(x)
    x = L.SeparableConv2D(11, 3, depth_multiplier=2, padding="same", activation="relu6")(x)
    x = L.AveragePooling2D((3, 2), (2, 3), padding="same")(x)
    return keras.Model(given, L.Dense(6)(L.Flatten()(x)))


@network()
def xception():
    x = given = keras.Input((29, 29, 3))
    x = conv(x, 8, stride=2)
    for filters in (12, 16):
        y = L.Activation("relu")(x)
        y = L.BatchNormalization()(L.SeparableConv2D(filters, 3, padding="same")(y))
        y = L.MaxPooling2D(3, 2, padding="same")(y)
        x = L.Add()([conv(x, filters, 1, 2, None), y])
    x = L.GlobalMaxPooling2D()(L.Activation("relu")(x))
    return keras.Model(given, L.Dense(5, activation="sigmoid")(x))


@network()
def detector():
    """Heads of boxes and classes at two scales: several outputs of other shapes."""
    x = given = keras.Input((32, 32, 3))
    x = fine = conv(conv(x, 8, stride=2), 12, stride=2)
    coarse = conv(x, 16, stride=2)
    boxes = [L.Reshape((-1, 4))(L.Conv2D(8, 3, padding="same")(t)) for t in (fine, coarse)]
    scores = [L.Reshape((-1, 3))(L.Conv2D(6, 3, padding="same")(t)) for t in (fine, coarse)]
    scores = L.Softmax()(L.Concatenate(1)(scores))
    return keras.Model(given, [L.Concatenate(1)(boxes), scores])


@network()
def siamese():
    """Two inputs, one network on both, and distances between what it gives."""
    left, right = keras.Input((16, 16, 1)), keras.Input((16, 16, 1))
    x = shared = keras.Input((16, 16, 1))
    x = L.Flatten()(L.MaxPooling2D()(L.Conv2D(6, 3, activation="relu")(x)))
    inner = keras.Model(shared, L.Dense(12)(x))
    a, b = inner(left), inner(right)
    apart = L.Subtract()([a, b])
    near = L.Minimum()([a, b]) * L.Maximum()([a, b])
    x = L.Dense(8, activation="relu")(L.Concatenate()([apart * apart, near]) * 0.3)
    return keras.Model([left, right], L.Dense(1, activation="sigmoid")(x))


@network()
def shuffled():
    """ShuffleNet's blocks: channels split, computed, joined and interleaved."""
    x = given = keras.Input((16, 16, 8))
    for _ in range(2):
        a, b = x[..., :4], x[..., 4:]
        b = conv(depthwise(conv(b, 4, 1), activation=None), 4, 1)
        x = L.Reshape((16, 16, 2, 4))(L.Concatenate()([a, b]))
        x = L.Reshape((16, 16, 8))(L.Permute((1, 2, 4, 3))(x))
    return keras.Model(given, classify(x[:, ::2, 1::3]))


# -- sequences --------------------------------------------------------------------------


@network("float", "dynamic")
def lstm():
    x = given = keras.Input((12, 6), batch_size=1)
    x = L.LSTM(10, return_sequences=True)(x)
    return keras.Model(given, L.Dense(4)(L.LSTM(7)(x)))


@network("float")
def two_way_lstm():
    x = given = keras.Input((9, 5), batch_size=1)
    x = L.Bidirectional(L.LSTM(6, return_sequences=True))(x)
    return keras.Model(given, L.Dense(3, activation="softmax")(x))


@network()
def unrolled_lstm():
    x = given = keras.Input((6, 5), batch_size=1)
    return keras.Model(given, L.Dense(4)(L.LSTM(7, unroll=True)(x)))


@network()
def gru():
    x = given = keras.Input((8, 5), batch_size=1)
    x = L.GRU(7, unroll=True, return_sequences=True)(x)
    return keras.Model(given, L.Dense(3)(L.GRU(6, unroll=True, reset_after=False)(x)))


@network()
def simple_rnn():
    x = given = keras.Input((10, 4), batch_size=1)
    return keras.Model(given, L.Dense(2)(L.SimpleRNN(8, unroll=True)(x)))


@network("float")
def looped_rnn():
    """A recurrent layer whose steps are a loop of the model's."""
    x = given = keras.Input((10, 4), batch_size=1)
    return keras.Model(given, L.Dense(2)(L.GRU(5)(x)))


@network("float", "int8", "int16")
def temporal():
    """A TCN: causal convolutions along time with growing gaps."""
    x = given = keras.Input((40, 6))
    for rate in (1, 2, 4):
        y = L.Conv1D(8, 3, padding="causal", dilation_rate=rate, activation="relu")(x)
        y = L.Conv1D(8, 3, padding="causal", dilation_rate=rate)(y)
        x = L.Activation("relu")(L.Add()([L.Conv1D(8, 1)(x), y]))
    return keras.Model(given, L.Dense(3)(x[:, -1]))


@network()
def sounds():
    """Convolutions of one axis over samples, with pools and strides."""
    x = given = keras.Input((400, 1))
    x = L.Conv1D(6, 21, 5, activation="relu")(x)
    x = L.MaxPooling1D(3)(x)
    x = L.SeparableConv1D(10, 5, padding="same", activation="relu")(x)
    x = L.AveragePooling1D(2)(x)
    x = L.Conv1DTranspose(5, 4, 2, padding="same")(x)
    return keras.Model(given, L.Dense(4, activation="softmax")(L.GlobalMaxPooling1D()(x)))


@network("float", "dynamic", "int8")
def keywords():
    """DS-CNN, as it finds words in spectrograms."""
    x = given = keras.Input((49, 10, 1))
    x = conv(x, 16, (10, 4), (2, 2))
    for _ in range(2):
        x = conv(depthwise(x), 16, 1)
    x = L.AveragePooling2D(x.shape[1:3])(x)
    return keras.Model(given, L.Dense(12, activation="softmax")(L.Flatten()(x)))


# -- attention and matrices -------------------------------------------------------------


@network("float", "half", "int8")
def transformer():
    x = given = keras.Input((9, 16))
    y = L.LayerNormalization()(x)
    x = x + L.MultiHeadAttention(2, 8)(y, y)
    y = L.LayerNormalization()(x)
    y = L.Dense(16)(L.Dense(32, activation="gelu")(y))
    return keras.Model(given, L.Dense(3)(L.GlobalAveragePooling1D()(x + y)))


@network()
def patches():
    """A vision transformer: patches as words, one block, a head on the first word."""
    x = given = keras.Input((16, 16, 3))
    x = L.Reshape((16, 12))(L.Conv2D(12, 4, 4)(x))
    places = L.Embedding(16, 12)(ops.arange(16))
    x = x + places
    x = x + L.MultiHeadAttention(3, 4)(L.LayerNormalization()(x), L.LayerNormalization()(x))
    x = x + L.Dense(12)(L.Activation("gelu")(L.Dense(24)(L.LayerNormalization()(x))))
    return keras.Model(given, L.Dense(5, activation="softmax")(x[:, 0]))


@network()
def mixer():
    """MLP-Mixer: dense layers along words, then along channels."""
    x = given = keras.Input((12, 8))
    for _ in range(2):
        y = L.Permute((2, 1))(L.LayerNormalization()(x))
        y = L.Dense(12)(L.Dense(10, activation="gelu")(y))
        x = L.Add()([x, L.Permute((2, 1))(y)])
        y = L.Dense(8)(L.Dense(20, activation="gelu")(L.LayerNormalization()(x)))
        x = L.Add()([x, y])
    return keras.Model(given, L.Dense(4)(L.GlobalAveragePooling1D()(x)))


@network()
def words():
    """Embedded words, which are whole numbers, with a mask made from them."""
    given = keras.Input((14,), dtype="int32")
    x = L.Embedding(20, 8)(given)
    mask = ops.expand_dims(ops.cast(ops.not_equal(given, 0), "float32"), -1)
    x = ops.mean(x * mask, 1) / ops.maximum(ops.mean(mask, 1), 0.05)
    return keras.Model(given, L.Dense(3, activation="softmax")(L.Dense(10, "relu")(x)))


@network()
def perceptron():
    x = given = keras.Input((50,))
    for units, activation in ((31, "relu"), (17, "tanh"), (23, "sigmoid"), (9, "softplus")):
        x = L.Dense(units, activation)(x)
    return keras.Model(given, L.Dense(2)(x))


@network()
def products():
    """Matrix products of two inputs, by einsum and by matmul, and a softmax between."""
    generator = tf.random.Generator.from_seed(3)
    w = generator.normal((2, 6, 5))

    @tf.function
    def run(a, b):
        scores = tf.nn.softmax(tf.einsum("bik,bjk->bij", a, b) * 0.4)
        mixed = tf.matmul(scores, b)
        return tf.einsum("bik,hkd->bhid", mixed, w), tf.matmul(a, b, transpose_a=True)
    return run, [(1, 7, 6), (1, 7, 6)]


@network()
def moves():
    """Slices, stacks, splits, tiles, pads and transposes of a tensor."""
    @tf.function
    def run(x):
        a, b = tf.split(x[:, 1:9:2, ::-1], 2, axis=3)
        y = tf.stack([a, tf.reverse(b, [1])], axis=1)
        y = tf.transpose(y, (0, 2, 1, 3, 4))[:, :, 1]
        y = tf.pad(y, ((0, 0), (1, 0), (0, 2), (0, 0)))
        y = tf.concat([y, y[..., :1], y[..., 1:2]], -1)
        z = tf.gather(x, [3, 0, 5], axis=2)
        return tf.nn.space_to_depth(y[:, :4, :6], 2), tf.unstack(z, axis=2)[1], tf.reduce_max(y, 2)
    return run, [(1, 10, 7, 4)]


@network()
def functions():
    """Functions of single numbers, sums and comparisons."""
    @tf.function
    def run(x, y):
        a = tf.sqrt(tf.abs(x) + 0.1) + tf.exp(-tf.square(y))
        b = tf.math.rsqrt(1.0 + tf.square(x)) * tf.sin(y) + tf.cos(x)
        c = tf.where(x > y, a, b) - tf.math.log(1.5 + tf.abs(y))
        d = tf.math.floor(3.0 * x) + tf.math.log_softmax(y) + tf.math.l2_normalize(x, -1)
        return c, d, tf.reduce_mean(c * d, [1, 2]), tf.math.squared_difference(x, y)
    return run, [(1, 6, 5, 4), (1, 6, 5, 4)]
