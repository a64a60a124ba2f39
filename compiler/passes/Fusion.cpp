//===- Fusion.cpp - One layer in the place of two -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"

#include "compiler/search/Search.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

bool nnc::setActivation(Operation &op, InnerEpilogue &inner) {
  if (isa<ReluOp>(op)) {
    inner.activation = InnerActivation::relu;
  } else if (isa<HardSwishOp>(op)) {
    inner.activation = InnerActivation::hard_swish;
  } else if (isa<SiluOp>(op)) {
    inner.activation = InnerActivation::silu;
  } else if (auto clip = dyn_cast<ClipOp>(op)) {
    inner.activation = InnerActivation::clip;
    inner.low = clip.getMin().convertToDouble();
    inner.high = clip.getMax().convertToDouble();
  } else {
    return false;
  }
  return true;
}

static bool hasConstantWeights(LayerOp layer) {
  return matchPattern(layer.getInputs()[1], m_Constant());
}

std::optional<InnerEpilogue> nnc::getInnerEpilogue(LayerOp first,
                                                   LayerOp second) {
  if (!getTensorType(first.getY()).getElementType().isF32() ||
      !hasConstantWeights(first) || !hasConstantWeights(second))
    return std::nullopt;
  InnerEpilogue inner;
  Block &block = first.getEpilogue().front();
  Value made = block.getArgument(0);
  for (Operation &op : block.without_terminator()) {
    bool isBias = false;
    if (auto add = dyn_cast<AddOp>(op); add && made == block.getArgument(0)) {
      Value other = add.getA() == made ? add.getB() : add.getA();
      auto argument = dyn_cast<BlockArgument>(other);
      if (!argument || argument == made ||
          first.getExtraKind(argument.getArgNumber() - 1) != ExtraKind::Channel)
        return std::nullopt;
      inner.bias = first.getExtras()[argument.getArgNumber() - 1];
      isBias = matchPattern(inner.bias, m_Constant());
    }
    bool isLast = inner.activation != InnerActivation::none;
    if (isLast ||
        !(isBias || (op.getOperand(0) == made && setActivation(op, inner))))
      return std::nullopt;
    made = op.getResult(0);
  }
  if (cast<nn::YieldOp>(block.getTerminator()).getValue() != made)
    return std::nullopt;
  return inner;
}

static ConvOp getConv(LayerOp layer) {
  return dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
}

ConvOp nnc::getPointwise(LayerOp layer) {
  ConvOp conv = getConv(layer);
  return conv && conv.isPointwise() && conv.getGroups() == 1 ? conv : ConvOp();
}

ConvOp nnc::getDepthwise(LayerOp layer) {
  ConvOp conv = getConv(layer);
  if (!conv)
    return {};
  int64_t groups = conv.getGroups();
  bool isOneEach = groups > 1 &&
                   conv.getX().getType().getDimSize(1) == groups &&
                   conv.getY().getType().getDimSize(1) == groups;
  return isOneEach ? conv : ConvOp();
}

RankedTensorType nnc::getPerChannelType(RankedTensorType x) {
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[1] = x.getDimSize(1);
  return RankedTensorType::get(shape, x.getElementType());
}

Value nnc::getPerChannel(OpBuilder &builder, Location loc, Value own,
                         RankedTensorType x, double value) {
  if (own)
    return own;
  Attribute element = builder.getFloatAttr(x.getElementType(), value);
  return builder.create<ConstantOp>(
      loc, DenseElementsAttr::get(getPerChannelType(x), ArrayRef(element)));
}

LayerOp nnc::createOneLayer(LayerOp first, LayerOp second, ValueRange inputs,
                            OpBuilder &builder,
                            function_ref<Value(Location, Block &)> create) {
  Location loc = builder.getFusedLoc({second.getLoc(), first.getLoc()});
  auto layer =
      builder.create<LayerOp>(loc, second.getY().getType(), second.getName(),
                              inputs, second.getExtras(), nullptr, nullptr);
  Block &block = layer.getAnchor().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(getLogicalType(getTensorType(input)), input.getLoc());
  builder.setInsertionPointToStart(&block);
  builder.create<nn::YieldOp>(loc, create(loc, block));
  IRMapping mapping;
  second.getEpilogue().cloneInto(&layer.getEpilogue(), mapping);
  return layer;
}

