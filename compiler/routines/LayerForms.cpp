//===- LayerForms.cpp - Layers that compute the same in other types -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/LayerForms.h"

#include "dialects/evaluate/Evaluate.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/layers/Layer.h"
#include "dialects/nn/tensors/Resource.h"
#include "dialects/nn/tensors/TensorData.h"
#include "dialects/qnn/Qnn.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static Type getElement(Value value) {
  return getTensorType(value).getElementType();
}

static void setElement(Value value, Type element) {
  value.setType(getTensorType(value).clone(element));
}

/// Creates a layer that converts `value` to the element type `element`. If
/// integers or the floats that hold them are converted, `offset` is the value's
/// offset.
static LayerOp createCastLayer(OpBuilder &builder, Location loc, StringRef name,
                               Value value, Type element, int64_t offset) {
  auto layer =
      builder.create<LayerOp>(loc, getTensorType(value).clone(element), name,
                              ValueRange(), value, nullptr, nullptr);
  OpBuilder::InsertionGuard guard(builder);
  Block &epilogue = layer.getEpilogue().emplaceBlock();
  builder.setInsertionPointToStart(&epilogue);
  const Type from = getElement(value);
  Value argument = epilogue.addArgument(from, loc);
  if (isa<FloatType>(from) && isa<FloatType>(element)) {
    builder.create<YieldOp>(loc,
                            builder.create<CastOp>(loc, element, argument));
    return layer;
  }
  // The layer starts as an identity of integers, which then reads or stores the
  // floats that hold them.
  builder.create<YieldOp>(loc, argument);
  if (isa<FloatType>(element))
    storeHeldFloats(layer, offset);
  else {
    argument.setType(element);
    readHeldFloats(layer, 0, offset);
  }
  return layer;
}

/// Returns true if the epilogue computes with float32 values only. Such an
/// epilogue can load halves as floats and round what it stores.
static bool computesWithFloats(LayerOp layer) {
  auto isFloat = [](Type type) { return type.isF32(); };
  Block &block = layer.getEpilogue().front();
  return isFloat(getElement(layer.getY())) &&
         llvm::all_of(block.getArgumentTypes(), isFloat) &&
         llvm::all_of(block.without_terminator(), [&](Operation &op) {
           Type type = op.getResult(0).getType();
           return isFloat(type) || type.isInteger(1);
         });
}

