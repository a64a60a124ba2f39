//===- PlanMemory.cpp - Gives every value a place -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// PlacePlanner finds the places. The pass itself tries another order of layers
// and checks that the states can be written in some order.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/LayerOrder.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/PlacePlanner.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"
#include "dialects/target/Target.h"

namespace nnc {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using exec::Pool;

/// Emits an error and fails if states take the values of each other in a cycle,
/// so that they cannot be copied in any order.
static LogicalResult checkExchanges(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  // Outputs are copied first, before any state is written.
  SmallVector<unsigned> order = getFinishOrder(function);
  llvm::erase_if(order, [&](unsigned result) {
    return !nn::getStateOf(function, result);
  });
  for (auto [i, result] : llvm::enumerate(order)) {
    exec::PlaceAttr target = getFinalPlace(function, result);
    for (unsigned later : llvm::drop_begin(order, i + 1)) {
      exec::PlaceAttr read = getPlace(end->getOperand(later));
      if (read.getPool() == Pool::state && target.getIndex() == read.getIndex())
        return end->emitError("the values that are kept between runs exchange "
                              "places, which nnc does not handle; keep a copy "
                              "that something computes");
    }
  }
  return success();
}

namespace {
struct PlanMemoryPass : nnc::impl::PlanMemoryBase<PlanMemoryPass> {
  using Base::Base;
  /// The memory of a plan: the bytes that exceed the sizes of memories, and all
  /// bytes. Plans are compared in this order.
  using Demand = std::pair<int64_t, int64_t>;
  Demand plan(func::FuncOp function) {
    PlacePlanner(function, threads, portsInArena).plan();
    if (portsInArena && hostPorts)
      function->setAttr(exec::kHostPortsAttr, UnitAttr::get(&getContext()));
    int64_t beyond = 0;
    if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
      for (auto memory : memories.getAsRange<exec::MemoryAttr>())
        beyond += std::max<int64_t>(memory.getBytes() - memory.getSize(), 0);
    return {beyond,
            function->getAttrOfType<IntegerAttr>(exec::kArenaAttr).getInt()};
  }
  bool isBare() {
    auto machine =
        getOperation()->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
    return machine && machine.isBare();
  }
  /// Tries the order of findLayerOrder(), and keeps it if its plan takes less
  /// memory than `demand`.
  void planInOtherOrder(func::FuncOp function, Demand demand) {
    LayerOrder given = getLayerOrder(function);
    LayerOrder found = findLayerOrder(function, portsInArena);
    if (found == given)
      return;
    applyLayerOrder(function, found);
    if (plan(function) >= demand) {
      applyLayerOrder(function, given);
      plan(function);
    }
  }
  LogicalResult check(func::FuncOp function) {
    for (func::FuncOp body : nn::getAllBodies(function))
      for (Operation &op : body.getBody().front())
        if (op.getNumResults() > 1 && !isa<nn::ControlOpInterface>(op))
          return op.emitOpError("has several results; layers have one");
    return success();
  }
  void runOnOperation() override {
    if (failed(nn::verifyBodies(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isPrivate())
        continue;
      if (failed(check(function)))
        return signalPassFailure();
      Demand demand = plan(function);
      if (reorder || isBare())
        planInOtherOrder(function, demand);
      if (failed(checkExchanges(function)))
        return signalPassFailure();
    }
  }
};
} // namespace
