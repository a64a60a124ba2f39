//===- Process.h - Starts other programs ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SYSTEM_PROCESS_H
#define NNC_COMPILER_TOOLS_DRIVER_SYSTEM_PROCESS_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace nnc::tools {

using Words = std::vector<std::string>;

/// Returns the command as a user would type it, quoted for a shell.
std::string quoted(const Words &);

/// Splits a command such as "qemu-aarch64 -L /usr/x" into words.
Words splitCommand(llvm::StringRef text);

/// Returns the path of a program that it finds on PATH, or an error.
llvm::Expected<std::string> findProgram(const std::string &name);

/// Runs the program and returns what it printed to stdout. If it cannot be
/// started or fails, the error holds the command and what it printed to stderr.
/// `log` is the path, without extension, of temporary files for the output, and
/// `input` is a file for its stdin, or empty.
llvm::Expected<std::string> runProgram(const Words &, const std::string &log,
                                       const std::string &input = "");

/// Runs a program of compiler/tools/runner like runProgram(). If its exit code
/// says that there is no GPU that can run the module, the error has the code
/// ENODEV, for which nnc has an exit code of its own.
llvm::Expected<std::string> runRunner(const Words &, const std::string &log,
                                      const std::string &input = "");

/// Runs the commands in parallel, as many at once as there are cores. Returns
/// the first failure as the error.
llvm::Error runPrograms(const std::vector<Words> &, const std::string &log);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SYSTEM_PROCESS_H
