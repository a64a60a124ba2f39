//===- Ordering.td - Indices of the best elements ----------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ORDERING_ORDERING
#define NNC_DIALECTS_NN_ORDERING_ORDERING

include "dialects/nn/NnBase.td"

class Nn_ArgOp<string mnemonic, string what>
    : Nn_RoutineOp<mnemonic, [Nn_Axes]> {
  let summary = "Index of the " # what # " element along an axis";
  let description = [{
    If several elements are equal, the result is the first index, or with
    `select_last` the last.

    Example: `%y = nn.}] # mnemonic # [{ %x {axis = 1 : i64, keepdims = false,
    select_last = false} : (tensor<2x10xf32>) -> tensor<2xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, BoolAttr:$keepdims,
                       BoolAttr:$select_last);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_ArgMaxOp : Nn_ArgOp<"argmax", "largest">;

def Nn_ArgMinOp : Nn_ArgOp<"argmin", "smallest">;

def Nn_TopKOp : Nn_RoutineOp<"top_k", [Nn_Axes]> {
  let summary = "Indices of the largest or smallest elements along an axis";
  let description = [{
    The result holds `count` indices instead of the axis, the best first. Of equal
    elements the one with the lower index is better; NaN is worse than all numbers.

    Example: `%y = nn.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true}
    : (tensor<2x10xf32>) -> tensor<2x3xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, I64Attr:$count,
                       BoolAttr:$largest);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_ORDERING_ORDERING