/// Changes the types of the epilogue's arguments to `arguments`, casts these to
/// the types with which it computes, and casts its result to the element type
/// of the layer's result.
static void retypeEpilogue(LayerOp layer, ArrayRef<Type> arguments) {
  Block &block = layer.getEpilogue().front();
  const bool isEmpty = layer.hasEmptyEpilogue();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (auto [argument, element] : llvm::zip(block.getArguments(), arguments)) {
    Type old = argument.getType();
    argument.setType(element);
    if (old == element || isEmpty)
      continue;
    auto cast = builder.create<CastOp>(layer.getLoc(), old, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  Operation *yield = block.getTerminator();
  Value yielded = yield->getOperand(0);
  builder.setInsertionPoint(yield);
  if (Type result = getElement(layer.getY()); yielded.getType() != result)
    yield->setOperand(0,
                      builder.create<CastOp>(layer.getLoc(), result, yielded));
}

/// Returns the sets of extras that may be read in another type, as bit masks:
/// all subsets of the extras that `isOpen` accepts, or only none and all of
/// them if there are many.
static SmallVector<unsigned>
getOpenExtras(LayerOp layer, llvm::function_ref<bool(Value)> isOpen) {
  constexpr size_t most = 2;
  SmallVector<unsigned> open;
  for (auto [i, extra] : llvm::enumerate(layer.getExtras()))
    if (isOpen(extra))
      open.push_back(1u << i);
  SmallVector<unsigned> sets = {0};
  if (open.size() > most) {
    sets.push_back(std::accumulate(open.begin(), open.end(), 0u));
    return sets;
  }
  for (unsigned bit : open)
    for (size_t i = 0, end = sets.size(); i < end; ++i)
      sets.push_back(sets[i] | bit);
  return sets;
}

/// Returns true if a layer should compute with floats although it could compute
/// with halves. This is so if it has no products, its result goes only to the
/// caller, which expects float32, and its result has at least as many elements
/// as its operand. Casting the operand then rounds less and is no slower.
static bool endsWithFloats(LayerOp layer) {
  if (cast<CostOpInterface>(layer.getAnchorOp()).getWork().multiplyAdds > 0 ||
      !llvm::all_of(layer->getUsers(),
                    [](Operation *user) { return isa<func::ReturnOp>(user); }))
    return false;
  SmallVector<Value> floats;
  for (Value input : layer.getInputs())
    if (getElement(input).isF32() && !input.getDefiningOp<ConstantOp>())
      floats.push_back(input);
  return floats.size() == 1 && getTensorType(floats.front()).getNumElements() <=
                                   getTensorType(layer.getY()).getNumElements();
}

/// Returns true if a GPU runs the layer, so that a conversion is a launch.
static bool isOnGpu(LayerOp layer) {
  auto module = layer->getParentOfType<ModuleOp>();
  auto machine =
      module ? module->getAttrOfType<target::MachineAttr>(target::kTargetAttr)
             : target::MachineAttr();
  return machine && machine.getHost().getKind() == target::DeviceKind::gpu;
}

/// Returns true if a product of halves may store floats because its sums are
/// floats: on CPUs those of bf16, on GPUs all, for the caller or for a layer
/// that stays in floats.
static bool storesSums(LayerOp layer, FloatType half) {
  if (cast<CostOpInterface>(layer.getAnchorOp()).getWork().multiplyAdds == 0)
    return false;
  if (!isOnGpu(layer))
    return half.isBF16();
  return llvm::any_of(layer->getUsers(), [](Operation *user) {
    auto reader = dyn_cast<LayerOp>(user);
    return isa<func::ReturnOp>(user) ||
           (reader && reader.getAnchorOp() && endsWithFloats(reader));
  });
}

/// Returns the target of a module, or null if it has none.
static target::MachineAttr getMachine(ModuleOp module) {
  return module
             ? module->getAttrOfType<target::MachineAttr>(target::kTargetAttr)
             : target::MachineAttr();
}

bool nnc::keepsIntegers(LayerOp layer, LayerOp form) {
  return multipliesIntegers(layer)
             ? multipliesIntegers(form)
             : getElement(form.getY()) == getElement(layer.getY());
}

/// Returns the number of bits of the significand, 8 or 11.
static int getSignificantBits(FloatType half) {
  return int(half.getFPMantissaWidth());
}

LayerForms::LayerForms(func::FuncOp function, Precision precision,
                       Products products, double maxError, bool boundsRounding)
    : boundsRounding(boundsRounding) {
  // The floats of a quantized model lie between integers. Rounding them to
  // halves could change these integers by several steps.
  auto module = function->getParentOfType<ModuleOp>();
  target::MachineAttr machine = getMachine(module);
  // A search that compares layers of floats with layers of integers times the
  // floats with every method that they may have.
  mayRoundIntegers =
      products == Products::both ||
      (maxError > 0 && machine && machine.getHost().mayRoundIntegers());
  if (llvm::any_of(function.getBody().front().getOps<LayerOp>(),
                   multipliesIntegers)) {
    // Without vectors, floats are multiplied no faster than integers, and take
    // more memory.
    if (products == Products::both ||
        (products != Products::integers &&
         (!machine || machine.getHost().hasVectors())))
      addFloats(function, products);
    return;
  }
  half = getHalf(precision, function.getContext());
  if ((!half && precision != Precision::tf32) ||
      (module && module->hasAttr(qnn::kQuantizedAttr)))
    return;
  block = std::make_unique<Block>();
  for (LayerOp layer : function.getBody().front().getOps<LayerOp>()) {
    if (layer.getRoutine())
      continue;
    if (!half)
      addTf32(layer);
    else if (computesWithFloats(layer))
      addHalves(layer);
  }
}

SmallVector<Type> LayerForms::getElements(Value value) const {
  Type own = getElement(value);
  if (forms.empty())
    return {};
  if (held.isOpen(value))
    return {Float32Type::get(value.getContext())};
  if (own.isF32() && half)
    return {half};
  return {};
}

LayerOp LayerForms::getCast(RankedTensorType from, Type element) const {
  const bool isHeld =
      !isa<FloatType>(from.getElementType()) || !isa<FloatType>(element);
  if (!block || isHeld != held.anyOpen())
    return {};
  LayerOp &cast = casts[{from, element}];
  if (!cast) {
    OpBuilder builder(from.getContext());
    builder.setInsertionPointToEnd(block.get());
    Location loc = builder.getUnknownLoc();
    // The cast is only priced here; 1 stands for its offset, as most values
    // have one.
    cast = createCastLayer(builder, loc, "cast", block->addArgument(from, loc),
                           element, /*offset=*/1);
  }
  return cast;
}

LayerOp LayerForms::createCast(OpBuilder &builder, Location loc, StringRef name,
                               Value value, Type element) const {
  LayerOp layer = createCastLayer(builder, loc, name, value, element,
                                  held.getOffset(value));
  held.copy(value, layer.getY());
  return layer;
}

void LayerForms::clear() {
  forms.clear();
  converted.clear();
  exact.clear();
  tf32.clear();
  casts.clear();
  if (!block)
    return;
  SmallVector<DenseResourceElementsAttr> unused;
  for (ConstantOp constant : block->getOps<ConstantOp>())
    if (auto value = dyn_cast<DenseResourceElementsAttr>(constant.getValue()))
      unused.push_back(value);
  block->clear();
  for (DenseResourceElementsAttr value : unused)
    freeResource(value);
}

/// Returns the constant with other elements, or null where a value is too large
/// for a half.
Value LayerForms::convert(ConstantOp constant, Type element) {
  auto [known, isNew] = converted.try_emplace({constant, element});
  if (!isNew)
    return known->second;
  std::optional<TensorData> data = TensorData::get(constant.getValue());
  OpBuilder builder(constant.getContext());
  builder.setInsertionPointToEnd(block.get());
  auto cast = builder.create<CastOp>(
      constant.getLoc(), constant.getY().getType().clone(element), constant);
  FailureOr<TensorData> made = failure();
  if (data)
    made = evaluate(cast, *data);
  cast.erase();
  // The bits of the exponent, which are all ones if a number is not finite.
  const uint16_t exponent = element.isF16() ? 0x7c00 : 0x7f80;
  auto isFinite = [&](uint16_t bits) { return (bits & exponent) != exponent; };
  if (succeeded(made) &&
      (!isHalf(element) || llvm::all_of(made->getAs<uint16_t>(), isFinite)))
    known->second = builder.create<ConstantOp>(
        constant.getLoc(),
        made->toAttribute(getModelName(constant.getLoc(),
                                       isHalf(element) ? "halves" : "weight")));
  return known->second;
}

LayerOp LayerForms::copy(LayerOp layer) {
  OpBuilder builder(layer.getContext());
  builder.setInsertionPointToEnd(block.get());
  return cast<LayerOp>(builder.clone(*layer));
}

/// Returns a copy of a layer whose anchor reads and stores halves, while its
/// epilogue still takes floats. Returns null if the anchor reads no floats, or
/// a constant is too large for a half.
LayerOp LayerForms::computeWithHalves(LayerOp layer) {
  auto op = cast<RoutineOpInterface>(layer.getAnchorOp());
  SmallVector<Value> inputs(layer.getInputs());
  SmallVector<bool> isHalf(inputs.size(), false);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    isHalf[i] = getElement(input).isF32() && op.takesHalf(i);
    auto constant = input.getDefiningOp<ConstantOp>();
    if (isHalf[i] && constant && !(input = convert(constant, half)))
      return {};
  }
  if (!llvm::is_contained(isHalf, true))
    return {};
  LayerOp made = copy(layer);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    made.getInputsMutable()[i].set(input);
    if (isHalf[i])
      setElement(made.getAnchor().getArgument(i), half);
  }
  setElement(made.getAnchorOp()->getResult(0), half);
  setElement(made.getY(), half);
  return made;
}

