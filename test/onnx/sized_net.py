"""Networks with named dimensions, for tests of sizes that vary."""

import numpy as np
from onnx import helper, numpy_helper

random = np.random.default_rng(38)


class Net:
    """A model whose inputs have named dimensions."""

    def __init__(self, **inputs):
        self.inputs, self.nodes, self.constants, self.outputs = inputs, [], [], []

    def constant(self, value):
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape):
        return self.constant(random.normal(0, 0.3, shape).astype(np.float32))

    def add(self, op, *operands, results=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, operands, names, **attributes))
        return names[0] if results == 1 else names

    def model(self):
        inputs = [helper.make_tensor_value_info(name, dtype, shape)
                  for name, (dtype, shape) in self.inputs.items()]
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "net", inputs, outputs, self.constants)
        return helper.make_model(graph, ir_version=9,
                                 opset_imports=[helper.make_opsetid("", 18)])
