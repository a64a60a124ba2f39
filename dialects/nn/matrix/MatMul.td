//===- MatMul.td - Matrix products -------------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_MATRIX_MATMUL
#define NNC_DIALECTS_NN_MATRIX_MATMUL

include "dialects/nn/NnBase.td"

def Nn_MatMulOp : Nn_AnchorOp<"matmul",
    ["getRoutineCallsOn", "getAccumulatorType", "spellLayout"], [Nn_Axes]> {
  let summary = "Matrix product with NumPy's rules, either side transposed";
  let description = [{
    The matrix product of `a`, `[..., m, k]`, and `b`, `[..., k, n]`, for each
    index of the batch axes in front, which broadcast as in NumPy. With
    `transpose_a`, a is `[..., k, m]`; with `transpose_b`, b is `[..., n, k]`.
    Both operands have at least two axes: frontends reshape vectors. Element
    types and the accumulator are as in `nn.conv`.

    Example:
    ```mlir
    %y = nn.matmul %a, %b {transpose_a = false, transpose_b = true}
        : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
    ```
  }];
  let arguments = (ins Nn_Tensor:$a, Nn_Tensor:$b, BoolAttr:$transpose_a,
                       BoolAttr:$transpose_b,
                       OptionalAttr<TypeAttr>:$accumulator);
  let results = (outs Nn_Tensor:$y);
  let assemblyFormat = "$a `,` $b attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Returns true if for each operand a single stride leads from one matrix
    /// of the batch to the next, as the routines require. `nnc-legalize`
    /// expands the operands of other products.
    bool hasCollapsibleBatch();
  }];
}

#endif // NNC_DIALECTS_NN_MATRIX_MATMUL
