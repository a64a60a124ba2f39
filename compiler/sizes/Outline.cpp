//===- Outline.cpp - The numbers of an imported network -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Outline.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/TensorData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Listing
//===----------------------------------------------------------------------===//

/// The largest number of elements of a constant that is listed. Larger
/// constants are tables, which later passes compare.
static constexpr int64_t kMaxListed = 64;

static void listType(Type type, Outline::Entry &entry) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    entry.kind += " ?";
    return;
  }
  entry.kind += " " + std::to_string(tensor.getRank());
  llvm::append_range(entry.numbers, tensor.getShape());
}

static void listAttribute(Attribute attribute, Outline::Entry &entry) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (integer.getValue().getSignificantBits() <= 64)
      entry.numbers.push_back(integer.getValue().getSExtValue());
  } else if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    entry.kind += " " + std::to_string(list.size());
    llvm::append_range(entry.numbers, list.asArrayRef());
  } else if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    entry.kind += " " + std::to_string(list.size());
    for (Attribute part : list)
      listAttribute(part, entry);
  }
}

static void listConstant(nn::ConstantOp constant, Outline::Entry &entry) {
  SmallVector<int64_t> &elements = entry.constants.emplace_back();
  auto type = cast<RankedTensorType>(constant.getType());
  if (type.getNumElements() > kMaxListed)
    return;
  if (auto values = dyn_cast<DenseIntElementsAttr>(constant.getValue()))
    for (const APInt &value : values.getValues<APInt>())
      elements.push_back(value.getSignificantBits() <= 64 ? value.getSExtValue()
                                                          : 0);
  if (auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
    for (const APFloat &value : values.getValues<APFloat>()) {
      // Whole numbers may be sizes. Other numbers are listed by their bits,
      // which shows whether they change.
      bool isExact = false;
      APSInt whole(64, /*isUnsigned=*/false);
      value.convertToInteger(whole, APFloat::rmTowardZero, &isExact);
      elements.push_back(isExact ? whole.getExtValue()
                                 : value.bitcastToAPInt().getZExtValue());
    }
}

Outline::Outline(ModuleOp module) {
  llvm::DenseSet<Operation *> live;
  module.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    bool isUsed = llvm::any_of(
        op->getUsers(), [&](Operation *user) { return live.contains(user); });
    if (isUsed || op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      live.insert(op);
  });
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!live.contains(op) || isa<ModuleOp, func::FuncOp, nn::ConstantOp>(op))
      return;
    Entry entry;
    StringRef kind = op->getName().getStringRef(),
              name = nn::getModelName(op->getLoc());
    entry.kind = kind.str();
    entry.label = op->getName().stripDialect().str() +
                  (name.empty() ? "" : " '" + name.str() + "'");
    for (Type type : op->getResultTypes())
      listType(type, entry);
    entry.resultRank = entry.numbers.size();
    for (Type type : op->getOperandTypes())
      listType(type, entry);
    entry.operandRank =
        op->getNumOperands() == 1 ? entry.numbers.size() - entry.resultRank : 0;
    for (NamedAttribute attribute : op->getAttrs())
      listAttribute(attribute.getValue(), entry);
    for (Value operand : op->getOperands())
      if (auto constant = operand.getDefiningOp<nn::ConstantOp>())
        listConstant(constant, entry);
    ops.push_back(std::move(entry));
  });
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      for (Type type : function.getResultTypes())
        listType(type, results);
  results.label = "the list of its outputs' dimensions";
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

std::vector<SizePoint> nnc::chooseEdges(ArrayRef<SizeRange> ranges) {
  SizePoint low, high, middle;
  for (const SizeRange &range : ranges) {
    auto within = [&](int64_t size) { return std::min(size, range.high); };
    low.push_back(within(range.low > 0 ? range.low : range.step));
    high.push_back(range.high);
    middle.push_back(range.low +
                     (range.high - range.low) / range.step / 2 * range.step);
  }
  // The other points have the next larger size if the smallest one is 1.
  std::vector<SizePoint> points = {low, high, middle};
  SizePoint second = low;
  for (auto [i, range] : llvm::enumerate(ranges))
    if (second[i] == 1)
      second[i] = std::min(1 + range.step, range.high);
  points.push_back(second);
  for (size_t i = 0; i < ranges.size() && ranges.size() > 1; ++i) {
    points.push_back(high);
    points.back()[i] = second[i];
    points.push_back(second);
    points.back()[i] = high[i];
  }
  makeConsistent(points, ranges);
  std::vector<SizePoint> distinct;
  for (const SizePoint &point : points)
    if (!llvm::is_contained(distinct, point) && !llvm::is_contained(point, 0))
      distinct.push_back(point);
  // Sizes that are found at run time may be 0, both with the largest and with
  // the smallest of the other sizes.
  for (const SizePoint *others : {&high, &low}) {
    SizePoint none = *others;
    for (auto [i, range] : llvm::enumerate(ranges))
      if (range.low == 0)
        none[i] = 0;
    if (none != *others && !llvm::is_contained(distinct, none))
      distinct.push_back(none);
  }
  makeConsistent(distinct, ranges);
  return distinct;
}

