//===- PlaceLifetimes.cpp - Lifetimes of values and scratch memory --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/PlacePlanner.h"

#include "compiler/routines/Scratch.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"

using namespace mlir;
using namespace nnc;
using exec::Pool;

/// Returns true if the same byte of a value occurs twice among these ranges, as
/// in a concat of a value with itself.
static bool hasRepeats(ArrayRef<ByteRange> ranges) {
  SmallVector<ByteRange> sorted(ranges);
  auto getKey = [](const ByteRange &range) {
    return std::pair(range.root.getAsOpaquePointer(), range.origin);
  };
  llvm::sort(sorted, [&](const ByteRange &a, const ByteRange &b) {
    return getKey(a) < getKey(b);
  });
  for (auto [a, b] : llvm::zip(sorted, llvm::drop_begin(sorted)))
    if (a.root == b.root && b.origin < a.origin + a.end - a.begin)
      return true;
  return false;
}

unsigned PlacePlanner::addGroup(Value value, Operation *op, int64_t bytes,
                                int first, int last) {
  TenantGroup &group = groups.emplace_back();
  group.tenants.push_back({value, op, {0, bytes, first, last}});
  if (value)
    group.device = nn::getDevice(value.getType());
  else if (op)
    group.device = getDevice(op);
  if (value) {
    groupOf[value] = groups.size() - 1;
    tenantOf[value] = 0;
    group.repeats = hasRepeats(contents.of(value));
  }
  return groups.size() - 1;
}

void PlacePlanner::addTenant(unsigned group, const Tenant &tenant) {
  groupOf[tenant.value] = group;
  tenantOf[tenant.value] = groups[group].tenants.size();
  groups[group].tenants.push_back(tenant);
}

/// Numbers the steps of a function. Step 0 stages inputs. Each op that is not a
/// constant has a step of its own, followed by the steps of the functions that
/// it runs.
void PlacePlanner::addSteps(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    steps.push_back(&op);
    stepOf[&op] = steps.size();
    for (func::FuncOp body : nn::getBodies(&op)) {
      bodies.push_back(body);
      addSteps(body);
    }
  }
}

int PlacePlanner::getLast(Value value, int otherwise) {
  int last = otherwise;
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    int step = stepOf.lookup(reader);
    if (auto loop = dyn_cast<nn::LoopOp>(reader)) {
      // A value that every run of the loop reads is alive until the last run
      // ends.
      bool isFirst = llvm::is_contained(loop.getInits(), value) &&
                     !llvm::is_contained(loop.getXs(), value) &&
                     value != loop.getCount();
      step = isFirst ? step : getEnd(nn::getBodies(loop).front());
    } else if (auto branch = dyn_cast<nn::IfOp>(reader)) {
      for (func::FuncOp body : nn::getBodies(branch))
        for (auto [x, argument] :
             llvm::zip(branch.getXs(), body.getArguments()))
          if (x == value)
            step = std::max(step, getLast(argument, step));
    }
    last = std::max(last, step);
  }
  return last;
}

int64_t PlacePlanner::getReach(Value value) {
  int64_t bytes = getBytes(value);
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    if (auto control = dyn_cast<nn::ControlOpInterface>(reader)) {
      OperandRange captured = control.getCaptured();
      for (func::FuncOp body : nn::getBodies(reader))
        for (auto [x, argument] : llvm::zip(
                 captured, body.getArguments().take_back(captured.size())))
          if (x == value)
            bytes = std::max(bytes, getReach(argument));
    } else if (!reader->hasTrait<OpTrait::IsTerminator>()) {
      bytes = std::max(bytes, getReadBytes(reader, use.getOperandNumber()));
    }
  }
  return bytes;
}

/// Adds the arguments of a body that stand for captured operands to the groups
/// of these operands, at the same offsets. They are alive up to step `last` or,
/// if that is 0, up to their last readers.
void PlacePlanner::addCaptured(nn::ControlOpInterface op, func::FuncOp body,
                               int last) {
  OperandRange captured = op.getCaptured();
  int first = stepOf.lookup(op);
  for (auto [x, argument] : llvm::zip_equal(
           captured, body.getArguments().take_back(captured.size()))) {
    Extent extent = getTenant(x).extent;
    extent.bytes = getReach(argument);
    extent.first = first;
    extent.last = last ? last : getLast(argument, first);
    addTenant(groupOf[x], {argument, nullptr, extent});
  }
}

