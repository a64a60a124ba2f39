//===- FuseSeparable.cpp - Depthwise and 1 x 1 layers as one --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/schedule/Candidates.h"
#include "compiler/schedule/Search.h"

#include "mlir/IR/Matchers.h"

namespace nnc {
#define GEN_PASS_DEF_FUSESEPARABLE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// One layer takes less than this share of the time of two, or there are two:
/// estimates are a few percent off, and much of what two layers move hides
/// behind their arithmetic.
static constexpr double kWorthwhile = 0.9;

//===----------------------------------------------------------------------===//
// Which layers
//===----------------------------------------------------------------------===//

namespace {
/// What happens between the convolutions.
struct Middle {
  Value bias; ///< null where there is none
  MiddleActivation activation = MiddleActivation::none;
  double low = 0, high = 0;
};

struct Pair {
  LayerOp depthwise, pointwise;
  Middle middle;
};
} // namespace

static ConvOp getConv(LayerOp layer) {
  return dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
}

static bool isDepthwise(ConvOp conv) {
  int64_t groups = conv.getGroups();
  return groups > 1 && conv.getX().getType().getDimSize(1) == groups &&
         conv.getY().getType().getDimSize(1) == groups;
}

static bool isPointwise(ConvOp conv) {
  auto isAll = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t own) { return own == value; });
  };
  return conv.getGroups() == 1 && isAll(conv.getStrides(), 1) &&
         isAll(conv.getPads(), 0) &&
         isAll(conv.getW().getType().getShape().drop_front(2), 1);
}

