//===- StoreWeights.cpp - Weights that are decoded before they are read ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/memory/Contents.h"
#include "compiler/routines/Decode.h"
#include "compiler/routines/WeightError.h"
#include "dialects/nn/ModelName.h"
#include "dialects/nn/WeightEncoding.h"
#include "dialects/nn/compression/StoredForm.h"

namespace nnc {
#define GEN_PASS_DEF_STOREWEIGHTS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using compression::StoredForm;
using compression::StoredKind;

/// A weight is stored in a smaller form if that saves at least so many bytes:
/// the decoder's code takes a few hundred, which all weights of a form share.
static constexpr int64_t kLeastSaved = 64;

/// Seconds for a byte that are more than any decoder takes to make it.
static constexpr double kDearBytes = 1;

namespace {
/// A way to store a weight, and what it costs each run.
struct Choice {
  std::optional<StoredForm> form; ///< nullopt: as it is
  ShapeAttr shape;
  const Routine *routine = nullptr;
  int64_t bytes = 0;
  double seconds = 0;
};

/// A weight of the module, which several functions may have.
struct Weight {
  SmallVector<ConstantOp> constants; ///< of the same values and type
  SmallVector<OpOperand *> uses;     ///< each of which needs it decoded
  std::vector<Choice> choices;       ///< the first is to store it as it is
  size_t chosen = 0;

  RankedTensorType getType() const {
    return ConstantOp(constants.front()).getY().getType();
  }
  /// Whether only layers read it, which compute with decoded values as well.
  bool isOpen() const;
};

struct StoreWeightsPass : nnc::impl::StoreWeightsBase<StoreWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto machine = target::getTarget(module);
    if (failed(machine))
      return signalPassFailure();
    StringAttr wanted;
    IntegerAttr limit;
    int64_t bytes = 0;
    for (auto function : module.getOps<func::FuncOp>()) {
      bytes += nnc::getWeightBytes(function);
      if (auto own = function->getAttrOfType<StringAttr>(kWeightsEncodingAttr))
        wanted = own;
      if (auto own = function->getAttrOfType<IntegerAttr>(kMaxWeightsAttr))
        limit = own;
    }
    SmallVector<StoredKind> kinds;
    for (StoredKind kind : compression::kStoredKinds)
      if (wanted ? wanted == compression::toString(kind) : bool(limit))
        kinds.push_back(kind);
    if (kinds.empty() && !limit)
      return;
    CostModel cost(*machine, bytes);
    std::vector<Weight> weights = findWeights(kinds, cost);
    align = getMemoryAlign(module);
    if (limit)
      keepBelow(weights, limit.getInt() - getHeaderBytes());
    else
      choose(weights, kDearBytes);
    for (Weight &weight : weights)
      apply(weight);
  }

private:
  std::vector<Weight> findWeights(ArrayRef<StoredKind> kinds,
                                  const CostModel &cost);
  void addChoices(Weight &weight, ArrayRef<StoredKind> kinds,
                  const CostModel &cost);
  static void choose(std::vector<Weight> &weights, double byteSeconds);
  int64_t getBytes(ArrayRef<Weight> weights) const;
  /// Another choice for one weight or two, which saves time.
  struct Step {
    Weight *first = nullptr, *second = nullptr;
    size_t firstChoice = 0, secondChoice = 0;
    int64_t bytes = 0; ///< more than before
    double gain = 0;   ///< seconds
  };
  /// Returns the step that saves the most and takes at most `left` bytes more;
  /// none if there is none.
  Step findBestStep(std::vector<Weight> &weights, int64_t left) const;
  void keepBelow(std::vector<Weight> &weights, int64_t limit);
  void apply(Weight &weight);
  /// The bytes in front of weights in one piece, and behind them up to a
  /// multiple of 8, which the limit counts.
  int64_t getHeaderBytes() {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(exec::kWeightMemoriesAttr))
        return 0;
    return exec::getWeightsHeaderBytes(align) + (align < 8 ? 8 - align : 0);
  }

  int64_t align = 1; ///< of each weight, in bytes
};
} // namespace

