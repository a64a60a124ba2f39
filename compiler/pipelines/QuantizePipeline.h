//===- QuantizePipeline.h - From a float module to a quantized one --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PIPELINES_QUANTIZEPIPELINE_H
#define NNC_COMPILER_PIPELINES_QUANTIZEPIPELINE_H

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace nnc {

/// The user's choices for the quantization of a module, as in nnc-quantize.
struct ModuleQuantization {
  bool perChannel = true;  ///< scales of weights
  bool isUnsigned = false; ///< whether activations are u8 instead of i8
  bool unrounded = false;  ///< results of products that only floats read
  std::vector<std::string> exclude; ///< names of ops that stay float
};

/// The passes that make an imported module one whose values have the ranges
/// that integers are to represent: batch norms and other factors of channels
/// are folded into weights, as each would round otherwise, and activations that
/// exporters write as several ops are recognized.
void buildObservedPipeline(mlir::OpPassManager &manager);

/// The passes behind it: they record `ranges`, each as nnc-calibrate takes it,
/// and quantize by them. The options and ranges have to live as long as the
/// passes.
void buildQuantizePipeline(mlir::OpPassManager &manager,
                           const std::vector<std::string> &ranges,
                           const ModuleQuantization &options);

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_QUANTIZEPIPELINE_H
