"""Sound models, and broken ones with one fault each. The table at the end lists how nnc has to
answer: the exit code, and what the message must name."""

import dataclasses
import os
import pathlib
from typing import Callable

import numpy as np
from onnx import (AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper,
                  numpy_helper)

from outcome import BROKEN, LACKING, LIMIT, USAGE


# -- sound models to break --------------------------------------------------------


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def result(name="y", rank=4, dtype=TensorProto.FLOAT):
    """An output of which only the rank is declared."""
    return value(name, [f"d{axis}" for axis in range(rank)], dtype)


def model(nodes, inputs=None, outputs=None, initializers=(), functions=(), opset=17,
          domains=()):
    inputs = [value("x", [1, 3, 8, 8])] if inputs is None else inputs
    outputs = [result()] if outputs is None else outputs
    graph = helper.make_graph(nodes, "broken", inputs, outputs, list(initializers))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)


def node(op_type, inputs, outputs, name="culprit", **attributes):
    return helper.make_node(op_type, inputs, outputs, name, **attributes)


def weights(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def sound():
    """A convolution, a ReLU, a pooling and a dense head: the model whose bytes are flipped."""
    return model(
        [node("Conv", ["x", "w", "b"], ["c"], "conv1", pads=[1] * 4, kernel_shape=[3, 3]),
         node("Relu", ["c"], ["r"], "relu1"),
         node("GlobalAveragePool", ["r"], ["p"], "pool1"),
         node("Flatten", ["p"], ["f"], "flatten1"),
         node("Gemm", ["f", "k"], ["y"], "dense1", transB=1)],
        initializers=[constant("w", weights(4, 3, 3, 3)), constant("b", weights(4)),
                      constant("k", weights(10, 4))],
        outputs=[value("y", [1, 10])])


def with_function():
    body = [node("Conv", ["a", "k"], ["t"], "inner", pads=[1] * 4),
            node("Relu", ["t"], ["b"], "act")]
    opsets = [helper.make_opsetid("", 17)]
    block = helper.make_function("local", "Block", ["a", "k"], ["b"], body, opsets)
    return model([node("Block", ["x", "w"], ["r"], "one", domain="local"),
                  node("Block", ["r", "w"], ["y"], "two", domain="local")],
                 initializers=[constant("w", weights(3, 3, 3, 3))], domains=["local"],
                 functions=[block])


def with_branches():
    """A model with a choice that static shapes decide, as exporters write it, and one that they
    do not decide."""
    then, otherwise = (
        helper.make_graph([node(op, ["x"], ["z"], op)], op, [], [value("z", [1, 3, 8, 8])])
        for op in ("Relu", "Sigmoid"))
    return model(
        [node("Shape", ["x"], ["s"], "shape"), node("Gather", ["s", "i"], ["n"], "pick"),
         node("Equal", ["n", "i"], ["is_one"], "compare"),
         node("If", ["is_one"], ["a"], "known", then_branch=then, else_branch=otherwise),
         node("If", ["flag"], ["b"], "open", then_branch=then, else_branch=otherwise),
         node("Concat", ["a", "b"], ["y"], "join", axis=1)],
        inputs=[value("x", [1, 3, 8, 8]), value("flag", [], TensorProto.BOOL)],
        initializers=[constant("i", np.int64(1))])


def with_quantization():
    return model(
        [node("QuantizeLinear", ["x", "s", "o"], ["q"], "quantize"),
         node("DequantizeLinear", ["q", "s", "o"], ["d"], "dequantize"),
         node("DequantizeLinear", ["k", "ks", "ko"], ["w"], "weights", axis=0),
         node("Conv", ["d", "w"], ["y"], "conv1")],
        initializers=[constant("s", np.float32(0.1)), constant("o", np.uint8(128)),
                      constant("k", np.arange(-18, 18, dtype=np.int8).reshape(4, 3, 1, 3)),
                      constant("ks", np.full(4, 0.5, np.float32)),
                      constant("ko", np.zeros(4, np.int8))])


def with_external_data():
    """A model whose weights are the first bytes of weights.bin."""
    made = sound()
    offset = 0
    for tensor in made.graph.initializer:
        entries = dict(location="weights.bin", offset=offset, length=len(tensor.raw_data))
        offset += len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, held in entries.items():
            tensor.external_data.add(key=key, value=str(held))
    return made


def sound_ones():
    return [sound(), with_function(), with_branches(), with_quantization(),
            with_external_data()]


# -- the file itself ----------------------------------------------------------------


def truncated(share):
    def write(path):
        whole = sound().SerializeToString()
        path.write_bytes(whole[:int(len(whole) * share)])
    return write


def flipped(seed):
    """The sound model with a few changed bytes. Some of these are still models."""
    def write(path):
        random = np.random.default_rng([6, seed])
        data = bytearray(sound().SerializeToString())
        for _ in range(1 + seed % 4):
            data[random.integers(len(data))] ^= 1 << random.integers(8)
        path.write_bytes(data)
    return write


def not_utf8(path):
    path.write_bytes(sound().SerializeToString().replace(b"conv1", b"c\xff\xfev1"))


def noise(path):
    path.write_bytes(np.random.default_rng(7).bytes(5000))


def text(path):
    path.write_text("not a model but a letter\n" * 20)


# -- wrong graphs -----------------------------------------------------------------


def cyclic():
    return model([node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"], "other"),
                  node("Relu", ["a"], ["y"], "last")])


def self_cycle():
    return model([node("Add", ["x", "y"], ["y"])])


def mixed_types():
    return model([node("Add", ["x", "i"], ["y"])],
                 initializers=[constant("i", np.ones((1, 3, 8, 8), np.int64))])


def wrong_type_for_op():
    return model([node("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1])],
                 inputs=[value("x", [1, 3, 8, 8], TensorProto.INT64)],
                 initializers=[constant("w", np.ones((4, 3, 1, 1), np.int64))])


def complex_input():
    return model([node("Size", ["x"], ["y"])], [value("x", [2], TensorProto.COMPLEX64)],
                 [value("y", [], TensorProto.INT64)])


def casts_to_strings():
    return model([node("Cast", ["x"], ["h"], to=TensorProto.STRING),
                  node("Cast", ["h"], ["y"], "back", to=TensorProto.FLOAT)], opset=21)


def mixes_halves():
    """A sum of float16 and float32."""
    return model([node("Cast", ["x"], ["h"], "half", to=TensorProto.FLOAT16),
                  node("Add", ["x", "h"], ["y"])])


def output_half_lie():
    return model([node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)],
                 outputs=[result(dtype=TensorProto.FLOAT16)])


def packed(data_type, dims, data, raw=True):
    """A tensor with data of any size, which may not fit its dimensions."""
    tensor = TensorProto(name="w", data_type=data_type, dims=dims)
    if raw:
        tensor.raw_data = data
    else:
        tensor.int32_data.extend(data)
    return tensor


def dequantized(tensor, **how):
    return model([node("DequantizeLinear", ["w", "s"], ["d"], **how),
                  node("Add", ["x", "d"], ["y"], "sum")], opset=25,
                 initializers=[tensor, constant("s", np.float32(0.5))])


def half_weights_cut_off():
    return model([node("Cast", ["w"], ["c"], "widen", to=TensorProto.FLOAT),
                  node("Add", ["x", "c"], ["y"])],
                 initializers=[packed(TensorProto.FLOAT16, [8], b"\0" * 15)])


def packed_with_scales(scales, zeros=None, shape=(3, 5), data_type=TensorProto.INT4, **how):
    """4-bit integers with scales and zero points of any shape."""
    count = int(np.prod(shape))
    zeros = [] if zeros is None else [packed(data_type, [len(zeros)], bytes(
        sum(z << 4 * i for i, z in enumerate(zeros[at:at + 2])) for at in
        range(0, len(zeros), 2)))]
    weight = packed(data_type, shape, b"\x21" * ((count + 1) // 2))
    for tensor in zeros:
        tensor.name = "z"
    return model([node("DequantizeLinear", ["w", "s", *(t.name for t in zeros)], ["d"], **how),
                  node("MatMul", ["x", "d"], ["y"], "product")], opset=21,
                 inputs=[value("x", [2, shape[0]])], outputs=[result(rank=2)],
                 initializers=[weight, constant("s", np.asarray(scales, np.float32)), *zeros])


def quantizes_to_4_bits(scale):
    return model([node("QuantizeLinear", ["x", "s"], ["q"], output_dtype=TensorProto.INT4),
                  node("DequantizeLinear", ["q", "s"], ["y"], "back")], opset=21,
                 initializers=[constant("s", np.float32(scale))])


def output_shape_lie():
    return model([node("Relu", ["x"], ["y"])], outputs=[value("y", [1, 3, 9, 9])])


def output_rank_lie():
    return model([node("Relu", ["x"], ["y"])], outputs=[value("y", [1, 3])])


def value_info_lie():
    made = model([node("Relu", ["x"], ["a"]), node("Neg", ["a"], ["y"], "last")])
    made.graph.value_info.append(value("a", [1, 4, 8, 8]))
    return made


def initializer_lie():
    """An input whose initial value has another shape."""
    return model([node("Add", ["x", "w"], ["y"])],
                 [value("x", [1, 3, 8, 8]), value("w", [7])],
                 initializers=[constant("w", weights(8))])


def trains_batch_norm():
    made = model([node("BatchNormalization", ["x", "s", "s", "s", "s"],
                       ["y", "m", "v", "sm", "sv"])], opset=9,
                 initializers=[constant("s", weights(3))])
    return made


def trains_dropout():
    return model([node("Dropout", ["x", "r", "t"], ["y"])],
                 initializers=[constant("r", np.float32(0.5)), constant("t", np.bool_(True))])


def cyclic_branch():
    """A branch whose nodes form a cycle."""
    made = with_branches()
    graph = made.graph.node[3].attribute[0].g
    graph.node[0].input[0] = "t"
    graph.node.append(node("Neg", ["z"], ["t"]))
    return made


def output_type_lie():
    return model([node("Relu", ["x"], ["y"])], outputs=[result(dtype=TensorProto.INT32)])


def undefined_input():
    return model([node("Add", ["x", "nowhere"], ["y"])])


def too_few_inputs():
    return model([node("Conv", ["x"], ["y"])])


def left_out_input():
    """Omits an input in a list whose inputs are all required."""
    return model([node("Min", ["", "x"], ["y"])])


def too_many_inputs():
    return model([node("Relu", ["x", "x"], ["y"])])


def output_never_made():
    return model([node("Relu", ["x"], ["r"])])


def no_outputs():
    return model([node("Relu", ["x"], ["y"])], outputs=[])


def name_made_twice():
    return model([node("Relu", ["x"], ["y"], "first"), node("Sigmoid", ["x"], ["y"])])


def wrong_attribute_type():
    made = model([node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3])],
                 initializers=[constant("w", weights(4, 3, 3, 3))])
    made.graph.node[0].attribute.append(helper.make_attribute("strides", "two"))
    return made


def unknown_attribute():
    return model([node("Relu", ["x"], ["y"], wobble=3)])


def kernel_disagrees():
    return model([node("Conv", ["x", "w"], ["y"], kernel_shape=[5, 5])],
                 initializers=[constant("w", weights(4, 3, 3, 3))])


def channels_disagree():
    return model([node("Conv", ["x", "w"], ["y"])],
                 initializers=[constant("w", weights(4, 7, 3, 3))])


def groups_do_not_divide():
    return model([node("Conv", ["x", "w"], ["y"], group=2)],
                 initializers=[constant("w", weights(4, 1, 3, 3))])


def inner_dims_disagree():
    return model([node("MatMul", ["x", "w"], ["y"])], inputs=[value("x", [4, 5])],
                 outputs=[result(rank=2)], initializers=[constant("w", weights(6, 7))])


def cannot_broadcast():
    return model([node("Add", ["x", "w"], ["y"])], initializers=[constant("w", weights(5, 8))])


def reshape_to_other_size():
    return model([node("Reshape", ["x", "s"], ["y"])],
                 outputs=[result(rank=2)],
                 initializers=[constant("s", np.array([7, 11], np.int64))])


def zero_stride():
    return model([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[0, 0])])


def negative_kernel():
    return model([node("MaxPool", ["x"], ["y"], kernel_shape=[-2, 2])])


def kernel_beyond_image():
    return model([node("AveragePool", ["x"], ["y"], kernel_shape=[20, 20])])


def axis_out_of_range():
    return model([node("Softmax", ["x"], ["y"], axis=9)])


def gather_out_of_range():
    return model([node("Gather", ["x", "i"], ["y"], axis=1)],
                 initializers=[constant("i", np.array([99], np.int64))])


def permutation_repeats():
    return model([node("Transpose", ["x"], ["y"], perm=[0, 1, 1, 3])])


def split_adds_up_wrong():
    return model([node("Split", ["x", "s"], ["y", "z"], axis=1)],
                 outputs=[result(), result("z")],
                 initializers=[constant("s", np.array([1, 7], np.int64))])


def missing_opset():
    made = sound()
    del made.opset_import[:]
    return made


def missing_graph():
    made = sound()
    made.ClearField("graph")
    return made


def unknown_op():
    return model([node("Frobnicate", ["x"], ["y"])])


def unknown_domain():
    return model([node("Relu", ["x"], ["y"], domain="com.example")], domains=["com.example"])


def opset_of_the_future():
    return model([node("Relu", ["x"], ["y"])], opset=9999)


# -- tensors ----------------------------------------------------------------------


def short_raw_data():
    made = sound()
    made.graph.initializer[0].raw_data = made.graph.initializer[0].raw_data[:20]
    return made


def tensor_without_data():
    made = sound()
    made.graph.initializer[0].ClearField("raw_data")
    return made


def tensor_with_absurd_dims():
    made = sound()
    made.graph.initializer[0].dims[:] = [1 << 40, 1 << 40]
    return made


def tensor_with_negative_dim():
    made = sound()
    made.graph.initializer[0].dims[0] = -4
    return made


def tensor_of_unknown_type():
    made = sound()
    made.graph.initializer[0].data_type = 77
    return made


def input_with_absurd_dims():
    return model([node("Relu", ["x"], ["y"])], inputs=[value("x", [1 << 31] * 3)],
                 outputs=[result(rank=3)])


def input_with_negative_dim():
    return model([node("Relu", ["x"], ["y"])], inputs=[value("x", [1, -3, 8])],
                 outputs=[result(rank=3)])


def padded_to_absurd_size():
    pads = np.array([0, 0, 1 << 40, 0, 0, 0, 1 << 40, 0], np.int64)
    return model([node("Pad", ["x", "p"], ["y"])], initializers=[constant("p", pads)])


def constant_of_absurd_size():
    """Eight numbers in the file that fold to a constant of 4 EiB."""
    return model([node("ConstantOfShape", ["s"], ["y"])], outputs=[result(rank=3)],
                 initializers=[constant("s", np.array([1 << 20, 1 << 20, 1 << 20], np.int64))])


def resized_to_absurd_size():
    """A resize that needs a table of 2 billion positions with their weights."""
    return model([node("Resize", ["x", "", "", "s"], ["y"], "grow", mode="cubic")],
                 outputs=[result(rank=4)],
                 initializers=[constant("s", np.array([(1 << 31) - 1, 4, 8, 8], np.int64))])


def norm_of_absurd_window():
    return model([node("LpPool", ["x"], ["y"], "pool", kernel_shape=[65537, 3], p=3)],
                 outputs=[result(rank=4)])


def constant_of_large_size():
    """A constant of 64 GiB. Its allocation might succeed, and must not be tried."""
    return model([node("ConstantOfShape", ["s"], ["c"], "fill"), node("Relu", ["c"], ["y"])],
                 outputs=[result(rank=2)],
                 initializers=[constant("s", np.array([1 << 17, 1 << 17], np.int64))])


def tiled_to_absurd_size():
    return model([node("Tile", ["x", "r"], ["y"])],
                 initializers=[constant("r", np.array([1 << 30, 1, 1 << 20, 1], np.int64))])


# -- functions and subgraphs -----------------------------------------------------------


def function(name, body):
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["b"], body, opsets)


