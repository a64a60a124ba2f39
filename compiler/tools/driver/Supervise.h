//===- Supervise.h - A crash of nnc is a message and an exit code -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//
// The command runs in a child process. Whatever happens to it, the parent says
// what it was doing, removes the files that it had not finished, and ends with
// an exit code of the table.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_SUPERVISE_H
#define NNC_TOOLS_DRIVER_SUPERVISE_H

#include "compiler/tools/driver/ExitCode.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnc::tools {

/// Runs the command in a child process and returns its exit code. With
/// NNC_IN_PROCESS set, for debuggers, runs it here.
int supervise(llvm::function_ref<ExitCode()> command);

/// Whether supervise() saw the command die, and reported that itself.
bool hasCrashed();

/// The exit code of a command that ends with `code`: another one where what it
/// printed cannot be written.
ExitCode finish(ExitCode code);

/// What the command is doing, for the message about a crash.
void noteStep(llvm::StringRef step);

/// A file or folder that must not outlive a command that fails: removed, with
/// all that is in it, at the end of the scope or by the supervisor.
class Scratch {
public:
  explicit Scratch(std::string path);
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  const std::string &path() const { return where; }
  /// It is whole, and stays.
  void keep();

private:
  std::string where;
  int slot;
};

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_SUPERVISE_H