//===----------------------------------------------------------------------===//
// Whether one is faster
//===----------------------------------------------------------------------===//

static double getLeastSeconds(LayerOp layer, const CostModel &cost,
                              double maxError) {
  double least = kImpossible;
  forEachCandidate(layer, cost, {}, [&](const Candidate &candidate) {
    if (candidate.error <= maxError)
      least = std::min(least, candidate.seconds);
  });
  return least;
}

/// What a tuning file has chosen for the layer, or null.
static const Routine *findChoice(ArrayRef<Subject> choices, LayerOp layer) {
  auto *choice = llvm::find_if(choices, [&](const Subject &subject) {
    return layer.getName() == subject.layer;
  });
  return choice == choices.end()
             ? nullptr
             : Catalogue::get().findRoutine(choice->routine);
}

static void note(LayerOp layer, StringRef name, double apart, double together) {
  Builder builder(layer.getContext());
  auto inNanoseconds = [&](StringRef of, double seconds) {
    return builder.getNamedAttr(
        of, builder.getI64IntegerAttr(std::llround(seconds * 1e9)));
  };
  layer->setAttr(
      name, builder.getDictionaryAttr({inNanoseconds("apart_ns", apart),
                                       inNanoseconds("one_ns", together)}));
}

static void eraseLayer(LayerOp layer) {
  SmallVector<Value> inputs(layer.getInputs());
  layer.erase();
  for (Value input : inputs)
    if (Operation *made = input.getDefiningOp();
        made && isOpTriviallyDead(made))
      made->erase();
}

namespace {
/// What two layers cost, and the one that computes both.
struct PairCost {
  double apart, together;

  PairCost(LayerOp first, LayerOp second, LayerOp one,
           const FusionOptions &options, const CostModel &cost)
      : apart(getLeastSeconds(first, cost, options.maxError) +
              getLeastSeconds(second, cost, options.maxError)),
        together(getLeastSeconds(one, cost, options.maxError)) {
    if (options.countsFetch)
      apart += cost.getFetchSeconds(getTensorType(first.getY()));
  }
  bool isWorthwhile(const FusionOptions &options) const {
    return together < options.form.worthwhile * apart;
  }
};
} // namespace

/// What it would save that the layer and what alone reads it were one.
static double getRivalSaving(LayerOp layer, const FusionOptions &options,
                             const CostModel &cost) {
  if (!options.rival || !layer.getY().hasOneUse())
    return 0;
  OpOperand &use = *layer.getY().getUses().begin();
  auto reader = dyn_cast<LayerOp>(use.getOwner());
  if (!reader || use.getOperandNumber() != 0)
    return 0;
  LayerOp one = options.rival(layer, reader);
  if (!one)
    return 0;
  PairCost pair(layer, reader, one, options, cost);
  eraseLayer(one);
  return pair.isWorthwhile(options) ? pair.apart - pair.together : 0;
}

static void fuseWhereFaster(LayerOp first, LayerOp second, LayerOp one,
                            const FusionOptions &options,
                            const CostModel &cost) {
  PairCost pair(first, second, one, options, cost);
  bool fuses =
      pair.isWorthwhile(options) &&
      pair.apart - pair.together > getRivalSaving(second, options, cost);
  if (options.tuned)
    if (ArrayRef<Subject> choices = options.tuned->getChoices(options.maxError);
        !choices.empty()) {
      const Routine *choice = findChoice(choices, second);
      fuses = choice && choice->family->name == options.form.family;
    }
  note(fuses ? one : second, options.form.note, pair.apart, pair.together);
  if (!fuses)
    return eraseLayer(one);
  second.getY().replaceAllUsesWith(one.getY());
  second.erase();
  first.erase();
}

LogicalResult nnc::fuseLayers(ModuleOp module, const FusionOptions &options) {
  auto machine = target::setTarget(module, options.target);
  if (failed(machine))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    CostModel cost =
        makeCostModel(function, *machine,
                      options.tuned ? &options.tuned->measurements : nullptr);
    for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>())) {
      if (!getConv(layer))
        continue;
      Value between = layer.getInputs()[0];
      auto first = between.getDefiningOp<LayerOp>();
      if (!first || !between.hasOneUse())
        continue;
      if (LayerOp one = options.fuse(first, layer))
        fuseWhereFaster(first, layer, one, options, cost);
    }
  }
  return success();
}
