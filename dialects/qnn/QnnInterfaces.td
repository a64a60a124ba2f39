//===- QnnInterfaces.td - What passes may ask of a qnn op ---*- tablegen -*-===//
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
    An op that says what it computes in nn ops. `nnc-qnn-canonicalize` asks.
  }];
  let methods = [
    InterfaceMethod<[{
        Creates the nn ops in front of the op and returns its result, of the
        same type: a quantized result is reinterpreted integers.
      }],
      "::mlir::Value", "lower", (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // NNC_DIALECTS_QNN_INTERFACES
