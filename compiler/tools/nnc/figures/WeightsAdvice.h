//===- WeightsAdvice.h - How weights could take fewer bytes -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSADVICE_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSADVICE_H

#include "compiler/tools/driver/compile/Driver.h"

#include <optional>

namespace nnc::tools {

/// Returns a phrase that says how many constants of 16-bit floats in the model
/// become 32-bit floats, and the bytes of both. Returns an empty string if
/// there are none or --precision=f16 keeps them.
std::string describeHalfConstants(mlir::ModuleOp module,
                                  const ModelOptions &options);

/// Advice of `nnc check` on the bytes of weights: how many float layers read
/// 8-bit weights, and whether --weights-encoding would save memory.
class WeightsAdvice {
public:
  /// Analyses the model that `driver` has compiled with
  /// DriverOptions::keepStages. `bytes` is the size of all its weights.
  static WeightsAdvice find(Driver &driver, int64_t bytes);

  /// Returns the name of the encoding that would save bytes, or null.
  const std::string *getEncoding() const {
    return encoding ? &encoding->name : nullptr;
  }
  void dropEncoding() { encoding.reset(); }
  /// Sets the result of a compilation with that encoding: the bytes of all
  /// weights, the bytes saved, the additional bytes of the arena, and the
  /// additional estimated seconds of a run, if known.
  void setCosts(int64_t bytes, int64_t saved, int64_t ram,
                std::optional<double> seconds);

  void print() const;
  void addTo(llvm::json::Object &said) const;

private:
  /// Counts the float layers whose weights are 8-bit integers in the model.
  void countByteWeights(mlir::ModuleOp layered);
  /// Finds the encoding with which all weights take the fewest bytes.
  void findEncoding(mlir::ModuleOp layered, int64_t bytes);

  /// The numbers of float layers whose weights are 8-bit integers in the model:
  /// those for which the module stores integers, and those for which it stores
  /// floats.
  int64_t integerLayers = 0, floatLayers = 0;
  /// The names of float layers for which the RAM to decode 8-bit weights is
  /// missing.
  std::vector<std::string> ramNames;
  std::string halfConstants; ///< from describeHalfConstants()
  /// Number of 8-bit constants that other layers read as floats.
  int64_t floatConstants = 0;
  struct Encoding {
    std::string name; ///< value of --weights-encoding
    int64_t bytes;    ///< approximate bytes of all weights
    int64_t saved;
    int64_t ram = 0;                    ///< additional bytes of the arena
    std::optional<double> seconds = {}; ///< additional estimated time of a run
  };
  std::optional<Encoding> encoding;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSADVICE_H
