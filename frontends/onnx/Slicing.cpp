//===- Slicing.cpp - Concat, Slice, Split and ReverseSequence -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Varies.h"
#include "frontends/common/ReverseSequence.h"
#include "frontends/onnx/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertReverseSequence(Node &node) {
  return reverseSequence(node, node.getOperand(0), node.getOperand(1),
                         node.getInt("time_axis", 0),
                         node.getInt("batch_axis", 1));
}

Value convertConcat(Node &node) {
  auto axis =
      node.normalizeAxis(node.getInt("axis", 1), getRank(node.getOperand(0)));
  if (!axis)
    return {};
  // Empty tensors are dropped; their other axes may have any size.
  SmallVector<Value> parts;
  for (Value operand : node.getOperands())
    if (getNumElements(operand) != 0 || !node.dropsEmpty(operand))
      parts.push_back(operand);
  if (parts.empty())
    parts = llvm::to_vector(node.getOperands());
  if (parts.size() == 1)
    return parts[0];
  return node.create<nn::ConcatOp>(ValueRange(parts), *axis);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
struct SliceLists {
  SmallVector<int64_t> starts, ends, axes, steps;
};
} // namespace

/// Reads the lists of a Slice, which are attributes before opset 10 and inputs
/// since then.
static std::optional<SliceLists> readSlice(Node &node) {
  bool isOld = node.getVersion() < 10;
  std::optional<SmallVector<int64_t>> lists[4];
  static constexpr StringLiteral names[] = {"starts", "ends", "axes", "steps"};
  for (size_t i = 0; i < 4; ++i) {
    bool isGiven = i < 2 || (isOld ? node.hasAttribute(names[i])
                                   : bool(node.getOperand(i + 1)));
    if (!isGiven)
      continue;
    lists[i] =
        isOld ? node.getInts(names[i]) : node.getConstantInts(i + 1, names[i]);
    if (!lists[i])
      return std::nullopt;
  }
  size_t count = lists[0]->size();
  SliceLists result{*lists[0], *lists[1], lists[2].value_or(iota(count)),
                    lists[3].value_or(SmallVector<int64_t>(count, 1))};
  if (result.ends.size() == count && result.axes.size() == count &&
      result.steps.size() == count)
    return result;
  node.broken("has " + Twine(count) + " starts, " + Twine(result.ends.size()) +
              " ends, " + Twine(result.axes.size()) + " axes and " +
              Twine(result.steps.size()) + " steps");
  return std::nullopt;
}

/// Returns the start or end (`isEnd`) of a slice as an index. A negative
/// position counts from the end of the axis. The result is clamped to [0, size]
/// when walking forward. When walking backward, a start is clamped to [0, size)
/// and an end to [-1, size).
static int64_t clampPosition(int64_t position, int64_t size, bool isBackward,
                             bool isEnd) {
  if (position < 0)
    position += size;
  int64_t least = isBackward && isEnd ? -1 : 0;
  return std::clamp(position, least, std::max(least, size - isBackward));
}

/// Returns whether the network computes where a Slice starts, its axes or its
/// steps.
static bool isComputed(Node &node) {
  return node.getVersion() >= 10 &&
         llvm::any_of(node.getOperands().drop_front(), [](Value operand) {
           return operand && !readElements(operand);
         });
}

/// Converts a Slice whose result has the declared shape: the elements at start,
/// start + step, ... Where they end follows from their number.
static Value computeSlice(Node &node, ArrayRef<int64_t> shape) {
  Value x = node.getOperand(0), starts = node.getOperand(1),
        axes = node.getOperand(3), steps = node.getOperand(4);
  int64_t rank = getRank(x), count = getNumElements(starts);
  Type type = node.getBuilder().getI64Type();
  auto number = [&](int64_t value) { return node.splat(value, type); };
  if (static_cast<int64_t>(shape.size()) != rank ||
      (axes && getNumElements(axes) != count) ||
      (steps && getNumElements(steps) != count))
    return node.broken("has " + Twine(count) +
                       " starts and another number of axes or steps");
  ByAxis list{axes ? axes : node.constant(iota(count)), rank};
  for (int64_t axis = 0; x && axis < rank; ++axis) {
    int64_t size = getShape(x)[axis];
    if (!list.mayName(axis) && shape[axis] == size)
      continue;
    if (shape[axis] > size)
      return node.broken("takes " + Twine(shape[axis]) + " of " + Twine(size) +
                         " elements, as the model declares its result");
    Value step = steps ? list.get(node, steps, axis, 1) : number(1);
    Value start = list.get(node, starts, axis, 0);
    Value fromBack = node.createElementwise("add", {start, number(size)});
    Value isNegative = node.createElementwise("less", {start, number(0)});
    start = node.createElementwise("select", {isNegative, fromBack, start});
    Value isBackward = node.createElementwise("less", {step, number(0)});
    Value last = node.createElementwise(
        "select", {isBackward, number(size - 1), number(size)});
    start = node.createElementwise("max", {start, number(0)});
    start = node.createElementwise("min", {start, last});
    // A longer step leaves the axis anyway, and might overflow.
    step = node.createElementwise("max", {step, number(-size)});
    step = node.createElementwise("min", {step, number(size)});
    Value places = makeSteps(node, shape[axis], 1, 0, 1);
    Value positions = node.createElementwise(
        "add", {start, node.createElementwise("mul", {places, step})});
    x = takeAlong(node, x, axis, positions);
  }
  return x;
}