/// Returns a copy of `anchored`, a layer made by computeWithHalves(), whose
/// anchor reads its first input as floats and rounds it. Returns null if the
/// anchor cannot, or if the input does not come from the caller as floats.
LayerOp LayerForms::roundInput(LayerOp anchored) {
  Value input = anchored.getInputs().front();
  if (!isa<BlockArgument>(input) || !getElement(input).isF32())
    return {};
  LayerOp made = copy(anchored);
  if (!cast<RoutineOpInterface>(made.getAnchorOp()).roundOperand(0)) {
    made.erase();
    return {};
  }
  setElement(made.getAnchor().getArgument(0), getElement(input));
  return made;
}

void LayerForms::addHalves(LayerOp layer) {
  SmallVector<LayerOp> &found = forms[layer];
  Type single = Float32Type::get(layer.getContext());
  // Adds a form of `base`, whose anchor has results of type `anchor`. The form
  // reads each extra whose bit is set in `halves` as halves, and stores
  // `result`.
  auto add = [&](LayerOp base, Type anchor, Type result, unsigned halves) {
    LayerOp made = copy(base);
    setElement(made.getY(), result);
    SmallVector<Type> arguments;
    if (made.getAnchorOp())
      arguments.push_back(anchor);
    for (unsigned i = 0; i < made.getExtras().size(); ++i)
      arguments.push_back(halves >> i & 1 ? half : single);
    retypeEpilogue(made, arguments);
    found.push_back(made);
    if (boundsRounding)
      rounding[made] = estimateRounding(made, half.isF16() && !isOnGpu(layer));
  };
  LayerOp anchored = layer.getAnchorOp() && !endsWithFloats(layer)
                         ? computeWithHalves(layer)
                         : LayerOp();
  SmallVector<LayerOp> bases;
  if (anchored)
    bases.push_back(anchored);
  if (LayerOp rounding = anchored && (isOnGpu(layer) || half.isBF16())
                             ? roundInput(anchored)
                             : LayerOp())
    bases.push_back(rounding);
  auto isOpen = [](Value extra) {
    return !extra.getDefiningOp<ConstantOp>() && getElement(extra).isF32();
  };
  for (unsigned halves : getOpenExtras(layer, isOpen)) {
    if (halves)
      add(layer, single, single, halves);
    for (LayerOp base : bases) {
      add(base, half, half, halves);
      if (storesSums(layer, half))
        add(base, half, single, halves);
    }
    if (!layer.getAnchorOp())
      add(layer, single, half, halves);
  }
  for (LayerOp base : bases)
    base.erase();
}

