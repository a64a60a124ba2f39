//===- Segments.cpp - Reductions over segments, and counts ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lengths/Lengths.h"
#include "frontends/tensorflow/moves/Moves.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

namespace {
/// Slices of a tensor, and the segment of each.
struct Segments {
  Value x;   ///< slices x elements
  Value ids; ///< i64; a slice with a number out of range is left out
  int64_t count;
  Sizes shape; ///< of the result: segments x the shape of a slice
};
} // namespace

/// Returns the segments of `x`; nullopt after an error. The axes of the ids are
/// the first ones of x.
static std::optional<Segments> makeSegments(Layer &layer, int64_t count) {
  Value x = layer.getInput(0), ids = layer.getInput(1);
  if (!x || !ids || !areIndices(layer, ids))
    return std::nullopt;
  int64_t axes = getRank(ids);
  if (getShape(x).take_front(axes) != getShape(ids) || getNumElements(x) == 0 ||
      count < 1 || count > kMaxDim) {
    layer.broken("has " + Twine(count) + " segments, numbers of shape " +
                 toString(getShape(ids)) + " and a tensor of shape " +
                 toString(getShape(x)));
    return std::nullopt;
  }
  int64_t slices = getNumElements(ids);
  Segments segments{layer.reshape(x, {slices, getNumElements(x) / slices}),
                    layer.castTo(layer.reshape(ids, {slices}),
                                 layer.getBuilder().getI64Type()),
                    count,
                    {count}};
  llvm::append_range(segments.shape, getShape(x).drop_front(axes));
  return segments;
}

static Value combine(Layer &layer, const Segments &segments,
                     nn::ScatterKind kind, Value updates, double start) {
  if (!updates)
    return {};
  Value init = layer.splat(start, getElement(updates),
                           {segments.count, getShape(updates)[1]});
  return layer.create<nn::ScatterOp>(kind, init, segments.ids, updates);
}

/// Returns the number of slices of each segment, at least 1, in the type of
/// the slices: segments x 1.
static Value countSlices(Layer &layer, const Segments &segments) {
  Type element = getElement(segments.x);
  Value ones = layer.splat(1.0, element, {getShape(segments.ids)[0], 1});
  Value counts = combine(layer, segments, nn::ScatterKind::add, ones, 0);
  return layer.createElementwise("max", {counts, layer.splat(1.0, element)});
}

/// Returns the lowest or the highest number of a type.
static std::optional<double> getExtreme(Type element, bool isLowest) {
  if (auto type = dyn_cast<FloatType>(element)) {
    // TensorFlow begins with the largest finite number.
    double most =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    return isLowest ? -most : most;
  }
  auto type = dyn_cast<IntegerType>(element);
  if (!type || type.getWidth() > 32)
    return std::nullopt;
  bool isSigned = !type.isUnsigned();
  double range = std::ldexp(1.0, int(type.getWidth()) - (isSigned ? 1 : 0));
  return isLowest ? (isSigned ? -range : 0) : range - 1;
}

static Value reduceSegments(Layer &layer, const Segments &segments,
                            StringRef kind, bool isSorted) {
  Value y;
  Value x = segments.x;
  if (kind == "Sum" || kind == "Mean" || kind == "SqrtN") {
    y = combine(layer, segments, nn::ScatterKind::add, x, 0);
    if (kind != "Sum") {
      Value counts = countSlices(layer, segments);
      if (kind == "SqrtN")
        counts = layer.createElementwise("sqrt", {counts});
      y = layer.createElementwise("div", {y, counts});
    }
  } else if (kind == "Prod") {
    y = combine(layer, segments, nn::ScatterKind::mul, x, 1);
  } else {
    bool isMax = kind == "Max";
    auto start = getExtreme(getElement(x), isMax);
    if (!start)
      return layer.unsupported("finds extremes of " +
                               getTypeName(getElement(x)) +
                               ", which nnc does not handle");
    y = combine(layer, segments,
                isMax ? nn::ScatterKind::max : nn::ScatterKind::min, x, *start);
    if (isSorted) {
      // Segments without slices are 0.
      Value ones =
          layer.splat(1.0, getElement(x), {getShape(segments.ids)[0], 1});
      Value isFilled = layer.createElementwise(
          "greater", {combine(layer, segments, nn::ScatterKind::add, ones, 0),
                      layer.splat(0.0, getElement(x))});
      y = layer.createElementwise(
          "select", {isFilled, y, layer.splat(0.0, getElement(x))});
    }
  }
  return layer.reshape(y, segments.shape);
}

