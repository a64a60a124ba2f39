//===- Port.h - Quantized inputs and outputs of a model -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Inputs and outputs are plain integers in the IR. What they stand for is an
// attribute of the function's argument or result, and then of the op of the
// exec dialect that this becomes.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_QNN_PORT_H
#define NNC_DIALECTS_QNN_PORT_H

#include "dialects/qnn/Qnn.h"

namespace nnc::qnn {

/// The scale and zero point of the integers of an input or output, and how the
/// model's framework rounds a real number to one of them.
struct Port {
  Parameters parameters;
  Rounding rounding;
};

/// Returns the value of kPortAttr for integers of a quantized type.
mlir::DictionaryAttr makePortAttr(mlir::Type type, Rounding rounding);

/// Returns what kPortAttr, or a null attribute, says.
std::optional<Port> readPortAttr(mlir::Attribute attribute);

} // namespace nnc::qnn

#endif // NNC_DIALECTS_QNN_PORT_H