double LayerForms::getUnitOfHalves() const {
  return std::ldexp(1.0, 24 - getSignificantBits(half));
}

double LayerForms::estimateRounding(LayerOp form, bool sumsHalves) const {
  // The error of rounding a number between 1 and 2 to p bits is uniform between
  // -2^-p and 2^-p. Mantissas are logarithmically distributed, so the mean
  // square of these numbers is 3 / (2 ln 2).
  const double unit = std::ldexp(1.0, -getSignificantBits(half));
  const double square = unit * unit / 3 / (1.5 / std::log(2.0));
  double roundings = getElement(form.getY()) == half;
  Operation *anchor = form.getAnchorOp();
  const int64_t products =
      anchor ? cast<CostOpInterface>(anchor).getWork().multiplyAdds : 0;
  if (products > 0)
    for (unsigned i = 0; i < form.getInputs().size(); ++i)
      roundings += getReadElement(form, i) == half;
  // A sum of n terms is rounded after each of them, when it has grown to the
  // square root of its share of the terms: n / 2 roundings of the whole sum.
  constexpr double kTermsOfSum = 64;
  if (products > 0 && sumsHalves && getReadElement(form, 0) == half)
    roundings +=
        std::min(kTermsOfSum,
                 double(products) /
                     std::max<int64_t>(
                         1, getTensorType(form.getY()).getNumElements())) /
        2;
  return std::sqrt(roundings * square);
}

