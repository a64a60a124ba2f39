//===- Progress.h - Progress of a command --------------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::tools {

/// A step of the command that lasts until the end of the scope. Steps may be
/// nested. While stderr is a terminal, a line shows the steps, how long the
/// innermost one has taken, and how long each step will still take if that is
/// known. With --verbose each step prints a line at its end. After a crash, the
/// supervisor reports the step in which it happened.
class Progress {
public:
  explicit Progress(llvm::StringRef step);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Sets the fraction of the step that is done, from 0 to 1. The remaining
  /// time is extrapolated from it.
  void setShare(double share);
  /// Sets the number of seconds after which the step is expected to end.
  void setSecondsLeft(double seconds);
  /// Sets the result of the step, which --verbose prints with its time.
  void setResult(const std::string &result);

private:
  size_t index; ///< index among the open steps
};

/// Shows which part of the innermost step is being done, for instance a pass.
void noteDetail(llvm::StringRef detail);

/// Reports the open steps to the supervisor again, after a part of the
/// innermost step has reported itself under its own name.
void resumeStep();

/// With --verbose, prints a line that says that `what` took `seconds`.
void tellTime(llvm::StringRef what, double seconds);

/// Removes the progress line, if there is one, so that other output can be
/// printed.
void clearProgress();

/// Writes a message to stderr in place of the progress line.
void writeMessage(const std::string &text);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H
