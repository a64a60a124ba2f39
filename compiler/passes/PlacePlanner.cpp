//===- PlacePlanner.cpp - The places of all values of a function ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Values are tenants of groups: values whose offsets to each other are fixed
// because they share bytes form a group. Groups grow in several passes, each
// only where nothing is overwritten that is still needed: views join the value
// that they are part of, results take the caller's buffer, the next value of a
// state takes the place of the old one, operands of a concat are computed at
// their places in its result, and layers that allow it overwrite an operand.
// Functions that ops run are planned as steps after the step of the op, so that
// their values share the arena with all others. The groups that remain in the
// arena are divided among the memories if there are several
// (compiler/memory/Memories.h), and packed (compiler/memory/Packing.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/PlacePlanner.h"

#include "compiler/memory/Packing.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace nnc;
using exec::Pool;

/// Adds a group in the arena for each result that is a constant or part of a
/// state, to which it is copied.
void PlacePlanner::addResults() {
  if (!portsInArena)
    return;
  Operation *end = function.getBody().front().getTerminator();
  int last = steps.size();
  for (OpOperand &result : end->getOpOperands())
    if (!nn::getStateOf(function, result.getOperandNumber()) &&
        getGroup(result.get()).pool != Pool::arena)
      copies[result.getOperandNumber()] =
          addGroup({}, nullptr, getBytes(result.get()), last, last);
}

void PlacePlanner::pack() {
  SmallVector<unsigned> packed;
  SmallVector<PackingBlock> blocks;
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (group.pool != Pool::arena || group.tenants.empty())
      continue;
    int64_t lowest = std::numeric_limits<int64_t>::max();
    for (const Tenant &tenant : group.tenants)
      lowest = std::min(lowest, tenant.extent.offset);
    PackingBlock &block = blocks.emplace_back();
    for (Tenant &tenant : group.tenants) {
      tenant.extent.offset -= lowest;
      block.push_back(tenant.extent);
    }
    packed.push_back(i);
  }
  int64_t align = getMemoryAlign(function);
  Builder builder(function.getContext());
  // Each device has memory of its own.
  std::map<StringRef, SmallVector<PackingBlock>> blocksOf;
  for (auto [i, block] : llvm::zip_equal(packed, blocks))
    blocksOf[groups[i].device].push_back(block);
  int64_t bound = 0;
  for (const auto &[device, own] : blocksOf)
    bound += getPackingLowerBound(own, getMemoryAlign(function, device));
  function->setAttr(exec::kLowerBoundAttr, builder.getI64IntegerAttr(bound));
  if (function->hasAttr(exec::kMemoriesAttr))
    return divide(packed, blocks);
  Packing packing = packBlocks(blocks, align);
  for (auto [i, offset] : llvm::zip_equal(packed, packing.offsets))
    for (Tenant &tenant : groups[i].tenants)
      tenant.extent.offset += offset;
  function->setAttr(exec::kArenaAttr, builder.getI64IntegerAttr(packing.bytes));
}

void PlacePlanner::plan() {
  collect();
  addMemories();
  divideWeights();
  joinViews();
  stageInputs();
  takeOutputs();
  takeStates();
  handOver();
  joinParts();
  reuseOperands();
  addResults();
  pack();
  setPlaces();
}

void PlacePlanner::setPlaces() {
  MLIRContext *context = function.getContext();
  llvm::MapVector<Operation *, SmallVector<Attribute>> placesOf;
  for (const TenantGroup &group : groups)
    for (const Tenant &tenant : group.tenants) {
      auto place = [&](int64_t bytes) {
        return exec::PlaceAttr::get(context, group.pool, group.index,
                                    tenant.extent.offset, bytes);
      };
      if (!tenant.value && !tenant.op)
        continue; // A copied result has no tenant value.
      if (!tenant.value) {
        tenant.op->setAttr(exec::kScratchAttr, place(tenant.extent.bytes));
      } else if (auto argument = dyn_cast<BlockArgument>(tenant.value)) {
        auto owner = cast<func::FuncOp>(argument.getOwner()->getParentOp());
        if (owner != function || group.pool == Pool::arena)
          owner.setArgAttr(argument.getArgNumber(), exec::kPlaceAttr, place(0));
      } else if (auto result = cast<OpResult>(tenant.value);
                 isa<nn::ControlOpInterface>(tenant.op)) {
        SmallVector<Attribute> &places = placesOf[tenant.op];
        places.resize(tenant.op->getNumResults());
        places[result.getResultNumber()] = place(0);
      } else if (!tenant.op->hasTrait<OpTrait::ConstantLike>()) {
        tenant.op->setAttr(exec::kPlaceAttr, place(0));
      }
    }
  for (auto &[op, places] : placesOf) {
    op->setAttr(exec::kPlacesAttr, ArrayAttr::get(context, places));
    for (func::FuncOp body : nn::getBodies(op))
      for (auto [i, place] : llvm::enumerate(places))
        body.setResultAttr(i, exec::kPlaceAttr, place);
  }
  if (!portsInArena)
    return;
  function->setAttr(exec::kPortsInArenaAttr, UnitAttr::get(context));
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    unsigned number = result.getOperandNumber();
    if (nn::getStateOf(function, number))
      continue;
    auto copy = copies.find(number);
    bool isCopied = copy != copies.end();
    const TenantGroup &group =
        isCopied ? groups[copy->second] : getGroup(result.get());
    const Tenant &tenant =
        isCopied ? group.tenants.front() : getTenant(result.get());
    function.setResultAttr(number, exec::kPlaceAttr,
                           exec::PlaceAttr::get(context, Pool::arena,
                                                group.index,
                                                tenant.extent.offset, 0));
  }
}
