//===- Det.td - Determinants of matrices -------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MATRIX_DET
#define NNC_DIALECTS_NN_MATRIX_DET

include "dialects/nn/NnBase.td"

def Nn_DetOp : Nn_RoutineOp<"det"> {
  let summary = "Determinants of the matrices in the last two axes";
  let description = [{
    The determinant of each square matrix in the last two axes of `x`.

    Example: `%y = nn.det %x : (tensor<5x3x3xf32>) -> tensor<5xf32>`.
  }];
  let arguments = (ins Nn_Float:$x);
  let results = (outs Nn_Float:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

#endif // NNC_DIALECTS_NN_MATRIX_DET
