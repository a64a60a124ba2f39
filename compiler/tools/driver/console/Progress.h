//===- Progress.h - What nnc is doing ---------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H
#define NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace nnc::tools {

/// A step of the command, until the end of the scope. Steps may lie within one
/// another. While stderr is a terminal a line shows them, how long the
/// innermost has taken, and how long those still take that know it. With
/// --verbose each step is a line at its end. The supervisor tells the step at
/// which nnc crashed.
class Progress {
public:
  explicit Progress(llvm::StringRef step);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Says how much of the step is done, from 0 to 1. The time that is left
  /// follows from the time that this took.
  void setShare(double share);
  /// Says in how many seconds the step will end.
  void setSecondsLeft(double seconds);
  /// Says what the step made, which --verbose tells beside its time.
  void setResult(const std::string &result);

private:
  size_t index; ///< among the steps
};

/// Says which part of the innermost step is being done, for instance a pass.
void noteDetail(llvm::StringRef detail);

/// Tells the supervisor the present steps again once a part of the innermost
/// one is done that was noted by its own name.
void resumeStep();

/// Prints a line of what took `seconds` if --verbose is given.
void tellTime(llvm::StringRef what, double seconds);

/// Removes the progress line, if there is one, before something else is
/// printed.
void clearProgress();

/// Writes to stderr in the place of the progress line.
void writeMessage(const std::string &text);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_CONSOLE_PROGRESS_H