//===----------------------------------------------------------------------===//
// Forms to choose among
//===----------------------------------------------------------------------===//

/// Lengths of runs of a weight's elements that one row, filter or block of
/// channels takes: products of the last physical dimensions.
static SmallVector<int64_t> getRuns(RankedTensorType type) {
  SmallVector<int64_t> runs;
  int64_t run = 1;
  for (int64_t size : llvm::reverse(getPhysicalShape(type)))
    runs.push_back(run *= size);
  return runs;
}

static ShapeAttr toAttribute(const decode_shape &shape, MLIRContext *context) {
  ShapeFields fields(context);
  decode_shape copy = shape;
  copy.visit([&](const char *name, int value) { fields.add(name, value); });
  return fields.get();
}

static RankedTensorType getStoredType(const StoredForm &form,
                                      MLIRContext *context) {
  return RankedTensorType::get(
      {static_cast<int64_t>(form.bytes.size())},
      IntegerType::get(context, 8, IntegerType::Unsigned));
}

void StoreWeightsPass::addChoices(Weight &weight, ArrayRef<StoredKind> kinds,
                                  const CostModel &cost) {
  RankedTensorType type = weight.getType();
  const int64_t plainBytes = weight.choices.front().bytes;
  std::optional<TensorData> data =
      TensorData::get(weight.constants.front().getValue());
  int size = static_cast<int>(getElementBytes(type.getElementType()));
  if (!data || size > 4)
    return;
  SmallVector<char, 0> bytes;
  ArrayRef<char> elements = data->getBytes();
  if (getLayout(type)) {
    bytes.resize(plainBytes);
    storeWeight(type, *data, bytes.data());
    elements = bytes;
  }
  for (StoredKind kind : kinds) {
    Choice choice;
    choice.form = StoredForm::get(kind, elements, size, getRuns(type));
    if (!choice.form)
      continue;
    choice.bytes = static_cast<int64_t>(choice.form->bytes.size());
    if (plainBytes - choice.bytes < kLeastSaved)
      continue;
    choice.shape = toAttribute(choice.form->shape, &getContext());
    DecodeCost found = findDecode(
        choice.shape, getStoredType(*choice.form, &getContext()), type, cost);
    choice.routine = found.routine;
    choice.seconds = found.seconds * double(weight.uses.size());
    if (choice.routine)
      weight.choices.push_back(std::move(choice));
  }
}

bool Weight::isOpen() const {
  // An encoding that has few bytes itself is read as it is.
  LayoutAttr layout = getLayout(getType());
  bool isOrdinary = !layout || !layout.getEncoding() ||
                    layout.getEncoding()->getKind().empty();
  return isOrdinary && !uses.empty() && llvm::all_of(uses, [](OpOperand *use) {
           auto layer = dyn_cast<LayerOp>(use->getOwner());
           return layer && layer.getAnchorOp() &&
                  use->getOperandNumber() < layer.getInputs().size();
         });
}