/// Adds a form whose products round floats to tf32, if the layer has products
/// of floats.
void LayerForms::addTf32(LayerOp layer) {
  if (!layer.getAnchorOp() || !getReadElement(layer, 0).isF32() ||
      cast<CostOpInterface>(layer.getAnchorOp()).getWork().multiplyAdds == 0)
    return;
  LayerOp made = copy(layer);
  tf32.insert(made);
  forms[layer].push_back(made);
}

/// Returns a copy of a layer that multiplies integers, in which floats hold the
/// integers and are multiplied instead. Returns null if the epilogue computes
/// with integers in a way that floats cannot, or if sums might be rounded that
/// must be exact.
LayerOp LayerForms::computeWithFloats(LayerOp layer) {
  const bool mayRound =
      mayRoundIntegers && layer.getAnchorOp()->hasAttr(qnn::kOfFloatsAttr);
  std::optional<FloatProduct> product =
      FloatProduct::get(layer, held, mayRound);
  if (!product)
    return {};
  LayerOp made = copy(layer);
  OpBuilder builder(made);
  Type single = builder.getF32Type();
  for (auto [i, input] : llvm::enumerate(layer.getInputs()))
    if (auto constant = input.getDefiningOp<ConstantOp>())
      made.getInputsMutable()[i].set(convert(constant, single));
  if (product->bias) {
    Value bias = layer.getExtras()[*product->bias];
    made.getExtrasMutable()[*product->bias].set(builder.create<ConstantOp>(
        bias.getLoc(), ElementsAttr(DenseElementsAttr::get(
                           getTensorType(bias).clone(single),
                           ArrayRef<float>(product->biases)))));
  }
  if (!product->apply(made, held, layer)) {
    made.erase();
    return {};
  }
  made.getAnchorOp()->setAttr(
      qnn::kStaysFloatAttr,
      builder.getStringAttr(
          "floats are estimated to be faster on this target"));
  if (!mayRound)
    exact.insert(made);
  return made;
}

/// Adds the forms of a layer in which the extras that it reads, its result, or
/// both are held as floats instead of integers.
void LayerForms::addHeld(LayerOp layer) {
  auto isOpen = [&](Value value) { return held.isOpen(value); };
  for (bool storesFloats : {false, true})
    for (unsigned set : getOpenExtras(layer, isOpen)) {
      if (storesFloats ? !isOpen(layer.getY()) : !set)
        continue;
      LayerOp made = copy(layer);
      for (auto [i, extra] : llvm::enumerate(layer.getExtras()))
        if (set >> i & 1)
          readHeldFloats(made, i, held.getOffset(extra));
      if (storesFloats)
        storeHeldFloats(made, held.getOffset(layer.getY()));
      forms[layer].push_back(made);
    }
}

void LayerForms::addFloats(func::FuncOp function, Products products) {
  block = std::make_unique<Block>();
  held = HeldFloats(function);
  auto layers = llvm::to_vector(llvm::make_filter_range(
      function.getBody().front().getOps<LayerOp>(),
      [](LayerOp layer) { return !layer.getRoutine(); }));
  for (LayerOp layer : layers) {
    LayerOp product =
        multipliesIntegers(layer) ? computeWithFloats(layer) : LayerOp();
    if (!product)
      continue;
    forms[layer].push_back(product);
    for (Value operand : layer.getOperands())
      held.setOpen(operand);
    held.setOpen(layer.getY());
  }
  for (LayerOp layer : layers)
    if (products == Products::floats && forms.contains(layer)) {
      leftOut.insert(layer);
    } else if (movesIntegers(layer) && held.isOpen(layer.getY())) {
      LayerOp made = copy(layer);
      moveHeldFloats(made);
      forms[layer].push_back(made);
    } else if (!layer.getAnchorOp() || multipliesIntegers(layer) ||
               products == Products::both) {
      addHeld(layer);
    }
}

void LayerForms::take(LayerOp layer, LayerOp form) {
  form->moveBefore(layer);
  for (Value operand : form->getOperands())
    if (Operation *constant = operand.getDefiningOp();
        constant && constant->getBlock() == block.get())
      constant->moveBefore(form);
  held.copy(layer.getY(), form.getY());
  leftOut.erase(layer);
  layer.getY().replaceAllUsesWith(form.getY());
  forms.erase(layer);
  layer.erase();
}
