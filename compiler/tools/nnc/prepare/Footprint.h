//===- Footprint.h - Bytes that a module takes of a board's memory --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_PREPARE_FOOTPRINT_H
#define NNC_COMPILER_TOOLS_NNC_PREPARE_FOOTPRINT_H

#include "compiler/tools/driver/toolchain/Runner.h"

#include "llvm/Support/JSON.h"

namespace nnc::tools {

/// The bytes of memory that a module takes on a board without an operating
/// system.
struct Footprint {
  int64_t text = 0, constants = 0, weights = 0; ///< in flash memory
  int64_t arena = 0, stack = 0; ///< in RAM, besides inputs and outputs
  int64_t state = 0;            ///< in RAM: values that are kept between runs

  /// Measures the module. `result` is the result of a run of it.
  static llvm::Expected<Footprint> measure(const BuiltModule &,
                                           const RunResult &result);
  llvm::json::Object toJson() const;
  void print() const;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_PREPARE_FOOTPRINT_H