/// Adds the values of an `if`. Its results are alive from the end of either
/// body on.
void PlacePlanner::addIf(nn::IfOp op) {
  SmallVector<func::FuncOp> both = nn::getBodies(op);
  for (func::FuncOp body : both) {
    addCaptured(op, body, /*last=*/0);
    addValues(body);
    Operation *end = body.getBody().front().getTerminator();
    for (auto [result, y] : llvm::zip_equal(end->getOperands(), op.getYs()))
      handed.push_back({result, y});
  }
  int first = getEnd(both.front()), second = getEnd(both.back());
  for (Value y : op.getYs()) {
    int64_t bytes = getReach(y);
    unsigned group = addGroup(y, op, bytes, first, first);
    addTenant(group, {y, op, {0, bytes, second, getLast(y, second)}});
  }
}

/// Adds the values of a loop. The memory of a carried value is free from its
/// last reader to the end of the run, when its next value is written.
void PlacePlanner::addLoop(nn::LoopOp op) {
  func::FuncOp body = nn::getBodies(op).front();
  Operation *last = body.getBody().front().getTerminator();
  int begin = stepOf.lookup(op), end = getEnd(body);
  BlockArgument run = body.getArgument(0);
  if (!run.use_empty())
    addGroup(run, nullptr, getReach(run), begin, getLast(run, begin));
  for (auto [i, init, y] : llvm::enumerate(op.getInits(), op.getLast())) {
    BlockArgument carried = body.getArgument(1 + i);
    int64_t bytes = std::max(getReach(carried), getReach(y));
    unsigned group =
        addGroup(carried, nullptr, bytes, begin, getLast(carried, begin));
    addTenant(group, {y, op, {0, bytes, end, getLast(y, end)}});
    handed.push_back({last->getOperand(i), y});
    handed.push_back({init, carried});
  }
  addCaptured(op, body, end);
  for (Value y : op.getCollected())
    addGroup(y, op, getReach(y), begin, getLast(y, end));
  addValues(body);
}

void PlacePlanner::addValues(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    if (auto branch = dyn_cast<nn::IfOp>(op))
      addIf(branch);
    else if (auto loop = dyn_cast<nn::LoopOp>(op))
      addLoop(loop);
    else
      for (Value result : op.getResults()) {
        int first = stepOf.lookup(&op);
        unsigned group = addGroup(result, &op, getReach(result), first,
                                  getLast(result, first));
        if (op.hasTrait<OpTrait::ConstantLike>())
          groups[group].pool = Pool::weight;
      }
  }
}

void PlacePlanner::collect() {
  addSteps(function);
  for (BlockArgument argument : function.getArguments()) {
    TenantGroup &group = groups[addGroup(argument, nullptr, getReach(argument),
                                         0, getLast(argument, 0))];
    if (portsInArena && getPool(argument) == Pool::input)
      continue;
    group.pool = getPool(argument);
    group.index = argument.getArgNumber();
    group.limit = getBytes(argument);
  }
  addValues(function);
  isHanded.insert(handed.begin(), handed.end());
  addScratch();
}

/// Returns the bytes of scratch memory for the next values of carried values
/// that are other carried values (getExchanged).
static int64_t getExchangeBytes(Operation *end, nn::LoopOp loop,
                                const Contents &contents) {
  return getExchangeOffsets(end, getExchanged(loop, end, contents)).back();
}

/// Adds the scratch memory of all layers. With several threads, all layers of
/// the host use the same scratch memory and no other value is placed there in
/// between, so that each thread finds its share in the caches of its core.
void PlacePlanner::addScratch() {
  TenantGroup shared;
  int64_t most = 0;
  for (auto [i, op] : llvm::enumerate(steps)) {
    int64_t bytes = getScratchBytes(op, threads);
    int step = i + 1;
    if (bytes == 0)
      continue;
    if (threads > 1 && getDevice(op).empty()) {
      most = std::max(most, bytes);
      shared.tenants.push_back({{}, op, {0, 0, step, step}});
    } else {
      addGroup({}, op, bytes, step, step);
    }
  }
  for (Operation *op : steps)
    if (auto loop = dyn_cast<nn::LoopOp>(op)) {
      func::FuncOp body = nn::getBodies(op).front();
      Operation *end = body.getBody().front().getTerminator();
      if (int64_t bytes = getExchangeBytes(end, loop, contents))
        addGroup({}, end, bytes, getEnd(body), getEnd(body));
    }
  if (shared.tenants.empty())
    return;
  for (Tenant &tenant : shared.tenants)
    tenant.extent.bytes = most;
  // The memory stays reserved between the layers that use it.
  for (auto [tenant, next] :
       llvm::zip(shared.tenants, llvm::drop_begin(shared.tenants)))
    tenant.extent.last = next.extent.first - 1;
  groups.push_back(std::move(shared));
}
