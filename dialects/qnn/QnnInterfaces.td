//===- QnnInterfaces.td - Interfaces of the qnn ops ---------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_INTERFACES
#define NNC_DIALECTS_QNN_INTERFACES

include "mlir/IR/OpBase.td"

def Qnn_LoweringOpInterface : OpInterface<"LoweringOpInterface"> {
  let cppNamespace = "::nnc::qnn";
  let description = [{
    An op that can be lowered to nn ops, as `nnc-qnn-canonicalize` does.
  }];
  let methods = [
    InterfaceMethod<[{
        Creates nn ops in front of the op that compute its result, and returns
        the value that replaces it, of the same type. If that type is quantized,
        the value is a `qnn.reinterpret` of integers.
      }],
      "::mlir::Value", "lower", (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // NNC_DIALECTS_QNN_INTERFACES
