//===- ApplyPatterns.cpp - Applies patterns and frees unused constants ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/legalize/ApplyPatterns.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

using BlobEntry = DialectResourceBlobManager::BlobEntry;

static BlobEntry *getBlob(ConstantOp constant) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
  return resource ? resource.getRawHandle().getResource() : nullptr;
}

namespace {
/// A listener that counts the users of blobs that are created during a rewrite
/// and restores the locations of constants, which MLIR's folder drops when it
/// moves them.
class ConstantKeeper : public RewriterBase::Listener {
public:
  explicit ConstantKeeper(func::FuncOp function) : function(function) {
    function.walk([&](ConstantOp constant) {
      remember(constant);
      if (BlobEntry *blob = getBlob(constant))
        older.insert(blob);
    });
  }

  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    auto constant = dyn_cast<ConstantOp>(op);
    if (!constant)
      return;
    remember(constant);
    if (BlobEntry *blob = getBlob(constant); blob && !older.contains(blob))
      ++users[blob];
  }

  void notifyOperationErased(Operation *op) override {
    auto constant = dyn_cast<ConstantOp>(op);
    BlobEntry *blob = constant ? getBlob(constant) : nullptr;
    auto count = users.find(blob);
    if (blob && count != users.end() && --count->second == 0)
      blob->setBlob({});
  }

  void restoreLocations() {
    function.walk([&](ConstantOp constant) {
      auto known = locations.find(constant.getValue());
      if (isa<UnknownLoc>(constant.getLoc()) && known != locations.end())
        constant->setLoc(known->second);
    });
  }

private:
  void remember(ConstantOp constant) {
    if (!isa<UnknownLoc>(constant.getLoc()))
      locations.try_emplace(constant.getValue(), constant.getLoc());
  }

  func::FuncOp function;
  llvm::DenseMap<Attribute, Location> locations;
  llvm::DenseMap<BlobEntry *, int64_t> users;
  llvm::DenseSet<BlobEntry *> older;
};
} // namespace

LogicalResult nnc::applyPatterns(func::FuncOp function,
                                 RewritePatternSet &&patterns) {
  ConstantKeeper keeper(function);
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled;
  config.maxIterations = GreedyRewriteConfig::kNoLimit;
  config.listener = &keeper;
  LogicalResult result =
      applyPatternsAndFoldGreedily(function, std::move(patterns), config);
  keeper.restoreLocations();
  return result;
}