/// Converts UnsortedSegmentSum and the like.
static Value reduceUnsorted(Layer &layer, StringRef kind) {
  auto count = layer.readInts(layer.getInput(2), "a number of segments");
  if (!count)
    return {};
  if (count->size() != 1)
    return layer.broken("needs one number of segments");
  auto segments = makeSegments(layer, (*count)[0]);
  return segments ? reduceSegments(layer, *segments, kind, false) : Value();
}

/// Converts SegmentSum and the like, whose last id tells the number of
/// segments.
static Value reduceSorted(Layer &layer, StringRef kind) {
  Value ids = layer.getInput(1);
  if (!ids)
    return {};
  auto known = layer.readInts(ids, "numbers of segments");
  if (!known)
    return {};
  if (known->empty() || !llvm::is_sorted(*known) || known->front() < 0)
    return layer.broken("has numbers of segments that are not ascending");
  auto segments = makeSegments(layer, known->back() + 1);
  return segments ? reduceSegments(layer, *segments, kind, true) : Value();
}

Value convertSegmentMax(Layer &layer) { return reduceSorted(layer, "Max"); }
Value convertSegmentMean(Layer &layer) { return reduceSorted(layer, "Mean"); }
Value convertSegmentMin(Layer &layer) { return reduceSorted(layer, "Min"); }
Value convertSegmentProd(Layer &layer) { return reduceSorted(layer, "Prod"); }
Value convertSegmentSum(Layer &layer) { return reduceSorted(layer, "Sum"); }
Value convertUnsortedSegmentMax(Layer &layer) {
  return reduceUnsorted(layer, "Max");
}
Value convertUnsortedSegmentMin(Layer &layer) {
  return reduceUnsorted(layer, "Min");
}
Value convertUnsortedSegmentProd(Layer &layer) {
  return reduceUnsorted(layer, "Prod");
}
Value convertUnsortedSegmentSum(Layer &layer) {
  return reduceUnsorted(layer, "Sum");
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// Returns the constant to which a number is limited if it is not known: that
/// of the smaller of it and the larger of a number and another constant.
static Value skipLimits(Value x) {
  auto skip = [](Value value) {
    while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
      value = reshape.getX();
    return value;
  };
  auto readOne = [](Value value) -> std::optional<int64_t> {
    auto known = readElements(value);
    if (!known || known->ints.size() != 1)
      return std::nullopt;
    return known->ints[0];
  };
  Operation *most = x ? skip(x).getDefiningOp<nn::MinOp>() : nullptr;
  for (unsigned i = 0; most && i < 2; ++i) {
    auto limit = readOne(most->getOperand(i));
    Operation *least = skip(most->getOperand(1 - i)).getDefiningOp<nn::MaxOp>();
    for (unsigned j = 0; limit && least && j < 2; ++j)
      if (auto from = readOne(least->getOperand(j)); from && *from >= *limit)
        return most->getOperand(i);
  }
  return x;
}

/// Converts DenseBincount: how often each number occurs, or the sum of the
/// weights of its places, in a vector or in each row of a matrix.
Value convertBincount(Layer &layer) {
  Value x = layer.getInput(0), weights = layer.getInput(2);
  auto size = layer.readInts(skipLimits(layer.getInput(1)), "a number of bins");
  if (!x || !weights || !size || !areIndices(layer, x))
    return {};
  int64_t rank = getRank(x);
  if (size->size() != 1 || (*size)[0] < 1 || (*size)[0] > kMaxDim || rank < 1 ||
      rank > 2 || getNumElements(x) == 0 ||
      (getNumElements(weights) != 0 && getShape(weights) != getShape(x)))
    return layer.broken("counts a tensor of shape " + toString(getShape(x)) +
                        " in " + toString(*size) +
                        " bins, with weights of "
                        "shape " +
                        toString(getShape(weights)));
  int64_t bins = (*size)[0];
  bool isBinary = layer.getBool("binary_output");
  Type element = getElement(weights);
  Value updates = getNumElements(weights) == 0 || isBinary
                      ? layer.splat(1.0, element, getShape(x))
                      : weights;
  Sizes shape(getShape(x).drop_back());
  shape.push_back(bins);
  int64_t count = getNumElements(x), rows = count / getShape(x).back();
  Value place = layer.castTo(x, layer.getBuilder().getI64Type());
  // Numbers beyond the last bin are not counted.
  Value isIn = layer.createElementwise(
      "less", {place, layer.splat(double(bins), getElement(place))});
  updates = layer.createElementwise("select",
                                    {isIn, updates, layer.splat(0.0, element)});
  if (rows > 1) {
    Value first = layer.createElementwise(
        "mul", {makeCounts(layer, rows, getElement(place), 0, 2),
                layer.splat(double(bins), getElement(place))});
    place = layer.createElementwise(
        "add",
        {layer.createElementwise(
             "min", {place, layer.splat(double(bins - 1), getElement(place))}),
         first});
  }
  if (isBinary && rows == 1)
    place = layer.createElementwise(
        "min", {place, layer.splat(double(bins - 1), getElement(place))});
  Value y = layer.create<nn::ScatterOp>(
      isBinary ? nn::ScatterKind::max : nn::ScatterKind::add,
      layer.splat(0.0, element, {rows * bins}), layer.reshape(place, {count}),
      layer.reshape(updates, {count}));
  return layer.reshape(y, shape);
}

//===----------------------------------------------------------------------===//
// Places in sorted lists
//===----------------------------------------------------------------------===//

/// Returns how many elements of each row of `sorted` are less than each element
/// of the same row of `x`, or not greater with `countsEqual`.
static Value countBelow(Layer &layer, Value sorted, Value x, bool countsEqual) {
  Sizes wide(getShape(x)), narrow(getShape(sorted));
  wide.push_back(1);
  narrow.insert(narrow.end() - 1, 1);
  Value isBelow = layer.createElementwise(
      countsEqual ? "less_equal" : "less",
      {layer.reshape(sorted, narrow), layer.reshape(x, wide)});
  return layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum,
      layer.castTo(isBelow, layer.getBuilder().getI32Type()),
      ArrayRef<int64_t>{getRank(x)}, /*keepdims=*/false);
}