def recursive_function():
    body = [node("Loop1", ["a"], ["b"], "inner", domain="local")]
    return model([node("Loop1", ["x"], ["y"], domain="local")], domains=["local"],
                 functions=[function("Loop1", body)])


def exploding_functions():
    """Each of forty functions calls the next one twice: 2^40 nodes when inlined."""
    functions = []
    for i in range(40):
        callee = dict(op_type=f"F{i + 1}", domain="local") if i < 39 else dict(op_type="Relu")
        domain = {"domain": callee["domain"]} if "domain" in callee else {}
        body = [node(callee["op_type"], ["a"], ["t"], "one", **domain),
                node(callee["op_type"], ["t"], ["b"], "two", **domain)]
        functions.append(function(f"F{i}", body))
    return model([node("F0", ["x"], ["y"], domain="local")], domains=["local"],
                 functions=functions)


def function_without_results():
    made = with_function()
    del made.functions[0].output[:]
    return made


def function_result_never_made():
    made = with_function()
    made.functions[0].output[0] = "nowhere"
    return made


def branch_without_results():
    made = with_branches()
    del made.graph.node[4].attribute[0].g.output[:]
    return made


def field(number, payload):
    """A length-delimited field as protobuf writes it."""
    length, size = b"", len(payload)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + payload