/// Whether the places at which a Slice starts and ends follow from lengths that
/// data decide.
static bool isComputedFromLengths(Node &node) {
  for (size_t i = 1; i < node.getNumOperands(); ++i)
    if (node.getOperand(i) && !node.isFixed(i))
      return true;
  return false;
}

namespace {
/// A slice of an axis as the model gives it: start, end and step, where
/// negative positions count from the end of the axis.
struct Span {
  int64_t start, end, step;

  bool isBackward() const { return step < 0; }
  /// Returns the number of elements of a slice of `size`.
  int64_t count(int64_t size) const {
    int64_t from = clampPosition(start, size, isBackward(), false),
            to = clampPosition(end, size, isBackward(), true),
            span = isBackward() ? from - to : to - from;
    return size == 0 || span <= 0
               ? 0
               : int64_t(llvm::divideCeil(span, std::abs(step)));
  }
};
} // namespace

/// Returns what clampPosition() does for a size that a run finds.
static Value computePosition(Node &node, int64_t position, Value size,
                             bool isBackward, bool isEnd) {
  auto number = [&](int64_t value) {
    return node.reshape(node.constant(ArrayRef<int64_t>{value}), {});
  };
  Value least = number(isBackward && isEnd ? -1 : 0),
        most = node.createElementwise("sub", {size, number(isBackward)}),
        found = number(position);
  if (position < 0)
    found = node.createElementwise("add", {size, found});
  found = node.createElementwise("min", {found, most});
  return node.createElementwise("max", {found, least});
}

/// Converts a Slice of rows whose number is `base`, a length that data decide.
/// The number of rows that it takes is a length of its own; they are gathered
/// from where they lie in a run.
static Value sliceFound(Node &node, Value x, unsigned base, Span span) {
  const Lengths &lengths = node.getImporter().getLengths();
  const int64_t rows = lengths.getSizes()[base].most;
  // Beyond these limits nothing changes.
  span.start = std::clamp(span.start, -rows - 1, rows + 1);
  span.end = std::clamp(span.end, -rows - 1, rows + 1);
  span.step = std::clamp(span.step, -rows - 1, rows + 1);
  int64_t most = 0;
  bool isAll = span.step == 1;
  for (int64_t size = 0; size <= rows; ++size) {
    most = std::max(most, span.count(size));
    isAll &= span.count(size) == size;
  }
  if (isAll)
    return x;
  auto number = [&](int64_t value) {
    return node.reshape(node.constant(ArrayRef<int64_t>{value}), {});
  };
  auto create = [&](StringRef op, Value a, Value b) {
    return node.createElementwise(op, {a, b});
  };
  Value size =
      node.castTo(lengths.getCounts()[base], node.getBuilder().getI64Type());
  Value from =
            computePosition(node, span.start, size, span.isBackward(), false),
        to = computePosition(node, span.end, size, span.isBackward(), true);
  Value length =
      span.isBackward() ? create("sub", from, to) : create("sub", to, from);
  int64_t step = std::abs(span.step);
  length = create("min", create("max", length, number(0)), size);
  length = create("div", create("add", length, number(step - 1)), number(step));
  auto count = node.addComputed(most, base, length);
  if (!count)
    return {};
  if (span.step == 1 && span.start == 0)
    return node.cut(x, count);
  Value places = node.cut(node.constant(iota(most)), count);
  places = create("add", create("mul", places, number(span.step)), from);
  return node.create<nn::GatherOp>(x, places, int64_t(0));
}

/// Returns as many rows of `x` as a length says that data decide, the end of
/// the slice, and at most those that there are; null where it is no such
/// length, or it is not known how many rows there are.
static Value takeFirst(Node &node, Value x) {
  const Lengths &lengths = node.getImporter().getLengths();
  auto end = node.findLength(2);
  if (!end)
    return {};
  const int64_t rows = getShape(x)[0], most = lengths.getSizes()[*end].most;
  auto own = lengths.findOf(x, 0);
  if (own ? lengths.isWithin(*end, *own)
          : lengths.findSources(x) == 0 && most <= rows)
    return node.cut(x, end);
  if (!own && lengths.findSources(x) != 0)
    return {};
  if (!lengths.mayBeNext(node.getResultName(0)))
    return {};
  Value limit =
      own ? lengths.getCounts()[*own]
          : node.castTo(
                node.reshape(node.constant(ArrayRef<int64_t>{rows}), {}),
                getElement(lengths.getCounts()[*end]));
  Value count =
      node.createElementwise("min", {limit, lengths.getCounts()[*end]});
  int64_t least = own ? lengths.getSizes()[*own].most : rows;
  return node.cut(
      x, node.addComputed(std::min(least, most), own.value_or(*end), count));
}

