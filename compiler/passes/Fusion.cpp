//===- Fusion.cpp - One layer in the place of two -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Fusion.h"

#include "compiler/schedule/Search.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

bool nnc::setActivation(Operation &op, Middle &middle) {
  if (isa<ReluOp>(op)) {
    middle.activation = MiddleActivation::relu;
  } else if (isa<HardSwishOp>(op)) {
    middle.activation = MiddleActivation::hard_swish;
  } else if (auto clip = dyn_cast<ClipOp>(op)) {
    middle.activation = MiddleActivation::clip;
    middle.low = clip.getMin().convertToDouble();
    middle.high = clip.getMax().convertToDouble();
  } else {
    return false;
  }
  return true;
}

ConvOp nnc::getConv(LayerOp layer) {
  return dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
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

/// The family that computes the layer's anchor.
static std::string getFamily(LayerOp layer) {
  auto anchor = cast<RoutineOpInterface>(layer.getAnchorOp());
  return anchor.getRoutineCalls().front().family;
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

static void fuseWhereFaster(LayerOp first, LayerOp second, LayerOp one,
                            const FusionOptions &options,
                            const CostModel &cost) {
  double apart = getLeastSeconds(first, cost, options.maxError) +
                 getLeastSeconds(second, cost, options.maxError);
  if (options.countsFetch)
    apart += cost.getFetchSeconds(getTensorType(first.getY()));
  double together = getLeastSeconds(one, cost, options.maxError);
  bool fuses = together < options.worthwhile * apart;
  if (options.tuned)
    if (const Routine *choice =
            findChoice(options.tuned->getChoices(options.maxError), second))
      fuses = choice->family->name == getFamily(one);
  note(fuses ? one : second, options.note, apart, together);
  if (fuses) {
    second.getY().replaceAllUsesWith(one.getY());
    second.erase();
    first.erase();
    return;
  }
  SmallVector<Value> inputs(one.getInputs());
  one.erase();
  for (Value input : inputs)
    if (Operation *made = input.getDefiningOp();
        made && isOpTriviallyDead(made))
      made->erase();
}

LogicalResult nnc::fusePointwise(ModuleOp module, const FusionOptions &options,
                                 function_ref<LayerOp(LayerOp, LayerOp)> fuse) {
  auto machine = target::setTarget(module, options.target);
  if (failed(machine))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    CostModel cost =
        makeCostModel(function, *machine,
                      options.tuned ? &options.tuned->measurements : nullptr);
    for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>())) {
      ConvOp conv = getConv(layer);
      if (!conv || !conv.isPointwise() || conv.getGroups() != 1)
        continue;
      Value between = layer.getInputs()[0];
      auto first = between.getDefiningOp<LayerOp>();
      if (!first || !between.hasOneUse())
        continue;
      if (LayerOp one = fuse(first, layer))
        fuseWhereFaster(first, layer, one, options, cost);
    }
  }
  return success();
}
