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
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  // The rules of QnnAttributeRules.cpp say which ops, arguments and results may
  // carry each attribute, and with which values.
  let discardableAttrs = (ins
    // The real numbers that the integers of a quantized input or output
    // represent (Port.h): `type` is the quantized type, and `rounding` how the
    // model's framework rounds reals to such integers. An argument or result
    // has it, and then the op of exec that it becomes.
    "::mlir::DictionaryAttr":$port,
    // The range of a float value that calibration found (Ranges.h), on the
    // argument that is the value or the op that computes it: an array<f64: LOW,
    // HIGH>.
    "::mlir::DenseF64ArrayAttr":$range,
    // Marks a module that had quantized values beside constants when it was
    // imported.
    "::mlir::UnitAttr":$quantized,
    // The reason why an op of a module with qnn.quantized still computes with
    // floats.
    "::mlir::StringAttr":$stays_float,
    // Marks a convolution or matrix product of integers, of qnn or nn, that
    // computes one of floats of the model: its results have to be within one
    // unit of those of the floats, and need not be exact.
    "::mlir::UnitAttr":$of_floats
  );
}

#endif // NNC_DIALECTS_QNN_DIALECT
