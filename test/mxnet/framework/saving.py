"""Saves networks of MXNet with random parameters, as Gluon's export and the Module API do, and
beside each NAME.npz: inputs in_NAME, MXNet's outputs out_0, out_1, ..., and the largest error."""

import zlib

import mxnet as mx
import numpy as np


def seed(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def draw(random, name, shape):
    """A random parameter whose name says what it is."""
    if name.endswith(("running_var", "moving_var", "gamma")):
        return random.uniform(0.5, 1.5, shape)
    if name.endswith(("beta", "bias", "running_mean", "moving_mean")):
        return random.normal(0, 0.1, shape)
    if len(shape) < 2:
        return random.normal(0, 0.2, shape)
    return random.normal(0, (2 / np.prod(shape[1:]))**0.5, shape)


def flatten(outputs):
    if isinstance(outputs, (list, tuple)):
        return [array for output in outputs for array in flatten(output)]
    return [outputs.asnumpy()]


def save_arrays(folder, name, feeds, outputs, error=1e-5):
    np.savez(folder / f"{name}.npz", error=error,
             **{f"in_{key}": value for key, value in feeds.items()},
             **{f"out_{i}": value for i, value in enumerate(outputs)})


def randomize(block, random):
    """Draws the parameters of a block again. Constants, such as anchors, keep their values."""
    array = mx.np.array if mx.util.is_np_array() else mx.nd.array
    for key, parameter in block.collect_params().items():
        if isinstance(parameter, mx.gluon.Constant) or "anchor" in key or "offset" in key:
            continue
        if np.dtype(parameter.dtype).kind == "f":
            parameter.set_data(array(draw(random, key, parameter.shape), dtype=parameter.dtype))


def prepare(block, values, random, infers=False):
    """Gives a block random parameters. With `infers` their shapes are inferred without a forward
    pass, which would bring weights of convolutions into layouts of oneDNN that cannot be set."""
    block.initialize(mx.init.Normal(0.1), force_reinit=True)
    block.hybridize()
    if infers:
        block.infer_shape(*values)
        for parameter in block.collect_params().values():
            parameter._finish_deferred_init()
    else:
        block(*values)
    randomize(block, random)


def save_block(folder, name, block, inputs, infers=False):
    """Saves a HybridBlock that takes the arrays `inputs`."""
    array = mx.np.array if mx.util.is_np_array() else mx.nd.array
    values = [array(value, dtype=value.dtype) for value in inputs]
    prepare(block, values, seed(name), infers)
    outputs = flatten(block(*values))
    block.export(str(folder / name))
    symbol = mx.sym.load(str(folder / f"{name}-symbol.json"))
    names = [key for key in symbol.list_inputs()
             if key == "data" or key.startswith("data") and key[4:].isdigit()]
    if names == ["data"]:
        feeds = {"data": inputs[0]}
    else:
        feeds = {f"data{i}": value for i, value in enumerate(inputs) if f"data{i}" in names}
    # Recurrent layers have first states as inputs, which are zeros if they are not given.
    others = [key for key in names if key not in feeds]
    if others:
        shapes, _, _ = symbol.infer_shape(**{key: value.shape for key, value in feeds.items()})
        known = dict(zip(symbol.list_arguments(), shapes))
        feeds.update({key: np.zeros(known[key], np.float32) for key in others})
    save_arrays(folder, name, feeds, outputs)


def save_symbol(folder, name, symbol, feeds, args=None, aux=None, error=1e-5):
    """Saves a symbol as Module's save_checkpoint does, and returns its parameters. Those that are
    not given are drawn."""
    random = seed(name)
    args, aux = dict(args or {}), dict(aux or {})
    arg_shapes, _, aux_shapes = symbol.infer_shape(**{k: v.shape for k, v in feeds.items()})
    labels = {}
    for key, shape in zip(symbol.list_arguments(), arg_shapes):
        if key.endswith("label"):
            labels[key] = mx.nd.zeros(shape)
        elif key not in feeds and key not in args:
            args[key] = mx.nd.array(draw(random, key, shape))
    for key, shape in zip(symbol.list_auxiliary_states(), aux_shapes):
        if key not in aux:
            aux[key] = mx.nd.array(draw(random, key, shape))
    given = {key: mx.nd.array(value, dtype=value.dtype) for key, value in feeds.items()}
    executor = symbol.bind(mx.cpu(), {**args, **given, **labels}, aux_states=aux,
                           grad_req="null")
    outputs = flatten(executor.forward(is_train=False))
    mx.model.save_checkpoint(str(folder / name), 0, symbol, args, aux)
    save_arrays(folder, name, feeds, outputs, error)
    return args, aux
