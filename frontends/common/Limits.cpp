//===- Limits.cpp - The sizes of tensors that nnc handles -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Limits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;

static std::string formatBytes(int64_t bytes) {
  static constexpr std::pair<int64_t, StringLiteral> units[] = {
      {int64_t(1) << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}};
  for (auto [unit, name] : units)
    if (bytes >= unit && bytes % unit == 0)
      return (Twine(bytes / unit) + name).str();
  return (Twine(bytes) + " bytes").str();
}

std::optional<std::string>
nnc::frontends::findSizeProblem(ArrayRef<int64_t> shape, Type element,
                                const Limits &limits, bool isMade) {
  auto withShape = [&](const Twine &why) {
    return ("of shape " + toString(shape) + why).str();
  };
  if (static_cast<int64_t>(shape.size()) > kMaxRank)
    return ("of " + Twine(shape.size()) + " axes; nnc handles " +
            Twine(kMaxRank))
        .str();
  // Quantized types hold at most 32 bits.
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 32;
  int64_t bytes = std::max(1u, bits / 8);
  bool overflow = false;
  for (int64_t dim : shape) {
    if (dim < 0 || dim > kMaxDim)
      return withShape("; an axis has 0 to " + Twine(kMaxDim) + " elements");
    // Axes of size 0 count as 1, so that they do not hide that the others are
    // too large.
    overflow |= llvm::MulOverflow(bytes, std::max<int64_t>(dim, 1), bytes);
  }
  if (overflow || bytes > (isMade ? limits.constant : limits.tensor))
    return withShape(isMade ? "; nnc makes constants of up to " +
                                  formatBytes(limits.constant) +
                                  "; --limit constant=BYTES allows more"
                            : "; nnc handles tensors of up to " +
                                  formatBytes(limits.tensor) +
                                  "; --limit tensor=BYTES allows more");
  return std::nullopt;
}

std::string nnc::frontends::toString(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

std::string nnc::frontends::toString(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "()";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}
