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
    // What the integers of a quantized input or output stand for, on the argument or
    // result and then on the op of exec that this becomes (Port.h): their quantized
    // `type`, and the `rounding` by which the model's framework makes them.
    "::mlir::DictionaryAttr":$port,
    // The range of a float value as calibration found it, on the op or argument that
    // gives it (Ranges.h): an array<f64: LOW, HIGH>.
    "::mlir::DenseF64ArrayAttr":$range,
    // The import of the module had quantized values beside constants.
    "::mlir::UnitAttr":$quantized,
    // Why an op of such a module computes with floats.
    "::mlir::StringAttr":$stays_float,
    // A convolution or matrix product of integers, of qnn or nn, stands for one of
    // floats in the model: its results need not be exact, but within one unit of
    // those of the floats.
    "::mlir::UnitAttr":$of_floats
  );
}

#endif // NNC_DIALECTS_QNN_DIALECT