def deep_subgraphs(path):
    """Two thousand nested Ifs. They are written by hand, because Python's protobuf refuses such
    depth."""
    name, inputs, outputs, op_type, attribute = (
        NodeProto.DESCRIPTOR.fields_by_name[f].number
        for f in ("name", "input", "output", "op_type", "attribute"))
    branch = AttributeProto(name="then_branch", type=AttributeProto.GRAPH).SerializeToString()
    g = AttributeProto.DESCRIPTOR.fields_by_name["g"].number
    node_of_graph = GraphProto.DESCRIPTOR.fields_by_name["node"].number
    graph = field(node_of_graph, node("Relu", ["x"], ["out"], "leaf").SerializeToString())
    for i in range(2000):
        branching = (field(inputs, b"cond") + field(outputs, b"out") + field(name, b"if%d" % i)
                     + field(op_type, b"If") + field(attribute, branch + field(g, graph)))
        graph = field(node_of_graph, branching)
    whole = sound()
    whole.ClearField("graph")
    number = ModelProto.DESCRIPTOR.fields_by_name["graph"].number
    path.write_bytes(whole.SerializeToString() + field(number, graph))


def attribute_without_value():
    made = model([node("Softmax", ["x"], ["y"])])
    made.graph.node[0].attribute.append(AttributeProto(name="axis"))
    return made


