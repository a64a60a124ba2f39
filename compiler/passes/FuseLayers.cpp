//===- FuseLayers.cpp - Fuses pairs of layers where that is faster --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/patterns/FusedLayers.h"
#include "compiler/patterns/MergedProducts.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/FusedForms.h"
#include "compiler/routines/JoinedConcats.h"
#include "compiler/routines/WeightChoice.h"
#include "compiler/search/Search.h"
#include "compiler/sizes/SizedNetwork.h"

#include "llvm/ADT/SetVector.h"

namespace nnc {
#define GEN_PASS_DEF_FUSELAYERS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// The functions of a fused form, from the last columns of fused_forms.inc.
struct Rule {
  FuseFunction fuse, rival;
};
} // namespace

/// The rules, in the order of kFusedForms.
static constexpr Rule kRules[] = {
#define NNC_FUSED_FORM(name, family, note, worthwhile, countsFetch, fuse,      \
                       rival)                                                  \
  {fuse, rival},
#include "compiler/routines/fused_forms.inc"
};

/// Returns the cost in seconds of the layer's cheapest candidate whose error is
/// at most `maxError`.
static double getLeastSeconds(LayerOp layer, const CostModel &cost,
                              double maxError) {
  double least = kImpossible;
  forEachCandidate(layer, cost, {}, [&](const Candidate &candidate) {
    if (candidate.error <= maxError)
      least = std::min(least, candidate.seconds);
  });
  return least;
}

/// Returns the routine that a tuning file has chosen for the layer, or null.
static const Routine *findChoice(ArrayRef<Subject> choices, LayerOp layer) {
  auto *choice = llvm::find_if(choices, [&](const Subject &subject) {
    return layer.getName() == subject.layer;
  });
  return choice == choices.end()
             ? nullptr
             : Catalogue::get().findRoutine(choice->routine);
}

/// Erases a layer without readers, and those of its inputs that have no other
/// readers.
static void eraseLayer(LayerOp layer) {
  llvm::SmallSetVector<Value, 4> inputs;
  inputs.insert(layer.getInputs().begin(), layer.getInputs().end());
  layer.erase();
  for (Value input : inputs)
    if (Operation *made = input.getDefiningOp();
        made && isOpTriviallyDead(made))
      made->erase();
}

namespace {
/// The costs in seconds of two layers and of the one layer that computes both.
struct PairCost {
  double apart, together;
  double saved; ///< seconds; 0 if fusing is not worthwhile

  void note(LayerOp layer, StringRef name) const {
    Builder builder(layer.getContext());
    auto inNanoseconds = [&](StringRef key, double seconds) {
      return builder.getNamedAttr(
          key, builder.getI64IntegerAttr(std::llround(seconds * 1e9)));
    };
    layer->setAttr(
        name, builder.getDictionaryAttr({inNanoseconds("apart_ns", apart),
                                         inNanoseconds("one_ns", together)}));
  }
};

/// Fuses the pairs of a function that match one form and are faster fused.
class Fusion {
public:
  Fusion(const FusedForm &form, const Rule &rule, const CostModel &cost,
         double maxError, const TuningFile *tuned)
      : form(form), rule(rule), cost(cost), maxError(maxError) {
    if (tuned)
      choices = tuned->getChoices(maxError);
  }

  /// Visits each convolution that is the only reader of another layer's result,
  /// and decides whether to fuse the two.
  void run(func::FuncOp function) {
    for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>())) {
      if (!isa_and_nonnull<ConvOp>(layer.getAnchorOp()))
        continue;
      Value between = layer.getInputs()[0];
      auto first = between.getDefiningOp<LayerOp>();
      if (!first || !between.hasOneUse())
        continue;
      if (LayerOp one = rule.fuse(first, layer))
        decide(first, layer, one);
    }
  }

private:
  PairCost compare(LayerOp first, LayerOp second, LayerOp one) const {
    double apart = getLeastSeconds(first, cost, maxError) +
                   getLeastSeconds(second, cost, maxError);
    if (form.countsFetch)
      apart += cost.getFetchSeconds(getTensorType(first.getY()));
    double together = getLeastSeconds(one, cost, maxError);
    bool pays = together < form.worthwhile * apart;
    return {apart, together, pays ? apart - together : 0};
  }

  /// Returns the seconds saved by fusing `layer` with its own reader instead.
  double getRivalSaving(LayerOp layer) const {
    if (!rule.rival || !layer.getY().hasOneUse())
      return 0;
    OpOperand &use = *layer.getY().getUses().begin();
    auto reader = dyn_cast<LayerOp>(use.getOwner());
    if (!reader || use.getOperandNumber() != 0)
      return 0;
    LayerOp one = rule.rival(layer, reader);
    if (!one)
      return 0;
    PairCost pair = compare(layer, reader, one);
    eraseLayer(one);
    return pair.saved;
  }

  /// Decides whether the pair is fused: replaces it by `one`, or erases `one`.
  void decide(LayerOp first, LayerOp second, LayerOp one) const {
    PairCost pair = compare(first, second, one);
    bool fuses = pair.saved > getRivalSaving(second);
    if (!choices.empty()) {
      const Routine *choice = findChoice(choices, second);
      fuses = choice && choice->family->name == form.family;
    }
    pair.note(fuses ? one : second, form.note);
    if (!fuses)
      return eraseLayer(one);
    second.getY().replaceAllUsesWith(one.getY());
    second.erase();
    first.erase();
  }

  const FusedForm &form;
  const Rule &rule;
  const CostModel &cost;
  double maxError;
  /// Choices of a tuning file; if not empty, they decide instead of costs.
  ArrayRef<Subject> choices;
};

/// The name of the form in which several products of one matrix are one.
static constexpr StringLiteral kProducts = "products";