/// Sets the middle's activation to what `op` computes, if it can be that.
static bool setActivation(Operation &op, Middle &middle) {
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

/// The epilogue of a depthwise layer as a bias and an activation.
static std::optional<Middle> getMiddle(LayerOp layer) {
  Middle middle;
  Block &block = layer.getEpilogue().front();
  Value made = block.getArgument(0);
  for (Operation &op : block.without_terminator()) {
    bool isBias = false;
    if (auto add = dyn_cast<AddOp>(op); add && made == block.getArgument(0)) {
      Value other = add.getA() == made ? add.getB() : add.getA();
      auto argument = dyn_cast<BlockArgument>(other);
      if (!argument || argument == made ||
          layer.getExtraKind(argument.getArgNumber() - 1) != ExtraKind::Channel)
        return std::nullopt;
      middle.bias = layer.getExtras()[argument.getArgNumber() - 1];
      isBias = matchPattern(middle.bias, m_Constant());
    }
    bool isLast = middle.activation != MiddleActivation::none;
    if (isLast ||
        !(isBias || (op.getOperand(0) == made && setActivation(op, middle))))
      return std::nullopt;
    made = op.getResult(0);
  }
  if (cast<nn::YieldOp>(block.getTerminator()).getValue() != made)
    return std::nullopt;
  return middle;
}

static std::optional<Pair> getPair(LayerOp pointwise) {
  ConvOp second = getConv(pointwise);
  if (!second || !isPointwise(second))
    return std::nullopt;
  Value between = pointwise.getInputs()[0];
  auto depthwise = between.getDefiningOp<LayerOp>();
  ConvOp first = depthwise ? getConv(depthwise) : ConvOp();
  if (!first || !isDepthwise(first) || !between.hasOneUse() ||
      !getTensorType(between).getElementType().isF32())
    return std::nullopt;
  if (!matchPattern(depthwise.getInputs()[1], m_Constant()) ||
      !matchPattern(pointwise.getInputs()[1], m_Constant()))
    return std::nullopt;
  std::optional<Middle> middle = getMiddle(depthwise);
  if (!middle)
    return std::nullopt;
  return Pair{depthwise, pointwise, *middle};
}

//===----------------------------------------------------------------------===//
// One layer
//===----------------------------------------------------------------------===//

static Value createZeroBias(OpBuilder &builder, ConvOp conv, Location loc) {
  RankedTensorType x = conv.getX().getType();
  SmallVector<int64_t> shape(x.getRank(), 1);
  shape[1] = x.getDimSize(1);
  auto type = RankedTensorType::get(shape, x.getElementType());
  return builder.create<ConstantOp>(
      loc, cast<ElementsAttr>(builder.getZeroAttr(type)));
}

/// The layer that computes both, beside them.
static LayerOp createLayer(const Pair &pair) {
  LayerOp first = pair.depthwise, second = pair.pointwise;
  const Middle &middle = pair.middle;
  ConvOp conv = getConv(first);
  OpBuilder builder(second);
  Location loc = builder.getFusedLoc({second.getLoc(), first.getLoc()});
  Value bias =
      middle.bias ? middle.bias : createZeroBias(builder, conv, first.getLoc());
  SmallVector<Value> inputs = {first.getInputs()[0], first.getInputs()[1], bias,
                               second.getInputs()[1]};
  auto layer =
      builder.create<LayerOp>(loc, second.getY().getType(), second.getName(),
                              inputs, second.getExtras(), nullptr, nullptr);
  Block &block = layer.getAnchor().emplaceBlock();
  for (Value input : inputs)
    block.addArgument(getLogicalType(getTensorType(input)), input.getLoc());
  builder.setInsertionPointToStart(&block);
  auto anchor = builder.create<SeparableConvOp>(
      loc, getConv(second).getY().getType(), middle.activation,
      block.getArgument(0), block.getArgument(1), block.getArgument(2),
      block.getArgument(3), conv.getStrides(), conv.getDilations(),
      conv.getPads(), APFloat(middle.low), APFloat(middle.high));
  builder.create<nn::YieldOp>(loc, anchor.getY());
  IRMapping mapping;
  second.getEpilogue().cloneInto(&layer.getEpilogue(), mapping);
  return layer;
}

//===----------------------------------------------------------------------===//
// Whether that is faster
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

namespace {
struct FuseSeparablePass : nnc::impl::FuseSeparableBase<FuseSeparablePass> {
  using Base::Base;
  FuseSeparablePass(FuseSeparableOptions options,
                    std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    auto machine = target::setTarget(getOperation(), target);
    if (failed(machine))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      CostModel cost = makeCostModel(function, *machine,
                                     tuned ? &tuned->measurements : nullptr);
      for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>()))
        if (auto pair = getPair(layer))
          visit(*pair, cost);
    }
  }

  void visit(Pair pair, const CostModel &cost) {
    LayerOp one = createLayer(pair);
    double apart = getLeastSeconds(pair.depthwise, cost, maxError) +
                   getLeastSeconds(pair.pointwise, cost, maxError) +
                   cost.getFetchSeconds(getTensorType(pair.depthwise.getY()));
    double together = getLeastSeconds(one, cost, maxError);
    bool fuses = together < kWorthwhile * apart;
    if (tuned)
      if (const Routine *choice =
              findChoice(tuned->getChoices(maxError), pair.pointwise))
        fuses = choice->family->name == "separable_conv2d";
    note(fuses ? one : pair.pointwise, apart, together);
    if (!fuses) {
      Operation *bias = one.getInputs()[2].getDefiningOp();
      one.erase();
      if (isOpTriviallyDead(bias))
        bias->erase();
      return;
    }
    pair.pointwise.getY().replaceAllUsesWith(one.getY());
    pair.pointwise.erase();
    pair.depthwise.erase();
  }

  void note(LayerOp layer, double apart, double together) {
    Builder builder(layer.getContext());
    auto inNanoseconds = [&](StringRef name, double seconds) {
      return builder.getNamedAttr(
          name, builder.getI64IntegerAttr(std::llround(seconds * 1e9)));
    };
    layer->setAttr("nn.separable", builder.getDictionaryAttr(
                                       {inNanoseconds("apart_ns", apart),
                                        inNanoseconds("one_ns", together)}));
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseSeparable(FuseSeparableOptions options,
                         std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseSeparablePass>(std::move(options),
                                             std::move(tuned));
}
