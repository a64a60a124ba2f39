//===- BatchProfile.cpp - Time and memory at a batch size -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/BatchProfile.h"

#include "compiler/memory/Contents.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Decode.h"

using namespace mlir;
using namespace nnc;

void nnc::numberOps(func::FuncOp function) {
  Builder builder(function.getContext());
  for (auto [i, op] : llvm::enumerate(getLayerOrder(function)))
    op->setAttr(nn::kBatchOpAttr, builder.getI64IntegerAttr(int64_t(i)));
}

void nnc::forgetNumbers(func::FuncOp function) {
  function.walk([](Operation *op) { op->removeAttr(nn::kBatchOpAttr); });
}

static double getSeconds(Operation *op, const CostModel &cost) {
  if (auto layer = dyn_cast<nn::LayerOp>(op))
    return getLayerSeconds(layer, cost);
  if (auto adapt = dyn_cast<nn::AdaptOp>(op))
    return adapt.isView() ? 0
                          : cost.getAdapt(nn::getTensorType(adapt.getX()),
                                          nn::getTensorType(adapt.getY()))
                                .seconds;
  if (auto decode = dyn_cast<nn::DecodeOp>(op))
    return findDecode(decode.getShape(), decode.getX().getType(),
                      decode.getY().getType(), cost)
        .seconds;
  return 0;
}

BatchProfile nnc::readBatchProfile(func::FuncOp function, int64_t size,
                                   size_t ops, const CostModel &cost) {
  BatchProfile profile{size, std::vector<double>(ops),
                       std::vector<int64_t>(ops), std::vector<int64_t>(ops)};
  LayerOrder order = getLayerOrder(function);
  SmallVector<int64_t> all = getUsage(describeSteps(function, true)),
                       own = getUsage(describeSteps(function, false));
  // An op that passes have added counts for the next numbered op or, if there
  // is none, for the last one.
  size_t number = ops - 1;
  for (size_t i = order.size(); i-- > 0;) {
    if (auto known = order[i]->getAttrOfType<IntegerAttr>(nn::kBatchOpAttr))
      number = size_t(known.getInt());
    profile.seconds[number] += getSeconds(order[i], cost);
    profile.bytes[number] = std::max(profile.bytes[number], all[i]);
    profile.bytesWithoutPorts[number] =
        std::max(profile.bytesWithoutPorts[number], own[i]);
  }
  return profile;
}

std::vector<BatchCut> nnc::findBatchCuts(func::FuncOp function,
                                         const BatchSamples &samples,
                                         const CostModel &cost) {
  LayerOrder order = getLayerOrder(function);
  DenseMap<Operation *, size_t> numbers;
  for (auto [i, op] : llvm::enumerate(order))
    numbers[op] = i;
  numbers[function.getBody().front().getTerminator()] = order.size();
  std::vector<BatchCut> cuts(order.size() + 1);
  auto count = double(samples.getCount());
  for (BlockArgument input : function.getArguments()) {
    size_t first = order.size();
    for (Operation *user : input.getUsers())
      first = std::min(first, numbers.lookup(user));
    for (size_t i = first + 1; i < cuts.size(); ++i) {
      cuts[i].inputBytes += getBytes(input) / samples.getCount();
      cuts[i].inputSeconds +=
          cost.getFetchSeconds(nn::getTensorType(input)) / count;
    }
  }
  for (auto [i, op] : llvm::enumerate(order))
    for (Value result : op->getResults()) {
      size_t last = 0;
      for (Operation *user : result.getUsers())
        last = std::max(last, numbers.lookup(user));
      if (!samples.isSplit(result))
        continue;
      for (size_t cut = i + 1; cut <= last; ++cut) {
        cuts[cut].queueBytes += getBytes(result) / samples.getCount();
        cuts[cut].queueSeconds +=
            cost.getFetchSeconds(nn::getTensorType(result)) / count;
      }
    }
  return cuts;
}
