//===- Strips.cpp - Where a function may be computed in strips ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Strips.h"
#include "compiler/memory/Contents.h"
#include "compiler/passes/AxisTypes.h"
#include "dialects/qnn/Qnn.h"

using namespace mlir;
using namespace nnc;

namespace {
/// A convolution or pool, with the ops that follow it up to the value that is
/// stored.
struct Stage {
  Operation *anchor, *end;
  int64_t axis; ///< axis of the rows in the result of `end`
  int64_t readBytes, writtenBytes;
  nn::AxisWindows windows;
  int64_t readRows, writtenRows;
  int64_t getBytes() const { return readBytes + writtenBytes; }
};
} // namespace

/// Returns the bytes of a value; elements of a quantized type count as their
/// storage type.
static int64_t getTensorBytes(Value value) {
  RankedTensorType type = getRankedType(value);
  Type element = type.getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    element = quantized.getStorageType();
  return type.getNumElements() *
         llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// Returns true if each element of the op's result depends on elements at the
/// same place of its operands, as NumPy broadcasts them.
static bool keepsPlaces(Operation *op) {
  if (!isa<nn::AxisOpInterface>(op))
    return false;
  int64_t rank = getRankedType(op->getResult(0)).getRank();
  for (int64_t axis = 0; axis < rank; ++axis) {
    nn::AxisUse use = nn::getAxisUse(op, axis);
    if (use.kind != nn::AxisKind::elements)
      return false;
    for (auto [operand, own] : llvm::zip_equal(op->getOperands(), use.axes))
      if (own >= 0 && own + rank - getRankedType(operand).getRank() != axis)
        return false;
  }
  return true;
}

/// Returns true if each index of an axis has its elements in one piece, in
/// row-major order.
static bool isContiguous(RankedTensorType type, int64_t axis) {
  return ShapedType::getNumElements(type.getShape().take_front(axis)) == 1;
}

/// Returns the axis that axis `axis` of `value` becomes in the result of `op`,
/// if the op moves all elements of the value and thereby makes that axis
/// contiguous, as a transpose may. Returns nullopt otherwise.
static std::optional<int64_t> findContiguousAxis(Operation *op, Value value,
                                                 int64_t axis) {
  RankedTensorType type = getRankedType(value);
  if (!isa<nn::AxisOpInterface>(op) || op->getOperand(0) != value ||
      isContiguous(type, axis))
    return std::nullopt;
  RankedTensorType result = getRankedType(op->getResult(0));
  std::optional<int64_t> moved = nn::findResultAxis(op, 0, axis);
  bool isWhole = result.getNumElements() == type.getNumElements();
  return moved && isWhole && isContiguous(result, *moved) ? moved
                                                          : std::nullopt;
}

/// Returns the stage that begins with a convolution or pool. It includes the
/// elementwise ops that follow, and a transpose that makes the rows contiguous.
static Stage findStage(Operation *anchor, const nn::AxisWindows &windows) {
  Stage stage{anchor,
              anchor,
              2,
              getTensorBytes(anchor->getOperand(0)),
              /*writtenBytes=*/0,
              windows,
              getRankedType(anchor->getOperand(0)).getDimSize(2),
              getRankedType(anchor->getResult(0)).getDimSize(2)};
  bool isMoved = false; // whether the last op moves the rows
  while (stage.end->hasOneUse()) {
    Operation *user = *stage.end->getUsers().begin();
    Value result = stage.end->getResult(0);
    auto moved = findContiguousAxis(user, result, stage.axis);
    bool follows =
        keepsPlaces(user) && getRankedType(user->getResult(0)).getShape() ==
                                 getRankedType(result).getShape();
    // A reinterpretation of moved rows prepares the operand of the next stage.
    if ((!moved && !follows) || (isMoved && isa<qnn::ReinterpretOp>(user)))
      break;
    isMoved = moved.has_value();
    stage.axis = moved.value_or(stage.axis);
    stage.end = user;
  }
  stage.writtenBytes = getTensorBytes(stage.end->getResult(0));
  return stage;
}

/// Returns an estimate of the bytes in use if the stages from number `first` to
/// `last` are computed in strips of one row. Stages outside of these may write
/// over their operand.
static int64_t estimateLeast(ArrayRef<Stage> stages, size_t first,
                             size_t last) {
  int64_t most = 0, rows = 1, inside = 0;
  for (size_t i = stages.size(); i-- > 0;) {
    const Stage &stage = stages[i];
    if (i < first || i > last) {
      most = std::max({most, stage.readBytes, stage.writtenBytes});
      continue;
    }
    int64_t read =
        std::min((rows - 1) * stage.windows.stride + stage.windows.getExtent(),
                 stage.readRows);
    int64_t bytes = 0;
    if (i < last)
      bytes +=
          stage.writtenBytes / std::max<int64_t>(stage.writtenRows, 1) * rows;
    if (i > first)
      bytes += stage.readBytes / std::max<int64_t>(stage.readRows, 1) * read;
    inside = std::max(inside, bytes);
    rows = read;
  }
  return std::max(most,
                  stages[first].readBytes + stages[last].writtenBytes + inside);
}

SmallVector<StripRegion> nnc::findStripRegions(func::FuncOp function,
                                               int64_t limit) {
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Stage> stages;
  for (Operation &op : function.getBody().front()) {
    numbers[&op] = numbers.size();
    nn::AxisUse use = nn::getAxisUse(&op, 2);
    if (use.kind == nn::AxisKind::windows)
      stages.push_back(findStage(&op, use.windows));
  }
  SmallVector<std::tuple<size_t, unsigned, StripRegion>> regions;
  auto fits = [&](const Stage &stage) { return stage.getBytes() <= limit; };
  for (size_t i = 0; i < stages.size(); ++i)
    for (size_t j = i; j < stages.size(); ++j) {
      const Stage &from = stages[i], &to = stages[j];
      int64_t rows = getRankedType(to.end->getResult(0)).getDimSize(to.axis);
      ArrayRef<Stage> all = stages;
      if (rows < 2 || from.readBytes + to.writtenBytes > limit ||
          !llvm::all_of(all.take_front(i), fits) ||
          !llvm::all_of(all.drop_front(j + 1), fits))
        continue;
      unsigned first = i == 0 ? 0 : numbers[stages[i - 1].end] + 1;
      if (first <= numbers[to.end])
        regions.push_back({j - i,
                           first,
                           {first, numbers[to.end], to.axis, rows,
                            estimateLeast(stages, i, j)}});
    }
  llvm::sort(regions, [](const auto &a, const auto &b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) <
           std::pair(std::get<0>(b), std::get<1>(b));
  });
  SmallVector<StripRegion> sorted;
  for (const auto &region : regions)
    sorted.push_back(std::get<2>(region));
  return sorted;
}
