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

/// Returns a phrase that says how many constants of 16-bit floats a model has
/// that become floats of 32 bits, and the bytes of both; empty where it has
/// none or --precision=f16 keeps them.
std::string describeHalfConstants(mlir::ModuleOp module,
                                  const ModelOptions &options);

/// Advice of `nnc check` on the bytes of weights: how many layers of floats
/// read integers of 8 bits, and whether --weights-encoding would save memory.
class WeightsAdvice {
public:
  /// Looks at the model that `driver` has compiled with
  /// DriverOptions::keepStages, whose weights take `bytes`.
  static WeightsAdvice find(Driver &driver, int64_t bytes);

  /// Returns the name of the encoding that would save bytes, or null.
  const std::string *getEncoding() const {
    return encoding ? &encoding->name : nullptr;
  }
  void dropEncoding() { encoding.reset(); }
  /// Tells what a compilation with that encoding takes: bytes of all weights,
  /// how many fewer these are, how many more the arena takes, and how many
  /// seconds more a run is estimated to take, if that is known.
  void setCosts(int64_t bytes, int64_t saved, int64_t ram,
                std::optional<double> seconds);

  void print() const;
  void addTo(llvm::json::Object &said) const;

private:
  /// Counts layers of floats with weights that are integers of 8 bits.
  void countByteWeights(mlir::ModuleOp layered);
  /// Finds the form in which all weights take the fewest bytes.
  void findEncoding(mlir::ModuleOp layered, int64_t bytes);

  /// Layers of floats whose weights the model has in 8 bits, by how the module
  /// stores them.
  int64_t integerLayers = 0, floatLayers = 0;
  /// The names of layers of floats that lack RAM to decode bytes.
  std::vector<std::string> ramNames;
  std::string halfConstants;  ///< from describeHalfConstants()
  int64_t floatConstants = 0; ///< of 8 bits, read by other layers
  struct Encoding {
    std::string name; ///< of --weights-encoding
    int64_t bytes;    ///< of all weights, about
    int64_t saved;
    int64_t ram = 0;                    ///< bytes that the arena takes more
    std::optional<double> seconds = {}; ///< that a run takes more, estimated
  };
  std::optional<Encoding> encoding;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSADVICE_H
