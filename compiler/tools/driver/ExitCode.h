//===- ExitCode.h - What nnc's exit code says ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_EXITCODE_H
#define NNC_TOOLS_DRIVER_EXITCODE_H

namespace nnc::tools {

/// The exit codes of nnc. The README documents them in the same order.
enum class ExitCode {
  done = 0,
  ownFault = 1,    ///< a bug in nnc, or in a compiler that it starts
  usage = 2,       ///< wrong arguments, or a file that does not exist
  broken = 3,      ///< the model is broken
  unsupported = 4, ///< the model needs something that nnc does not have
  differs = 5,     ///< results differ from the expected ones
  limit = 6,       ///< the model exceeds a limit of nnc
  /// Reading or writing failed: a full disk, an error of a device.
  environment = 7,
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_EXITCODE_H
