//===- Patch.cpp - Computes the first layers in strips of an image --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A strip is a range of rows of a value. The pass computes a strip from those
// rows of the op's operands on which it depends, and these recursively, up to
// values that are computed whole.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/AxisTypes.h"
#include "compiler/passes/Passes.h"
#include "dialects/qnn/Qnn.h"

#include <map>

namespace nnc {
#define GEN_PASS_DEF_PATCH
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
/// A range of elements [begin, end) along an axis of a value.
struct Rows {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// The parts of its operands that an op reads for some rows of its result.
struct Needs {
  /// The axis of each operand that corresponds to the axis of the result;
  /// negative for operands that are read whole.
  SmallVector<int64_t> axes;
  Rows rows;
  /// Rows of padding before and after these rows.
  int64_t before = 0, after = 0;
};

class Patcher {
public:
  Patcher(func::FuncOp function, Operation *first, Operation *last,
          int64_t axis)
      : builder(function.getContext()), first(first), last(last), axis(axis) {}
  LogicalResult run(int64_t strips);

private:
  void findRegion();
  /// Returns the rows of `value`. They are a slice if `value` is computed
  /// whole, and else are computed. Returns null if the window of one of the
  /// rows lies entirely in padding.
  Value getRows(Value value, int64_t along, Rows rows);
  Value computeRows(Operation *op, int64_t along, Rows rows);
  Value slice(Value value, int64_t along, Rows rows);

