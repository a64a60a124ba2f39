//===- FormLayers.cpp - Anchors and their elementwise epilogues -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/exec/Exec.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

namespace nnc {
#define GEN_PASS_DEF_FORMLAYERS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the value of a constant with a single value that can be a literal in
/// expressions, or null. Literals are arith.constant, which holds no unsigned
/// integers: constants of those types stay operands of the layer.
static TypedAttr getLiteral(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || dense.empty() || !dense.isSplat() ||
      dense.getElementType().isUnsignedInteger())
    return {};
  return cast<TypedAttr>(dense.getSplatValue<Attribute>());
}

/// Returns true if all operands and results of an op have the element type
/// `type`. Only such ops share an expression, which is printed once for every
/// vector type.
static bool hasOnly(Operation *op, Type type) {
  auto isOf = [&](Value value) {
    return getTensorType(value).getElementType() == type;
  };
  return llvm::all_of(op->getOperands(), isOf) &&
         llvm::all_of(op->getResults(), isOf);
}

/// Returns true if all operands and results of an op are integers of at most
/// `width` bits, bools or f32: the types of the epilogue of an integer sum of
/// that width, which is an expression on scalars.
static bool hasScalarTypes(Operation *op, unsigned width = 32) {
  auto fits = [=](Value value) {
    Type type = getTensorType(value).getElementType();
    return type.isF32() ||
           (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() <= width);
  };
  return llvm::all_of(op->getOperands(), fits) &&
         llvm::all_of(op->getResults(), fits);
}

/// Returns true if all operands and results of an op are f32 or integers of 8
/// to 32 bits: the types of an elementwise layer that reads or stores quantized
/// numbers and computes with floats in between.
static bool hasQuantizedTypes(Operation *op) {
  auto isWide = [](Value value) {
    Type type = getTensorType(value).getElementType();
    return type.isF32() || type.getIntOrFloatBitWidth() >= 8;
  };
  return hasScalarTypes(op) && llvm::all_of(op->getOperands(), isWide) &&
         llvm::all_of(op->getResults(), isWide);
}

/// The largest number of ops that are repeated for each reader of a value.
static constexpr size_t kMaxRepeated = 4;

/// Returns the ops, last first, that widen a tensor of narrow integers to
/// `value`, which holds floats or 32-bit integers, with the help of literals
/// only. An example is the conversion of quantized integers to real numbers.
/// Returns an empty list if there are no such ops or more than kMaxRepeated.
static SmallVector<Operation *> getWidening(Value value) {
  SmallVector<Operation *> chain;
  while (chain.size() < kMaxRepeated) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<ElementwiseOpInterface>(op))
      return {};
    chain.push_back(op);
    Value source;
    for (Value operand : op->getOperands())
      if (!getLiteral(operand)) {
        if (source)
          return {};
        source = operand;
      }
    if (!source)
      return {};
    Type from = getTensorType(source).getElementType(),
         to = getTensorType(value).getElementType();
    unsigned width = from.getIntOrFloatBitWidth();
    if (isa<CastOp>(op) && isa<IntegerType>(from) &&
        (to.isF32() || to.isSignlessInteger(32)))
      return width >= 8 && width <= 16 ? chain : SmallVector<Operation *>();
    value = source;
  }
  return {};
}

/// The largest number of elementwise ops in a layer. It bounds the time to form
/// a group, which grows with the square of its size, and the length of the
/// expression that a C compiler has to compile.
static constexpr size_t kMaxBody = 256;
/// The largest number of ops that are added while more than one value of the
/// group is used outside of it.
static constexpr size_t kMaxOpen = 64;

namespace {
/// The ops that become one layer: an anchor, if any, and elementwise ops whose
/// results have one shape. Only `result` is used outside of the group.
struct Group {
  Operation *anchor = nullptr;
  SmallVector<Operation *> body; ///< in block order
  Value result;
  /// For a group without an anchor, the values computed outside of the group
  /// that its expression reads, except for literals.
  SmallVector<Value> operands = {};
  /// Whether members may have operands and results of different types; see
  /// mayCompute().
  bool isMixed = false;

