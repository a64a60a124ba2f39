//===- ObservedRanges.h - Ranges of tensors over samples --------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SAMPLES_OBSERVEDRANGES_H
#define NNC_COMPILER_TOOLS_DRIVER_SAMPLES_OBSERVEDRANGES_H

#include "compiler/quantize/Methods.h"
#include "compiler/tools/driver/samples/Calibration.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace nnc::tools {

/// The method that finds the range of an activation from its observed values.
struct RangeMethod {
  quantize::Method method = quantize::Method::minmax;
  double percentile = 99.99; ///< percentile for Method::percentile
  quantize::Storage storage = quantize::Storage::s8;
};

/// A tensor of 32-bit floats that is observed while a model runs.
struct ObservedTensor {
  std::string key;      ///< unique key
  std::string name;     ///< name that users know
  std::string producer; ///< op that computes it: "node 'conv1' (Conv)"
  int output;           ///< index among the results of a run
};

/// Runs a model on the sample with the given index.
using SampleRunner =
    llvm::function_ref<llvm::Expected<std::vector<Tensor>>(size_t)>;

/// Finds the ranges of tensors over all samples, by the tensors' keys. A tensor
/// that is infinite in a sample, or whose range no scale fits, gets a reason in
/// `unusable` instead, and a warning is printed. The reason can follow the
/// tensor's name in a sentence. NaN is an error.
ExitCode findRanges(llvm::ArrayRef<ObservedTensor> tensors,
                    llvm::ArrayRef<Sample> samples, SampleRunner run,
                    const RangeMethod &method,
                    std::map<std::string, quantize::Range> &ranges,
                    std::map<std::string, std::string> &unusable);

/// Returns the elements of a tensor of 32-bit floats.
llvm::ArrayRef<float> getFloats(const Tensor &tensor);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SAMPLES_OBSERVEDRANGES_H
