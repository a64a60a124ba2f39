"""Networks in the style of NumPy: Gluon's layers after npx.set_np(), and functions of mx.np."""

import numpy as np
from mxnet import gluon
from mxnet.gluon import nn

BLOCKS = {}


class Calls(gluon.HybridBlock):
    """A block that calls a function of its layers and its inputs."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function = function
        with self.name_scope():
            self.layers = [layer() for layer in layers]
            for layer in self.layers:
                self.register_child(layer)

    def hybrid_forward(self, F, *inputs):
        return self.function(F, self.layers, *inputs)


def reals(random, *shape):
    return random.normal(0, 1, shape).astype(np.float32)


def sequential(*layers):
    block = nn.HybridSequential()
    block.add(*layers)
    return block


def perceptron(_, random):
    return sequential(nn.Dense(16, activation="relu"), nn.Dropout(0.5),
                      nn.Dense(8, activation="tanh"), nn.Dense(3)), [reals(random, 4, 7)]


def images(_, random):
    return sequential(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"),
                      nn.MaxPool2D(2), nn.Conv2D(6, 3), nn.LeakyReLU(0.1), nn.AvgPool2D(2),
                      nn.Flatten(), nn.Dense(5)), [reals(random, 2, 3, 16, 16)]


def embedding(_, random):
    return (sequential(nn.Embedding(30, 8), nn.LayerNorm(), nn.Dense(6, flatten=False)),
            [random.integers(0, 30, (3, 5)).astype(np.float32)])


def attend(F, layers, x):
    q, k, v = (F.np.transpose(F.npx.reshape(layer(x), (-2, -2, 4, -1)), (0, 2, 1, 3))
               for layer in layers[:3])
    weights = F.npx.softmax(F.np.matmul(q, F.np.swapaxes(k, 2, 3)) / 8**0.5, axis=-1)
    y = F.np.transpose(F.np.matmul(weights, v), (0, 2, 1, 3))
    return layers[3](F.npx.reshape(y, (-2, -2, -1)))


def attention(_, random):
    return (Calls(attend, *[lambda: nn.Dense(32, flatten=False)] * 4), [reals(random, 2, 6, 32)])


BLOCKS |= {f"np_{f.__name__}": (f, None) for f in (perceptron, images, embedding, attention)}

# Functions of a tensor of shape 3 x 4 x 5, several of which are one network.
FUNCTIONS = {
    "unary": lambda np, npx, x: [
        getattr(np, name)(np.clip(np.absolute(x) * 0.3 + 0.05, 0.05, 0.95)) for name in (
            "exp expm1 log log2 log10 log1p sqrt square cbrt sin cos tan sinh cosh tanh arcsin "
            "arccos arctan arcsinh arctanh floor ceil trunc fix rint sign negative reciprocal "
            "degrees radians logical_not isnan isinf isfinite isposinf isneginf").split()],
    "binary": lambda np, npx, x: [
        getattr(np, name)(*operands) for name in (
            "add subtract multiply true_divide mod maximum minimum hypot arctan2 copysign equal "
            "not_equal greater greater_equal less less_equal ldexp").split()
        for operands in ((x, x[0] * 2), (x, 1.5), (1.5, x)) if name != "copysign" or
        not any(isinstance(operand, float) for operand in operands)],
    "reductions": lambda np, npx, x: [
        getattr(np, name)(x, **how) for name in "sum mean max min prod var std any all".split()
        for how in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}, {"axis": (0, 2)})],
    "searches": lambda np, npx, x: [
        np.argmax(x), np.argmin(x, axis=1), np.sort(x, axis=1), np.argsort(x, axis=-1),
        np.average(x, axis=1), np.cumsum(x, axis=1), np.cumsum(x), npx.topk(x, k=2)],
    "shapes": lambda np, npx, x: [
        np.reshape(x, (4, 15)), x.reshape((-1, 5)), npx.reshape(x, (-2, -5)), x.T,
        npx.reshape(x, (-2, -6, 2, -1, -2)), np.swapaxes(x, 0, 2), np.moveaxis(x, 0, -1),
        np.expand_dims(x, 1), np.squeeze(x[:, :1], axis=1), np.atleast_3d(x[0]), np.ravel(x),
        np.broadcast_to(x[:1], (3, 4, 5)), npx.reshape_like(x, x)],
    "parts": lambda np, npx, x: [
        x[1], x[:, 1:3], x[::-1], x[:, :, ::2], *np.split(x, 2, axis=1),
        *np.split(x, (1, 3), axis=2), *np.array_split(x, 3, axis=1), *np.hsplit(x, 2),
        *np.vsplit(x, 3), *np.dsplit(x, 5), np.take(x, np.arange(2), axis=1), np.diff(x, n=2),
        np.diff(x, axis=1)],
    "joins": lambda np, npx, x: [
        np.concatenate([x, x * 2], axis=1), np.stack([x, x * 2], axis=1), np.vstack([x, x]),
        np.column_stack([x, x]), np.tile(x, (2, 1, 1)), np.repeat(x, 2, axis=1),
        np.repeat(x, 2)],
    "moves": lambda np, npx, x: [
        np.flip(x, axis=0), np.flip(x), np.fliplr(x), np.roll(x, 2, axis=1), np.roll(x, 2),
        np.rot90(x), np.rot90(x, 3, axes=(1, 2)), np.pad(x, ((0, 0), (1, 2), (2, 1))),
        np.pad(x, ((0, 0), (1, 2), (2, 1)), "edge"), np.tril(x), np.tril(x, 1)],
    "matrices": lambda np, npx, x: [
        np.diag(x[0]), np.diag(x[0, 0], 1), np.diagonal(x, 1, 1, 2), np.trace(x, 0, 1, 2),
        np.diagflat(x[0, 0]), np.dot(x, x[0].T), np.matmul(x, np.swapaxes(x, 1, 2)),
        np.tensordot(x, x, axes=([0, 1], [0, 1])), np.tensordot(x, x[0].T, 1),
        np.einsum("bij,bkj->bik", x, x), np.einsum("bij->b", x), np.inner(x, x[0]),
        np.outer(x[0, 0], x[1, 1]), np.vdot(x[0, 0], x[1, 1]), np.polyval(x[0, 0], x),
        np.linalg.norm(x), np.linalg.norm(x, axis=1)],
    "constants": lambda np, npx, x: [
        x + np.zeros((5,)), np.ones_like(x), np.full_like(x, 3), x + np.arange(5),
        x[:, :4, :4] + np.eye(4), x[:, :4, :4] + np.identity(4), x + np.linspace(0, 1, 5),
        x + np.logspace(0, 1, 5), x * np.hanning(5), x * np.hamming(5), x * np.blackman(5)],
    "choices": lambda np, npx, x: [
        np.where(x > 0, x, x * 2), np.where(x > 0, x, 0.0), np.where(x > 0, 1.0, x),
        np.clip(x, -0.5, 0.5), np.around(x), np.around(x, 1), np.nan_to_num(x), x * (x > 0),
        (x > 0).sum(axis=1), np.bitwise_xor(x.astype("int32"), 3), x.astype("int32")],
    "layers": lambda np, npx, x: [
        npx.relu(x), npx.sigmoid(x), npx.leaky_relu(x, act_type="gelu"), npx.softmax(x),
        npx.log_softmax(x, axis=1), npx.one_hot(np.argmax(x, axis=1), 4), npx.erf(x),
        npx.pick(x, np.argmax(x, axis=2), axis=2), npx.batch_dot(x, x, transpose_b=True),
        npx.smooth_l1(x), npx.arange_like(x, axis=1),
        npx.layer_norm(x, np.ones((5,)), np.zeros((5,)))],
}
for kind, function in FUNCTIONS.items():
    BLOCKS[f"np_{kind}"] = (
        lambda _, random, function=function:
        (Calls(lambda F, layers, x: function(F.np, F.npx, x)), [reals(random, 3, 4, 5)]), None)