  bool contains(Operation *op) const {
    return op == anchor || llvm::is_contained(body, op);
  }
  /// Returns the operands of the group with `op` added. Members of the group
  /// may read the result of `op`.
  SmallVector<Value> getOperandsWith(Operation *op) const;
  void add(Operation *op) {
    operands = getOperandsWith(op);
    body.push_back(op);
  }
};

class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}

  /// Returns the groups in the order of their results in the block.
  SmallVector<Group> run();

private:
  bool mayJoin(Operation *op, const Group &group) const;
  bool mayRead(Value value, const Group &group) const;
  void grow(Group &group);
  void absorbProducers(Group &group);
  void take(const Group &group);

  Block &block;
  DenseSet<Operation *> taken;
};
} // namespace

SmallVector<Value> Group::getOperandsWith(Operation *op) const {
  if (anchor)
    return {};
  SmallVector<Value> with = operands;
  llvm::erase(with, op->getResult(0));
  for (Value value : op->getOperands()) {
    Operation *producer = value.getDefiningOp();
    bool isInside = producer && contains(producer);
    if (!isInside && !getLiteral(value) && !llvm::is_contained(with, value))
      with.push_back(value);
  }
  return with;
}

/// Returns true if the group's expression may have `value`, which is computed
/// outside of the group, as an operand.
bool Grouping::mayRead(Value value, const Group &group) const {
  RankedTensorType result = getTensorType(group.result);
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(group.anchor);
  if (!anchor || getLiteral(value))
    return true;
  // An epilogue of float sums reads floats only.
  if (group.isMixed && anchor.getAccumulatorType().isF32() &&
      !getTensorType(value).getElementType().isF32())
    return false;
  return getExtraKind(getTensorType(value).getShape(), result.getShape(),
                      anchor.getChannelAxis()) != ExtraKind::Broadcast;
}

/// Returns true if the group's expression may contain ops with the types of
/// `op`.
static bool mayCompute(Operation *op, const Group &group) {
  if (!group.isMixed)
    return hasOnly(op, getTensorType(group.result).getElementType());
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(group.anchor);
  if (!anchor)
    return hasQuantizedTypes(op);
  return hasScalarTypes(op,
                        anchor.getAccumulatorType().getIntOrFloatBitWidth());
}

bool Grouping::mayJoin(Operation *op, const Group &group) const {
  if (!isa<ElementwiseOpInterface>(op) || taken.contains(op) ||
      op->getBlock() != &block)
    return false;
  RankedTensorType result = getTensorType(group.result);
  if (getTensorType(op->getResult(0)).getShape() != result.getShape() ||
      !mayCompute(op, group) ||
      group.getOperandsWith(op).size() > kMaxElementwiseOperands)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value value) {
    Operation *producer = value.getDefiningOp();
    return (producer && group.contains(producer)) || mayRead(value, group);
  });
}

/// Returns true if all readers of `value` can compute it from integers of the
/// group (repeatWidening), so that the group should store these integers
/// instead.
static bool isWidenedByReaders(Value value, const Group &group) {
  auto isReader = [&](Operation *user) {
    return isa<ElementwiseOpInterface>(user) && hasQuantizedTypes(user) &&
           getTensorType(user->getResult(0)).getShape() ==
               getTensorType(value).getShape();
  };
  SmallVector<Operation *> chain = getWidening(value);
  Operation *producer =
      chain.empty() ? nullptr : chain.back()->getOperand(0).getDefiningOp();
  return producer && group.contains(producer) &&
         llvm::all_of(value.getUsers(), isReader);
}

/// Adds the ops that use the group's result, in block order, as long as they
/// may join. The group is complete whenever only one of its values is used
/// outside, unless readers can compute that value from integers of the group.
/// Ops added after the last such point are dropped again.
void Grouping::grow(Group &group) {
  Group attempt = group;
  SmallVector<Value> open = {group.result};
  auto isOutside = [&](Operation *user) { return !attempt.contains(user); };
  while (attempt.body.size() < kMaxBody &&
         attempt.body.size() < group.body.size() + kMaxOpen) {
    Operation *next = nullptr;
    for (Value value : open)
      for (Operation *user :
           llvm::make_filter_range(value.getUsers(), isOutside))
        if (!next || user->isBeforeInBlock(next))
          next = user;
    if (!next || !mayJoin(next, attempt))
      return;
    attempt.add(next);
    open.push_back(next->getResult(0));
    llvm::erase_if(open, [&](Value value) {
      return !value.use_empty() && llvm::none_of(value.getUsers(), isOutside);
    });
    if (open.size() == 1 && !isWidenedByReaders(open.front(), attempt)) {
      attempt.result = open.front();
      group = attempt;
    }
  }
}

