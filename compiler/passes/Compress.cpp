//===- Compress.cpp - Prune weights and let them share values -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Weights.h"
#include "compiler/passes/Passes.h"

#include "llvm/ADT/StringExtras.h"

namespace nnc {
#define GEN_PASS_DEF_COMPRESS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
struct CompressPass : nnc::impl::CompressBase<CompressPass> {
  using CompressBase::CompressBase;
  void runOnOperation() override {
    std::optional<compression::WeightGoal> goal = getGoal();
    if (!goal)
      return signalPassFailure();
    llvm::StringSet<> names;
    for (const std::string &name : exclude)
      names.insert(name);
    std::vector<compression::LeftWeights> left;
    for (compression::Weights &weights :
         compression::findWeights(getOperation(), names, left)) {
      std::vector<float> matrix = weights.getMatrix();
      compression::compressMatrix(matrix, weights.getShape(block),
                                  weights.getScaleMatrix(), *goal,
                                  /*moments=*/nullptr);
      weights.constant.setValueAttr(weights.makeElements(matrix));
    }
  }

private:
  /// Returns the goal that the options describe, or reports an error if they
  /// are invalid.
  std::optional<compression::WeightGoal> getGoal() {
    compression::WeightGoal goal;
    auto fail = [&](const char *why) {
      emitError(getOperation().getLoc()) << why;
      return std::nullopt;
    };
    if (sparsity >= 0)
      goal.sparsity = sparsity;
    if (!(sparsity <= 1))
      return fail("sparsity is a share from 0 to 1");
    if (!pattern.empty()) {
      compression::Pattern own;
      auto [kept, group] = StringRef(pattern).split(':');
      if (!llvm::to_integer(kept, own.kept, 10) ||
          !llvm::to_integer(group, own.group, 10) || own.kept < 1 ||
          own.group <= own.kept)
        return fail("pattern says how many weights of how many stay, as 2:4");
      goal.pattern = own;
    }
    if (clusters != 0 && (clusters < 2 || clusters > stored::kMostValues))
      return fail("clusters is a number from 2 to 256, or 0");
    goal.clusters = int(clusters);
    return goal;
  }
};
} // namespace
