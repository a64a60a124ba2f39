//===- Port.h - Quantized inputs and outputs of a model -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Quantized inputs and outputs are plain integers in the IR. Their quantization
// parameters are an attribute of the function's argument or result, and later
// of the exec op that replaces it.
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

/// Returns the value of kPortAttr for an input or output of a quantized type.
mlir::DictionaryAttr makePortAttr(mlir::Type type, Rounding rounding);

/// Returns the port that a value of kPortAttr describes, or nullopt for a null
/// attribute.
std::optional<Port> readPortAttr(mlir::Attribute attribute);

} // namespace nnc::qnn

#endif // NNC_DIALECTS_QNN_PORT_H