std::vector<Weight> StoreWeightsPass::findWeights(ArrayRef<StoredKind> kinds,
                                                  const CostModel &cost) {
  std::vector<Weight> weights;
  DenseMap<std::pair<Attribute, Type>, size_t> known;
  getOperation().walk([&](ConstantOp constant) {
    if (!isa<func::FuncOp>(constant->getParentOp()))
      return;
    auto [entry, isNew] = known.try_emplace(
        {constant.getValue(), constant.getY().getType()}, weights.size());
    if (isNew)
      weights.emplace_back();
    Weight &weight = weights[entry->second];
    weight.constants.push_back(constant);
    for (OpOperand &use : constant->getUses())
      weight.uses.push_back(&use);
  });
  for (Weight &weight : weights) {
    Choice plain;
    plain.bytes = getPhysicalBytes(weight.getType());
    weight.choices.push_back(plain);
    if (weight.isOpen())
      addChoices(weight, kinds, cost);
  }
  return weights;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

int64_t StoreWeightsPass::getBytes(ArrayRef<Weight> weights) const {
  int64_t bytes = 0;
  for (const Weight &weight : weights)
    bytes += llvm::alignTo(weight.choices[weight.chosen].bytes, align);
  return bytes;
}

/// Chooses for each weight what is cheapest if a byte costs so many seconds.
void StoreWeightsPass::choose(std::vector<Weight> &weights,
                              double byteSeconds) {
  for (Weight &weight : weights) {
    auto getPrice = [&](const Choice &choice) {
      return choice.seconds + byteSeconds * double(choice.bytes);
    };
    weight.chosen = 0;
    for (size_t i = 1; i < weight.choices.size(); ++i)
      if (getPrice(weight.choices[i]) < getPrice(weight.choices[weight.chosen]))
        weight.chosen = i;
  }
}

StoreWeightsPass::Step
StoreWeightsPass::findBestStep(std::vector<Weight> &weights,
                               int64_t left) const {
  Step best;
  auto consider = [&](const Step &step) {
    if (step.bytes <= left && step.gain > best.gain)
      best = step;
  };
  auto change = [&](Step step, Weight &weight, size_t choice, bool isFirst) {
    const Choice &from = weight.choices[weight.chosen];
    const Choice &to = weight.choices[choice];
    step.bytes += llvm::alignTo(to.bytes, align);
    step.bytes -= llvm::alignTo(from.bytes, align);
    step.gain += from.seconds - to.seconds;
    (isFirst ? step.first : step.second) = &weight;
    (isFirst ? step.firstChoice : step.secondChoice) = choice;
    return step;
  };
  for (Weight &first : weights)
    for (size_t i = 0; i < first.choices.size(); ++i) {
      Step one = change(Step(), first, i, /*isFirst=*/true);
      if (one.gain <= 0)
        continue;
      consider(one);
      for (Weight &second : weights)
        for (size_t j = 0; j < second.choices.size() && &second != &first; ++j)
          consider(change(one, second, j, /*isFirst=*/false));
    }
  return best;
}

/// Chooses the forms that cost the least time among those that take at most
/// `limit` bytes together, or the smallest ones if these take more: Lagrange's
/// method, then steps that save time.
void StoreWeightsPass::keepBelow(std::vector<Weight> &weights, int64_t limit) {
  choose(weights, 0);
  if (getBytes(weights) <= limit)
    return;
  double low = 0, high = kDearBytes;
  choose(weights, high);
  if (getBytes(weights) > limit)
    return;
  for (int step = 0; step < 100; ++step) {
    double middle = (low + high) / 2;
    choose(weights, middle);
    (getBytes(weights) > limit ? low : high) = middle;
  }
  choose(weights, high);
  // Then one or two weights at a time.
  for (int64_t left = limit - getBytes(weights);;) {
    Step best = findBestStep(weights, left);
    if (!best.first)
      return;
    left -= best.bytes;
    best.first->chosen = best.firstChoice;
    if (best.second)
      best.second->chosen = best.secondChoice;
  }
}

void StoreWeightsPass::apply(Weight &weight) {
  const Choice &choice = weight.choices[weight.chosen];
  if (!choice.form)
    return;
  RankedTensorType type = getStoredType(*choice.form, &getContext());
  TensorData bytes = TensorData::allocate(type);
  llvm::copy(choice.form->bytes,
             reinterpret_cast<uint8_t *>(bytes.getMutableBytes()));
  ElementsAttr value = bytes.toAttribute(
      getModelName(weight.constants.front().getLoc(), "weight"));
  for (ConstantOp constant : weight.constants) {
    OpBuilder builder(constant);
    auto stored = builder.create<ConstantOp>(constant.getLoc(), type, value);
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
      builder.setInsertionPoint(use.getOwner());
      use.set(builder.create<DecodeOp>(
          constant.getLoc(), constant.getY().getType(), stored.getY(),
          choice.shape, builder.getStringAttr(choice.routine->name)));
    }
    constant.erase();
  }
}
