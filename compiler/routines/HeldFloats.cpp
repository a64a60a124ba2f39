//===- HeldFloats.cpp - Integers that layers hold as floats ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/HeldFloats.h"

#include "dialects/nn/attributes/Attributes.h"
#include "dialects/nn/tensors/IntegerRange.h"
#include "dialects/nn/tensors/TensorData.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// 32-bit floats hold integers below this magnitude exactly, and add them
/// exactly as long as the sums stay below it.
static constexpr double kExact = 1 << 24;

static Type getElementOf(Value value) {
  return getTensorType(value).getElementType();
}

/// Returns true if layers pass integers of this type to each other.
static bool isNarrow(Type type) {
  return type.isInteger(8) || type.isInteger(16);
}

static bool isPadded(ConvOp conv) {
  return llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value HeldFloats::getLeader(Value value) const {
  while (isa_and_nonnull<ReshapeOp, AdaptOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto known = leaders.find(value);
  return known == leaders.end() ? value : known->second;
}

void HeldFloats::setOpen(Value value) {
  if (isNarrow(getElementOf(value)) && !value.getDefiningOp<ConstantOp>())
    open.insert(getLeader(value));
}

HeldFloats::HeldFloats(func::FuncOp function) {
  auto layers = function.getBody().front().getOps<LayerOp>();
  llvm::EquivalenceClasses<void *> alike;
  for (LayerOp layer : layers)
    if (movesIntegers(layer))
      for (Value input : layer.getInputs())
        alike.unionSets(getLeader(input).getAsOpaquePointer(),
                        layer.getY().getAsOpaquePointer());
  for (const auto &member : alike)
    leaders[Value::getFromOpaquePointer(member.getData())] =
        Value::getFromOpaquePointer(alike.getLeaderValue(member.getData()));
  for (LayerOp layer : layers)
    if (auto conv = dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
        conv && isPadded(conv) && isNarrow(getElementOf(layer.getInputs()[0])))
      offsets.try_emplace(getLeader(layer.getInputs()[0]), conv.getFill());
}

void HeldFloats::copy(Value from, Value to) { leaders[to] = getLeader(from); }

bool nnc::movesIntegers(LayerOp layer) {
  return isa_and_nonnull<ConcatOp, MaxPoolOp, SliceOp, TransposeOp>(
             layer.getAnchorOp()) &&
         layer.hasEmptyEpilogue() && layer.getExtras().empty() &&
         isNarrow(getElementOf(layer.getY())) &&
         llvm::none_of(layer.getInputs(), [](Value input) {
           return input.getDefiningOp<ConstantOp>();
         });
}

void nnc::moveHeldFloats(LayerOp layer) {
  Type single = Float32Type::get(layer.getContext());
  auto hold = [&](Value value) {
    value.setType(getTensorType(value).clone(single));
  };
  for (BlockArgument argument : layer.getAnchor().getArguments())
    hold(argument);
  hold(layer.getAnchorOp()->getResult(0));
  layer.getEpilogue().getArgument(0).setType(single);
  hold(layer.getY());
}

/// Creates a constant of an epilogue.
static Value createScalar(OpBuilder &builder, Location loc, double value) {
  return builder.create<arith::ConstantOp>(
      loc, builder.getF32FloatAttr(static_cast<float>(value)));
}

/// Returns true if a value of an epilogue is the float constant `wanted`.
static bool isScalar(Value value, double wanted) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto real = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return real && real.getValueAsDouble() == wanted;
}

/// Returns true if `type` holds all values of the integer type `integer`. A
/// cast to such a type gives the same number from an integer and from the float
/// that holds it.
static bool holdsAll(Type type, Type integer) {
  auto other = dyn_cast<IntegerType>(type);
  if (!other)
    return type.isF32();
  auto [low, high] = getIntegerRange(other);
  auto [least, most] = getIntegerRange(cast<IntegerType>(integer));
  return low <= least && high >= most;
}

/// Replaces the uses of `integer` in an epilogue by `real`, a float with the
/// same value.
static void readAsFloat(OpBuilder &builder, Value integer, Value real,
                        Type element) {
  Value cast;
  for (OpOperand &use : llvm::make_early_inc_range(integer.getUses())) {
    Operation *user = use.getOwner();
    if (user == real.getDefiningOp())
      continue;
    if (auto next = dyn_cast<CastOp>(user);
        next && holdsAll(next.getY().getType(), element)) {
      Type to = next.getY().getType();
      next.getY().replaceAllUsesWith(
          to.isF32() ? real
                     : builder.create<CastOp>(next.getLoc(), to, real).getY());
      next.erase();
      continue;
    }
    if (!cast)
      cast = builder.create<CastOp>(user->getLoc(), element, real);
    use.set(cast);
  }
}

void nnc::readHeldFloats(LayerOp layer, unsigned extra, int64_t offset) {
  Block &block = layer.getEpilogue().front();
  BlockArgument held = block.getArgument(extra + (layer.getAnchorOp() ? 1 : 0));
  Type element = held.getType();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  held.setType(builder.getF32Type());
  Value real = held;
  if (offset)
    real = builder.create<AddOp>(layer.getLoc(), held,
                                 createScalar(builder, layer.getLoc(), offset));
  readAsFloat(builder, held, real, element);
  if (!offset)
    return;
  // A reader that subtracts the offset again gets the held float itself.
  for (Operation *user : llvm::make_early_inc_range(real.getUsers()))
    if (auto sub = dyn_cast<SubOp>(user);
        sub && sub.getA() == real && isScalar(sub.getB(), offset)) {
      sub.getResult().replaceAllUsesWith(held);
      sub.erase();
    }
  if (real.use_empty())
    real.getDefiningOp()->erase();
}

void nnc::storeHeldFloats(LayerOp layer, int64_t offset) {
  Operation *yield = layer.getEpilogue().front().getTerminator();
  OpBuilder builder(yield);
  Location loc = layer.getLoc();
  Value real =
      builder.create<CastOp>(loc, builder.getF32Type(), yield->getOperand(0));
  if (offset)
    real = builder.create<SubOp>(loc, real, createScalar(builder, loc, offset));
  yield->setOperand(0, real);
  layer.getY().setType(getTensorType(layer.getY()).clone(builder.getF32Type()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool nnc::multipliesIntegers(LayerOp layer) {
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  return isa_and_nonnull<ConvOp, ConvTransposeOp, MatMulOp>(
             layer.getAnchorOp()) &&
         anchor.getAccumulatorType() &&
         anchor.getAccumulatorType().isInteger(32) &&
         llvm::all_of(layer.getInputs(), [](Value input) {
           return isNarrow(getElementOf(input));
         });
}

namespace {
/// For each channel, the sum of its weights and the sum of their magnitudes.
struct WeightSums {
  SmallVector<double> sums, magnitudes;

  WeightSums(const TensorData &weights, int64_t axis);
};
} // namespace

WeightSums::WeightSums(const TensorData &weights, int64_t axis)
    : sums(weights.getShape()[axis], 0), magnitudes(sums) {
  const int64_t channels = sums.size();
  int64_t inner = 1;
  for (int64_t size : weights.getShape().drop_front(axis + 1))
    inner *= size;
  for (int64_t i = 0; i < weights.getNumElements(); ++i) {
    const int64_t channel = i / inner % channels;
    const double weight = weights.getReal(i);
    sums[channel] += weight;
    magnitudes[channel] += std::abs(weight);
  }
}

/// Returns the largest magnitude that an integer of a narrow type has after
/// `offset` is subtracted.
static double getLargest(Type type, int64_t offset) {
  auto [low, high] = getIntegerRange(cast<IntegerType>(type));
  return double(std::max(high - offset, offset - low));
}

/// Returns the axis of the weights that corresponds to the channels of a
/// product's result.
static int64_t getChannelAxisOfWeights(LayerOp layer) {
  const int64_t rank = getTensorType(layer.getInputs()[1]).getRank();
  if (auto matmul = dyn_cast<MatMulOp>(layer.getAnchorOp()))
    return matmul.getTransposeB() ? rank - 2 : rank - 1;
  return isa<ConvTransposeOp>(layer.getAnchorOp()) ? 1 : 0;
}

/// Returns the index of the extra that the layer adds to its sums before
/// anything else. Returns nothing unless that extra is a constant with one
/// integer for each channel.
static std::optional<unsigned> findBias(LayerOp layer) {
  Block &block = layer.getEpilogue().front();
  BlockArgument sums = block.getArgument(0);
  auto add = sums.hasOneUse() ? dyn_cast<AddOp>(*sums.user_begin()) : AddOp();
  if (!add)
    return std::nullopt;
  auto bias =
      dyn_cast<BlockArgument>(add.getA() == sums ? add.getB() : add.getA());
  if (!bias || bias == sums || !bias.hasOneUse() ||
      !bias.getType().isInteger(32))
    return std::nullopt;
  const unsigned extra = bias.getArgNumber() - 1;
  Value value = layer.getExtras()[extra];
  const int64_t channels =
      getTensorType(layer.getY()).getDimSize(*layer.getChannelAxis());
  if (!value.getDefiningOp<ConstantOp>() ||
      getTensorType(value).getNumElements() != channels)
    return std::nullopt;
  return extra;
}

/// Returns the largest magnitude that sums of a matrix product of two computed
/// operands may have.
static double getReach(MatMulOp matmul) {
  RankedTensorType a = getTensorType(matmul.getA()),
                   b = getTensorType(matmul.getB());
  const int64_t terms =
      a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1));
  return getLargest(a.getElementType(), 0) * getLargest(b.getElementType(), 0) *
         double(terms);
}

std::optional<FloatProduct>
FloatProduct::get(LayerOp layer, const HeldFloats &held, bool mayRound) {
  auto conv = dyn_cast<ConvOp>(layer.getAnchorOp());
  auto matmul = dyn_cast<MatMulOp>(layer.getAnchorOp());
  const int64_t offset = held.getOffset(layer.getInputs()[0]);
  if (conv && isPadded(conv) && int64_t(conv.getFill()) != offset)
    return std::nullopt;
  std::optional<TensorData> weights = TensorData::get(layer.getInputs()[1]);
  FloatProduct product;
  if (!weights) {
    // An offset would change each sum by a different number.
    if (!matmul || offset || held.getOffset(layer.getInputs()[1]) ||
        !(mayRound || getReach(matmul) < kExact))
      return std::nullopt;
    return product;
  }
  product.bias = findBias(layer);
  std::optional<TensorData> bias;
  if (product.bias)
    bias = TensorData::get(layer.getExtras()[*product.bias]);
  // The offset changes all sums of a channel by the same number, which the bias
  // compensates. This fails if the matrices of a batch have different sums of
  // weights, or if sums at the border have fewer terms.
  RankedTensorType type = getTensorType(layer.getInputs()[1]);
  const int64_t rank = type.getRank();
  const bool isMatrix =
      matmul && type.getNumElements() ==
                    type.getDimSize(rank - 1) * type.getDimSize(rank - 2);
  if ((offset && (!bias || !(conv || isMatrix))) || (product.bias && !bias))
    return std::nullopt;
  std::optional<WeightSums> own;
  if (offset || !mayRound)
    own.emplace(*weights, getChannelAxisOfWeights(layer));
  const double largest = getLargest(getElementOf(layer.getInputs()[0]), offset);
  auto isExact = [&](size_t channel, double added) {
    return mayRound ||
           std::abs(added) + largest * own->magnitudes[channel] < kExact;
  };
  for (size_t i = 0; own && i < own->sums.size(); ++i)
    if (!isExact(i, 0))
      return std::nullopt;
  for (int64_t i = 0; bias && i < bias->getNumElements(); ++i) {
    double added = bias->getReal(i);
    // The groups of a transposed convolution share an index of the weights.
    const size_t channel = own ? i % own->sums.size() : 0;
    if (offset)
      added += double(offset) * own->sums[channel];
    if (!isExact(channel, added))
      return std::nullopt;
    product.biases.push_back(static_cast<float>(added));
  }
  return product;
}

namespace {
/// Rewrites the epilogue of a product of integers to compute only with floats,
/// which hold the integers.
class FloatEpilogue {
public:
  FloatEpilogue(LayerOp layer, int64_t offset)
      : layer(layer), block(layer.getEpilogue().front()), offset(offset),
        builder(layer.getContext()) {}

  /// Rewrites the ops that still compute with integers. Returns true if all of
  /// them could be rewritten.
  bool run();
  /// Says that the float `value` holds an integer of type `type`.
  void addInteger(Value value, Type type) { integers.try_emplace(value, type); }

private:
  Value limit(Operation *op, Value real, int64_t zero, double low, double high);
  Value rewrite(RequantizeOp requantize);
  Value rewrite(CastOp cast);
  Value rewrite(LookupOp lookup);

  LayerOp layer;
  Block &block;
  int64_t offset; ///< offset of the stored result; 0 once subtracted
  OpBuilder builder;
  /// The floats that hold integers, with the types of these.
  DenseMap<Value, Type> integers;
};
} // namespace

/// Adds `zero` to the integer that `real` holds, and clips the sum to the range
/// from `low` to `high`. If the result of `op` is only stored, its offset is
/// subtracted as well.
Value FloatEpilogue::limit(Operation *op, Value real, int64_t zero, double low,
                           double high) {
  Location loc = op->getLoc();
  const bool isResult = op->getResult(0).hasOneUse() &&
                        *op->user_begin() == block.getTerminator() &&
                        !op->getResult(0).getType().isF32();
  const int64_t moved = isResult ? offset : 0;
  if (zero != moved)
    real = builder.create<AddOp>(loc, real,
                                 createScalar(builder, loc, zero - moved));
  auto limited = builder.create<ClipOp>(loc, real.getType(), real,
                                        builder.getF64FloatAttr(low - moved),
                                        builder.getF64FloatAttr(high - moved));
  if (Attribute activation = op->getAttr(kActivationAttr))
    limited->setAttr(kActivationAttr, activation);
  if (isResult)
    offset = 0;
  return limited;
}

Value FloatEpilogue::rewrite(RequantizeOp requantize) {
  if (requantize.getRescale() != Rescale::real ||
      !integers.contains(requantize.getX()))
    return {};
  Location loc = requantize.getLoc();
  Value real =
      builder.create<MulOp>(loc, requantize.getX(), requantize.getMultiplier());
  if (Value shift = requantize.getShift())
    real = builder.create<AddOp>(loc, real, shift);
  auto [low, high] = requantize.getRange();
  return limit(requantize, builder.create<RoundOp>(loc, real),
               requantize.getZeroPoint(), low, high);
}

/// Returns true if a float of an epilogue is known to be an integer because it
/// was rounded.
static bool isWhole(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<AddOp, SubOp>(op))
    return llvm::all_of(op->getOperands(), isWhole);
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    auto real = dyn_cast<FloatAttr>(constant.getValue());
    return real &&
           std::nearbyint(real.getValueAsDouble()) == real.getValueAsDouble();
  }
  return isa_and_nonnull<RoundOp>(op);
}