/// Converts LowerBound and UpperBound, on rows of matrices.
static Value findBound(Layer &layer, bool countsEqual) {
  Value sorted = layer.getInput(0), x = layer.getInput(1);
  Type element = layer.getType("out_type", pb::DT_INT32);
  if (!sorted || !x || !element)
    return {};
  if (getRank(sorted) != 2 || getRank(x) != 2 ||
      getShape(sorted)[0] != getShape(x)[0])
    return layer.broken("needs two matrices with as many rows");
  if (getNumElements(sorted) * getShape(x)[1] > 1 << 26)
    return layer.fail(ImportStatus::limit,
                      "compares more than 67108864 pairs of elements");
  return layer.castTo(countBelow(layer, sorted, x, countsEqual), element);
}

Value convertLowerBound(Layer &layer) { return findBound(layer, false); }
Value convertUpperBound(Layer &layer) { return findBound(layer, true); }

/// Converts Bucketize: the number of boundaries at or below each element.
Value convertBucketize(Layer &layer) {
  Value x = layer.getInput(0);
  SmallVector<double> bounds = layer.getReals("boundaries");
  if (!x)
    return {};
  if (!llvm::is_sorted(bounds) || bounds.size() > 4096)
    return layer.broken("has boundaries that are not ascending, or more than "
                        "4096");
  Type element = layer.getBuilder().getI32Type();
  if (bounds.empty() || getNumElements(x) == 0)
    return layer.splat(0.0, element, getShape(x));
  SmallVector<float> values(bounds.begin(), bounds.end());
  Value sorted = layer.constant(DenseElementsAttr::get(
      RankedTensorType::get({1, int64_t(values.size())},
                            layer.getBuilder().getF32Type()),
      ArrayRef<float>(values)));
  Type real = getElement(x).isF64() ? getElement(x)
                                    : Type(layer.getBuilder().getF32Type());
  Value flat = layer.reshape(layer.castTo(x, real), {1, getNumElements(x)});
  return layer.reshape(
      countBelow(layer, layer.castTo(sorted, real), flat, true), getShape(x));
}

