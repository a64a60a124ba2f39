//===- Toolchain.h - Builds emitted modules and runs them -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_TOOLCHAIN_H
#define NNC_TOOLS_DRIVER_TOOLCHAIN_H

#include "compiler/tools/driver/Manifest.h"

namespace nnc::tools {

/// How code for a target is built and run on this machine.
struct Toolchain {
  std::string compiler;               ///< the program, found on PATH
  std::vector<std::string> flags;     ///< those of the target
  std::vector<std::string> linkFlags; ///< more, of a program
  std::vector<std::string>
      emulator;     ///< command in front of the program, or none
  std::string host; ///< that ssh reaches, if programs run on another machine
  std::string target;

  /// That of a row of targets.inc or "native". `compiler` replaces the row's;
  /// CXX replaces the system's "c++".
  static llvm::Expected<Toolchain> find(const std::string &target,
                                        const std::string &compiler);

  /// The command that compiles modules, as far as it is the same for all: the
  /// compiler, with the flags that came with it, and how it optimises. That is
  /// -O3 unless one of these flags begins with -O.
  std::vector<std::string> moduleCommand() const;

  /// Lets programs run elsewhere: ssh:HOST, or the start of a command that is
  /// given the program and its arguments.
  void runOn(const std::string &place);
  /// Runs a program that it built, and returns what that printed. `log` is a
  /// path that is free for passing use.
  llvm::Expected<std::string> run(const std::string &program,
                                  const std::vector<std::string> &arguments,
                                  const std::string &log) const;
};

/// What keeps this machine from running code that needs these features of a
/// CPU, in a sentence, or nothing.
std::string findObstacle(const std::vector<std::string> &features,
                         const Toolchain &);

/// How the compiler calls itself: the first line of its --version.
llvm::Expected<std::string> compilerVersion(const Toolchain &);

/// One compiler call: a source, its object and what is special about it.
struct CompileJob {
  std::string source, object;
  std::vector<std::string> flags;
  bool ofModule = false; ///< compiled by Toolchain::moduleCommand()
};

/// Compiles the emitted module's own sources, as its CMakeLists.txt does, and
/// returns the objects' paths.
llvm::Expected<std::vector<std::string>> buildModule(const Manifest &,
                                                     const Toolchain &,
                                                     const std::string &folder,
                                                     bool hooks);

/// Builds each module and the runner (compiler/tools/runner) into a program,
/// all at once. What is in `folder` of the runner itself from an earlier call
/// is used again.
llvm::Expected<std::vector<std::string>>
buildRunners(llvm::ArrayRef<Manifest> modules, const Toolchain &,
             const std::string &folder);

/// Builds the program of runner/probe.cpp, and returns its path.
llvm::Expected<std::string> buildProbe(const Toolchain &,
                                       const std::string &folder);

/// Bytes of code and constants in an object file.
llvm::Expected<int64_t> codeBytes(const std::string &object);

} // namespace nnc::tools

#endif // NNC_TOOLS_DRIVER_TOOLCHAIN_H
