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

/// The user's choices for the quantization of a module: the options of
/// nnc-quantize.
struct ModuleQuantization {
  bool perChannel = true;   ///< one scale for each output channel of weights
  bool reduceRange = false; ///< weights of 7 bits
  bool isUnsigned = false;  ///< whether activations are u8 instead of i8
  /// Whether results of products that only float ops read stay unrounded.
  bool unrounded = false;
  std::vector<std::string> exclude; ///< names of ops that stay float
};

/// Adds the passes that bring an imported module into the form whose values are
/// calibrated. They fold batch norms and other factors of channels into
/// weights, since each would cause a rounding of its own, and recognize
/// activations that exporters write as several ops.
void buildObservedPipeline(mlir::OpPassManager &manager);

/// Adds the passes that follow buildObservedPipeline(). They record `ranges`,
/// which have the format of nnc-calibrate, and quantize the module by them.
/// `ranges` and `options` must outlive the passes.
void buildQuantizePipeline(mlir::OpPassManager &manager,
                           const std::vector<std::string> &ranges,
                           const ModuleQuantization &options);

} // namespace nnc

#endif // NNC_COMPILER_PIPELINES_QUANTIZEPIPELINE_H
