//===- Ops.cpp - The ONNX operators that nnc knows ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Ops.h"

#include "frontends/onnx/graph/Node.h"
#include "frontends/onnx/microsoft/Microsoft.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace nnc::onnx;

namespace nnc::onnx {
/// Defined in Elementwise.cpp.
Value convertElementwise(Node &node, StringRef op,
                         std::initializer_list<StringLiteral> attributes);

#define NNC_ONNX_ELEMENTWISE(...)
#define NNC_ONNX_FUNCTION(...)
#define NNC_ONNX_OP(name, converter, limits) Value converter(Node &);
#include "frontends/onnx/Ops.inc"
#define NNC_ONNX_LEARNED(name, converter, limits) Value converter(Node &);
#include "frontends/onnx/learned/Learned.inc"
/// Defined in SupportVectors.cpp.
Value convertCDist(Node &node);
/// Defined in BlockWeights.cpp.
Value convertMatMulNBits(Node &node);
} // namespace nnc::onnx

static constexpr OpInfo kOps[] = {
#define NNC_ONNX_ELEMENTWISE(name, op, ...)                                    \
  {#name, "",                                                                  \
   [](Node &node) { return convertElementwise(node, #op, {__VA_ARGS__}); }},
#define NNC_ONNX_FUNCTION(name, limits) {#name, limits, nullptr},
#define NNC_ONNX_OP(name, converter, limits) {#name, limits, converter},
#include "frontends/onnx/Ops.inc"
};

/// The operators of ONNX for classical machine learning.
static constexpr OpInfo kLearnedOps[] = {
#define NNC_ONNX_LEARNED(name, converter, limits) {#name, limits, converter},
#include "frontends/onnx/learned/Learned.inc"
};

/// Returns true if the names ascend, which findOp needs.
template <size_t N> static constexpr bool ascends(const OpInfo (&ops)[N]) {
  for (size_t i = 1; i < N; ++i)
    if (std::string_view(ops[i - 1].name) >= std::string_view(ops[i].name))
      return false;
  return true;
}
static_assert(ascends(kOps), "the lines of Ops.inc are sorted by name");
static_assert(ascends(kLearnedOps),
              "the lines of Learned.inc are sorted by name");

/// The experimental operators of ONNX. All of them are functions.
static constexpr OpInfo kPreviewOps[] = {{"FlexAttention", "", nullptr}};

/// The operators of onnxruntime that are not expanded to functions of ONNX's
/// operators.
static constexpr OpInfo kMicrosoftOps[] = {
    {"CDist", "distances euclidean and sqeuclidean", convertCDist},
    {"MatMulNBits", "4 and 8 bits, without g_idx", convertMatMulNBits}};

ArrayRef<OpInfo> nnc::onnx::getOps(StringRef domain) {
  if (domain.empty())
    return kOps;
  if (domain == kLearnedDomain)
    return kLearnedOps;
  if (domain == kPreviewDomain)
    return kPreviewOps;
  return domain == kMicrosoftDomain ? ArrayRef<OpInfo>(kMicrosoftOps)
                                    : ArrayRef<OpInfo>();
}

const OpInfo *nnc::onnx::findOp(StringRef domain, StringRef name) {
  ArrayRef<OpInfo> ops = getOps(domain);
  const auto *found =
      llvm::lower_bound(ops, name, [](const OpInfo &op, StringRef wanted) {
        return op.name < wanted;
      });
  return found != ops.end() && found->name == name ? found : nullptr;
}

StringRef nnc::onnx::getAdvice(StringRef name) {
  static constexpr std::pair<StringLiteral, StringLiteral> kAdvice[] = {
#define NNC_ONNX_ADVICE(pattern, advice) {pattern, advice},
#include "frontends/onnx/Advice.inc"
  };
  for (const auto &[pattern, advice] : kAdvice)
    if (llvm::cantFail(llvm::GlobPattern::create(pattern)).match(name))
      return advice;
  return "";
}

std::pair<int, int> OpInfo::getOpsets(StringRef domain) const {
  return getOpsetRange(domain, name);
}
