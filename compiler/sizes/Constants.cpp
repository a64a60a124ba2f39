//===- Constants.cpp - Constants that depend on sizes ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Constants.h"

#include "dialects/exec/Exec.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/tensors/Resource.h"
#include "dialects/nn/tensors/TensorData.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>

using namespace mlir;
using namespace nnc;

namespace {
/// The point of an axis of a whole at which its parts are aligned.
enum class Anchor { begin, end, center };

/// Corresponding constants of all modules as parts of a common whole.
class Parts {
public:
  explicit Parts(ArrayRef<nn::ConstantOp> ops);

  /// Searches for a whole that contains all parts. Returns false if there is
  /// none.
  bool find();

  /// The whole, once it has been found. On each axis on which the parts differ,
  /// it is longer than all of them, so that no part is all of the whole.
  TensorData whole;
  /// The start of each part on each axis.
  std::vector<SmallVector<int64_t>> starts;

private:
  /// Places the parts at the anchors of the varying axes. Returns false if two
  /// parts have different elements at the same position.
  bool place(ArrayRef<Anchor> anchors);
  bool placePart(size_t number, std::vector<bool> &isKnown);

  SmallVector<TensorData> parts;
  SmallVector<int64_t> longest, shape;
  SmallVector<size_t> varying; ///< axes on which the sizes of the parts differ
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

bool nnc::areBeginnings(ArrayRef<nn::ConstantOp> ops) {
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

/// Reads the elements of a constant into `numbers`. Returns false if one of
/// them is not a whole number in the range of 32-bit integers.
static bool readNumbers(nn::ConstantOp op, SmallVectorImpl<int64_t> &numbers) {
  auto data = TensorData::get(op.getValue());
  if (!data)
    return false;
  Type type = data->getElementType();
  auto read = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < data->getNumElements(); ++i) {
      T value;
      std::memcpy(&value, data->getBytes().data() + i * sizeof value,
                  sizeof value);
      if (!(value >= T(INT32_MIN) && value <= T(INT32_MAX / 2)) ||
          T(int64_t(value)) != value)
        return false;
      numbers.push_back(int64_t(value));
    }
    return true;
  };
  return type.isInteger(64)   ? read(int64_t())
         : type.isInteger(32) ? read(int32_t())
         : type.isF64()       ? read(double())
         : type.isF32()       ? read(float())
                              : false;
}

/// Returns true if the constants have the same shape and consist of a few whole
/// numbers, which may be expressions of the sizes.
static bool areSmall(ArrayRef<nn::ConstantOp> ops) {
  return llvm::all_of(ops, [&](nn::ConstantOp op) {
    SmallVector<int64_t> numbers;
    RankedTensorType type = nn::getTensorType(op);
    return type == nn::ConstantOp(ops[0]).getType() &&
           type.getNumElements() <= nn::OffsetOp::kMost &&
           readNumbers(op, numbers);
  });
}

/// Returns true if each constant is an arithmetic progression.
static bool areSteps(ArrayRef<nn::ConstantOp> ops) {
  return llvm::all_of(ops, [](nn::ConstantOp op) {
    SmallVector<int64_t> numbers;
    if (!readNumbers(op, numbers) || numbers.size() < 2)
      return false;
    for (size_t i = 2; i < numbers.size(); ++i)
      if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0])
        return false;
    return true;
  });
}

bool nnc::canShare(ArrayRef<nn::ConstantOp> ops) {
  auto isUniform = [](nn::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    return dense && dense.isSplat();
  };
  auto getRank = [](nn::ConstantOp op) {
    return nn::getTensorType(op).getRank();
  };
  for (nn::ConstantOp op : ops)
    if (isUniform(op) != isUniform(ops[0]) || getRank(op) != getRank(ops[0]))
      return false;
  return areBeginnings(ops) || areSmall(ops) || areSteps(ops) ||
         Parts(ops).find();
}

