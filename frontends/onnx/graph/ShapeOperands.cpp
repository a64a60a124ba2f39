//===- ShapeOperands.cpp - Operands that follow from declared shapes ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Shapes are static, but a model may compute an operand that determines them at
// run time, such as the axes of a Squeeze. If the model declares the shape of
// the result, nnc derives the operand from it, as onnxruntime's shape inference
// does. At run time, the operand is neither read nor checked.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/ShapeOperands.h"

#include "frontends/onnx/control/Sequences.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;

using Values = std::optional<SmallVector<int64_t>>;

/// The largest number of axes of a tensor for which combinations of axes are
/// tried.
static constexpr int64_t kMaxTriedAxes = 10;

//===----------------------------------------------------------------------===//
// Shapes and sizes
//===----------------------------------------------------------------------===//

static Values inferShape(Node &node, int64_t) {
  return node.getDeclaredShape(0);
}

static Values inferReshape(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  bool fits = shape && product(*shape) == getNumElements(node.getOperand(0));
  return fits ? shape : std::nullopt;
}

/// Returns the shape operand of an Expand with `count` entries, which may leave
/// out the first axes.
static Values inferExpand(Node &node, int64_t count) {
  auto shape = node.getDeclaredShape(0);
  if (!shape || count > static_cast<int64_t>(shape->size()))
    return std::nullopt;
  return llvm::to_vector(ArrayRef(*shape).take_back(count));
}

static Values inferTile(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  ArrayRef<int64_t> given = getShape(node.getOperand(0));
  if (!shape || shape->size() != given.size())
    return std::nullopt;
  for (auto [size, part] : llvm::zip(*shape, given)) {
    if (part == 0 || size % part != 0)
      return std::nullopt;
    size /= part;
  }
  return shape;
}

/// Returns the declared sizes of the axes in attribute `axes`, or of all.
static Values inferSizes(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  auto axes = node.getInts("axes");
  if (!shape || !axes)
    return shape;
  SmallVector<int64_t> sizes;
  for (int64_t axis : *axes) {
    axis += axis < 0 ? shape->size() : 0;
    if (axis < 0 || axis >= static_cast<int64_t>(shape->size()))
      return std::nullopt;
    sizes.push_back((*shape)[axis]);
  }
  return sizes;
}

static Values inferResizeSizes(Node &node, int64_t count) {
  StringRef policy = node.getString("keep_aspect_ratio_policy");
  bool isFree = policy.empty() || policy == "stretch";
  return isFree ? inferSizes(node, count) : std::nullopt;
}

/// Returns the `size` operand of an AffineGrid. The grid for images of N x C x
/// H x W has the shape N x H x W x 2 and does not depend on C, for which the
/// result has 1.
static Values inferGridSize(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  if (!shape || shape->size() < 4)
    return std::nullopt;
  shape->pop_back();
  shape->insert(shape->begin() + 1, 1);
  return shape;
}

/// Returns the declared size of result `i` along attribute `axis`.
static Values inferSizeAlong(Node &node, size_t i, int64_t otherwise) {
  auto shape = node.getDeclaredShape(i);
  if (!shape)
    return std::nullopt;
  auto rank = static_cast<int64_t>(shape->size());
  int64_t axis = node.getInt("axis", otherwise);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return SmallVector<int64_t>{(*shape)[axis]};
}

/// Returns the number of elements that a TopK selects.
static Values inferCount(Node &node, int64_t) {
  auto count = inferSizeAlong(node, 0, -1);
  return count ? count : inferSizeAlong(node, 1, -1);
}

static Values inferDepth(Node &node, int64_t) {
  return inferSizeAlong(node, 0, -1);
}

static Values inferParts(Node &node, int64_t) {
  Value x = node.getOperand(0);
  SmallVector<int64_t> parts;
  if (getNumElements(x) == 0 && getRank(x) == 1)
    return SmallVector<int64_t>(node.getNumResults(), 0);
  for (size_t i = 0; i < node.getNumResults(); ++i) {
    auto part = inferSizeAlong(node, i, 0);
    if (!part)
      return std::nullopt;
    parts.push_back((*part)[0]);
  }
  return parts;
}

