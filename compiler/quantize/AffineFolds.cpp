//===- AffineFolds.cpp - Scales and shifts folded into weights ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/AffineFolds.h"

#include "compiler/patterns/AffineChain.h"
#include "compiler/quantize/Plan.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::quantize;

/// Returns true if the layer before a chain can absorb all of it: its scales,
/// if there are any, into the weights, and its shifts into a bias.
static bool isFoldable(const AffineChain &chain) {
  if (chain.ops.empty())
    return false;
  Operation *layer = chain.base.getDefiningOp();
  if (chain.affine.scales(getElementTypeOrSelf(chain.base.getType())))
    return chain.findWeights().has_value();
  auto routine = dyn_cast<nn::RoutineOpInterface>(layer);
  return routine && getOutputView(layer) &&
         (chain.axis == -1 || chain.axis == routine.getChannelAxis());
}

/// Returns the fold of the chain behind a layer, or nullopt if there is none.
static std::optional<AffineFold> findFold(Operation *layer) {
  Value sums = layer->getResult(0);
  Operation *first = sums.hasOneUse() ? *sums.user_begin() : nullptr;
  std::optional<AffineOp> match = first ? matchAffine(first) : std::nullopt;
  if (!match || match->x != sums)
    return std::nullopt;
  AffineChain chain = followChain(first, *match, /*normsOnly=*/false);
  if (!isFoldable(chain))
    return std::nullopt;
  AffineFold fold;
  fold.layer = quantize::getName(layer);
  for (Operation *op : chain.ops)
    if (std::string name = quantize::getName(op);
        name != fold.layer && (fold.nodes.empty() || fold.nodes.back() != name))
      fold.nodes.push_back(std::move(name));
  // A node that was imported as several ops is folded as a whole or not at all.
  Value result = chain.ops.back()->getResult(0);
  for (Operation *reader : result.getUsers())
    if (quantize::getName(reader) == quantize::getName(chain.ops.back()) &&
        !isa<func::ReturnOp>(reader))
      return std::nullopt;
  fold.scale.assign(chain.affine.scale.begin(), chain.affine.scale.end());
  fold.shift.assign(chain.affine.shift.begin(), chain.affine.shift.end());
  return fold;
}

std::vector<AffineFold> quantize::findFolds(ModuleOp module) {
  std::vector<AffineFold> folds;
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (Operation &op : main.getBody().front())
    if (op.getNumResults() == 1)
      if (auto fold = findFold(&op); fold && !fold->nodes.empty())
        folds.push_back(std::move(*fold));
  return folds;
}