/// Adds elementwise ops that only the group's elementwise ops read. A value
/// that the anchor reads, too, must be computed before the layer and stays
/// outside.
void Grouping::absorbProducers(Group &group) {
  for (size_t i = 0; i < group.body.size(); ++i)
    for (Value operand : group.body[i]->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (group.body.size() >= kMaxBody || !producer ||
          group.contains(producer) || !mayJoin(producer, group))
        continue;
      if (llvm::all_of(producer->getUsers(), [&](Operation *user) {
            return llvm::is_contained(group.body, user);
          }))
        group.add(producer);
    }
  llvm::sort(group.body,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

void Grouping::take(const Group &group) {
  taken.insert(group.body.begin(), group.body.end());
}

SmallVector<Group> Grouping::run() {
  SmallVector<Group> groups;
  // Later anchors come first: if an op reads the results of two anchors, the
  // result of the earlier one is available when the layer of the later one
  // runs.
  for (Operation &op : llvm::reverse(block)) {
    auto anchor = dyn_cast<RoutineOpInterface>(op);
    if (!anchor || isa<ReshapeOp, AdaptOp>(op))
      continue;
    Group group{&op, {}, op.getResult(0)};
    // Epilogues of float sums read f32; those of integer sums read scalars of
    // any type (runtime/epilogue.h).
    group.isMixed = anchor.getAccumulatorType() != nullptr;
    if (anchor.takesEpilogue() &&
        (group.isMixed || hasOnly(&op, Float32Type::get(op.getContext()))))
      grow(group);
    take(group);
    groups.push_back(group);
  }
  for (Group &group : groups) {
    absorbProducers(group);
    take(group);
  }
  for (Operation &op : block) {
    if (!isa<ElementwiseOpInterface>(op) || taken.contains(&op))
      continue;
    Group group{nullptr, {}, op.getResult(0)};
    group.add(&op);
    group.isMixed = hasQuantizedTypes(&op);
    if (mayCompute(&op, group)) {
      grow(group);
      absorbProducers(group);
    }
    take(group);
    groups.push_back(group);
  }
  llvm::sort(groups, [](const Group &a, const Group &b) {
    return a.result.getDefiningOp()->isBeforeInBlock(b.result.getDefiningOp());
  });
  return groups;
}

//===----------------------------------------------------------------------===//
// Values that are computed again
//===----------------------------------------------------------------------===//

/// Gives each elementwise op that reads a widened value (getWidening) its own
/// copy of the ops that compute it. Its layer then reads the narrow integers,
/// and the wide values are never stored.
static void repeatWidening(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<ElementwiseOpInterface>(op) || op.getResult(0).hasOneUse())
      continue;
    SmallVector<Operation *> chain = getWidening(op.getResult(0));
    if (chain.empty())
      continue;
    SmallVector<Operation *> users(op.getUsers());
    llvm::sort(users, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });
    users.erase(llvm::unique(users), users.end());
    for (Operation *user : users) {
      if (!isa<ElementwiseOpInterface>(user) || op.getResult(0).hasOneUse())
        continue;
      OpBuilder builder(user);
      IRMapping copies;
      for (Operation *one : llvm::reverse(chain))
        builder.clone(*one, copies);
      user->replaceUsesOfWith(op.getResult(0), copies.lookup(op.getResult(0)));
    }
  }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Returns `value` with leading axes of size 1, so that it has the rank of the
/// result and can have its layout.
static Value padRank(OpBuilder &builder, Value value, int64_t rank) {
  RankedTensorType type = getTensorType(value);
  if (type.getRank() == rank)
    return value;
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  auto padded = RankedTensorType::get(shape, type.getElementType());
  return builder.createOrFold<ReshapeOp>(value.getLoc(), padded, value);
}

