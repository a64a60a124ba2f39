//===- Slicing.cpp - Concat, Slice, Split and ReverseSequence -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/ReverseSequence.h"
#include "frontends/onnx/moves/Positions.h"

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

Value convertReverseSequence(Node &node) {
  return reverseSequence(node, node.getOperand(0), node.getOperand(1),
                         node.getInt("time_axis", 0),
                         node.getInt("batch_axis", 1));
}

/// Converts a Concat that pads a data-dependent number of slices with constant
/// slices to a fixed number. Returns null without an error for any other
/// Concat.
static Value fillUp(Node &node, int64_t axis) {
  using Kind = LengthExpression::Kind;
  const Lengths &lengths = node.getImporter().getLengths();
  ArrayRef<Value> parts = node.getOperands();
  if (lengths.getSizes().empty() || parts.size() < 2 ||
      node.getImporter().isInBody())
    return {};
  LengthExpression total = 0;
  for (Value part : parts) {
    if (!part || getRank(part) <= axis)
      return {};
    total = lengths.combine(Kind::add, total, lengths.describe(part, axis));
  }
  auto fixed = total.getConstant();
  auto getFilling = [&](Value part) {
    return lengths.describe(part, axis).getConstant()
               ? std::nullopt
               : lengths.getFilling(part);
  };
  auto before = getFilling(parts.front()), after = getFilling(parts.back());
  if (!fixed || bool(before) == bool(after))
    return {};
  // The padding gets as many slices as the result has, whatever the length of
  // x; the result is a slice of x and the padding joined.
  Value x =
      parts.size() == 2
          ? parts[before ? 1 : 0]
          : node.create<nn::ConcatOp>(
                ValueRange(before ? parts.drop_front() : parts.drop_back()),
                axis);
  if (!x)
    return {};
  SmallVector<int64_t> shape(getShape(x)), starts(getRank(x), 0),
      steps(getRank(x), 1);
  starts[axis] = before ? shape[axis] : 0;
  shape[axis] = *fixed;
  Value filling = node.splat(before ? *before : *after, getElement(x), shape);
  SmallVector<Value> all = {x, filling};
  if (before)
    std::swap(all[0], all[1]);
  Value y = node.create<nn::SliceOp>(
      node.create<nn::ConcatOp>(ValueRange(all), axis), starts, shape, steps);
  if (y)
    y.getDefiningOp()->setAttr(nn::kVariesAttr,
                               node.getBuilder().getUnitAttr());
  node.getImporter().noteDim(y, axis, total);
  return y;
}

