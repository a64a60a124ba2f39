//===- Constants.cpp - Constants that depend on sizes ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Constants.h"

#include "dialects/exec/Exec.h"
#include "dialects/nn/ModelName.h"
#include "dialects/nn/TensorData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

using namespace mlir;
using namespace nnc;

namespace {
/// Where parts of one constant lie along an axis.
enum class Anchor { begin, end, center };

/// The constants that correspond to each other, of all modules, as parts of a
/// whole.
class Parts {
public:
  explicit Parts(ArrayRef<nn::ConstantOp> ops);

  /// Finds the whole. Returns false if there is none.
  bool find();

  /// The whole, once it is found. It is longer than all parts on each axis on
  /// which they differ, so that no part is all of it.
  TensorData whole;
  /// The start of each part on each axis.
  std::vector<SmallVector<int64_t>> starts;

private:
  /// Puts the parts where the anchors say. Returns false if two of them have
  /// another element at one place.
  bool place(ArrayRef<Anchor> anchors);
  bool placePart(size_t number, std::vector<bool> &isKnown);

  SmallVector<TensorData> parts;
  SmallVector<int64_t> longest, shape;
  SmallVector<size_t> varying; ///< axes
};
} // namespace

Parts::Parts(ArrayRef<nn::ConstantOp> ops) {
  for (nn::ConstantOp op : ops) {
    auto data = TensorData::get(op.getValue());
    if (!data) {
      parts.clear();
      return;
    }
    parts.push_back(*data);
  }
  llvm::append_range(longest, parts[0].getShape());
  for (size_t axis = 0; axis < longest.size(); ++axis) {
    bool varies = false;
    for (const TensorData &part : parts) {
      varies |= part.getShape()[axis] != parts[0].getShape()[axis];
      longest[axis] = std::max(longest[axis], part.getShape()[axis]);
    }
    shape.push_back(longest[axis] + varies);
    if (varies)
      varying.push_back(axis);
  }
}

bool Parts::placePart(size_t number, std::vector<bool> &isKnown) {
  const TensorData &part = parts[number];
  const int64_t size = nn::getElementBytes(part.getElementType());
  SmallVector<int64_t> index(part.getShape().size(), 0);
  for (int64_t i = 0; i < part.getNumElements(); ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < index.size(); ++axis)
      at = at * shape[axis] + starts[number][axis] + index[axis];
    const char *from = part.getBytes().data() + i * size;
    char *to = whole.getMutableBytes() + at * size;
    if (isKnown[at] && std::memcmp(from, to, size) != 0)
      return false;
    std::memcpy(to, from, size);
    isKnown[at] = true;
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < part.getShape()[axis])
        break;
      index[axis] = 0;
    }
  }
  return true;
}

bool Parts::place(ArrayRef<Anchor> anchors) {
  whole = TensorData::allocate(
      RankedTensorType::get(shape, parts[0].getElementType()));
  std::memset(whole.getMutableBytes(), 0, whole.getBytes().size());
  std::vector<bool> isKnown(whole.getNumElements());
  starts.assign(parts.size(), SmallVector<int64_t>(shape.size(), 0));
  for (size_t number = 0; number < parts.size(); ++number) {
    for (auto [axis, anchor] : llvm::zip(varying, anchors)) {
      int64_t rest = longest[axis] - parts[number].getShape()[axis];
      if (anchor == Anchor::center && rest % 2 != 0)
        return false;
      starts[number][axis] = anchor == Anchor::begin ? 0
                             : anchor == Anchor::end ? rest
                                                     : rest / 2;
    }
    if (!placePart(number, isKnown))
      return false;
  }
  return true;
}

bool Parts::find() {
  constexpr size_t kMostAxes = 3;
  if (parts.empty() || varying.empty() || varying.size() > kMostAxes)
    return false;
  SmallVector<Anchor> anchors(varying.size(), Anchor::begin);
  auto visit = [&](auto self, size_t axis) -> bool {
    if (axis == anchors.size())
      return place(anchors);
    for (Anchor anchor : {Anchor::begin, Anchor::end, Anchor::center}) {
      anchors[axis] = anchor;
      if (self(self, axis + 1))
        return true;
    }
    return false;
  };
  return visit(visit, 0);
}

