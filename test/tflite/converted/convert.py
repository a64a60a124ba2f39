#!/usr/bin/env python3
"""Converts the networks of networks.py by TensorFlow, and runs them by LiteRT's reference
kernels. Runs where both are installed, apart from nnc.

    convert.py FOLDER [NETWORK...]

writes NETWORK.FORM.tflite, and beside it NETWORK.FORM.npz with the names of the inputs, their
values in0, in1, ... and what the kernels make of them, out0, out1, ... The forms are:

    float     floats
    half      weights of float16
    dynamic   weights of int8, which LiteRT multiplies by inputs that it quantizes when it
              runs; since nnc computes such layers in floats, the outputs are those of the
              model with its weights dequantized
    int8      activations and weights of int8, inputs and outputs too
    int16     activations of int16, weights of int8, inputs and outputs of floats
"""

import os
import pathlib
import sys
import warnings
import zlib

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", KERAS_BACKEND="tensorflow")
warnings.filterwarnings("ignore")

import keras
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from tensorflow.lite.python import schema_py_generated as schema
from tensorflow.lite.tools import flatbuffer_utils

import networks

WORDS = 20  # Inputs of whole numbers count words.


def disturb(model, random):
    """Changes the weights that Keras initializes with zeros and ones."""
    for weight in model.weights:
        name, shape = weight.path.rsplit("/", 1)[-1], weight.shape
        if name in ("bias", "beta", "moving_mean"):
            weight.assign(weight + random.normal(0, 0.2, shape))
        elif name in ("gamma", "moving_variance", "alpha"):
            weight.assign(random.uniform(0.5, 1.5, shape))


def sample(specs, random):
    return [random.integers(0, WORDS, shape).astype(np.int32) if dtype == tf.int32 else
            random.standard_normal(shape).astype(np.float32) for shape, dtype in specs]


def prepare(name, random):
    """(function that makes a converter, shapes and types of inputs) of a network."""
    made = networks.NETWORKS[name][0]()
    if isinstance(made, keras.Model):
        disturb(made, random)
        specs = [((1, *x.shape[1:]), tf.as_dtype(x.dtype)) for x in made.inputs]
        return lambda: tf.lite.TFLiteConverter.from_keras_model(made), specs
    function, shapes = made
    concrete = function.get_concrete_function(*(tf.TensorSpec(s, tf.float32) for s in shapes))
    return (lambda: tf.lite.TFLiteConverter.from_concrete_functions([concrete], function),
            [(shape, tf.float32) for shape in shapes])


def convert(converter, form, specs, random):
    sets = tf.lite.OpsSet
    if form != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if form == "half":
        converter.target_spec.supported_types = [tf.float16]
    if form in ("int8", "int16"):
        calibration = [sample(specs, random) for _ in range(20)]
        converter.representative_dataset = lambda: iter(calibration)
    if form == "int8":
        converter.target_spec.supported_ops = [sets.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    if form == "int16":
        converter.target_spec.supported_ops = [
            sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
    return converter.convert()


def dequantize_weights(content):
    """The model with dequantized weights in the layers that compute in floats."""
    model = flatbuffer_utils.convert_bytearray_to_object(content)
    for graph in model.subgraphs:
        for op in graph.operators:
            used = [graph.tensors[t] for t in op.inputs if t >= 0]
            if used and used[0].type == schema.TensorType.FLOAT32:
                for tensor in used[1:]:
                    if tensor.type == schema.TensorType.INT8 and tensor.buffer:
                        dequantize(tensor, model.buffers)
    return bytes(flatbuffer_utils.convert_object_to_bytearray(model))


def dequantize(tensor, buffers):
    given, tensor.quantization = tensor.quantization, None
    scale, shape = np.array(given.scale, np.float32), [1] * len(tensor.shape)
    if scale.size > 1:
        shape[given.quantizedDimension] = scale.size
    x = np.array(buffers[tensor.buffer].data, np.uint8).view(np.int8).reshape(tensor.shape)
    made = schema.BufferT()
    made.data = np.frombuffer((x * scale.reshape(shape)).tobytes(), np.uint8)
    tensor.type, tensor.buffer = schema.TensorType.FLOAT32, len(buffers)
    buffers.append(made)


def compute(content, random):
    """Inputs and outputs of one run."""
    interpreter = Interpreter(model_content=content,
                              experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    details = interpreter.get_input_details()
    named = {detail["index"]: detail["name"] for detail in details}
    for signature in interpreter._get_full_signature_list().values():
        named.update((tensor, name) for name, tensor in signature["inputs"].items())
    arrays = {"names": np.array([named[d["index"]] for d in details])}
    for i, detail in enumerate(details):
        dtype = detail["dtype"]
        shape = detail["shape"]
        if np.issubdtype(dtype, np.floating):
            x = random.standard_normal(shape)
        elif dtype == np.int32:
            x = random.integers(0, WORDS, shape)
        else:
            info = np.iinfo(dtype)
            x = random.integers(info.min, info.max, shape, endpoint=True)
        arrays[f"in{i}"] = x.astype(dtype)
        interpreter.set_tensor(detail["index"], arrays[f"in{i}"])
    interpreter.invoke()
    for i, detail in enumerate(interpreter.get_output_details()):
        arrays[f"out{i}"] = interpreter.get_tensor(detail["index"])
    return arrays


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in sys.argv[2:] or networks.NETWORKS:
        seed = zlib.crc32(name.encode())
        keras.utils.set_random_seed(seed)
        random = np.random.default_rng(seed)
        make, specs = prepare(name, random)
        for form in networks.NETWORKS[name][1]:
            path = folder / f"{name}.{form}.tflite"
            print(path.stem, flush=True)
            content = convert(make(), form, specs, random)
            path.write_bytes(content)
            if form == "dynamic":
                content = dequantize_weights(content)
            np.savez(path.with_suffix(".npz"), **compute(content, random))
        keras.backend.clear_session()


if __name__ == "__main__":
    main()
