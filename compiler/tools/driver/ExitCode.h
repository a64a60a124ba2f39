//===- ExitCode.h - What nnc's exit code says ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_EXITCODE_H
#define NNC_TOOLS_DRIVER_EXITCODE_H

namespace nnc::tools {

/// The README has this table.
enum class ExitCode {
  done = 0,
  ownFault = 1,    ///< a bug in nnc, or in a compiler that it starts
  usage = 2,       ///< wrong arguments, a file that is not there
  broken = 3,      ///< the model is broken
  unsupported = 4, ///< the model needs what nnc lacks
  differs = 5,     ///< results differ
  limit = 6,       ///< a limit was passed
  environment = 7, ///< reading or writing failed: a full disk, a device's error
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_EXITCODE_H
