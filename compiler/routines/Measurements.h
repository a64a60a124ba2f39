//===- Measurements.h - Measured times of calls ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_MEASUREMENTS_H
#define NNC_COMPILER_ROUTINES_MEASUREMENTS_H

#include "dialects/nn/Nn.h"

#include <map>
#include <string>
#include <vector>

namespace nnc {

/// The key of a measurement or of a choice. For a measurement, `layer` is the
/// text that describeLayer or describeAdapt returns, and the time is that of
/// `routine` with `params` on it. For a choice, `layer` is the layer's name,
/// and `routine` with `params` is to compute it.
struct Subject {
  std::string layer, routine;
  std::vector<int64_t> params;
  /// The device that calls the routine; empty for the host.
  std::string device = {};

  /// Returns the routine's name, prefixed by the device unless that is the
  /// host: "shadow:copy_portable".
  std::string getDescriptor() const {
    return device.empty() ? routine : device + ":" + routine;
  }
  /// Returns the descriptor and the parameters, separated by spaces.
  std::string getCall() const {
    std::string text = getDescriptor();
    for (int64_t param : params)
      text += " " + std::to_string(param);
    return text;
  }

  bool operator<(const Subject &other) const {
    return std::tie(layer, routine, params, device) <
           std::tie(other.layer, other.routine, other.params, other.device);
  }
  bool operator==(const Subject &other) const {
    return std::tie(layer, routine, params, device) ==
           std::tie(other.layer, other.routine, other.params, other.device);
  }
};

/// The measured time of each subject in nanoseconds. The map is sorted, so that
/// iteration is deterministic.
using Measurements = std::map<Subject, int64_t>;

/// Returns a text with everything about a layer that its time depends on, apart
/// from the routine: the shapes of its calls, its epilogue, its element types,
/// and which operands are constants. `operands` and `result` are the types that
/// the layer is to have. Layers with equal texts take the same time.
std::string describeLayer(nn::LayerOp layer,
                          llvm::ArrayRef<mlir::RankedTensorType> operands,
                          mlir::RankedTensorType result);
std::string describeAdapt(const nn::RoutineCall &call,
                          mlir::RankedTensorType from);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_MEASUREMENTS_H
