//===- Meter.h - Measures the times of candidates -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_MEASURE_METER_H
#define NNC_COMPILER_TOOLS_DRIVER_MEASURE_METER_H

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/toolchain/Toolchain.h"
#include "compiler/tuning/BenchProgram.h"

namespace nnc::tools {

/// Measures candidates and whole modules on the target. It builds them into
/// programs with the compiler flags of emitted modules, and runs these
/// programs.
class Meter {
public:
  /// Creates a meter for a model whose weights take `weightBytes` bytes and
  /// which `threads` threads run.
  static llvm::Expected<Meter> create(target::MachineAttr machine,
                                      Toolchain toolchain, int threads,
                                      int64_t weightBytes);

  /// Returns the median time of each job in nanoseconds. All runs together take
  /// about `seconds` seconds.
  llvm::Expected<std::vector<int64_t>> measure(llvm::ArrayRef<Job> jobs,
                                               double seconds) const;

  /// Returns the time of one run of each module on inputs of zeros, in
  /// nanoseconds. All runs together take about `seconds` seconds. The modules
  /// take turns; the result for a module is the least of the medians of its
  /// turns.
  llvm::Expected<std::vector<int64_t>> measure(llvm::ArrayRef<Manifest> modules,
                                               double seconds) const;

private:
  /// A program that measures some of the jobs.
  struct Part {
    std::vector<size_t> jobs;
    std::vector<std::pair<int, int>> calls;
    Manifest module;
  };
  Meter(target::MachineAttr machine, Toolchain toolchain, int threads,
        int64_t weightBytes, std::unique_ptr<Scratch> folder);
  std::vector<Part> split(llvm::ArrayRef<Job> jobs) const;
  llvm::Error emit(llvm::ArrayRef<Job> jobs, Part &part,
                   const std::string &code) const;
  /// Runs `program` with `arguments`, which follow the arguments that every
  /// program gets. Returns the values that the program prints after `word`.
  llvm::Expected<std::vector<double>> run(const std::string &program,
                                          llvm::StringRef arguments,
                                          llvm::StringRef word) const;

  target::MachineAttr machine;
  Toolchain toolchain;
  int threads;
  int64_t weightBytes;
  std::unique_ptr<Scratch> folder;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_MEASURE_METER_H
