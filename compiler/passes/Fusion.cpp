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

bool nnc::isPointwise(ConvOp conv) {
  auto isAll = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t own) { return own == value; });
  };
  return conv.getGroups() == 1 && isAll(conv.getStrides(), 1) &&
         isAll(conv.getPads(), 0) &&
         isAll(conv.getW().getType().getShape().drop_front(2), 1);
}

Value nnc::createPerChannel(OpBuilder &builder, Location loc,
                            RankedTensorType x, double value) {
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[1] = x.getDimSize(1);
  auto type = RankedTensorType::get(shape, x.getElementType());
  return builder.create<ConstantOp>(
      loc,
      DenseElementsAttr::get(type, ArrayRef<Attribute>(builder.getFloatAttr(
                                       x.getElementType(), value))));
}

LayerOp nnc::createLayerOn(OpBuilder &builder, Location loc, LayerOp layer,
                           ValueRange inputs) {
  auto made =
      builder.create<LayerOp>(loc, layer.getY().getType(), layer.getName(),
                              inputs, layer.getExtras(), nullptr, nullptr);
  Block &block = made.getAnchor().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(getLogicalType(getTensorType(input)), input.getLoc());
  IRMapping mapping;
  layer.getEpilogue().cloneInto(&made.getEpilogue(), mapping);
  return made;
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

void nnc::fuseWhereFaster(LayerPair pair, LayerOp one,
                          const FusionOptions &options, const CostModel &cost) {
  double apart = getLeastSeconds(pair.first, cost, options.maxError) +
                 getLeastSeconds(pair.second, cost, options.maxError);
  if (options.countsFetch)
    apart += cost.getFetchSeconds(getTensorType(pair.first.getY()));
  double together = getLeastSeconds(one, cost, options.maxError);
  bool fuses = together < options.worthwhile * apart;
  if (options.tuned)
    if (const Routine *choice = findChoice(
            options.tuned->getChoices(options.maxError), pair.second))
      fuses = choice->family->name == getFamily(one);
  note(fuses ? one : pair.second, options.note, apart, together);
  if (fuses) {
    pair.second.getY().replaceAllUsesWith(one.getY());
    pair.second.erase();
    pair.first.erase();
    return;
  }
  SmallVector<Value> inputs(one.getInputs());
  one.erase();
  for (Value input : inputs)
    if (Operation *made = input.getDefiningOp();
        made && isOpTriviallyDead(made))
      made->erase();
}
