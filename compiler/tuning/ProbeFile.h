//===- ProbeFile.h - Files that nnc target-probe writes -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A probe file holds the caches and speeds of a target's row, measured on a
// chip. It is a text with one line per figure, so that version control shows
// what changed:
//
//   nnc-probe 1
//   nnc 0.2.0
//   chip znver4
//   isas avx512 avx2 sse4 portable
//   mhz 3670
//   multiply_adds 16
//   cache 32768 64
//   cache 1048576 26
//   cache 33554432 18
//   memory_mb_s 25000
//
// `multiply_adds` is the number of f32 multiply-adds per cycle. Each line
// `cache` is a cache level, from level 1 on: its size in bytes and its
// bandwidth in bytes per cycle. Lines that start with # are ignored; they show
// figures that no cost depends on.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_PROBEFILE_H
#define NNC_COMPILER_TUNING_PROBEFILE_H

#include "dialects/target/Target.h"

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace nnc {

struct ProbeFile {
  std::string version; ///< version of nnc that measured
  std::string chip;    ///< LLVM's name of the CPU, or the measured host
  std::vector<std::string> isas; ///< instruction sets of the target
  int64_t mhz = 0, multiplyAdds = 0, memoryMbS = 0;
  struct Cache {
    int64_t bytes, bytesPerCycle;
  };
  std::vector<Cache> caches; ///< from level 1 on
  std::vector<std::string> comments;

  std::string print() const;
  /// Returns `machine` with its figures replaced by those of the file.
  target::MachineAttr apply(target::MachineAttr machine) const;
};

/// Parses the probe file in `text`. If it is broken, returns nullopt and sets
/// `line` to the number of the broken line and `problem` to what is wrong
/// there.
std::optional<ProbeFile> parseProbeFile(llvm::StringRef text,
                                        std::string &problem, unsigned &line);

/// Returns `machine` with the figures of the probe file at `path`. Fails with a
/// diagnostic if the file cannot be read, is broken, or was measured on another
/// machine.
mlir::FailureOr<target::MachineAttr> readProbeFile(llvm::StringRef path,
                                                   target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_PROBEFILE_H
