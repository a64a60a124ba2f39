//===- Reduce.td - Reductions over axes --------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_REDUCTION_REDUCE
#define NNC_DIALECTS_NN_REDUCTION_REDUCE

include "dialects/nn/NnBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"prod", 4>, I32EnumAttrCase<"l1", 5>,
    I32EnumAttrCase<"l2", 6>, I32EnumAttrCase<"sum_square", 7>,
    I32EnumAttrCase<"log_sum", 8>, I32EnumAttrCase<"log_sum_exp", 9>]> {
  let cppNamespace = "::nnc::nn";
  let genSpecializedAttr = 0;
}

def Nn_ReduceKindAttr : EnumAttr<Nn_Dialect, Nn_ReduceKind, "reduce_kind">;

def Nn_ReduceOp : Nn_RoutineOp<"reduce", [Nn_Axes], ["getRoutineCallsOn"]> {
  let summary = "Reduction over axes";
  let description = [{
    The elements of `x` combined along `axes` as `kind` says, as in ONNX's
    Reduce operators. With `keepdims` these axes have size 1 in the result;
    otherwise they are removed. The routines reduce axes that are neighbours;
    for others, `nnc-legalize` transposes the operand first.

    Example:
    ```mlir
    %y = nn.reduce mean %x {axes = array<i64: 2>, keepdims = true}
        : (tensor<1x40x120xf32>) -> tensor<1x40x1xf32>
    ```
  }];
  let arguments = (ins Nn_ReduceKindAttr:$kind, Nn_Tensor:$x,
                       DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Returns true if `axes` are neighbours, not counting axes of size 1.
    bool hasNeighbouringAxes();
  }];
}

#endif // NNC_DIALECTS_NN_REDUCTION_REDUCE