/// Replaces the constant by a layer whose anchor `build` creates from `x`,
/// another constant.
static void replace(nn::ConstantOp op, ElementsAttr x, StringRef name,
                    llvm::function_ref<Value(OpBuilder &, Value)> build) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RankedTensorType type = nn::getTensorType(op);
  auto operand = builder.create<nn::ConstantOp>(loc, x);
  auto layer = builder.create<nn::LayerOp>(loc, type, name, ValueRange(operand),
                                           ValueRange(), nullptr, nullptr);
  Block &anchor = layer.getAnchor().emplaceBlock();
  Value argument = anchor.addArgument(operand.getType(), loc);
  builder.setInsertionPointToStart(&anchor);
  builder.create<nn::YieldOp>(loc, build(builder, argument));
  Block &epilogue = layer.getEpilogue().emplaceBlock();
  Value element = epilogue.addArgument(type.getElementType(), loc);
  builder.setInsertionPointToStart(&epilogue);
  builder.create<nn::YieldOp>(loc, element);
  op.getResult().replaceAllUsesWith(layer.getY());
  op.erase();
}

/// Replaces the constant by a layer that copies a part of `whole`.
static void takePart(nn::ConstantOp op, ElementsAttr whole,
                     ArrayRef<int64_t> starts, StringRef name) {
  ArrayRef<int64_t> shape = nn::getTensorType(op).getShape();
  SmallVector<int64_t> steps(shape.size(), 1);
  replace(op, whole, name, [&](OpBuilder &builder, Value x) -> Value {
    return builder.create<nn::SliceOp>(op.getLoc(), x, starts, shape, steps);
  });
}

/// Returns a constant of zeros.
static ElementsAttr makeZeros(RankedTensorType type, StringRef name) {
  auto zeros = TensorData::allocate(type);
  std::memset(zeros.getMutableBytes(), 0, zeros.getBytes().size());
  return zeros.toAttribute(name);
}

/// Replaces the constant, an arithmetic progression, by a layer that computes
/// it.
static void computeSteps(nn::ConstantOp op, StringRef name) {
  SmallVector<int64_t> numbers;
  readNumbers(op, numbers);
  RankedTensorType type = nn::getTensorType(op);
  replace(op, makeZeros(RankedTensorType::get({}, type.getElementType()), name),
          name, [&](OpBuilder &builder, Value x) -> Value {
            return builder.create<nn::StepsOp>(op.getLoc(), x, type.getShape(),
                                               numbers[0],
                                               numbers[1] - numbers[0]);
          });
}

/// Replaces the constant by a layer that computes its numbers, which thereby
/// become fields of the layer's shape.
static void computeNumbers(nn::ConstantOp op, StringRef name) {
  SmallVector<int64_t> numbers;
  readNumbers(op, numbers);
  replace(op, makeZeros(nn::getTensorType(op), name), name,
          [&](OpBuilder &builder, Value x) -> Value {
            return builder.create<nn::OffsetOp>(op.getLoc(), x, numbers);
          });
}

