//===- PropagateLayout.cpp - Fewer and cheaper adapts ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/routines/Candidates.h"
#include "compiler/routines/Layouts.h"
#include "compiler/search/Search.h"

namespace nnc {
#define GEN_PASS_DEF_PROPAGATELAYOUT
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Returns the value from which any number of adapts compute `value`.
static Value getSource(Value value) {
  while (auto adapt = value.getDefiningOp<AdaptOp>())
    value = adapt.getX();
  return value;
}

/// Returns the types that the readers of `value` get after all adapts.
static llvm::SetVector<RankedTensorType> getWanted(Value value) {
  llvm::SetVector<RankedTensorType> wanted;
  for (Operation *user : value.getUsers()) {
    if (auto adapt = dyn_cast<AdaptOp>(user))
      wanted.insert(adapt.getY().getType());
    else
      wanted.insert(getTensorType(value));
  }
  return wanted;
}

//===----------------------------------------------------------------------===//
// Cancel and merge
//===----------------------------------------------------------------------===//

/// Makes every adapt read the original value, and removes adapts that change
/// nothing, repeat an earlier adapt or have no readers. An adapt of a constant
/// is folded into the constant's type.
static void simplifyAdapts(Block &block, const CostModel &cost) {
  DenseMap<std::pair<Value, Type>, Value> made;
  for (auto adapt : llvm::make_early_inc_range(block.getOps<AdaptOp>())) {
    RankedTensorType type = adapt.getY().getType();
    Value source = getSource(adapt.getX());
    if (source != adapt.getX() && source.getType() != type &&
        cost.getAdapt(getTensorType(source), type).seconds == kImpossible)
      source = adapt.getX(); // no direct adapt exists
    Value same =
        source.getType() == type ? source : made.lookup({source, type});
    auto constant = source.getDefiningOp<ConstantOp>();
    if (!same && constant)
      same = OpBuilder(adapt).create<ConstantOp>(constant.getLoc(), type,
                                                 constant.getValue());
    if (same) {
      made[{source, type}] = same;
      adapt.getY().replaceAllUsesWith(same);
      adapt.erase();
      continue;
    }
    bool needsRoutine =
        !adapt.getRoutine() && !adapt.isView() && !adapt.isTransfer();
    if (source != adapt.getX() || needsRoutine) {
      adapt.getXMutable().assign(source);
      chooseRoutine(adapt, cost);
    }
    made[{source, type}] = adapt;
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<AdaptOp, ConstantOp>(op) && op.use_empty())
      op.erase();
}

//===----------------------------------------------------------------------===//
// Hoist and sink
//===----------------------------------------------------------------------===//

namespace {
/// Changes the layout in which layers run whose routine accepts any layout, if
/// that makes the adapts around them cheaper. An adapt thereby moves from their
/// operands to their result or the other way, or disappears.
class Mover {
public:
  explicit Mover(const CostModel &cost) : cost(cost) {}
  bool run(LayerOp layer);

private:
  double getSeconds(LayerOp layer, ArrayRef<RankedTensorType> operands,
                    RankedTensorType result) const;
  void move(LayerOp layer, const Candidate &candidate) const;

  const CostModel &cost;
};
} // namespace

/// Returns the seconds of the adapts around `layer` if its operands and result
/// had these types. Adapts that have other readers too are not counted, since
/// they remain in any case.
double Mover::getSeconds(LayerOp layer, ArrayRef<RankedTensorType> operands,
                         RankedTensorType result) const {
  double seconds = 0;
  llvm::DenseSet<std::pair<Value, Type>> paid;
  for (unsigned i = 0; i < operands.size(); ++i) {
    RankedTensorType type = operands[i];
    Value source = getSource(layer.getOperand(i));
    Operation *producer = source.getDefiningOp();
    if (producer && producer->hasTrait<OpTrait::ConstantLike>())
      continue;
    bool shared = llvm::any_of(source.getUsers(), [&](Operation *user) {
      auto adapt = dyn_cast<AdaptOp>(user);
      return adapt && adapt.getY().getType() == type &&
             llvm::any_of(adapt->getUsers(),
                          [&](Operation *reader) { return reader != layer; });
    });
    if (!shared && paid.insert({source, type}).second)
      seconds += cost.getAdapt(getTensorType(source), type).seconds;
  }
  for (RankedTensorType type : getWanted(layer.getY()))
    seconds += cost.getAdapt(result, type).seconds;
  return seconds;
}

void Mover::move(LayerOp layer, const Candidate &candidate) const {
  OperandAdapter adapter(cost);
  for (auto [i, type] : llvm::enumerate(candidate.operands)) {
    OpOperand &operand = layer->getOpOperand(i);
    operand.set(getSource(operand.get()));
    adapter.setOperand(operand, type);
  }
  RankedTensorType old = layer.getY().getType();
  layer.getY().setType(candidate.result);
  if (old == candidate.result)
    return;
  OpBuilder builder(layer->getContext());
  builder.setInsertionPointAfter(layer);
  auto back = builder.create<AdaptOp>(layer.getLoc(), old, layer.getY());
  layer.getY().replaceAllUsesExcept(back.getY(), back);
}

bool Mover::run(LayerOp layer) {
  const Routine *routine =
      Catalogue::get().findRoutine(layer.getRoutine().value_or(""));
  // The cost model only knows the costs of adapts on the host.
  if (!routine || !llvm::is_contained(routine->layouts, "any") ||
      !getDevice(layer.getY().getType()).empty())
    return false;
  llvm::SetVector<LayoutAttr> layouts;
  for (Value value : layer.getOperands())
    if (LayoutAttr layout = getLayout(getSource(value).getType()))
      layouts.insert(layout);
  for (RankedTensorType type : getWanted(layer.getY()))
    if (LayoutAttr layout = getLayout(type))
      layouts.insert(layout);
  SmallVector<RankedTensorType> own;
  for (Value value : layer.getOperands())
    own.push_back(getTensorType(value));
  // The gain must exceed the noise of the estimates, so that moves do not
  // cycle.
  double best = 0.99 * getSeconds(layer, own, layer.getY().getType());
  const Candidate *choice = nullptr;
  auto candidates = findCandidates(layer, cost, layouts.getArrayRef());
  for (const Candidate &candidate : candidates) {
    double seconds = getSeconds(layer, candidate.operands, candidate.result);
    if (seconds < best) {
      best = seconds;
      choice = &candidate;
    }
  }
  if (!choice)
    return false;
  move(layer, *choice);
  return true;
}

namespace {
struct PropagateLayoutPass
    : nnc::impl::PropagateLayoutBase<PropagateLayoutPass> {
  void runOnOperation() override {
    auto machine = target::getTarget(getOperation());
    if (failed(machine))
      return signalPassFailure();
    // The size of the weights is irrelevant, because adapts have none.
    CostModel cost(*machine, 0);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      Block &block = function.getBody().front();
      simplifyAdapts(block, cost);
      Mover mover(cost);
      // Each move lowers the cost of the adapts, so that this ends; the limit
      // on the number of rounds is only a safeguard.
      for (unsigned round = 0, most = 16; round < most; ++round) {
        bool changed = false;
        for (LayerOp layer : block.getOps<LayerOp>())
          if (mover.run(layer)) {
            changed = true;
            simplifyAdapts(block, cost);
          }
        if (!changed)
          break;
      }
    }
  }
};
} // namespace
