//===- Meter.h - Measures how long candidates take ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_DRIVER_METER_H
#define NNC_TOOLS_DRIVER_METER_H

#include "compiler/tools/driver/Files.h"
#include "compiler/tools/driver/Toolchain.h"
#include "compiler/tuning/BenchProgram.h"

namespace nnc::tools {

/// Builds programs of candidates as modules are built, and runs them; and
/// modules.
class Meter {
public:
  /// For a model with `weightBytes` of weights, run on `threads`.
  static llvm::Expected<Meter> create(target::MachineAttr machine,
                                      Toolchain toolchain, int threads,
                                      int64_t weightBytes);

  /// Nanoseconds of each job, the median of runs that take about `seconds`.
  llvm::Expected<std::vector<int64_t>> measure(llvm::ArrayRef<Job> jobs,
                                               double seconds) const;

  /// Nanoseconds of a run of each module on inputs that are zero, on runs that
  /// take about `seconds` together: the modules take turns, the least median of
  /// a turn counts.
  llvm::Expected<std::vector<int64_t>> measure(llvm::ArrayRef<Manifest> modules,
                                               double seconds) const;

private:
  /// A program for some of the jobs.
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
  /// Runs the program there, with `arguments` after those of every program:
  /// the values that it prints after `word`.
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

#endif // NNC_TOOLS_DRIVER_METER_H