static bool isLike(const Outline::Entry &a, const Outline::Entry &b) {
  return a.kind == b.kind && a.label == b.label &&
         a.numbers.size() == b.numbers.size() &&
         a.constants.size() == b.constants.size();
}

OutlineCheck::OutlineCheck(std::vector<Outline> given,
                           const ExpressionFinder &finder, MLIRContext *context)
    : samples(std::move(given)),
      finder(finder.getRanges().vec(), finder.getSamples().vec(), context) {
  for (AffineExpr sum : finder.getSums())
    this->finder.addSum(sum);
  const std::vector<Outline::Entry> &first = samples[0].ops;
  areAlike = llvm::all_of(samples, [&](const Outline &sample) {
    return sample.ops.size() == first.size() &&
           llvm::all_of(llvm::zip(sample.ops, first), [](auto pair) {
             return isLike(std::get<0>(pair), std::get<1>(pair));
           });
  });
}

std::optional<int64_t> OutlineCheck::expect(size_t number, NumbersOf getNumbers,
                                            ArrayRef<int64_t> point) {
  std::vector<int64_t> values;
  for (const Outline &sample : samples) {
    ArrayRef<int64_t> numbers = getNumbers(sample);
    if (number >= numbers.size())
      return std::nullopt;
    values.push_back(numbers[number]);
  }
  auto [expression, isNew] = known.try_emplace(values);
  if (isNew)
    expression->second = finder.find(values);
  if (!expression->second)
    return std::nullopt;
  return evaluate(expression->second, point);
}

std::string OutlineCheck::compareNumbers(ArrayRef<int64_t> numbers,
                                         NumbersOf getNumbers,
                                         ArrayRef<int64_t> point) {
  for (auto [i, number] : llvm::enumerate(numbers)) {
    std::optional<int64_t> expected = expect(i, getNumbers, point);
    if (expected && number != *expected)
      return (" has a number " + Twine(number) +
              ", and by its numbers at the largest sizes it should have " +
              Twine(*expected))
          .str();
  }
  return "";
}

std::string OutlineCheck::compare(const Outline::Entry &entry, EntryOf getEntry,
                                  ArrayRef<int64_t> point) {
  std::string why = compareNumbers(
      entry.numbers,
      [&](const Outline &o) { return ArrayRef(getEntry(o).numbers); }, point);
  for (size_t i = 0; i < entry.constants.size() && why.empty(); ++i)
    why = compareNumbers(
        entry.constants[i],
        [&](const Outline &o) { return ArrayRef(getEntry(o).constants[i]); },
        point);
  return why.empty() ? "" : entry.label + why;
}

/// Returns true if importers leave out such an op when its result equals its
/// operand.
static bool isLeftOut(const Outline::Entry &entry) {
  StringRef kind = StringRef(entry.kind).split(' ').first;
  return llvm::is_contained({nn::SliceOp::getOperationName(),
                             nn::PadOp::getOperationName(),
                             nn::ExpandOp::getOperationName(),
                             nn::ReshapeOp::getOperationName()},
                            kind) &&
         entry.resultRank == entry.operandRank;
}

std::string OutlineCheck::findDifference(const Outline &outline,
                                         ArrayRef<int64_t> point) {
  auto getResults = [](const Outline &o) -> const Outline::Entry & {
    return o.results;
  };
  size_t next = 0; // index of the next op of the samples
  const std::vector<Outline::Entry> &first = samples[0].ops;
  bool isComparable = areAlike;
  if (llvm::is_contained(point, 1))
    isComparable &= outline.ops.size() == first.size() &&
                    llvm::all_of(llvm::zip(outline.ops, first), [](auto pair) {
                      return isLike(std::get<0>(pair), std::get<1>(pair));
                    });
  auto getOp = [&](const Outline &o) -> const Outline::Entry & {
    return o.ops[next];
  };
  // The ops of the samples occur in the same order, but some may be left out.
  for (const Outline::Entry &entry : outline.ops) {
    if (!isComparable)
      break;
    for (; next < first.size() && !isLike(entry, first[next]); ++next)
      if (std::string why = explainMissing(getOp, point); !why.empty())
        return why;
    if (next == first.size())
      return entry.label + " is another operation";
    if (std::string why = compare(entry, getOp, point); !why.empty())
      return why;
    ++next;
  }
  for (; isComparable && next < first.size(); ++next)
    if (std::string why = explainMissing(getOp, point); !why.empty())
      return why;
  return isLike(outline.results, samples[0].results)
             ? compare(outline.results, getResults, point)
             : outline.results.label + " has other ranks";
}

std::string OutlineCheck::explainMissing(EntryOf getEntry,
                                         ArrayRef<int64_t> point) {
  const Outline::Entry &entry = getEntry(samples[0]);
  std::string why = entry.label + " is another operation";
  if (!isLeftOut(entry))
    return why;
  for (size_t axis = 0; axis < entry.resultRank; ++axis) {
    auto getNumbers = [&](const Outline &o) {
      return ArrayRef(getEntry(o).numbers);
    };
    auto size = expect(axis, getNumbers, point),
         before = expect(entry.resultRank + axis, getNumbers, point);
    if (!size || size != before)
      return why;
  }
  return "";
}
