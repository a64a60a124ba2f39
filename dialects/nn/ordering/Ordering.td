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
    The i64 index of the }] # what # [{ element of `x` along `axis`; of equal
    elements the lowest index, or with `select_last` the highest. With
    `keepdims` the result has an axis of size 1 in place of `axis`; otherwise
    the axis is removed.

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
    The i64 indices along `axis` of the `count` best elements, the best first:
    the largest elements with `largest`, and the smallest otherwise. Of equal
    elements the one with the lower index is better; NaN is worse than all
    numbers. In the result's shape, `count` replaces the size of the axis.

    Example: `%y = nn.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true}
    : (tensor<2x10xf32>) -> tensor<2x3xi64>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, I64Attr:$count,
                       BoolAttr:$largest);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_ORDERING_ORDERING