Value FloatEpilogue::rewrite(CastOp cast) {
  Type to = cast.getY().getType();
  Value x = cast.getX();
  if (to.isF32())
    return integers.contains(x) ? x : Value();
  // Casts between integers wrap around, but casts of floats saturate.
  if (!isNarrow(to) || integers.contains(x) || !isWhole(x))
    return {};
  auto [low, high] = getIntegerRange(mlir::cast<IntegerType>(to));
  return limit(cast, x, 0, low, high);
}

/// The byte is an integer only from the float in front of the table to the
/// float behind it.
Value FloatEpilogue::rewrite(LookupOp lookup) {
  auto known = integers.find(lookup.getX());
  if (known == integers.end() || !known->second.isInteger(8))
    return {};
  Location loc = lookup.getLoc();
  Value byte = builder.create<CastOp>(loc, known->second, lookup.getX());
  auto found = builder.create<LookupOp>(loc, lookup.getY().getType(), byte,
                                        lookup.getTable());
  found->setDiscardableAttrs(lookup->getDiscardableAttrDictionary());
  return builder.create<CastOp>(loc, builder.getF32Type(), found);
}

bool FloatEpilogue::run() {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    const bool isMade =
        !isa<IntegerType>(op.getResult(0).getType()) && !isa<CastOp>(op);
    if (isMade)
      continue;
    builder.setInsertionPoint(&op);
    Value real;
    if (auto requantize = dyn_cast<RequantizeOp>(op))
      real = rewrite(requantize);
    else if (auto cast = dyn_cast<CastOp>(op))
      real = rewrite(cast);
    else if (auto lookup = dyn_cast<LookupOp>(op))
      real = rewrite(lookup);
    if (!real)
      return false;
    addInteger(real, op.getResult(0).getType());
    op.getResult(0).replaceAllUsesWith(real);
    op.erase();
  }
  Operation *yield = block.getTerminator();
  Value result = yield->getOperand(0);
  if (!result.getType().isF32())
    return false;
  builder.setInsertionPoint(yield);
  if (offset)
    yield->setOperand(0, builder.create<SubOp>(
                             layer.getLoc(), result,
                             createScalar(builder, layer.getLoc(), offset)));
  return true;
}

