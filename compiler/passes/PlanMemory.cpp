//===- PlanMemory.cpp - Gives every value a place -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Values are tenants of groups: what shares bytes, at fixed distances, is one
// group. Groups grow in steps, each only where nothing is overwritten that is
// still needed: views join what they are part of, results take the caller's
// buffer, the next value of a state takes the place of the old one, parts of a
// concat are written where the whole wants them, and layers that allow it write
// over what they read. Functions that ops run are planned as steps between the
// op's own, so that their values share the arena with all others. The groups
// that are left in the arena are then packed (compiler/memory/Packing.h), after
// they were divided among the memories where there are several
// (compiler/memory/Memories.h).
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Packing.h"
#include "compiler/passes/LayerOrder.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/PlacePlanner.h"
#include "compiler/routines/Scratch.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace nnc {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

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

/// Step 0 stages inputs; each op that is not a constant has a step of its own,
/// behind which those of the functions come that it runs.
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
      // A value that every run reads has to last for all of them.
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

/// Places the values that a body captures where they are outside, up to step
/// `last` or, if that is 0, up to their last readers.
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

/// The results are there where either body ends, and behind the op.
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

/// A carried value is free from its last reader up to the end of the run, where
/// its next value is written.
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

/// Adds memory for next values of a loop's carried values that are others of
/// these.
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
  // The memory is also reserved between the layers that use it.
  for (auto [tenant, next] :
       llvm::zip(shared.tenants, llvm::drop_begin(shared.tenants)))
    tenant.extent.last = next.extent.first - 1;
  groups.push_back(std::move(shared));
}

void PlacePlanner::join(unsigned into, unsigned from, int64_t delta) {
  for (Tenant tenant : groups[from].tenants) {
    tenant.extent.offset += delta;
    groupOf[tenant.value] = into;
    tenantOf[tenant.value] = groups[into].tenants.size();
    groups[into].tenants.push_back(tenant);
  }
  groups[into].repeats |= groups[from].repeats;
  groups[from].tenants.clear();
}

/// Returns true if two tenants hold the same bytes in the range [begin, end) of
/// their group.
bool PlacePlanner::holdSame(const Tenant &a, const Tenant &b, int64_t begin,
                            int64_t end) {
  auto cut = [&](const Tenant &tenant) {
    return contents.of(tenant.value, begin - tenant.extent.offset,
                       end - tenant.extent.offset);
  };
  // Bytes that vector loads read behind the end of a value have no defined
  // contents.
  auto isWithin = [&](const Tenant &tenant) {
    return end <= tenant.extent.offset + getBytes(tenant.value);
  };
  return isWithin(a) && isWithin(b) && cut(a) == cut(b);
}

bool PlacePlanner::canJoin(
    const TenantGroup &into, const TenantGroup &from, int64_t delta,
    function_ref<bool(const Tenant &, const Tenant &)> takes) {
  bool isCallers = into.pool == Pool::output || into.pool == Pool::state;
  if (from.device != into.device || from.pool != Pool::arena ||
      (into.pool != Pool::arena && !isCallers))
    return false;
  for (Tenant b : from.tenants) {
    b.extent.offset += delta;
    int64_t start = b.extent.offset, end = start + b.extent.bytes;
    if (isCallers && (start < 0 || end > into.limit))
      return false;
    for (const Tenant &a : into.tenants) {
      int64_t meetStart = std::max(start, a.extent.offset);
      int64_t meetEnd = std::min(end, a.extent.offset + a.extent.bytes);
      bool inTime =
          a.extent.first <= b.extent.last && b.extent.first <= a.extent.last;
      if (meetStart < meetEnd && inTime && !takes(a, b) &&
          !isHandedOver(a, b) && !holdSame(a, b, meetStart, meetEnd))
        return false;
    }
  }
  return true;
}

/// Places every result that consists of consecutive bytes of one operand within
/// that operand.
void PlacePlanner::joinViews() {
  for (Operation *op : steps) {
    ArrayRef<Move> moves = contents.getMoves(op);
    if (moves.size() != 1 || moves[0].target != 0 ||
        moves[0].bytes != getBytes(op->getResult(0)))
      continue;
    Value whole = op->getOperand(moves[0].operand);
    join(groupOf[whole], groupOf[op->getResult(0)],
         getTenant(whole).extent.offset + moves[0].source);
  }
}

/// Vectors that reach over the end of the caller's buffer need a copy of it.
void PlacePlanner::stageInputs() {
  for (TenantGroup &group : groups)
    if ((group.pool == Pool::input || group.pool == Pool::state) &&
        llvm::any_of(group.tenants, [&](const Tenant &tenant) {
          return tenant.extent.offset + tenant.extent.bytes > group.limit;
        })) {
      group.pool = Pool::arena;
      group.index = 0;
    }
}

void PlacePlanner::takePlace(Value value, exec::PlaceAttr place) {
  TenantGroup &group = getGroup(value);
  Extent whole = getTenant(value).extent;
  bool fits = llvm::all_of(group.tenants, [&](const Tenant &tenant) {
    return tenant.extent.offset >= whole.offset &&
           tenant.extent.offset + tenant.extent.bytes <=
               whole.offset + getBytes(value);
  });
  if (group.pool != Pool::arena || !fits)
    return;
  group.pool = place.getPool();
  group.index = place.getIndex();
  group.limit = getBytes(value);
  for (Tenant &tenant : group.tenants)
    tenant.extent.offset -= whole.offset;
}

