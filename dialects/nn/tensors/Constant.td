//===- Constant.td - Tensors that are known when compiling -*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_TENSORS_CONSTANT
#define NNC_DIALECTS_NN_TENSORS_CONSTANT

include "dialects/nn/NnBase.td"
include "mlir/IR/OpAsmInterface.td"

def Nn_ConstantOp : Nn_Op<"constant", [
    ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A weight or another known tensor";
  let description = [{
    A tensor whose elements are known when compiling. `value` holds them in
    row-major order, whatever the layout of the result; `nnc-encode-weights`
    packs them into that layout. The type of `value` is that of the result
    without the layout.

    Example: `%w = nn.constant dense<1.0> : tensor<64x3x7x7xf32> -> tensor<64x3x7x7xf32, #nn.layout<KCRS16k>>`.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Nn_Tensor:$y);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
}

#endif // NNC_DIALECTS_NN_TENSORS_CONSTANT
