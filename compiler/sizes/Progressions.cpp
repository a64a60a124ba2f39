//===- Progressions.cpp - Progressions that depend on the sizes -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Progressions.h"

#include "compiler/sizes/Constants.h"

#include "dialects/nn/tensors/TensorData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

/// The largest number of elements of a table.
static constexpr int64_t kMostElements = 1 << 16;

namespace {
/// An arithmetic progression: `count` elements first, first + step, ... along
/// the only axis of a constant with more than one element.
struct Progression {
  int64_t first = 0, step = 0, count = 0;
};

/// A table of the consecutive numbers from `low` to `high`, with the number
/// that each module takes from it.
struct Table {
  int64_t low = 0, high = 0;
  SmallVector<int64_t> values; ///< the number of each module
};
} // namespace

static std::optional<Progression> readProgression(nn::ConstantOp op) {
  auto data = TensorData::get(op.getValue());
  Type element = nn::getTensorType(op).getElementType();
  bool isNumber = element.isF32() || element.isF64() ||
                  element.isSignlessInteger(32) ||
                  element.isSignlessInteger(64);
  if (!data || !isNumber || data->getNumElements() == 0 ||
      data->getNumElements() > kMostElements ||
      llvm::count_if(data->getShape(), [](int64_t n) { return n > 1; }) > 1)
    return std::nullopt;
  Progression found;
  found.step = 1;
  found.count = data->getNumElements();
  for (int64_t i = 0; i < found.count; ++i) {
    double value = data->getReal(i);
    if (std::trunc(value) != value || std::abs(value) > kMostElements)
      return std::nullopt;
    if (i == 0)
      found.first = int64_t(value);
    else if (i == 1)
      found.step = int64_t(value) - found.first;
    if (int64_t(value) != found.first + i * found.step)
      return std::nullopt;
  }
  return found;
}

/// Returns a table that contains `values`, the numbers at the samples, and
/// those at all other sizes; nullopt if these are unknown or too many.
static std::optional<Table> makeTable(SmallVector<int64_t> values,
                                      ExpressionFinder &finder) {
  constexpr int64_t kPoints = 2048;
  AffineExpr expression = finder.find(values);
  if (!expression)
    return std::nullopt;
  Table table{values[0], values[0], values};
  auto add = [&](int64_t value) {
    table.low = std::min(table.low, value);
    table.high = std::max(table.high, value);
  };
  llvm::for_each(values, add);
  for (const SizePoint &point :
       chooseChecks(finder.getRanges(), kPoints, /*withZeros=*/true))
    add(evaluate(expression, point));
  if (table.high - table.low >= kMostElements)
    return std::nullopt;
  return table;
}

/// Creates a slice of `count` elements of the table from the number of module
/// `number` on. `longest` is the largest count of all modules.
static Value takeElements(OpBuilder &builder, Location loc, const Table &table,
                          size_t number, int64_t count, int64_t longest) {
  // The constant is longer than any slice of it.
  int64_t size = table.high - table.low + longest + 1;
  auto type = RankedTensorType::get({size}, builder.getI64Type());
  TensorData all = TensorData::allocate(type);
  for (int64_t i = 0; i < size; ++i)
    all.getMutable<int64_t>()[i] = table.low + i;
  Value whole = builder.create<nn::ConstantOp>(loc, all.toAttribute("numbers"));
  auto slice = builder.create<nn::SliceOp>(
      loc, whole, ArrayRef<int64_t>(table.values[number] - table.low),
      ArrayRef<int64_t>(count), ArrayRef<int64_t>(1));
  slice->setAttr(nn::kVariesAttr, builder.getUnitAttr());
  return slice.getY();
}

static Value makeSteps(OpBuilder &builder, Location loc, int64_t step,
                       int64_t count) {
  TensorData data = TensorData::allocate(
      RankedTensorType::get({count}, builder.getI64Type()));
  for (int64_t i = 0; i < count; ++i)
    data.getMutable<int64_t>()[i] = i * step;
  return builder.create<nn::ConstantOp>(loc, data.toAttribute("steps"));
}

/// Replaces corresponding constants of all modules if they are progressions.
static void replace(ArrayRef<nn::ConstantOp> ops, ExpressionFinder &finder) {
  SmallVector<Progression> progressions;
  SmallVector<int64_t> firsts, steps;
  int64_t longest = 0;
  for (nn::ConstantOp op : ops) {
    auto found = readProgression(op);
    if (!found)
      return;
    progressions.push_back(*found);
    firsts.push_back(found->first);
    steps.push_back(found->step);
    longest = std::max(longest, found->count);
  }
  bool isCount = llvm::all_of(steps, [](int64_t n) { return n == 1; });
  auto first = makeTable(firsts, finder);
  auto step = makeTable(steps, finder);
  if (!first || !step)
    return;
  for (size_t number = 0; number < ops.size(); ++number) {
    nn::ConstantOp op = ops[number];
    OpBuilder builder(op);
    Location loc = op.getLoc();
    RankedTensorType type = nn::getTensorType(op);
    int64_t count = progressions[number].count;
    Value made;
    if (isCount) {
      made = takeElements(builder, loc, *first, number, count, longest);
    } else {
      // first + step * (0, 1, ...)
      if (step->low != step->high)
        made = builder.create<nn::MulOp>(
            loc, makeSteps(builder, loc, 1, count),
            takeElements(builder, loc, *step, number, 1, 1));
      else
        made = makeSteps(builder, loc, step->low, count);
      if (first->low != first->high || first->low != 0)
        made = builder.create<nn::AddOp>(
            loc, made, takeElements(builder, loc, *first, number, 1, 1));
    }
    if (!type.getElementType().isSignlessInteger(64))
      made = builder.create<nn::CastOp>(
          loc, RankedTensorType::get({count}, type.getElementType()), made);
    made = builder.create<nn::ReshapeOp>(loc, type, made);
    op.getResult().replaceAllUsesWith(made);
    op.erase();
  }
}

std::vector<std::vector<Operation *>>
nnc::listAlike(ArrayRef<ModuleOp> modules) {
  std::vector<std::vector<Operation *>> all;
  for (ModuleOp module : modules) {
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.size() != 1)
      return {};
    auto &own = all.emplace_back();
    for (Operation &op : functions[0].front())
      own.push_back(&op);
    if (own.size() != all[0].size())
      return {};
  }
  auto isAlike = [](Operation *a, Operation *b) {
    return a->getName() == b->getName() &&
           a->getNumOperands() == b->getNumOperands();
  };
  for (const auto &own : llvm::drop_begin(all))
    if (!llvm::all_of_zip(all[0], own, isAlike))
      return {};
  return all;
}

void nnc::countFromSizes(ArrayRef<ModuleOp> modules, ExpressionFinder &finder) {
  auto all = listAlike(modules);
  for (size_t i = 0; !all.empty() && i < all[0].size(); ++i) {
    if (!isa<nn::ConstantOp>(all[0][i]))
      continue;
    SmallVector<nn::ConstantOp> ops;
    for (const auto &own : all)
      ops.push_back(cast<nn::ConstantOp>(own[i]));
    if (!areBeginnings(ops))
      replace(ops, finder);
  }
}