bool FloatProduct::apply(LayerOp layer, const HeldFloats &held,
                         LayerOp original) const {
  Operation *anchor = layer.getAnchorOp();
  OpBuilder builder(layer.getContext());
  Type single = builder.getF32Type();
  for (BlockArgument argument : layer.getAnchor().getArguments())
    argument.setType(getTensorType(argument).clone(single));
  Value sums = anchor->getResult(0);
  sums.setType(getTensorType(sums).clone(single));
  if (auto conv = dyn_cast<ConvOp>(anchor))
    conv.setFill(0);
  anchor->removeAttr("accumulator");

  const bool storesBytes = isNarrow(getElementOf(original.getY()));
  FloatEpilogue epilogue(layer,
                         storesBytes ? held.getOffset(original.getY()) : 0);
  Block &block = layer.getEpilogue().front();
  builder.setInsertionPointToStart(&block);
  BlockArgument argument = block.getArgument(0);
  argument.setType(single);
  Value real = argument;
  if (bias) {
    auto add = cast<AddOp>(*argument.user_begin());
    BlockArgument added = block.getArgument(1 + *bias);
    added.setType(single);
    real = builder.create<AddOp>(add.getLoc(), argument, added);
    add.getResult().replaceAllUsesWith(real);
    add.erase();
  }
  epilogue.addInteger(real, builder.getI32Type());
  for (auto [i, extra] : llvm::enumerate(original.getExtras())) {
    BlockArgument own = block.getArgument(1 + i);
    if (!isNarrow(own.getType()))
      continue;
    Type narrow = own.getType();
    own.setType(single);
    Value integer = own;
    if (int64_t moved = held.getOffset(extra)) {
      Location loc = layer.getLoc();
      auto add =
          builder.create<AddOp>(loc, own, createScalar(builder, loc, moved));
      own.replaceAllUsesExcept(add.getResult(), add);
      integer = add.getResult();
    }
    epilogue.addInteger(integer, narrow);
  }
  layer.getY().setType(getTensorType(layer.getY()).clone(single));
  return epilogue.run() && llvm::all_of(block.getArgumentTypes(),
                                        [](Type type) { return type.isF32(); });
}
