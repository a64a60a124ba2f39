//===- Toolchain.h - Builds emitted modules and runs them -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_TOOLCHAIN_H
#define NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_TOOLCHAIN_H

#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// The tools that build and run code for a target on this machine.
struct Toolchain {
  std::string compiler; ///< name of the program, which is found on PATH
  std::vector<std::string> flags;     ///< compiler flags of the target
  std::vector<std::string> linkFlags; ///< additional flags for linking programs
  /// Command in front of the program, or empty.
  std::vector<std::string> emulator;
  /// The name for ssh of another machine that runs the programs, or empty.
  std::string host;
  std::string target;
  /// The board of a target without an operating system, whose programs are
  /// firmware (driver/Firmware.h), or "".
  std::string board;
  /// Whether `compiler` compiles CUDA for the CPU, which emulates the GPU.
  bool emulatesGpu = false;
  /// The C++ compiler of the sources that are not CUDA, if `compiler` is that
  /// of programs for a GPU, nvcc; otherwise empty.
  std::string hostCompiler;
  /// The program that links firmware and knows the target's libraries.
  std::string linker;

  std::string level = "-O3"; ///< optimization level of modules, unless the
                             ///< compiler's flags have one

  /// Whether the modules of firmware call a function after each layer, which
  /// takes a few bytes of stack.
  bool callsHooks = true;

  bool isBare() const { return !board.empty(); }

  /// Returns the toolchain of a row of targets.inc or of "native". `compiler`
  /// replaces the compiler of the row if it is not empty. The environment
  /// variable CXX replaces the system's "c++".
  static llvm::Expected<Toolchain> find(const std::string &target,
                                        const std::string &compiler);

  /// Returns the part of the compile command that all modules share: the
  /// compiler with the flags given with it, and `level` unless one of these
  /// flags begins with -O.
  std::vector<std::string> moduleCommand() const;

  /// Makes `compiler`, or if it is empty the system's C++ compiler, build CUDA
  /// modules for this machine's CPU, which emulates the GPU.
  void emulateGpu(const std::string &compiler);

  /// Makes `compiler` build programs that run modules of CUDA on a GPU. The
  /// system's C++ compiler compiles what is not CUDA.
  void useGpu();

  /// Makes programs run elsewhere. `place` is ssh:HOST, or the beginning of a
  /// command to which the program and its arguments are appended.
  void runOn(const std::string &place);
  /// Runs a program that was built by this toolchain, and returns its output.
  /// `log` is the path, without extension, of temporary files for the output.
  llvm::Expected<std::string> run(const std::string &program,
                                  const std::vector<std::string> &arguments,
                                  const std::string &log) const;
};

/// Returns a sentence that says why this machine cannot run code that needs the
/// given CPU features, or an empty string if it can.
std::string findObstacle(const std::vector<std::string> &features,
                         const Toolchain &);

/// Returns the first line that the compiler prints for --version.
llvm::Expected<std::string> compilerVersion(const Toolchain &);

/// A call of the compiler: a source, its object file, and the flags for this
/// source alone.
struct CompileJob {
  std::string source, object;
  std::vector<std::string> flags;
  bool ofModule = false; ///< whether Toolchain::moduleCommand() compiles it
  /// Flags that only nvcc gets.
  std::vector<std::string> cudaFlags = {};
  /// Whether the source includes headers of CUDA, though it has no kernels.
  bool callsCuda = false;
};

/// Compiles the jobs in parallel and returns the paths of their objects. `log`
/// is the path, without extension, of temporary files.
llvm::Expected<std::vector<std::string>>
compileAll(const Toolchain &, const std::vector<CompileJob> &,
           const std::string &log);

/// Whether a module calls the runner after each layer.
enum class Hooks {
  none,
  called, ///< and a module of CUDA waits for the GPU before
  atOnce  ///< and a module of CUDA does not wait: the work is in its stream
};

/// Returns the jobs for the sources of the emitted module, whose objects go to
/// `folder`. The C++ source gets the additional flags `more`. `hooks`
/// compiles in the calls with which the runner observes layers.
std::vector<CompileJob> moduleJobs(const Manifest &, const std::string &folder,
                                   Hooks hooks,
                                   const std::vector<std::string> &more = {});

/// Compiles the sources of the emitted module as its CMakeLists.txt does, and
/// returns the paths of the object files.
llvm::Expected<std::vector<std::string>> buildModule(const Manifest &,
                                                     const Toolchain &,
                                                     const std::string &folder,
                                                     Hooks hooks);

/// Builds the shared library that the manifest names, beside the module's
/// sources. It needs no other file.
llvm::Error buildLibrary(const Manifest &, const Toolchain &);

/// Links each module with the runner (compiler/tools/runner) into a program.
/// For a target without an operating system it links the test firmware instead.
/// All programs are built in parallel. Object files of the runner that an
/// earlier call left in `folder` are reused.
llvm::Expected<std::vector<std::string>>
buildRunners(llvm::ArrayRef<Manifest> modules, const Toolchain &,
             const std::string &folder);

/// Builds the program of runner/probe.cpp and returns its path.
llvm::Expected<std::string> buildProbe(const Toolchain &,
                                       const std::string &folder);

/// Returns the bytes of code and constants in an object file.
llvm::Expected<int64_t> codeBytes(const std::string &object);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_TOOLCHAIN_TOOLCHAIN_H
