"""Networks of the Module API: symbols, quantized ones, ones that oneDNN's operators are fused in,
and ones of halves."""

import mxnet as mx
import numpy as np
from mxnet import sym
from mxnet.contrib import amp, quantization
from mxnet.gluon.model_zoo import vision

import saving

QUANTIZED = 0.03  # of the largest number: some steps of 8 bits
HALVES = 1e-3
SAVERS = {}


def make_network():
    """A network of images that has a sum, a concatenation and an output of training."""
    x = sym.Convolution(sym.var("data"), kernel=(3, 3), num_filter=8, pad=(1, 1), name="conv1")
    x = sym.Activation(sym.BatchNorm(x, name="bn1", fix_gamma=False), act_type="relu")
    x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    x = sym.Convolution(x, kernel=(3, 3), num_filter=12, pad=(1, 1), no_bias=True, name="conv2")
    y = sym.Activation(sym.BatchNorm(x, name="bn2"), act_type="relu")
    x = sym.Convolution(y, kernel=(1, 1), num_filter=12, name="conv3")
    x = sym.Concat(sym.Activation(sym.elemwise_add(x, y), act_type="relu"), y, dim=1)
    x = sym.Flatten(sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="avg"))
    x = sym.Activation(sym.FullyConnected(x, num_hidden=20, name="fc1"), act_type="relu")
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=10, name="fc2"), name="softmax")


def make_image(*shape):
    return saving.seed("image").normal(0, 1, shape).astype(np.float32)


def save_float(folder, name):
    """The network's symbol, its image and its parameters."""
    symbol, image = make_network(), make_image(2, 3, 16, 16)
    return (symbol, image,
            *saving.save_symbol(folder, f"{name}_float", symbol, {"data": image}))


def quantize(folder, name, **options):
    symbol, image, args, aux = save_float(folder, name)
    options = {"calib_mode": "naive", "quantized_dtype": "auto", **options}
    if options["calib_mode"] != "none":
        options |= {"calib_data": mx.io.NDArrayIter(mx.nd.array(image), None, len(image)),
                    "num_calib_examples": len(image)}
    made = quantization.quantize_model_mkldnn(
        symbol.get_backend_symbol("MKLDNN_QUANTIZE"), args, aux, data_names=("data",),
        label_names=("softmax_label",), ctx=mx.cpu(), **options)
    saving.save_symbol(folder, name, made[0], {"data": image}, *made[1:], error=QUANTIZED)


for suffix, given in {"": {}, "_full": {"quantize_mode": "full"},
                      "_by_channel": {"quantize_granularity": "channel-wise"},
                      "_entropy": {"calib_mode": "entropy"},
                      "_uncalibrated": {"calib_mode": "none"}}.items():
    SAVERS[f"quantized{suffix}"] = (
        lambda folder, name, given=given: quantize(folder, name, **given))


def quantize_block(folder, name, network, size):
    image = make_image(1, 3, size, size)
    block = vision.get_model(network, classes=20)
    saving.prepare(block, [mx.nd.array(image)], saving.seed(name), infers=True)
    made = quantization.quantize_net(
        block, quantized_dtype="auto", calib_mode="naive", num_calib_examples=1,
        calib_data=mx.io.NDArrayIter(mx.nd.array(image), None, 1), ctx=mx.cpu(),
        data_shapes=[mx.io.DataDesc("data", image.shape)])
    outputs = saving.flatten(made(mx.nd.array(image)))
    made.export(str(folder / name))
    saving.save_arrays(folder, name, {"data": image}, outputs, QUANTIZED)


# Not ResNets: where a sum of int8 becomes uint8, MXNet 1.9 gives at most 127 of 255.
for model, width in {"mobilenet0.25": 64, "squeezenet1.1": 224, "vgg11": 64}.items():
    SAVERS[f"quantized_{model}"] = (lambda folder, name, model=model, width=width:
                                    quantize_block(folder, name, model, width))


def save_module(folder, name):
    saving.save_symbol(folder, name, make_network(), {"data": make_image(2, 3, 16, 16)})


def save_deformable(folder, name, has_mask):
    """A deformable convolution whose offsets move some taps out of the image."""
    random = saving.seed(name)
    feeds = {"data": make_image(1, 4, 9, 8),
             "offset": random.normal(0, 1.5, (1, 36, 9, 8)).astype(np.float32)}
    if has_mask:
        feeds["mask"] = random.uniform(0, 1, (1, 18, 9, 8)).astype(np.float32)
    make = (sym.contrib.ModulatedDeformableConvolution if has_mask else
            sym.contrib.DeformableConvolution)
    symbol = make(**{key: sym.var(key) for key in feeds}, name="deformable", kernel=(3, 3),
                  pad=(1, 1), num_filter=6, num_deformable_group=2)
    saving.save_symbol(folder, name, symbol, feeds)


def save_fused(folder, name):
    """Floats in the operators of oneDNN's graphs."""
    symbol, image, args, aux = save_float(folder, name)
    saving.save_symbol(folder, name, symbol.get_backend_symbol("MKLDNN"), {"data": image}, args,
                       aux)


def save_halves(folder, name, dtype, **options):
    """A network of halves, of which MXNet itself runs the float32 form alone on CPUs."""
    symbol, _, args, aux = save_float(folder, name)
    made = amp.convert_model(symbol, args, aux, target_dtype=dtype, **options)
    mx.model.save_checkpoint(str(folder / name), 0, *made)
    arrays = dict(np.load(folder / f"{name}_float.npz"))
    arrays["error"] = HALVES if dtype == "float16" else 1e-2
    np.savez(folder / f"{name}.npz", **arrays)


SAVERS |= {
    "module": save_module,
    "deformable": lambda folder, name: save_deformable(folder, name, False),
    "deformable_modulated": lambda folder, name: save_deformable(folder, name, True),
    "fused": save_fused,
    "halves": lambda folder, name: save_halves(folder, name, "float16"),
    "halves_of_weights": lambda folder, name: save_halves(folder, name, "float16",
                                                          cast_optional_params=True),
    "brain_halves": lambda folder, name: save_halves(folder, name, "bfloat16",
                                                     cast_optional_params=True)}
