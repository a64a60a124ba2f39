//===- WeightsFront.h - Bytes of weights against time -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSFRONT_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSFRONT_H

#include "compiler/tools/driver/compile/Driver.h"

#include <llvm/Support/JSON.h>

namespace nnc::tools {

/// Returns the bytes of weights of the plans that a module of layers lists,
/// with DriverOptions::findsFront: the fastest plan first, the smallest last.
std::vector<double> listFront(mlir::ModuleOp layered);

/// The plans of a model of which none has fewer bytes of weights and takes no
/// more time: what --max-weights can choose among.
class WeightsFront {
public:
  /// Finds the plans of the model that `driver` has compiled with
  /// DriverOptions::findsFront. Of many plans it takes some, the fastest and
  /// the smallest one among them, and compiles each of these to count its
  /// memory.
  ExitCode find(Driver &driver);

  void print() const;
  llvm::json::Value toJson() const;

private:
  struct Point {
    int64_t weightBytes = 0;
    double seconds = 0;
    int64_t ramBytes = 0; ///< of the arena, the inputs, the outputs, the state
  };
  std::vector<Point> points;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSFRONT_H