/// Returns the length of a DFT that keeps all of its frequencies.
static Values inferLength(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  auto axis =
      node.getOperand(2) ? readElements(node.getOperand(2)) : std::nullopt;
  if (!shape || node.getBool("onesided") ||
      (node.getOperand(2) && (!axis || axis->ints.size() != 1)))
    return std::nullopt;
  auto rank = static_cast<int64_t>(shape->size());
  int64_t along = axis                     ? axis->ints[0]
                  : node.getVersion() < 20 ? node.getInt("axis", 1)
                                           : -2;
  along += along < 0 ? rank : 0;
  if (along < 0 || along >= rank)
    return std::nullopt;
  return SmallVector<int64_t>{(*shape)[along]};
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

/// Returns the axes of `larger` that are not in `smaller` and are of size 1.
static Values findNewAxes(ArrayRef<int64_t> larger, ArrayRef<int64_t> smaller) {
  SmallVector<int64_t> axes;
  for (auto [axis, size] : llvm::enumerate(larger)) {
    // Neighbouring axes of size 1 are interchangeable.
    if (!smaller.empty() && size == smaller.front())
      smaller = smaller.drop_front();
    else if (size == 1)
      axes.push_back(axis);
    else
      return std::nullopt;
  }
  return smaller.empty() ? Values(axes) : std::nullopt;
}

static Values inferSqueezed(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  return shape ? findNewAxes(getShape(node.getOperand(0)), *shape)
               : std::nullopt;
}

static Values inferUnsqueezed(Node &node, int64_t) {
  auto shape = node.getDeclaredShape(0);
  return shape ? findNewAxes(*shape, getShape(node.getOperand(0)))
               : std::nullopt;
}

/// Returns the subset of `axes`, a set of bits, whose size is not 1.
static unsigned keepLong(ArrayRef<int64_t> shape, unsigned axes) {
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size == 1)
      axes &= ~(1u << axis);
  return axes;
}

/// Returns `shape` without these axes.
static SmallVector<int64_t> dropAxes(ArrayRef<int64_t> shape, unsigned axes,
                                     bool keepsAxes) {
  SmallVector<int64_t> rest;
  for (auto [axis, size] : llvm::enumerate(shape))
    if ((axes >> axis & 1) == 0)
      rest.push_back(size);
    else if (keepsAxes)
      rest.push_back(1);
  return rest;
}

SmallVector<SmallVector<int64_t>> nnc::onnx::findReducedAxes(Node &node,
                                                             int64_t count) {
  auto declared = node.getDeclaredShape(0);
  ArrayRef<int64_t> shape = getShape(node.getOperand(0));
  auto rank = static_cast<int64_t>(shape.size());
  SmallVector<SmallVector<int64_t>> found;
  if (!declared || rank > kMaxTriedAxes)
    return found;
  llvm::SmallSet<unsigned, 4> seen;
  for (unsigned axes = 0; axes < 1u << rank; ++axes) {
    if (llvm::popcount(axes) != count ||
        dropAxes(shape, axes, node.getBool("keepdims")) != *declared ||
        !seen.insert(keepLong(shape, axes)).second)
      continue;
    found.emplace_back();
    for (int64_t axis = 0; axis < rank; ++axis)
      if (axes >> axis & 1)
        found.back().push_back(axis);
  }
  return found;
}

static Values inferReduced(Node &node, int64_t count) {
  auto found = findReducedAxes(node, count);
  return found.size() == 1 ? Values(found[0]) : std::nullopt;
}

