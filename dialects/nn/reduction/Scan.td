//===- Scan.td - Cumulative sums and products --------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_REDUCTION_SCAN
#define NNC_DIALECTS_NN_REDUCTION_SCAN

include "dialects/nn/NnBase.td"

class Nn_ScanOp<string mnemonic, string what>
    : Nn_RoutineOp<mnemonic, [Nn_Axes]> {
  let summary = "Cumulative " # what # " along an axis";
  let description = [{
    Element i of the result along `axis` combines the elements of `x` from the
    first to element i or, with `reverse`, from element i to the last. With
    `exclusive`, element i itself is left out. Integers wrap around.

    Example: `%y = nn.}] # mnemonic # [{ %x {axis = 1 : i64, exclusive = false,
    reverse = false} : (tensor<2x10xf32>) -> tensor<2x10xf32>`.
  }];
  let arguments = (ins Nn_Tensor:$x, I64Attr:$axis, BoolAttr:$exclusive,
                       BoolAttr:$reverse);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Nn_CumSumOp : Nn_ScanOp<"cumsum", "sums">;

def Nn_CumProdOp : Nn_ScanOp<"cumprod", "products">;

#endif // NNC_DIALECTS_NN_REDUCTION_SCAN
