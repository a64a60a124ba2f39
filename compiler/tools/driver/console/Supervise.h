//===- Supervise.h - Runs a command and reports its crashes ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// The command runs in a child process. If the child crashes, the parent reports
// what it was doing, removes the files that it had not finished, and ends with
// one of the exit codes of nnc (ExitCode.h).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_SUPERVISE_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_SUPERVISE_H

#include "compiler/tools/driver/console/ExitCode.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnc::tools {

/// Runs the command in a child process and returns its exit code. If the
/// environment variable NNC_IN_PROCESS is set, the command runs in this
/// process, which debuggers need.
int supervise(llvm::function_ref<ExitCode()> command);

/// Returns true if the command crashed; supervise() has reported that.
bool hasCrashed();

/// Returns the exit code with which a command ends whose own result is `code`:
/// ExitCode::environment if its output could not be written, otherwise `code`.
ExitCode finish(ExitCode code);

/// Limit the memory of each process of the command in bytes, not counting
/// mapped files and stacks, and its time in seconds; 0 means no limit. They
/// apply from the next supervise() on, but not with NNC_IN_PROCESS.
void limitMemory(int64_t bytes);
void limitTime(int64_t seconds);

/// Records the current step of the command, for the message about a crash.
void noteStep(llvm::StringRef step);

/// A file or folder that is removed, with its contents, at the end of the
/// scope. If the command dies before, the supervising process removes it.
class Scratch {
public:
  explicit Scratch(std::string path);
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  const std::string &path() const { return where; }
  /// Keeps the file or folder, because it is complete.
  void keep();

private:
  std::string where;
  int slot;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_SUPERVISE_H
