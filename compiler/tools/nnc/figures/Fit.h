//===- Fit.h - Whether a module fits into a chip --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_FIT_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_FIT_H

#include "compiler/tools/driver/toolchain/CodeBytes.h"

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
  /// The name of a part whose size is not known and which the sum lacks, such
  /// as "the stack"; empty if there is none.
  std::string unknown;

  int64_t getSum() const;
  /// Returns the bytes that the limit leaves, negative where it is passed.
  int64_t getLeft() const;
  bool fits() const { return getLeft() >= 0; }
  /// Returns a text such as "1200 bytes: 800 of code, 400 of weights; fits into
  /// the 2048 of --max-flash, 848 are left".
  std::string describe() const;
  /// Returns the parts, as in "800 of code, 400 of weights".
  std::string listParts() const;
  /// Reports that the bytes are more than the limit. `more` stands behind the
  /// list of their parts, `hint` at the end.
  void reportExcess(const std::string &model, const std::string &hint,
                    const std::string &more = "") const;
};

/// The bytes of flash memory and of RAM that a module needs, with the limits
/// that options give. All that nnc tells of these sums comes from here.
struct Fit {
  std::optional<MemoryNeed> flash; ///< null if the code was not built
  MemoryNeed ram;

  /// Returns what a module takes, the code and the stack as far as they are
  /// known.
  static Fit find(const Manifest &manifest,
                  const std::optional<CodeBytes> &code,
                  std::optional<int64_t> maxFlash = std::nullopt,
                  std::optional<int64_t> maxRam = std::nullopt);

  /// Whether both are within their limits.
  bool fits() const { return ram.fits() && (!flash || flash->fits()); }
  llvm::json::Object toJson() const;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_FIT_H
