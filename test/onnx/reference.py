"""Runs onnxruntime as the reference, also for models older than it supports."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

import make

OLDEST = 7  # opset that onnxruntime runs


def session(path):
    model = onnx.load(path, load_external_data=False)
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return make.session(path if opset >= OLDEST else modernized(model))


def modernized(model):
    """The model at opset 13. Of the ops older than opset 7, those that occur here are
    converted: Reshape with its shape as an attribute, and arithmetic that names the axis for
    broadcasting."""
    ranks = {v.name: len(v.type.tensor_type.shape.dim) for v in
             [*model.graph.value_info, *model.graph.input]}
    nodes = []
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        del node.attribute[:]
        if node.op_type == "Reshape" and "shape" in attributes:
            shape = attributes.pop("shape")
            ranks[node.output[0]] = len(shape)
            node.input.append(add_integers(model, node.output[0] + "_shape", shape))
        if "broadcast" in attributes:
            axis = attributes.pop("axis", None)
            if attributes.pop("broadcast") and axis is not None:
                left, right = node.input
                trailing = range(ranks[right], ranks[left] - axis)
                if trailing:
                    axes = add_integers(model, right + "_axes", list(trailing))
                    nodes.append(helper.make_node("Unsqueeze", [right, axes],
                                                  [right + "_unsqueezed"]))
                    node.input[1] = right + "_unsqueezed"
        node.attribute.extend(helper.make_attribute(k, v) for k, v in attributes.items())
        nodes.append(node)
    copies = [onnx.NodeProto.FromString(n.SerializeToString()) for n in nodes]
    del model.graph.node[:], model.graph.value_info[:], model.opset_import[:]
    model.graph.node.extend(copies)
    model.opset_import.append(helper.make_opsetid("", 13))
    return model


def add_integers(model, name, values):
    model.graph.initializer.append(numpy_helper.from_array(np.array(values, np.int64), name))
    return name
