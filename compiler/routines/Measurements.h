//===- Measurements.h - How long calls took -------------------------------===//
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

/// What was measured: a routine with its params on a layer that `layer`
/// describes, as describeLayer or describeAdapt does. Or what was chosen: then
/// `layer` is the layer's name.
struct Subject {
  std::string layer, routine;
  std::vector<int64_t> params;

  /// The routine and its params, with spaces between them.
  std::string getCall() const {
    std::string text = routine;
    for (int64_t param : params)
      text += " " + std::to_string(param);
    return text;
  }

  bool operator<(const Subject &other) const {
    return std::tie(layer, routine, params) <
           std::tie(other.layer, other.routine, other.params);
  }
  bool operator==(const Subject &other) const {
    return std::tie(layer, routine, params) ==
           std::tie(other.layer, other.routine, other.params);
  }
};

/// Nanoseconds of each subject that is known, in an order that depends on
/// nothing else.
using Measurements = std::map<Subject, int64_t>;

/// All of a layer that its time depends on, whatever the routine: the shapes of
/// its calls, its epilogue, its element types, which operands are constants.
/// Layers with operands and results of these types that read the same take the
/// same time.
std::string describeLayer(nn::LayerOp layer,
                          llvm::ArrayRef<mlir::RankedTensorType> operands,
                          mlir::RankedTensorType result);
std::string describeAdapt(const nn::RoutineCall &call,
                          mlir::RankedTensorType from);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_MEASUREMENTS_H
