//===- Quantized.h - Which layers of a quantized model are integer --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MANIFEST_QUANTIZED_H
#define NNC_COMPILER_TOOLS_DRIVER_MANIFEST_QUANTIZED_H

#include "compiler/tools/driver/manifest/EmittedNames.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// A layer of a quantized model that computes with floats.
struct FloatLayer {
  std::string name;      ///< name in the emitted code
  std::string modelName; ///< name in the model
  std::string op;        ///< "softmax", or "elementwise"
  std::string why;
};

/// A report on which layers of a model compute with integers.
struct QuantizedReport {
  bool isQuantized = false; ///< the model has quantized values
  int64_t layers = 0;
  std::vector<FloatLayer> floats;

  int64_t countIntegers() const { return layers - int64_t(floats.size()); }
  /// Returns a sentence such as "all layers but 2 work on integers".
  std::string describe() const;
  llvm::json::Value toJson() const;
  void print() const;
};

/// Returns the reason why a layer computes with floats. The string is empty if
/// the anchor sums integers, if the layer only reads and stores integers apart
/// from constants, or if it converts between integers and the floats of the
/// model's inputs and outputs.
std::string getFloatReason(nn::LayerOp layer, const EmittedNames &names);

/// Returns the report on `module`, whose layers must be formed already.
QuantizedReport reportQuantized(mlir::ModuleOp module,
                                const EmittedNames &names);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MANIFEST_QUANTIZED_H
