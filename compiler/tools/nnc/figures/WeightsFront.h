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

/// Returns the bytes of weights of the plans that a module of layers records
/// with DriverOptions::findsFront. The fastest plan comes first, the smallest
/// last.
std::vector<double> listFront(mlir::ModuleOp layered);

/// The Pareto front of a model's plans: no other plan has fewer bytes of
/// weights and takes no more time. --max-weights chooses among these plans.
class WeightsFront {
public:
  /// Finds the plans of the model that `driver` has compiled with
  /// DriverOptions::findsFront. If there are many, it picks some of them,
  /// including the fastest and the smallest, and compiles each of these to
  /// count its memory.
  ExitCode find(Driver &driver);

  void print() const;
  llvm::json::Value toJson() const;

private:
  struct Point {
    int64_t weightBytes = 0;
    double seconds = 0;
    int64_t ramBytes = 0; ///< bytes of arena, inputs, outputs and state
  };
  std::vector<Point> points;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_WEIGHTSFRONT_H
