"""nnc as a backend of the package onnx, for tools that run models through one:

    import nnc.backend
    outputs = nnc.backend.run_model(model, [x])

ONNX's own runner of tests takes it: onnx.backend.test.BackendTest(nnc.backend, __name__).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend as _Backend
from onnx.backend.base import BackendRep as _BackendRep
from onnx.backend.base import namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import nnc


class Prepared(_BackendRep):
    """A model that is compiled and built."""

    def __init__(self, model: nnc.Model, proto: onnx.ModelProto):
        self.model = model
        # The module may have outputs more, which tell lengths that data decide.
        self.dtypes = {port.name: np.dtype(onnx.helper.tensor_dtype_to_np_dtype(
            port.type.tensor_type.elem_type)) for port in proto.graph.output}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Runs the model on a list of arrays in its order, or on a mapping of names to them."""
        outputs = self.model.run(*([inputs] if isinstance(inputs, (dict, np.ndarray))
                                   else inputs))
        return namedtupledict("Outputs", list(self.dtypes))(
            *(_as_onnx(outputs[name], dtype) for name, dtype in self.dtypes.items()))


def _as_onnx(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """An output with the type that the package onnx has for it."""
    if array.dtype == dtype:
        return array
    return array.astype(dtype) if "int" in dtype.name else array.view(dtype)


class Backend(_Backend):
    """nnc, by the interface of the package onnx."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> Prepared:
        """Compiles the model. `kwargs` are options of `nnc.compile`. What nnc lacks raises
        BackendIsNotSupposedToImplementIt."""
        super().prepare(model, device)
        try:
            return Prepared(nnc.compile(model, **kwargs), model)
        except nnc.UnsupportedError as error:
            raise BackendIsNotSupposedToImplementIt(str(error)) from error

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU",
                  **kwargs: Any) -> tuple[Any, ...]:
        """Compiles the model and runs it once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node: onnx.NodeProto, inputs: Sequence[np.ndarray], device: str = "CPU",
                 outputs_info: Sequence[tuple[np.dtype, tuple[int, ...]]] | None = None,
                 **kwargs: Any) -> tuple[Any, ...]:
        """Compiles a model of this node alone and runs it once."""
        given = [name for name in node.input if name]
        types = [onnx.helper.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype),
            np.shape(array)) for name, array in zip(given, inputs)]
        graph = onnx.helper.make_graph(
            [node], "node", types,
            [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name])
        opsets = [onnx.helper.make_opsetid(node.domain, kwargs.pop(
            "opset_version", onnx.defs.onnx_opset_version()))]
        model = onnx.shape_inference.infer_shapes(
            onnx.helper.make_model(graph, opset_imports=opsets))
        return cls.run_model(model, list(inputs), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device is the CPU, for which code is made."""
        return device.split(":")[0] == "CPU"


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
