//===- Clock.h - The clock for printed times ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_OPTIONS_CLOCK_H
#define NNC_COMPILER_TOOLS_NNC_OPTIONS_CLOCK_H

#include "compiler/tools/driver/options/ModelOptions.h"

#include "dialects/target/Target.h"

#include <string>

namespace nnc::tools {

/// The clock rate for which times are printed.
struct Clock {
  double mhz;
  /// The factor that converts estimated seconds, which hold at the clock of the
  /// target's row, to seconds at `mhz`.
  double factor;

  /// Returns a phrase such as "at 80 MHz". If the clock is that of the row, the
  /// phrase also names the option that changes it.
  std::string describe(const ModelOptions &options) const;
};
Clock findClock(target::MachineAttr machine, const ModelOptions &options);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_OPTIONS_CLOCK_H
