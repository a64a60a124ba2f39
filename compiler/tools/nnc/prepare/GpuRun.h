//===- GpuRun.h - What a run on a GPU reached -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_PREPARE_GPURUN_H
#define NNC_COMPILER_TOOLS_NNC_PREPARE_GPURUN_H

#include "compiler/tools/driver/toolchain/Runner.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace nnc::tools {

/// The multiply-adds per second that a GPU reaches at most. They are computed
/// from its multiprocessors and clock, and from what a multiprocessor of its
/// architecture computes in a cycle by targets.inc.
struct GpuPeaks {
  double f32 = 0;       ///< of the units for f32
  double tensorF16 = 0; ///< of the tensor cores for 16-bit floats
  double tensorI8 = 0;  ///< and for 8-bit integers
  static GpuPeaks find(const GpuFigures &gpu, const std::string &target);

  /// Returns the peak for a layer, or for a whole model, whose elements are of
  /// the type `dtype`.
  double get(llvm::StringRef dtype) const;
  /// Returns the highest peak that one of the layers has.
  double getHighest(const std::vector<LayerInfo> &layers) const;
};

/// Returns the multiply-adds per second that were measured as the peak of the
/// machine, or that a GPU has on paper for the types of the model's layers.
double getPeak(const Manifest &manifest, const RunResult &result);

llvm::json::Object toJson(const GpuFigures &gpu, const GpuPeaks &peaks);

/// Returns a line about the GPU, its memory and how the run was timed.
std::string describe(const GpuFigures &gpu);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_GPURUN_H