/// Converts InTopKV2: whether the element of each row that a number names is
/// among the best ones.
Value convertInTopK(Layer &layer) {
  Value x = layer.getInput(0), target = layer.getInput(1),
        best = layer.getInput(2);
  if (!x || !target || !best || !areIndices(layer, target))
    return {};
  if (getRank(x) != 2 || getRank(target) != 1 ||
      getShape(target)[0] != getShape(x)[0] || getNumElements(x) == 0)
    return layer.broken("needs a matrix and a number for each row");
  int64_t rows = getShape(x)[0], columns = getShape(x)[1];
  Type integer = getElement(target);
  Value first =
      layer.createElementwise("mul", {makeCounts(layer, rows, integer, 0, 1),
                                      layer.splat(double(columns), integer)});
  Value element = layer.create<nn::GatherOp>(
      layer.reshape(x, {rows * columns}),
      layer.createElementwise("add", {target, first}), int64_t(0));
  Value better = layer.createElementwise(
      "greater", {x, layer.reshape(element, {rows, 1})});
  Value count = layer.create<nn::ReduceOp>(
      nn::ReduceKind::sum,
      layer.castTo(better, layer.getBuilder().getI32Type()),
      ArrayRef<int64_t>{1}, /*keepdims=*/false);
  return layer.createElementwise(
      "less", {count, layer.castTo(layer.reshape(best, {}),
                                   layer.getBuilder().getI32Type())});
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

/// Converts DynamicStitch and ParallelDynamicStitch with known places: slices
/// of several tensors in a given order.
Value convertDynamicStitch(Layer &layer) {
  size_t count = layer.getNumInputs() / 2;
  Sizes from;
  SmallVector<Value> parts;
  std::vector<int64_t> places;
  int64_t first = 0;
  for (size_t i = 0; i < count; ++i) {
    Value indices = layer.getInput(i), x = layer.getInput(count + i);
    auto known = layer.readInts(indices, "places");
    if (!known || !x)
      return {};
    int64_t axes = getRank(indices), slices = getNumElements(indices);
    if (getShape(x).take_front(axes) != getShape(indices))
      return layer.broken("has places of shape " + toString(getShape(indices)) +
                          " for a tensor of shape " + toString(getShape(x)));
    for (auto [j, place] : llvm::enumerate(*known)) {
      if (place < 0 || place > 1 << 24)
        return layer.broken("has a place " + Twine(place));
      if (size_t(place) >= places.size())
        places.resize(size_t(place) + 1, -1);
      places[size_t(place)] = first + int64_t(j);
    }
    if (slices == 0)
      continue;
    Sizes shape = {slices};
    llvm::append_range(shape, getShape(x).drop_front(axes));
    parts.push_back(layer.reshape(x, shape));
    first += slices;
  }
  if (parts.empty() || llvm::is_contained(places, -1))
    return layer.unsupported("leaves places of its result open");
  from.assign(places.begin(), places.end());
  Value all = parts.size() == 1 ? parts[0] : join(layer, parts, 0);
  if (!all || from == iota(int64_t(from.size())))
    return all;
  return layer.create<nn::GatherOp>(all, layer.constant(from), int64_t(0));
}

/// Converts DynamicPartition. Parts whose numbers are not known when compiling
/// have data-dependent sizes.
Value convertDynamicPartition(Layer &layer) {
  Value x = layer.getInput(0), of = layer.getInput(1);
  if (!x || !of || !areIndices(layer, of))
    return {};
  auto known = readElements(of);
  int64_t parts = layer.getInt("num_partitions"), axes = getRank(of);
  if (getShape(x).take_front(axes) != getShape(of) || parts < 1 || parts > 4096)
    return layer.broken("has " + Twine(parts) +
                        " parts, and numbers of shape " +
                        toString(getShape(of)) + " for a tensor of shape " +
                        toString(getShape(x)));
  Sizes shape = {getNumElements(of)};
  llvm::append_range(shape, getShape(x).drop_front(axes));
  Value flat = layer.reshape(x, shape);
  for (int64_t part = 0; part < parts; ++part) {
    if (!known) {
      Value isIn = layer.createElementwise(
          "equal", {layer.reshape(of, {getNumElements(of)}),
                    layer.splat(double(part), getElement(of))});
      layer.setResult(
          size_t(part),
          layer.create<nn::GatherOp>(
              flat, findPositions(layer, isIn, "_" + Twine(part)), int64_t(0)));
      continue;
    }
    Sizes places;
    for (auto [i, number] : llvm::enumerate(known->ints))
      if (number == part)
        places.push_back(int64_t(i));
    Value y;
    if (places.empty()) {
      shape[0] = 0;
      y = layer.alwaysEmpty(shape, getElement(x));
    } else {
      y = layer.create<nn::GatherOp>(flat, layer.constant(places), int64_t(0));
    }
    layer.setResult(size_t(part), y);
  }
  return layer.getResults()[0].value;
}

} // namespace nnc::tensorflow
