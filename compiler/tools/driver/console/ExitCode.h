//===- ExitCode.h - Exit codes of nnc -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_EXITCODE_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_EXITCODE_H

namespace nnc::tools {

/// The exit codes of nnc. exitCodeTexts holds their descriptions for users.
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
  noGpu = 8, ///< the target is a GPU, and this machine has none to run on
};

/// The description of each exit code, in the words of the README. The help
/// prints the part before the colon.
inline constexpr struct {
  ExitCode code;
  const char *says;
} exitCodeTexts[] = {
    {ExitCode::done, "done"},
    {ExitCode::ownFault, "nnc's own fault"},
    {ExitCode::usage, "usage: arguments, files, open dimensions"},
    {ExitCode::broken, "the model is broken"},
    {ExitCode::unsupported, "the model needs what nnc lacks"},
    {ExitCode::differs, "results differ"},
    {ExitCode::limit, "a limit was passed"},
    {ExitCode::environment,
     "reading or writing failed: a full disk, a device's error"},
    {ExitCode::noGpu, "no GPU: the target is one that nnc cannot run on here"}};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_EXITCODE_H
