//===- QnnDialect.td - Quantized operators ------------------*- tablegen -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_DIALECT
#define NNC_DIALECTS_QNN_DIALECT

include "mlir/IR/OpBase.td"

def Qnn_Dialect : Dialect {
  let name = "qnn";
  let cppNamespace = "::nnc::qnn";
  let summary = "Quantized operators on the types of MLIR's quant dialect";
  let description = [{
    Scales and zero points are part of the element type, `!quant.uniform`: one
    of each for the whole tensor or for each index of an axis. Each op defines
    its own lowering to nn ops on integers and floats; none has a routine. See
    `README.md`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::quant::QuantizationDialect",
                           "::nnc::nn::NnDialect"];
}

#endif // NNC_DIALECTS_QNN_DIALECT
