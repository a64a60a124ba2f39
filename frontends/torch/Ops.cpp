//===- Ops.cpp - The ATen operators that nnc knows ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/Ops.h"

#include "frontends/torch/graph/Mutation.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc::torch;

namespace nnc::torch {
#define NNC_TORCH_MAP(name, converter, op) Value converter(Node &);
#define NNC_TORCH_OP(name, converter, limits) Value converter(Node &);
#define NNC_TORCH_COMPLEX(name, converter) Value converter(Node &);
#include "frontends/torch/Ops.inc"
} // namespace nnc::torch

static constexpr OpInfo kOps[] = {
#define NNC_TORCH_MAP(name, converter, op) {name, op, "", false, converter},
#define NNC_TORCH_OP(name, converter, limits)                                  \
  {name, "", limits, false, converter},
#define NNC_TORCH_COMPLEX(name, converter)                                     \
  {name, "", "complex numbers", true, converter},
#include "frontends/torch/Ops.inc"
};

/// The files of operators, one for each folder, are each sorted; together they
/// are not.
static const std::vector<OpInfo> &getSorted() {
  static const std::vector<OpInfo> sorted = [] {
    std::vector<OpInfo> ops(std::begin(kOps), std::end(kOps));
    llvm::sort(ops, [](const OpInfo &a, const OpInfo &b) {
      return std::pair<StringRef, bool>(a.name, a.isComplex) <
             std::pair<StringRef, bool>(b.name, b.isComplex);
    });
    return ops;
  }();
  return sorted;
}

ArrayRef<OpInfo> nnc::torch::getOps() { return getSorted(); }

std::string nnc::torch::getOpName(StringRef target) {
  target.consume_front("torch.ops.");
  target.consume_front("aten.");
  target.consume_front("_operator.");
  return target.str();
}

static const OpInfo *findByName(StringRef name, bool isComplex) {
  std::pair<StringRef, bool> key(name, isComplex);
  auto found = llvm::lower_bound(
      getSorted(), key, [](const OpInfo &op, std::pair<StringRef, bool> given) {
        return std::pair<StringRef, bool>(op.name, op.isComplex) < given;
      });
  bool isFound = found != getSorted().end() && found->name == name &&
                 found->isComplex == isComplex;
  return isFound ? &*found : nullptr;
}

const OpInfo *nnc::torch::findOp(StringRef target, bool isComplex) {
  std::string name = getOpName(target);
  if (const OpInfo *op = findByName(name, isComplex))
    return op;
  std::string functional = getFunctionalName(name);
  return functional.empty() ? nullptr : findByName(functional, isComplex);
}

bool nnc::torch::isIgnored(StringRef op) {
  return op.starts_with("_assert_") || op.starts_with("sym_constrain_range") ||
         op == "_functional_assert_async.msg" ||
         op == "promote_types.default" || // a type, which no tensor is
         op == "torch._functorch.predispatch.lazy_load_decompositions" ||
         op == "_functional_sym_constrain_range.default";
}