# -- data outside the file ------------------------------------------------------------


def external(location, write=None, **entries):
    """A model whose weights are in another file. write(folder) may create files there."""
    def build(path):
        made = sound()
        tensor = made.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, text_value in dict(location=location, **entries).items():
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(text_value)
        if write:
            write(path.parent)
        path.write_bytes(made.SerializeToString())
    return build


SIZE = 4 * 3 * 3 * 3 * 4


def secret_above(folder):
    (folder.parent / "secret.bin").write_bytes(bytes(SIZE))


def link_to_above(folder):
    secret_above(folder)
    os.symlink("../secret.bin", folder / "link.bin")


def short_file(folder):
    (folder / "short.bin").write_bytes(bytes(SIZE // 2))


def whole_file(folder):
    (folder / "whole.bin").write_bytes(bytes(SIZE))


# -- the table ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    make: Callable  # makes a ModelProto, or writes the file it is given
    codes: tuple = (BROKEN,)
    names: str = "culprit"  # the message must contain it, besides the file's name

    def write(self, path):
        if self.make.__code__.co_argcount:
            self.make(path)
            return
        made = self.make()
        assert isinstance(made, ModelProto)
        path.write_bytes(made.SerializeToString())


FILE = ""  # nothing but the file to name
WEIGHTS = "w"

CASES = [
    *[Case(f"truncated-{int(share * 1000)}", truncated(share), names=FILE)
      for share in (0, 0.001, 0.1, 0.5, 0.9, 0.999)],
    Case("noise", noise, names=FILE),
    Case("text", text, names=FILE),
    # Flipped bytes may land in a weight or a name: then the model is sound.
    *[Case(f"flipped-{seed}", flipped(seed), (0, BROKEN, LACKING), names=FILE)
      for seed in range(40)],
    Case("attribute-without-value", attribute_without_value),
    Case("axis-out-of-range", axis_out_of_range),
    Case("branch-without-results", branch_without_results, names="open"),
    Case("cannot-broadcast", cannot_broadcast),
    Case("casts-to-strings", casts_to_strings, (LACKING,)),
    Case("channels-disagree", channels_disagree),
    Case("complex-input", complex_input, (LACKING,), names="x"),
    Case("constant-of-absurd-size", constant_of_absurd_size, (BROKEN, LACKING, LIMIT)),
    Case("resized-to-absurd-size", resized_to_absurd_size, (LIMIT,), names="grow"),
    Case("norm-of-absurd-window", norm_of_absurd_window, names="pool"),
    Case("constant-of-large-size", constant_of_large_size, (LACKING, LIMIT), names="fill"),
    Case("cyclic", cyclic),
    Case("cyclic-branch", cyclic_branch, names="Sigmoid"),
    Case("deep-subgraphs", deep_subgraphs, names=FILE),
    Case("exploding-functions", exploding_functions, (BROKEN, LACKING, LIMIT), names=FILE),
    Case("external-above", external("../secret.bin", secret_above), names=WEIGHTS),
    Case("external-absolute", external("/etc/passwd", length=SIZE), names=WEIGHTS),
    Case("external-beyond-end", external("whole.bin", whole_file, offset=16, length=SIZE),
         names=WEIGHTS),
    Case("external-link", external("link.bin", link_to_above), names=WEIGHTS),
    Case("external-missing", external("nothing.bin"), names=WEIGHTS),
    Case("external-negative-offset", external("whole.bin", whole_file, offset=-8),
         names=WEIGHTS),
    Case("external-no-number", external("whole.bin", whole_file, offset="here"),
         names=WEIGHTS),
    Case("external-short", external("short.bin", short_file), names=WEIGHTS),
    Case("function-result-never-made", function_result_never_made, names="nowhere"),
    Case("function-without-results", function_without_results, names="Block"),
    Case("gather-out-of-range", gather_out_of_range),
    Case("groups-do-not-divide", groups_do_not_divide),
    Case("half-weights-cut-off", half_weights_cut_off, (BROKEN,), names="w"),
    Case("initializer-lie", initializer_lie, names="w"),
    Case("inner-dims-disagree", inner_dims_disagree),
    Case("input-with-absurd-dims", input_with_absurd_dims, (BROKEN, LACKING, LIMIT), names="x"),
    # Some exporters write an open dim so: then it is --shape that is missing.
    Case("input-with-negative-dim", input_with_negative_dim, (USAGE, BROKEN), names="x"),
    Case("int4-blocks-negative", lambda: packed_with_scales(
        np.ones((2, 5)), axis=0, block_size=-2), (BROKEN,)),
    Case("int4-blocks-too-few", lambda: packed_with_scales(
        np.ones((1, 5)), axis=0, block_size=2), (BROKEN,)),
    Case("int4-huge", lambda: dequantized(packed(TensorProto.INT4, [2**40, 2**40], b"ab")),
         (BROKEN, LIMIT), names="w"),
    Case("int4-odd-field", lambda: dequantized(
        packed(TensorProto.INT4, [5], [1, 2], raw=False)), (BROKEN,), names="w"),
    Case("int4-scale-infinite", lambda: quantizes_to_4_bits(np.inf), (BROKEN,)),
    Case("int4-scale-nan", lambda: packed_with_scales(np.nan), (BROKEN,)),
    Case("int4-scales-missing", lambda: packed_with_scales([1, 2], axis=0), (BROKEN,)),
    Case("int4-too-long", lambda: dequantized(packed(TensorProto.INT4, [7], b"abcde")), (BROKEN,),
         names="w"),
    Case("int4-too-short", lambda: dequantized(packed(TensorProto.INT4, [7], b"abc")), (BROKEN,),
         names="w"),
    Case("int4-zeros-missing", lambda: packed_with_scales([1, 2, 3], [1, 2], axis=0), (BROKEN,)),
    Case("kernel-beyond-image", kernel_beyond_image),
    Case("kernel-disagrees", kernel_disagrees),
    Case("missing-graph", missing_graph, names=FILE),
    Case("missing-opset", missing_opset, names=FILE),
    Case("mixed-types", mixed_types),
    Case("mixes-halves", mixes_halves, (BROKEN,)),
    Case("name-made-twice", name_made_twice, names="y"),
    Case("negative-kernel", negative_kernel),
    Case("no-outputs", no_outputs, names=FILE),
    Case("opset-of-the-future", opset_of_the_future, (BROKEN, LACKING), names="9999"),
    Case("output-half-lie", output_half_lie, (BROKEN,), names="y"),
    Case("output-never-made", output_never_made, names="y"),
    Case("output-rank-lie", output_rank_lie),
    Case("output-shape-lie", output_shape_lie),
    Case("output-type-lie", output_type_lie, names="y"),
    Case("not-utf8", not_utf8, names="NodeProto.name"),
    Case("padded-to-absurd-size", padded_to_absurd_size, (BROKEN, LACKING, LIMIT)),
    Case("permutation-repeats", permutation_repeats),
    Case("recursive-function", recursive_function, names="Loop1"),
    Case("reshape-to-other-size", reshape_to_other_size),
    Case("self-cycle", self_cycle),
    Case("short-raw-data", short_raw_data, names=WEIGHTS),
    Case("split-adds-up-wrong", split_adds_up_wrong),
    Case("tensor-of-unknown-type", tensor_of_unknown_type, (BROKEN, LACKING),
         names=WEIGHTS),
    Case("tensor-with-absurd-dims", tensor_with_absurd_dims, names=WEIGHTS),
    Case("tensor-with-negative-dim", tensor_with_negative_dim, names=WEIGHTS),
    Case("tensor-without-data", tensor_without_data, names=WEIGHTS),
    Case("tiled-to-absurd-size", tiled_to_absurd_size, (BROKEN, LACKING, LIMIT)),
    Case("too-few-inputs", too_few_inputs),
    Case("left-out-input", left_out_input),
    Case("too-many-inputs", too_many_inputs),
    Case("trains-batch-norm", trains_batch_norm, (LACKING,)),
    Case("trains-dropout", trains_dropout, (LACKING,)),
    Case("uint2-too-short", lambda: dequantized(packed(TensorProto.UINT2, [9], b"ab")), (BROKEN,),
         names="w"),
    Case("undefined-input", undefined_input, names="nowhere"),
    Case("unknown-attribute", unknown_attribute),
    Case("unknown-domain", unknown_domain, (LACKING,), names="com.example"),
    Case("unknown-op", unknown_op, (BROKEN, LACKING), names="Frobnicate"),
    Case("value-info-lie", value_info_lie),
    Case("wrong-attribute-type", wrong_attribute_type),
    Case("wrong-type-for-op", wrong_type_for_op),
    Case("zero-stride", zero_stride),
]


def write_all(folder):
    """Writes each case into a folder of its own below `folder`, and yields (case, path)."""
    for case in CASES:
        place = pathlib.Path(folder) / case.name
        place.mkdir(parents=True)
        path = place / f"{case.name}.onnx"
        case.write(path)
        yield case, path