static void spreadConstants(func::FuncOp function) {
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

void nnc::shareMemory(ModuleOp plan, ModuleOp sample) {
  auto getConstants = [](ModuleOp module) {
    SmallVector<nn::ConstantOp> constants;
    module.walk([&](nn::ConstantOp op) { constants.push_back(op); });
    return constants;
  };
  SmallVector<DenseResourceElementsAttr> replaced;
  for (auto [a, b] : llvm::zip(getConstants(plan), getConstants(sample))) {
    auto ofB = dyn_cast<DenseResourceElementsAttr>(b.getValue());
    auto x = TensorData::get(a.getValue()), y = TensorData::get(b.getValue());
    if (!ofB || a.getValue() == ofB || a.getType() != b.getType() || !x || !y ||
        x->getBytes() != y->getBytes())
      continue;
    b.setValueAttr(a.getValueAttr());
    replaced.push_back(ofB);
  }
  // Constants of other shapes may use the same memory, which must not be freed.
  llvm::SmallPtrSet<void *, 16> used;
  for (nn::ConstantOp op : getConstants(sample))
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
      used.insert(resource.getRawHandle().getResource());
  llvm::SmallPtrSet<void *, 16> freed;
  for (DenseResourceElementsAttr resource : replaced) {
    void *memory = resource.getRawHandle().getResource();
    if (!used.contains(memory) && freed.insert(memory).second)
      nn::freeResource(resource);
  }
}

void nnc::spreadConstants(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    ::spreadConstants(function);
}

/// Merges constants that equal an earlier constant in each of several
/// corresponding functions. Returns the remaining constants of each function.
static SmallVector<SmallVector<nn::ConstantOp>>
mergeConstants(ArrayRef<func::FuncOp> functions) {
  SmallVector<SmallVector<nn::ConstantOp>> all(functions.size()),
      kept(functions.size());
  for (auto [function, own] : llvm::zip(functions, all))
    own = llvm::to_vector(func::FuncOp(function).getOps<nn::ConstantOp>());
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

/// Replaces a literal of the layer's expression by an operand, a constant in
/// front of the layer.
static void liftLiteral(nn::LayerOp layer, arith::ConstantOp literal) {
  OpBuilder builder(layer);
  auto type = RankedTensorType::get({}, literal.getType());
  auto constant = builder.create<nn::ConstantOp>(
      literal.getLoc(), DenseElementsAttr::get(type, literal.getValue()));
  layer.getExtrasMutable().append(constant.getResult());
  Value element = layer.getEpilogue().front().addArgument(literal.getType(),
                                                          literal.getLoc());
  literal.replaceAllUsesWith(element);
  literal.erase();
}

/// Replaces the literals that differ among corresponding functions by operands.
static void liftLiterals(ArrayRef<func::FuncOp> functions) {
  SmallVector<SmallVector<arith::ConstantOp>> all;
  for (func::FuncOp function : functions) {
    auto &own = all.emplace_back();
    function.walk([&](arith::ConstantOp literal) { own.push_back(literal); });
  }
  for (size_t i = 0; i < all[0].size(); ++i) {
    auto differs = [&](const SmallVector<arith::ConstantOp> &own) {
      return arith::ConstantOp(own[i]).getValue() !=
             arith::ConstantOp(all[0][i]).getValue();
    };
    bool isLifted = llvm::any_of(all, differs);
    for (auto &own : all)
      if (auto layer = dyn_cast<nn::LayerOp>(own[i]->getParentOp());
          isLifted && layer)
        liftLiteral(layer, own[i]);
  }
}

/// Replaces the constants that differ among corresponding functions, as
/// nnc::shareConstants() does.
static LogicalResult shareConstants(ArrayRef<func::FuncOp> functions,
                                    exec::Names &names) {
  liftLiterals(functions);
  auto constants = mergeConstants(functions);
  for (size_t i = 0; i < constants[0].size(); ++i) {
    SmallVector<nn::ConstantOp> ops;
    for (const auto &own : constants)
      ops.push_back(own[i]);
    if (areBeginnings(ops))
      continue;
    StringRef model = nn::getModelName(ops[0].getLoc(), "constant");
    if (areSmall(ops)) {
      std::string name = names.addCall(model);
      for (nn::ConstantOp op : ops)
        computeNumbers(op, name);
      continue;
    }
    if (areSteps(ops)) {
      std::string name = names.addCall(model);
      for (nn::ConstantOp op : ops)
        computeSteps(op, name);
      continue;
    }
    Parts parts(ops);
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

LogicalResult nnc::shareConstants(ArrayRef<ModuleOp> modules) {
  exec::Names names;
  ModuleOp plan = modules[0];
  plan.walk(
      [&](nn::LayerOp layer) { names.take(layer.getName(), /*isCall=*/true); });
  SmallVector<SmallVector<func::FuncOp>> all;
  for (ModuleOp module : modules)
    all.push_back(llvm::to_vector(module.getOps<func::FuncOp>()));
  for (size_t i = 0; i < all[0].size(); ++i) {
    SmallVector<func::FuncOp> functions;
    for (const auto &own : all)
      functions.push_back(own[i]);
    if (failed(::shareConstants(functions, names)))
      return failure();
  }
  return success();
}