  OpBuilder builder;
  Operation *first, *last;
  int64_t axis;
  /// The ops that are computed in strips, with the axis of the rows in the
  /// result of each.
  llvm::MapVector<Operation *, int64_t> region;
  std::map<std::tuple<void *, int64_t, int64_t, int64_t>, Value> computed;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the rows that the windows of the result's rows cover, clipped to the
/// operand.
static Needs needOfWindows(const nn::AxisWindows &windows, int64_t size,
                           Rows rows) {
  int64_t begin = rows.begin * windows.stride - windows.before;
  int64_t end =
      (rows.end - 1) * windows.stride - windows.before + windows.getExtent();
  Needs needs{{}, {std::max<int64_t>(begin, 0), std::min(end, size)}};
  needs.before = needs.rows.begin - begin;
  needs.after = end - needs.rows.end;
  return needs;
}

/// Returns what `op` reads to compute rows along an axis of its result; nullopt
/// if each row may depend on all rows of an operand.
static std::optional<Needs> findNeeds(Operation *op, int64_t axis, Rows rows) {
  nn::AxisUse use = nn::getAxisUse(op, axis);
  if (!use.isLocal() || hasScalesAlong(op, use, axis))
    return std::nullopt;
  if (!use.hasWindows())
    return Needs{use.axes, rows};
  int64_t size = getRankedType(op->getOperand(0)).getDimSize(use.axes.front());
  int64_t results = getRankedType(op->getResult(0)).getDimSize(axis);
  const nn::AxisWindows &windows = use.windows;
  int64_t reach = (results - 1) * windows.stride + windows.getExtent();
  // The last window of a pool may extend beyond the padding.
  if (windows.repeatsElements || windows.before < 0 || windows.after < 0 ||
      reach > windows.before + size + windows.after)
    return std::nullopt;
  Needs needs = needOfWindows(windows, size, rows);
  needs.axes = use.axes;
  return needs;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Sets `region` to the ops that are computed in strips: those between `first`
/// and `last` whose results are read by such ops only, and along a single axis.
void Patcher::findRegion() {
  DenseMap<Value, int64_t> wanted = {{last->getResult(0), axis}};
  /// Values that are cut along several axes or are also read whole.
  DenseSet<Value> unclear;
  for (Operation *op = last; op; op = op->getPrevNode()) {
    Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
    auto found = wanted.find(result);
    bool isOwn = op == last || llvm::all_of(op->getUsers(), [&](auto *user) {
                   return region.contains(user);
                 });
    if (result && found != wanted.end() && isOwn && !unclear.contains(result)) {
      int64_t along = found->second;
      int64_t size = getRankedType(result).getDimSize(along);
      if (auto needs = findNeeds(op, along, {0, size})) {
        region[op] = along;
        for (auto [operand, own] : llvm::zip(op->getOperands(), needs->axes))
          if (own < 0 || (!wanted.try_emplace(operand, own).second &&
                          wanted[operand] != own))
            unclear.insert(operand);
      }
    }
    if (op == first)
      break;
  }
}

Value Patcher::slice(Value value, int64_t along, Rows rows) {
  RankedTensorType type = getRankedType(value);
  if (rows.size() == type.getDimSize(along))
    return value;
  SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1),
      sizes(type.getShape());
  starts[along] = rows.begin;
  sizes[along] = rows.size();
  return builder.create<nn::SliceOp>(value.getLoc(),
                                     withSize(type, along, rows.size()), value,
                                     starts, sizes, steps);
}

Value Patcher::computeRows(Operation *op, int64_t along, Rows rows) {
  std::optional<Needs> needs = findNeeds(op, along, rows);
  if (!needs || needs->rows.size() <= 0)
    return {};
  // An op may read the same value both by rows and whole.
  SmallVector<Value> operands(op->getOperands());
  for (auto [operand, own] : llvm::zip(operands, needs->axes)) {
    if (own < 0)
      continue;
    operand = getRows(operand, own, needs->rows);
    if (!operand)
      return {};
  }
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(
      withSize(getRankedType(op->getResult(0)), along, rows.size()));
  auto own = cast<nn::AxisOpInterface>(copy);
  if (nn::getAxisUse(op, along).hasWindows())
    own.setAxisPadding(along, needs->before, needs->after);
  else
    own.updateAxisSize(along);
  return copy->getResult(0);
}

Value Patcher::getRows(Value value, int64_t along, Rows rows) {
  Value &known =
      computed[{value.getAsOpaquePointer(), along, rows.begin, rows.end}];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  auto own = op ? region.find(op) : region.end();
  Value made = own == region.end() ? slice(value, along, rows)
                                   : computeRows(op, along, rows);
  return computed[{value.getAsOpaquePointer(), along, rows.begin, rows.end}] =
             made;
}

LogicalResult Patcher::run(int64_t strips) {
  Value whole = last->getResult(0);
  RankedTensorType type = getRankedType(whole);
  if (axis < 0 || axis >= type.getRank())
    return last->emitError("its result has ")
           << type.getRank() << " axes and so no axis " << axis;
  int64_t size = type.getDimSize(axis);
  if (strips < 2 || strips > size)
    return last->emitError("its result of ")
           << size << " rows cannot be made up of " << strips << " strips";
  findRegion();
  if (!region.contains(last))
    return last->emitError("is not local to rows along axis ") << axis;
  builder.setInsertionPoint(last);
  int64_t height = llvm::divideCeil(size, strips);
  SmallVector<Value> parts;
  for (int64_t begin = 0; begin < size; begin += height) {
    Value part = getRows(whole, axis, {begin, std::min(begin + height, size)});
    if (!part)
      return last->emitError("a strip of it reads nothing but padding");
    parts.push_back(part);
  }
  auto joined = builder.create<nn::ConcatOp>(last->getLoc(), type, parts, axis);
  whole.replaceAllUsesWith(joined);
  for (auto [op, along] : region)
    op->erase(); // the list has users before producers
  return success();
}

namespace {
struct PatchPass : nnc::impl::PatchBase<PatchPass> {
  using Base::Base;
  void runOnOperation() override {
    // Only the main function has strips: they begin at the model's inputs.
    if (getOperation().isPrivate())
      return;
    SmallVector<Operation *> ops;
    for (Operation &op : getOperation().getBody().front().without_terminator())
      ops.push_back(&op);
    if (last >= ops.size() || first > last) {
      getOperation().emitError()
          << "there are no ops number " << first.getValue() << " to "
          << last.getValue() << " among its " << ops.size();
      return signalPassFailure();
    }
    if (ops[last]->getNumResults() != 1 ||
        failed(
            Patcher(getOperation(), ops[first], ops[last], axis).run(strips)))
      signalPassFailure();
  }
};
} // namespace
