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

/// Returns the bytes of all ports that do not lie in the arena.
int64_t sumBytes(const std::vector<Port> &ports);

/// One kind of memory of a chip: the bytes that a module needs, and the bytes
/// that are available.
struct MemoryNeed {
  struct Part {
    int64_t bytes;
    std::string what; ///< phrase such as "of code"
  };
  std::vector<Part> parts;
  std::optional<int64_t> limit;
  std::string option; ///< option that sets the limit
  /// The name of a part whose size is not known and is missing in the sum, such
  /// as "the stack"; empty if all sizes are known.
  std::string unknown;

  int64_t getSum() const;
  /// Returns the bytes that the limit leaves, negative if the sum exceeds it.
  int64_t getLeft() const;
  bool fits() const { return getLeft() >= 0; }
  /// Returns a text such as "1200 bytes: 800 of code, 400 of weights; fits into
  /// the 2048 of --max-flash, 848 are left".
  std::string describe() const;
  /// Returns the list of parts, for instance "800 of code, 400 of weights".
  std::string listParts() const;
  /// Reports that the sum exceeds the limit. `more` follows the list of parts,
  /// and `hint` ends the message.
  void reportExcess(const std::string &model, const std::string &hint,
                    const std::string &more = "") const;
};

/// The bytes of flash memory and RAM that a module needs, with the limits that
/// options set. All output of nnc about these sums comes from here.
struct Fit {
  std::optional<MemoryNeed> flash; ///< null if the code was not built
  MemoryNeed ram;

  /// Returns what a module needs. The code and the stack are included as far as
  /// they are known.
  static Fit find(const Manifest &manifest,
                  const std::optional<CodeBytes> &code,
                  std::optional<int64_t> maxFlash = std::nullopt,
                  std::optional<int64_t> maxRam = std::nullopt);

  /// Returns true if both kinds of memory are within their limits.
  bool fits() const { return ram.fits() && (!flash || flash->fits()); }
  llvm::json::Object toJson() const;
};

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_FIT_H
