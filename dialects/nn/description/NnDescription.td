//===- NnDescription.td - What an op computes, in words -----*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_DESCRIPTION
#define NNC_DIALECTS_NN_DESCRIPTION

include "mlir/IR/OpBase.td"

def Nn_DescribedOpInterface : OpInterface<"DescribedOpInterface"> {
  let cppNamespace = "::nnc::nn";
  let description = [{
    An op that says what it computes in the words of the field, for people who
    read a report, `nnc explain` or the emitted code. Description.cpp attaches
    the interface to the ops.
  }];
  let methods = [
    InterfaceMethod<[{
        Describes the op. `known` says which operands are weights: whether the
        values are known when compiling.
      }],
      "::nnc::nn::Description", "describe",
      (ins "::llvm::ArrayRef<bool>":$known)>,
    InterfaceMethod<[{
        Returns what operand `operand` is to the op, such as "weights" or
        "bias"; nothing for the values that it works on.
      }],
      "::llvm::StringRef", "getOperandRole", (ins "unsigned":$operand)>,
  ];
}

#endif // NNC_DIALECTS_NN_DESCRIPTION