static void buildLayer(const Group &group, exec::Names &names) {
  Operation *last = group.result.getDefiningOp();
  Operation *first = group.anchor ? group.anchor : last;
  SmallVector<Location> locations = {first->getLoc()};
  for (Operation *op : group.body)
    if (op != first)
      locations.push_back(op->getLoc());
  OpBuilder builder(last);
  Location loc = builder.getFusedLoc(locations);
  RankedTensorType result = getLogicalType(getTensorType(group.result));

  // Returns the values from outside that the expression reads. Literals stay in
  // the expression. If it reads literals only, the first one becomes the
  // operand that every layer needs.
  llvm::SetVector<Value> outside;
  for (Operation *op : group.body)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || !group.contains(producer))
        outside.insert(operand);
    }
  SmallVector<Value> extras, values;
  bool onlyLiterals = !group.anchor && llvm::all_of(outside, getLiteral);
  for (Value value : outside)
    if (!getLiteral(value) || (onlyLiterals && values.empty())) {
      values.push_back(value);
      extras.push_back(padRank(builder, value, result.getRank()));
    }

  ValueRange inputs;
  if (group.anchor)
    inputs = group.anchor->getOperands();
  std::string name = names.addCall(
      getModelName(first->getLoc(), first->getName().stripDialect()));
  auto layer = builder.create<LayerOp>(loc, result, name, inputs, extras,
                                       nullptr, nullptr);
  IRMapping scalars;
  Block &epilogue = layer.getEpilogue().emplaceBlock();
  if (group.anchor) {
    Block &block = layer.getAnchor().emplaceBlock();
    IRMapping arguments;
    for (Value input : inputs)
      arguments.map(input,
                    block.addArgument(getLogicalType(getTensorType(input)),
                                      input.getLoc()));
    builder.setInsertionPointToStart(&block);
    Operation *anchor = builder.clone(*group.anchor, arguments);
    builder.create<YieldOp>(loc, anchor->getResult(0));
    Value made = group.anchor->getResult(0);
    scalars.map(made, epilogue.addArgument(getTensorType(made).getElementType(),
                                           made.getLoc()));
  }
  for (Value value : values)
    scalars.map(value,
                epilogue.addArgument(getTensorType(value).getElementType(),
                                     value.getLoc()));
  builder.setInsertionPointToStart(&epilogue);
  for (Value value : outside)
    if (!scalars.contains(value))
      scalars.map(value, builder.create<arith::ConstantOp>(value.getLoc(),
                                                           getLiteral(value)));
  for (Operation *op : group.body) {
    Operation *scalar = builder.clone(*op, scalars);
    scalar->getResult(0).setType(getElementTypeOrSelf(op->getResult(0)));
  }
  builder.create<YieldOp>(loc, scalars.lookup(group.result));
  Value replaced = group.result;
  replaced.replaceAllUsesWith(layer.getY());
}

namespace {
struct FormLayersPass : nnc::impl::FormLayersBase<FormLayersPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.getBody().hasOneBlock()) {
      function.emitOpError("needs a body of one block");
      return signalPassFailure();
    }
    Block &block = function.getBody().front();
    if (failed(checkOps(block)))
      return signalPassFailure();
    repeatWidening(block);
    SmallVector<Group> groups = Grouping(block).run();
    exec::Names names;
    for (LayerOp layer : block.getOps<LayerOp>())
      names.take(layer.getName(), /*isCall=*/true);
    SmallVector<Operation *> replaced;
    for (const Group &group : groups) {
      buildLayer(group, names);
      llvm::append_range(replaced, group.body);
      if (group.anchor)
        replaced.push_back(group.anchor);
    }
    for (Operation *op : replaced)
      op->dropAllReferences();
    for (Operation *op : replaced)
      op->erase();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Checks that each op can become part of a layer or may stand beside layers.
  LogicalResult checkOps(Block &block) {
    LogicalResult result = success();
    for (Operation &op : block.without_terminator())
      if (!isa<RoutineOpInterface, ElementwiseOpInterface, LayerOp, CustomOp,
               PartOp, ControlOpInterface>(op) &&
          !op.hasTrait<OpTrait::ConstantLike>())
        result = op.emitOpError(
            "is computed by no routine; nnc-simplify and nnc-legalize have to "
            "rewrite it before nnc-form-layers");
    return result;
  }
};
} // namespace
