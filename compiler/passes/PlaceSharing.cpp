//===- PlaceSharing.cpp - Values that share bytes -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The passes by which groups of values grow. PlacePlanner::plan() calls them in
// order.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/PlacePlanner.h"

#include "dialects/nn/attributes/State.h"
#include "dialects/nn/control/Control.h"

using namespace mlir;
using namespace nnc;
using exec::Pool;

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
/// offsets in their group.
bool PlacePlanner::holdSame(const Tenant &a, const Tenant &b, int64_t begin,
                            int64_t end) {
  auto cut = [&](const Tenant &tenant) {
    return contents.of(tenant.value, begin - tenant.extent.offset,
                       end - tenant.extent.offset);
  };
  // Bytes beyond the end of a value, which vector loads may read, have no
  // defined contents.
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

/// Copies inputs and states into the arena if vector loads reach beyond the end
/// of the caller's buffer.
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

/// Computes each result in the caller's buffer if its whole group fits there.
void PlacePlanner::takeOutputs() {
  if (portsInArena)
    return;
  Operation *end = function.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands())
    if (!nn::getStateOf(function, result.getOperandNumber()))
      takePlace(result.get(),
                getFinalPlace(function, result.getOperandNumber()));
}

/// Computes the next value of a state at the place of the state if the old
/// value has no readers by then.
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
      // Readers use a copy of the state, so that its own memory is free.
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

/// Places values that become other values (`handed`) at the places of these.
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

/// Computes the operands of a concat at their places in its result. Groups that
/// have a value with a repeated byte are left out, since its copies would
/// overlap.
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

/// Lets elementwise layers, and anchors that add a residual, overwrite an
/// operand of which they are the last readers.
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
      // Only the operand and the result may overlap in memory and time, and
      // only in the step of the op.
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