/// Returns the ends of a Slice whose other operands are all known.
static Values inferEnds(Node &node, int64_t count) {
  auto declared = node.getDeclaredShape(0);
  ArrayRef<int64_t> shape = getShape(node.getOperand(0));
  auto starts = readElements(node.getOperand(1));
  std::optional<Elements> lists[2];
  for (size_t i : {0, 1})
    if (Value operand = node.getOperand(3 + i))
      if (!(lists[i] = readElements(operand)))
        return std::nullopt;
  auto fits = [&](const std::optional<Elements> &list) {
    return !list || static_cast<int64_t>(list->ints.size()) == count;
  };
  if (!declared || declared->size() != shape.size() || !starts ||
      !fits(starts) || !fits(lists[0]) || !fits(lists[1]))
    return std::nullopt;
  SmallVector<int64_t> ends;
  auto rank = static_cast<int64_t>(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t axis = lists[0] ? lists[0]->ints[i] : i;
    int64_t step = lists[1] ? lists[1]->ints[i] : 1;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || shape[axis] == 0 || step == 0 ||
        std::abs(step) > kMaxDim)
      return std::nullopt;
    int64_t size = shape[axis], start = starts->ints[i];
    start = std::clamp<int64_t>(start < 0 ? start + size : start, 0,
                                step < 0 ? size - 1 : size);
    int64_t last = start + step * ((*declared)[axis] - 1);
    if (last < 0 || last >= size)
      return std::nullopt;
    // An end in front of the first element cannot be written as a position.
    int64_t end = last + (step < 0 ? -1 : 1);
    ends.push_back(end < 0 ? -size - 1 : end);
  }
  return ends;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

namespace {
struct Promise {
  StringLiteral op; ///< the operator, or with '*' the start of its name
  size_t operand;
  /// Returns the elements of the operand, of which there are `count`.
  Values (*infer)(Node &, int64_t count);
};
} // namespace

static constexpr Promise kPromises[] = {
    {"AffineGrid", 1, inferGridSize},
    {"BlackmanWindow", 0, inferShape},
    {"CenterCropPad", 1, inferSizes},
    {"ConstantOfShape", 0, inferShape},
    {"DFT", 1, inferLength},
    {"Expand", 1, inferExpand},
    {"HammingWindow", 0, inferShape},
    {"HannWindow", 0, inferShape},
    {"MaxUnpool", 2, inferShape},
    {"OneHot", 1, inferDepth},
    {"Reduce*", 1, inferReduced},
    {"Reshape", 1, inferReshape},
    {"Resize", 3, inferResizeSizes},
    {"Slice", 2, inferEnds},
    {"Split", 1, inferParts},
    {"Squeeze", 1, inferSqueezed},
    {"Tile", 1, inferTile},
    {"TopK", 1, inferCount},
    {"Unsqueeze", 1, inferUnsqueezed},
};

static bool isOp(const Promise &promise, StringRef op) {
  StringRef name = promise.op;
  return name.consume_back("*") ? op.starts_with(name) : op == name;
}

bool nnc::onnx::hasShapeOperands(const ::onnx::NodeProto &node) {
  return node.domain().empty() &&
         llvm::any_of(kPromises, [&](const Promise &promise) {
           return isOp(promise, node.op_type());
         });
}

/// Returns a constant operand with the elements `values`; null if they do not
/// fit.
static Value makeOperand(Node &node, Value operand, ArrayRef<int64_t> values) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (static_cast<int64_t>(values.size()) != type.getNumElements() ||
      !isReadable(type.getElementType()))
    return {};
  Elements elements{type, {}, {}};
  if (elements.isReal())
    elements.reals.assign(values.begin(), values.end());
  else
    elements.ints.assign(values.begin(), values.end());
  return node.constant(makeAttribute(elements));
}

SmallVector<Value> nnc::onnx::fillShapeOperands(Node &node) {
  SmallVector<Value> operands(node.getModelOperands());
  for (const Promise &promise : kPromises) {
    Value operand = node.getOperand(promise.operand);
    if (!operand || !isOp(promise, node.getOp()) || !isTensor(operand) ||
        readElements(operand))
      continue;
    int64_t count = getNumElements(operand);
    Values values =
        count == 0 ? SmallVector<int64_t>() : promise.infer(node, count);
    Value filled = values ? makeOperand(node, operand, *values) : Value();
    if (filled)
      operands[promise.operand] = filled;
  }
  return operands;
}