Value convertConcat(Node &node) {
  auto axis =
      node.normalizeAxis(node.getInt("axis", 1), getRank(node.getOperand(0)));
  if (!axis)
    return {};
  if (Value filled = fillUp(node, *axis))
    return filled;
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

namespace {
/// A slice along an axis, whose size, start or end is computed from
/// data-dependent sizes. Negative positions count from the end of the axis.
struct Span {
  using Kind = LengthExpression::Kind;
  /// A position that lies outside of every axis.
  static constexpr int64_t kFar = LengthExpression::kMost / 2;

  const Lengths &lengths;
  LengthExpression size, start, end;
  int64_t step;

  LengthExpression combine(Kind kind, const LengthExpression &a,
                           const LengthExpression &b) const {
    return lengths.combine(kind, a, b);
  }
  /// Returns the result of clampPosition() as an expression of data-dependent
  /// sizes.
  LengthExpression clamp(LengthExpression position, bool isEnd) const {
    const int64_t isBackward = step < 0;
    if (auto known = position.getConstant())
      position = std::clamp(*known, -kFar, kFar);
    LengthExpression isNegative = combine(Kind::less, position, 0),
                     found = lengths.select(isNegative,
                                            combine(Kind::add, position, size),
                                            position);
    found = combine(Kind::min, found, combine(Kind::sub, size, isBackward));
    return combine(Kind::max, found, isBackward && isEnd ? -1 : 0);
  }
  LengthExpression getFirst() const { return clamp(start, false); }
  /// Returns the number of elements.
  LengthExpression count() const {
    LengthExpression from = getFirst(), to = clamp(end, true);
    LengthExpression span =
        step < 0 ? combine(Kind::sub, from, to) : combine(Kind::sub, to, from);
    span = combine(Kind::min, combine(Kind::max, span, 0), size);
    return combine(Kind::div, combine(Kind::add, span, std::abs(step) - 1),
                   std::abs(step));
  }
};
} // namespace

/// Returns a slice of `x` along `axis` whose position or length is
/// data-dependent, for result `result` of the node. The elements are gathered
/// at positions that are computed at run time. Returns null without an error if
/// position and length are the same in all imports or are not known.
static Value sliceByLengths(Node &node, Value x, int64_t axis, const Span &span,
                            size_t result = 0) {
  LengthExpression from = span.getFirst(), count = span.count();
  if (!from || !count || (from.getConstant() && count.getConstant()))
    return {};
  const Lengths &lengths = span.lengths;
  bool isBeginning = from.getConstant() == std::optional<int64_t>(0);
  if (isBeginning && span.step == 1 && lengths.areEqual(count, span.size))
    return x;
  Value places;
  if (auto fixed = count.getConstant()) {
    places = node.constant(iota(*fixed));
  } else {
    auto length = node.makeLength(count, result);
    if (!length)
      return {};
    auto own = span.size.getLength();
    auto rows = span.size.getConstant();
    bool isPart = own ? lengths.isWithin(*length, *own)
                      : rows && node.getRoom(*length) <= *rows;
    if (axis == 0 && isBeginning && span.step == 1 && isPart)
      return node.cut(x, length);
    places = node.countTo(*length);
  }
  Value step = node.splat(double(span.step), getElement(places));
  places = node.createElementwise("mul", {places, step});
  places = node.createElementwise("add", {places, node.build(from)});
  return node.create<nn::GatherOp>(x, places, axis);
}

/// Returns the slice of `x` without elements along an axis.
static Value takeNone(Node &node, Value x, int64_t axis) {
  SmallVector<int64_t> shape(getShape(x));
  shape[axis] = 0;
  return node.alwaysEmpty(shape, getElement(x));
}

/// Returns the span that entry `i` of the lists of a Slice describes. Its
/// expressions are null if they are not known for every import.
static Span describeSlice(Node &node, Value x, int64_t axis, int64_t step,
                          size_t i) {
  const Lengths &lengths = node.getImporter().getLengths();
  Span span{lengths, {}, {}, {}, std::clamp(step, -Span::kFar, Span::kFar)};
  bool isFixed = node.getVersion() >= 10;
  for (size_t list : {size_t(3), size_t(4)})
    isFixed =
        isFixed && (!node.getOperand(list) || node.findSources(list) == 0);
  if (!isFixed || step == 0)
    return span;
  span.size = lengths.describe(x, axis);
  span.start = node.readLength(1, i);
  span.end = node.readLength(2, i);
  return span;
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
  SmallVector<std::pair<int64_t, LengthExpression>> lengths;
  bool isSometimesCut = false;
  const bool mayVary = !node.getImporter().getLengths().getSizes().empty() &&
                       !node.getImporter().isInBody();
  for (size_t i = 0; x && i < lists->axes.size(); ++i) {
    auto axis = node.normalizeAxis(lists->axes[i], rank);
    int64_t step = lists->steps[i];
    if (!axis)
      return {};
    if (step == 0 || isCut[*axis])
      return node.broken(step == 0 ? "has a step of 0" : "cuts an axis twice");
    isCut[*axis] = true;
    if (mayVary) {
      Span span = describeSlice(node, x, *axis, step, i);
      lengths.emplace_back(*axis, span.count());
      // A slice that is always empty does not depend on the lengths.
      bool isEmpty = lengths.back().second.getConstant() == std::optional(0L);
      if (isEmpty && !span.size.getConstant() && lists->axes.size() == 1)
        return takeNone(node, x, *axis);
      if (Value cut = sliceByLengths(node, x, *axis, span)) {
        x = cut;
        sizes[*axis] = getShape(x)[*axis];
        isCut[*axis] = false;
        continue;
      }
      // The slice takes all elements in this import, but not in others.
      isSometimesCut |= lengths.back().second && !span.size.getConstant();
    }
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
  bool isWhole = ArrayRef<int64_t>(sizes) == getShape(x) && isUnitStep;
  if (!x || (isWhole && !isSometimesCut))
    return x;
  bool isLinked =
      !x.getDefiningOp<nn::ConstantOp>() && !node.getImporter().isInBody();
  for (size_t i = 1; isLinked && i < node.getNumOperands(); ++i)
    if (node.getOperand(i))
      x = node.getImporter().linkLengths(x, node.findSources(i), node.getLoc());
  Value y = node.create<nn::SliceOp>(x, starts, sizes, steps);
  if (!y || !mayVary)
    return y;
  // The position of a data-dependent number of rows differs between imports.
  bool isOfRows = llvm::count(isCut, true) == 1 && isCut[0];
  if (isOfRows && node.getImporter().getLengths().findSources(x) != 0)
    y.getDefiningOp()->setAttr(nn::kVariesAttr,
                               node.getBuilder().getUnitAttr());
  for (auto &[axis, length] : lengths)
    node.getImporter().noteDim(y, axis, length);
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

/// Converts a Split whose parts have data-dependent sizes. Returns null without
/// an error for any other Split.
static Value splitByLengths(Node &node, Value x, int64_t axis) {
  using Kind = LengthExpression::Kind;
  const Lengths &lengths = node.getImporter().getLengths();
  LengthExpression size = lengths.describe(x, axis), start = 0, part;
  auto combine = [&](Kind kind, const LengthExpression &a, int64_t b) {
    return lengths.combine(kind, a, b);
  };
  auto given = node.getInts("split");
  const auto count = int64_t(node.getNumResults());
  if (!node.getOperand(1) && !(given && !given->empty()))
    part = combine(Kind::div, combine(Kind::add, size, count - 1), count);
  SmallVector<Span> spans;
  bool varies = false;
  for (int64_t i = 0; i < count; ++i) {
    LengthExpression own = part;
    if (node.getOperand(1))
      own = node.readLength(1, i);
    else if (!part)
      own = i < int64_t(given->size()) ? (*given)[i] : LengthExpression();
    else if (i + 1 == count)
      own = lengths.combine(Kind::sub, size, start);
    // If parts may not fit, the model would fail in some runs.
    if (!own || lengths.getBounds(own).first < 0)
      return {};
    LengthExpression end = lengths.combine(Kind::add, start, own);
    varies |= !end || !end.getConstant();
    spans.push_back({lengths, size, start, end, 1});
    start = end;
  }
  if (!varies || !lengths.areEqual(start, size))
    return {};
  Value first;
  for (auto [i, span] : llvm::enumerate(spans)) {
    if (i != 0 && !node.hasResult(i))
      continue;
    Value slice = sliceByLengths(node, x, axis, span, i);
    if (!slice)
      return node.unsupported(
          "has a part whose place follows from data in a way that nnc does not "
          "compute; take the parts with Slice from their starts and ends");
    if (i == 0)
      first = slice;
    else
      node.setResult(i, slice);
  }
  return first;
}

Value convertSplit(Node &node) {
  Value x = node.getOperand(0);
  auto axis = node.normalizeAxis(node.getInt("axis"), getRank(x));
  if (!axis)
    return {};
  if (!node.getImporter().getLengths().getSizes().empty() &&
      !node.getImporter().isInBody())
    if (Value first = splitByLengths(node, x, *axis))
      return first;
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