/// A result is produced where the caller wants it, if all that shares its bytes
/// fits there.
void PlacePlanner::takeOutputs() {
  if (portsInArena)
    return;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands())
    if (!nn::getStateOf(function, result.getOperandNumber()))
      takePlace(result.get(),
                getFinalPlace(function, result.getOperandNumber()));
}

/// The next value of a state is produced where the state is, if nothing reads
/// the old value any more by then.
void PlacePlanner::takeStates() {
  Operation *end = function.getBody().front().getTerminator();
  for (BlockArgument state : function.getArguments()) {
    std::optional<unsigned> next =
        nn::getNextValue(function, state.getArgNumber());
    if (!next)
      continue;
    Value value = end->getOperand(*next);
    unsigned from = groupOf[value], into = groupOf[state];
    if (groups[into].pool != Pool::state) {
      // A copy of the state is read, so that its memory is free.
      takePlace(value, getFinalPlace(function, *next));
      continue;
    }
    if (from == into)
      continue;
    auto takes = [&](const Tenant &a, const Tenant &b) {
      return llvm::any_of(std::array{a.op, b.op}, [&](Operation *op) {
        return op && takesOver(op, a, b);
      });
    };
    int64_t delta = -getTenant(value).extent.offset;
    if (canJoin(groups[into], groups[from], delta, takes))
      join(into, from, delta);
  }
}

bool PlacePlanner::isHandedOver(const Tenant &a, const Tenant &b) const {
  auto becomes = [&](const Tenant &from, const Tenant &to) {
    return isHanded.contains({from.value, to.value}) &&
           from.extent.offset == to.extent.offset &&
           from.extent.last <= to.extent.first;
  };
  return becomes(a, b) || becomes(b, a);
}

/// Puts values that become others at once where these are, first of all the
/// next values of loops, which are copied in each run.
void PlacePlanner::handOver() {
  auto never = [](const Tenant &, const Tenant &) { return false; };
  for (const std::pair<Value, Value> &pair : handed) {
    Value value = pair.first, other = pair.second;
    unsigned from = groupOf[value], into = groupOf[other];
    if (from == into)
      continue;
    int64_t delta =
        getTenant(other).extent.offset - getTenant(value).extent.offset;
    auto takes = [&](const Tenant &a, const Tenant &b) {
      Operation *op = value.getDefiningOp();
      return op && takesOver(op, a, b);
    };
    if (canJoin(groups[into], groups[from], delta, takes))
      join(into, from, delta);
    else if (groups[from].pool != Pool::arena &&
             canJoin(groups[from], groups[into], -delta, never))
      join(from, into, -delta);
  }
}

/// Computes the operands of a concat at their places in its result. Groups with
/// a value whose bytes repeat are left out: its parts would overlap their own
/// copies.
void PlacePlanner::joinParts() {
  for (Operation *op : steps)
    for (const Move &move : contents.getMoves(op)) {
      Value part = op->getOperand(move.operand), whole = op->getResult(0);
      unsigned from = groupOf[part], into = groupOf[whole];
      if (from == into || move.source != 0 || move.bytes != getBytes(part) ||
          groups[from].repeats || groups[into].repeats)
        continue;
      int64_t delta = getTenant(whole).extent.offset + move.target -
                      getTenant(part).extent.offset;
      auto never = [](const Tenant &, const Tenant &) { return false; };
      if (canJoin(groups[into], groups[from], delta, never))
        join(into, from, delta);
    }
}

bool PlacePlanner::takesOver(Operation *op, const Tenant &a, const Tenant &b) {
  if (op->getNumResults() != 1)
    return false;
  Value result = op->getResult(0);
  const Tenant &written = a.value == result ? a : b;
  const Tenant &read = a.value == result ? b : a;
  auto isRead = [&](OpOperand &operand) { return operand.get() == read.value; };
  return written.value == result && llvm::any_of(op->getOpOperands(), isRead) &&
         read.extent.last <= written.extent.first &&
         read.extent.offset == written.extent.offset &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return !isRead(operand) ||
                  readsInPlace(op, operand.getOperandNumber());
         });
}

/// Elementwise layers, and anchors that add a residual, write over an operand
/// that nobody needs any more.
void PlacePlanner::reuseOperands() {
  for (Operation *op : steps) {
    if (op->getNumResults() != 1)
      continue;
    Value result = op->getResult(0);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!readsInPlace(op, operand.getOperandNumber()))
        continue;
      unsigned from = groupOf[operand.get()], into = groupOf[result];
      if (from == into)
        continue;
      int64_t delta = getTenant(result).extent.offset -
                      getTenant(operand.get()).extent.offset;
      if (groups[from].pool == Pool::output ||
          groups[from].pool == Pool::state) {
        std::swap(from, into);
        delta = -delta;
      }
      // The one pair that may meet, and only in the step of the op itself.
      auto takes = [&](const Tenant &a, const Tenant &b) {
        return takesOver(op, a, b);
      };
      if (canJoin(groups[into], groups[from], delta, takes)) {
        join(into, from, delta);
        break;
      }
    }
  }
}

/// Results that are constants or a part of a state need a place in the arena
/// that they are copied to.
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
        continue; // A result that is copied.
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

/// Returns false, and emits an error, if states take the values of each other
/// in a circle, so that no order of copies is right.
static LogicalResult checkExchanges(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  // Outputs are copied first, and from no state that has been written.
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
  /// The bytes that a plan takes: beyond the sizes of memories, and in all.
  using Demand = std::pair<int64_t, int64_t>;
  Demand plan(func::FuncOp function) {
    PlacePlanner(function, threads, portsInArena).plan();
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
  /// Keeps the order of layers that needs less memory where there is one.
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
