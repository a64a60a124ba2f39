//===- DecodeRoom.cpp - Free memory for decoded weights -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/DecodeRoom.h"

#include "compiler/routines/Scratch.h"
#include "dialects/nn/control/Control.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the bytes that are in use while each op of a function runs: those of
/// the values that are live, and the scratch memory of the op's routine.
static std::vector<int64_t> findUse(Block &block) {
  DenseMap<Operation *, size_t> places;
  for (Operation &op : block)
    places.try_emplace(&op, places.size());
  // `bytes` holds the scratch memory of each op, and `more` the change of the
  // bytes of live values from the op before.
  std::vector<int64_t> bytes(places.size()), more(places.size() + 1);
  for (Operation &op : block) {
    if (isa<ConstantOp>(op))
      continue;
    size_t first = places.lookup(&op);
    bytes[first] = getScratchBytes(&op, /*threads=*/1);
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      size_t last = first;
      bool isOutput = false;
      for (Operation *user : result.getUsers()) {
        Operation *reader = block.findAncestorOpInBlock(*user);
        last = std::max(last, places.lookup(reader));
        isOutput |= isa<func::ReturnOp>(reader);
      }
      if (!type || isOutput)
        continue;
      more[first] += getPhysicalBytes(type);
      more[last + 1] -= getPhysicalBytes(type);
    }
  }
  int64_t live = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] += live += more[i];
  return bytes;
}

DecodeRoom::DecodeRoom(ModuleOp module, int64_t maxRam) {
  DenseSet<func::FuncOp> bodies;
  module.walk([&](Operation *op) {
    for (func::FuncOp body : nn::getBodies(op))
      bodies.insert(body);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || bodies.contains(function))
      continue;
    DenseMap<func::FuncOp, int64_t> outside;
    DenseMap<Operation *, int64_t> taken;
    int64_t most = 0;
    for (func::FuncOp each : nn::getAllBodies(function)) {
      Block &block = each.getBody().front();
      for (auto [op, bytes] : llvm::zip_equal(block, findUse(block))) {
        int64_t all = outside.lookup(each) + bytes;
        taken[&op] = all;
        most = std::max(most, all);
        for (func::FuncOp body : nn::getBodies(&op))
          outside[body] = all;
      }
    }
    for (func::FuncOp each : nn::getAllBodies(function))
      for (auto layer : each.getBody().front().getOps<LayerOp>()) {
        Bytes &bytes = layers[each.getName()][layer.getName()];
        bytes.room = std::min(bytes.room, most - taken.lookup(layer));
        bytes.limit = std::min(bytes.limit, maxRam - taken.lookup(layer));
      }
  }
}

DecodeRoom::Bytes DecodeRoom::get(func::FuncOp function, LayerOp layer) const {
  auto found = layers.find(function.getName());
  return found == layers.end() ? Bytes()
                               : found->second.lookup(layer.getName());
}