Value convertSlice(Node &node) {
  Value x = node.getOperand(0);
  if (isComputed(node))
    if (auto shape = node.getDeclaredShape(0))
      return computeSlice(node, *shape);
  auto lists = readSlice(node);
  if (!lists)
    return {};
  int64_t rank = getRank(x);
  SmallVector<int64_t> starts(rank, 0), sizes(getShape(x)), steps(rank, 1);
  SmallVector<bool> isCut(rank, false);
  for (size_t i = 0; i < lists->axes.size(); ++i) {
    auto axis = node.normalizeAxis(lists->axes[i], rank);
    int64_t step = lists->steps[i];
    if (!axis)
      return {};
    if (step == 0 || isCut[*axis])
      return node.broken(step == 0 ? "has a step of 0" : "cuts an axis twice");
    isCut[*axis] = true;
    int64_t size = getShape(x)[*axis];
    // Steps longer than the axis select one element; they are clamped so that
    // they do not overflow.
    step = std::clamp(step, -std::max<int64_t>(size, 1),
                      std::max<int64_t>(size, 1));
    int64_t start = clampPosition(lists->starts[i], size, step < 0, false);
    int64_t end = clampPosition(lists->ends[i], size, step < 0, true);
    int64_t span = step > 0 ? end - start : start - end;
    starts[*axis] = start;
    steps[*axis] = step;
    sizes[*axis] =
        size == 0 || span <= 0 ? 0 : llvm::divideCeil(span, std::abs(step));
  }
  bool isUnitStep = llvm::all_of(steps, [](int64_t step) { return step == 1; });
  // A slice of as many rows as data find takes all of them in an import for the
  // most there may be.
  bool isBeginning = isUnitStep && rank > 0 && lists->axes.size() == 1 &&
                     isCut[0] && starts[0] == 0;
  if (isBeginning && node.getOperand(2) && node.findSources(2) != 0)
    if (Value beginning = takeFirst(node, x))
      return beginning;
  bool isOfRows = rank > 0 && lists->axes.size() == 1 && isCut[0];
  if (isOfRows && !isComputedFromLengths(node))
    if (auto base = node.findBase(x))
      return sliceFound(node, x, *base,
                        {lists->starts[0], lists->ends[0], lists->steps[0]});
  if (ArrayRef<int64_t>(sizes) == getShape(x) && isUnitStep)
    return x;
  bool isLinked =
      !x.getDefiningOp<nn::ConstantOp>() && !node.getImporter().isInBody();
  for (size_t i = 1; isLinked && i < node.getNumOperands(); ++i)
    if (node.getOperand(i))
      x = node.getImporter().linkLengths(x, node.findSources(i), node.getLoc());
  Value y = node.create<nn::SliceOp>(x, starts, sizes, steps);
  // Rows whose number data decide lie elsewhere in other imports.
  if (y && isOfRows && node.getImporter().getLengths().findSources(x) != 0)
    y.getDefiningOp()->setAttr(kVariesAttr, node.getBuilder().getUnitAttr());
  return y;
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// Returns the sizes of the parts. Without a list, the parts are equal; the
/// last may be smaller where opset 18 allows it.
static std::optional<SmallVector<int64_t>> getParts(Node &node, int64_t size) {
  if (node.getOperand(1))
    return node.getConstantInts(1, "sizes of parts");
  if (auto parts = node.getInts("split"); parts && !parts->empty())
    return parts;
  int64_t count = node.getInt("num_outputs", node.getNumResults());
  bool mayDiffer = node.getVersion() >= 18;
  if (count < 1 || (!mayDiffer && size % count != 0)) {
    node.broken("cannot cut " + Twine(size) + " elements into " + Twine(count) +
                " equal parts");
    return std::nullopt;
  }
  int64_t part = llvm::divideCeil(size, count);
  SmallVector<int64_t> parts(std::min<int64_t>(count, node.getNumResults()),
                             part);
  parts.back() = size - part * (static_cast<int64_t>(parts.size()) - 1);
  return parts;
}

Value convertSplit(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  int64_t size = getShape(x)[*axis], start = 0;
  auto parts = getParts(node, size);
  if (!parts)
    return {};
  int64_t left = size;
  for (int64_t part : *parts)
    if (part < 0 || (left -= std::min(part, left + 1)) < 0)
      return node.broken("cuts " + Twine(size) + " elements into parts of " +
                         toString(*parts));
  if (left != 0 || parts->size() != node.getNumResults())
    return node.broken("cuts " + Twine(size) + " elements into " +
                       Twine(node.getNumResults()) + " parts of " +
                       toString(*parts));
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x)),
      steps(getRank(x), 1);
  Value first;
  for (auto [i, part] : llvm::enumerate(*parts)) {
    starts[*axis] = start;
    sizes[*axis] = part;
    start += part;
    if (i != 0 && !node.hasResult(i))
      continue;
    Value slice =
        part == size ? x : node.create<nn::SliceOp>(x, starts, sizes, steps);
    if (i == 0)
      first = slice;
    else
      node.setResult(i, slice);
  }
  return first;
}

} // namespace nnc::onnx
