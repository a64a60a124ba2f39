//===- Fit.h - Whether a module fits into a chip --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_FIT_H
#define NNC_TOOLS_NNC_FIT_H

#include "compiler/tools/driver/Firmware.h"

#include <optional>

namespace nnc::tools {

/// Returns the bytes of ports, without those that the arena holds.
int64_t sumBytes(const std::vector<Port> &ports);

/// A kind of memory of a chip: what a module takes of it, and what there is.
struct MemoryNeed {
  struct Part {
    int64_t bytes;
    std::string what; ///< "of code"
  };
  std::vector<Part> parts;
  std::optional<int64_t> limit;
  std::string option; ///< that gives the limit
  /// Bytes among the parts that the limit is not for: of the stack.
  int64_t beyond = 0;

  int64_t getSum() const;
  /// Returns the bytes that the limit leaves, negative where it is passed.
  int64_t getLeft() const;
  /// Returns a text such as "1200 bytes: 800 of code, 400 of weights; fits into
  /// the 2048 of --max-flash, 848 are left".
  std::string describe() const;
};

/// The bytes of flash memory and of RAM that a module needs, with the limits
/// that options give.
struct Fit {
  std::optional<MemoryNeed> flash; ///< null if the code was not built
  MemoryNeed ram;

  llvm::json::Object toJson() const;
};

/// Returns what a module takes. `code` are the bytes of its code and constants
/// if they are known, `size` its parts on a target without an operating system.
Fit findFit(const Manifest &manifest, std::optional<int64_t> code,
            const std::optional<ModuleSize> &size,
            std::optional<int64_t> maxFlash, std::optional<int64_t> maxRam);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_FIT_H
