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

/// How the range of an activation follows from the values that it had.
struct RangeMethod {
  quantize::Method method = quantize::Method::minmax;
  double percentile = 99.99; ///< for that method
  quantize::Storage storage = quantize::Storage::s8;
};

/// A tensor of 32-bit floats that is observed while a model runs.
struct ObservedTensor {
  std::string key;      ///< no other tensor has it
  std::string name;     ///< as users know it
  std::string producer; ///< what computes it: "node 'conv1' (Conv)"
  int output;           ///< its number among the results of a run
};

/// Runs a model on a sample, by the sample's number.
using SampleRunner =
    llvm::function_ref<llvm::Expected<std::vector<Tensor>>(size_t)>;

/// Finds the ranges of tensors over the samples, by their keys. Tensors whose
/// values are infinite in a sample, or whose range no scale fits, get the
/// reason in `unusable` instead, which follows their name in a sentence, and
/// are warned of. NaN is an error.
ExitCode findRanges(llvm::ArrayRef<ObservedTensor> tensors,
                    llvm::ArrayRef<Sample> samples, SampleRunner run,
                    const RangeMethod &method,
                    std::map<std::string, quantize::Range> &ranges,
                    std::map<std::string, std::string> &unusable);

/// The elements of a tensor of 32-bit floats.
llvm::ArrayRef<float> getFloats(const Tensor &tensor);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SAMPLES_OBSERVEDRANGES_H
