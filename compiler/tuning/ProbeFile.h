//===- ProbeFile.h - What nnc target-probe writes ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// What a target's row says of caches and speed, measured on a chip: text with a
// line a figure, so that version control shows what changed:
//
//   nnc-probe 1
//   nnc 0.1.0
//   chip znver4
//   isas avx512 avx2 sse4 portable
//   mhz 3670
//   multiply_adds 16
//   cache 32768 64
//   cache 1048576 26
//   cache 33554432 18
//   memory_mb_s 25000
//
// multiply_adds are those of f32 a cycle; a line `cache` is a level: its bytes,
// and those a cycle that come and go. Lines that start with # say nothing: the
// figures that no cost rests on.
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
  std::string version;           ///< of the nnc that measured
  std::string chip;              ///< LLVM's name, or where it was measured
  std::vector<std::string> isas; ///< of the target
  int64_t mhz = 0, multiplyAdds = 0, memoryMbS = 0;
  struct Cache {
    int64_t bytes, bytesPerCycle;
  };
  std::vector<Cache> caches; ///< from level 1 on
  std::vector<std::string> comments;

  std::string print() const;
  /// The target with the figures of the file instead of its own.
  target::MachineAttr apply(target::MachineAttr machine) const;
};

/// The file in `text`, or nothing and in `problem` what is wrong with `line`.
std::optional<ProbeFile> parseProbeFile(llvm::StringRef text,
                                        std::string &problem, unsigned &line);

/// `machine` with what the file at `path` says of it. Fails, reporting why,
/// where the file cannot be read, is broken, or was measured on another
/// machine.
mlir::FailureOr<target::MachineAttr> readProbeFile(llvm::StringRef path,
                                                   target::MachineAttr machine);

} // namespace nnc

#endif // NNC_COMPILER_TUNING_PROBEFILE_H