/// Merges products that an attention reads where that is faster: for GPUs,
/// where each layer is a launch, and more columns keep more blocks busy.
class Merging {
public:
  Merging(const CostModel &cost, double maxError, const TuningFile *tuned)
      : cost(cost), maxError(maxError) {
    if (tuned)
      choices = tuned->getChoices(maxError);
  }

  void run(func::FuncOp function) const {
    for (auto layer : llvm::make_early_inc_range(function.getOps<LayerOp>()))
      if (std::optional<MergedProducts> merged = mergeProducts(layer))
        decide(layer, *merged);
  }

private:
  /// Decides whether `attention` and the products are replaced by the merged
  /// layers, or these are erased.
  void decide(LayerOp attention, MergedProducts &merged) const {
    double apart = getLeastSeconds(attention, cost, maxError);
    for (LayerOp product : merged.products)
      apart += getLeastSeconds(product, cost, maxError);
    double together = getLeastSeconds(merged.attention, cost, maxError) +
                      getLeastSeconds(merged.product, cost, maxError);
    bool merges = together < apart;
    // Merged products are one layer, with the name of the first one.
    if (!choices.empty())
      merges = !findChoice(choices, merged.products.back());
    if (merges)
      attention.getY().replaceAllUsesWith(merged.attention.getY());
    else
      merged.products = {merged.product};
    llvm::SmallSetVector<Value, 8> constants;
    for (LayerOp product : merged.products)
      constants.insert(product.getOperands().begin(),
                       product.getOperands().end());
    eraseLayer(merges ? attention : merged.attention);
    for (Value constant : constants)
      if (auto made = constant.getDefiningOp<ConstantOp>();
          made && made->use_empty())
        made.erase();
  }

  const CostModel &cost;
  double maxError;
  ArrayRef<Subject> choices; ///< as of Fusion
};

} // namespace

/// Returns choices that name the first routine of the family of each layer.
/// With them, networks at other sizes fuse the same pairs of layers as this
/// one. Which routine of the family is named does not matter, as
/// nnc-choose-routines chooses it later.
static TuningFile listForms(ModuleOp module) {
  TuningFile forms;
  module.walk([&](LayerOp layer) {
    auto calls = layer.getRoutineCalls();
    if (calls.empty())
      return;
    auto routines = Catalogue::get().getRoutinesOf(calls.front().family);
    if (!routines.empty())
      forms.choices.push_back(
          {layer.getName().str(), routines.front()->name.str(), {}});
  });
  return forms;
}

namespace {
struct FuseLayersPass : nnc::impl::FuseLayersBase<FuseLayersPass> {
  using Base::Base;
  FuseLayersPass(FuseLayersOptions options,
                 std::shared_ptr<const TuningFile> tuned)
      : Base(std::move(options)), tuned(std::move(tuned)) {}

  void runOnOperation() override {
    if (failed(verifyWeightRules(getWeightRules(), getOperation().getLoc())))
      return signalPassFailure();
    for (const std::string &name : forms)
      if (name != kProducts &&
          llvm::none_of(kFusedForms, [&](const FusedForm &form) {
            return form.name == name;
          })) {
        getOperation().emitError()
            << "nnc-fuse-layers knows no form '" << name
            << "'; there are expanded, separable, scaling and products";
        return signalPassFailure();
      }
    auto samples = llvm::to_vector(getOperation().getOps<SampleOp>());
    if (samples.empty()) {
      if (failed(fuse(getOperation(), tuned.get())))
        signalPassFailure();
      return;
    }
    auto sampled = SizedNetwork::read(getOperation());
    if (failed(sampled) || failed(fuse(sampled->getPlan(), tuned.get())))
      return signalPassFailure();
    const TuningFile own = listForms(sampled->getPlan());
    for (SampleOp sample : samples)
      if (failed(fuse(sample.getNetwork(), &own)))
        return signalPassFailure();
  }

  WeightRules getWeightRules() const {
    return {weightsEncoding, /*weighsBytes=*/false};
  }

  /// Fuses the layers of a module. If `given` is not null, its choices decide
  /// which.
  LogicalResult fuse(ModuleOp module, const TuningFile *given) {
    auto machine = target::setTarget(module, target);
    if (failed(machine))
      return failure();
    joinConcats(module, *machine);
    TuningFile read;
    if (!given && !tuning.empty()) {
      auto file = readTuningFile(tuning, *machine);
      if (failed(file))
        return failure();
      read = std::move(*file);
      given = &read;
    }
    for (const auto &[form, rule] : llvm::zip_equal(kFusedForms, kRules)) {
      if (!forms.empty() && !llvm::is_contained(forms, form.name))
        continue;
      for (auto function : module.getOps<func::FuncOp>()) {
        CostModel cost = makeCostModel(
            function, *machine, given ? &given->measurements : nullptr,
            /*memo=*/nullptr, /*forms=*/nullptr, getWeightRules());
        Fusion(form, rule, cost, maxError, given).run(function);
      }
    }
    bool isForGpu = machine->getHost().getKind() == target::DeviceKind::gpu;
    if (isForGpu && (forms.empty() || llvm::is_contained(forms, kProducts)))
      for (auto function : module.getOps<func::FuncOp>()) {
        CostModel cost = makeCostModel(
            function, *machine, given ? &given->measurements : nullptr,
            /*memo=*/nullptr, /*forms=*/nullptr, getWeightRules());
        Merging(cost, maxError, given).run(function);
      }
    return success();
  }

  std::shared_ptr<const TuningFile> tuned;
};
} // namespace

std::unique_ptr<Pass>
nnc::createFuseLayers(FuseLayersOptions options,
                      std::shared_ptr<const TuningFile> tuned) {
  return std::make_unique<FuseLayersPass>(std::move(options), std::move(tuned));
}