/// Returns true if each constant is a beginning of the first one, or the first
/// one of it.
static bool areBeginnings(ArrayRef<nn::ConstantOp> ops) {
  nn::ConstantOp first = ops[0];
  auto whole = TensorData::get(first.getValue());
  return whole && llvm::all_of(ops.drop_front(), [&](nn::ConstantOp op) {
           if (op.getValue() == first.getValue())
             return true;
           auto part = TensorData::get(op.getValue());
           if (!part)
             return false;
           ArrayRef<char> more = whole->getBytes(), less = part->getBytes();
           if (more.size() < less.size())
             std::swap(more, less);
           return more.take_front(less.size()) == less;
         });
}

/// Replaces the constant by a layer that copies a part of `whole`.
static void takePart(nn::ConstantOp op, ElementsAttr whole,
                     ArrayRef<int64_t> starts, StringRef name) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RankedTensorType type = nn::getTensorType(op);
  auto all = builder.create<nn::ConstantOp>(loc, whole);
  auto layer = builder.create<nn::LayerOp>(loc, type, name, ValueRange(all),
                                           ValueRange(), nullptr, nullptr);
  Block &anchor = layer.getAnchor().emplaceBlock();
  Value x = anchor.addArgument(all.getType(), loc);
  builder.setInsertionPointToStart(&anchor);
  SmallVector<int64_t> steps(type.getRank(), 1);
  auto slice =
      builder.create<nn::SliceOp>(loc, x, starts, type.getShape(), steps);
  builder.create<nn::YieldOp>(loc, slice.getY());
  Block &epilogue = layer.getEpilogue().emplaceBlock();
  Value element = epilogue.addArgument(type.getElementType(), loc);
  builder.setInsertionPointToStart(&epilogue);
  builder.create<nn::YieldOp>(loc, element);
  op.getResult().replaceAllUsesWith(layer.getY());
  op.erase();
}

static func::FuncOp getNetwork(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}

void nnc::spreadConstants(ModuleOp module) {
  func::FuncOp function = getNetwork(module);
  auto constants = llvm::to_vector(function.getOps<nn::ConstantOp>());
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    if (isa<nn::ConstantOp>(op))
      continue;
    OpBuilder builder(&op);
    for (OpOperand &operand : op.getOpOperands())
      if (auto constant = operand.get().getDefiningOp<nn::ConstantOp>())
        operand.set(builder.clone(*constant)->getResult(0));
  }
  for (nn::ConstantOp constant : constants)
    if (constant.use_empty())
      constant.erase();
}

/// Returns the constants of each module that are no more the same as others in
/// front of them.
static SmallVector<SmallVector<nn::ConstantOp>>
mergeConstants(ArrayRef<ModuleOp> modules) {
  SmallVector<SmallVector<nn::ConstantOp>> all(modules.size()),
      kept(modules.size());
  for (auto [module, own] : llvm::zip(modules, all))
    own = llvm::to_vector(getNetwork(module).getOps<nn::ConstantOp>());
  std::map<std::vector<const void *>, size_t> known;
  for (size_t i = 0; i < all[0].size(); ++i) {
    std::vector<const void *> values;
    for (const auto &own : all)
      values.push_back(nn::ConstantOp(own[i]).getValue().getAsOpaquePointer());
    auto [found, isNew] = known.try_emplace(values, kept[0].size());
    for (auto [own, keeper] : llvm::zip(all, kept)) {
      if (isNew) {
        keeper.push_back(own[i]);
        continue;
      }
      own[i].getResult().replaceAllUsesWith(keeper[found->second].getResult());
      own[i].erase();
    }
  }
  return kept;
}

LogicalResult nnc::shareConstants(ArrayRef<ModuleOp> modules) {
  auto constants = mergeConstants(modules);
  exec::Names names;
  ModuleOp plan = modules[0];
  plan.walk(
      [&](nn::LayerOp layer) { names.take(layer.getName(), /*isCall=*/true); });
  for (size_t i = 0; i < constants[0].size(); ++i) {
    SmallVector<nn::ConstantOp> ops;
    for (const auto &own : constants)
      ops.push_back(own[i]);
    if (areBeginnings(ops))
      continue;
    Parts parts(ops);
    StringRef model = nn::getModelName(ops[0].getLoc(), "constant");
    if (!parts.find())
      return ops[0].emitError()
             << "varies with the sizes in a way that nnc does not handle: "
                "constant '"
             << model << "' has other elements at other sizes";
    ElementsAttr whole = parts.whole.toAttribute(model);
    std::string name = names.addCall(model);
    for (auto [op, starts] : llvm::zip(ops, parts.starts))
      takePart(op, whole, starts, name);
  }
  return success();
}
