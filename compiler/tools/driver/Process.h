//===- Process.h - Starts other programs ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_PROCESS_H
#define NNC_TOOLS_DRIVER_PROCESS_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nnc::tools {

using Words = std::vector<std::string>;

/// The command as one would type it.
std::string quoted(const Words &);

/// "qemu-aarch64 -L /usr/x" in words.
Words splitCommand(llvm::StringRef text);

/// Where on PATH a program is.
llvm::Expected<std::string> findProgram(const std::string &name);

/// Runs the program and returns what it printed to stdout. If it cannot start
/// or fails, the error holds the command and what it printed to stderr. `log`
/// is a path that is free for passing use; `input` is a file for its stdin.
llvm::Expected<std::string> runProgram(const Words &, const std::string &log,
                                       const std::string &input = "");

/// Runs the commands, as many at once as there are cores; the first failure is
/// the error.
llvm::Error runPrograms(const std::vector<Words> &, const std::string &log);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_PROCESS_H
