//===- StoreWeights.cpp - Weights that are decoded before they are read ---===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/evaluate/EqualConstants.h"
#include "compiler/memory/Contents.h"
#include "compiler/routines/Candidates.h"
#include "compiler/routines/Decode.h"
#include "compiler/routines/Scratch.h"
#include "compiler/routines/StoredConvolutions.h"
#include "compiler/routines/WeightChoice.h"
#include "compiler/routines/WeightError.h"
#include "dialects/nn/Control.h"
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

/// Seconds that stand for one of decoding a weight into memory of its size. A
/// layer that reads what is stored may take as much more.
static constexpr double kDecodedShare = 1.25;

/// A form takes hardly more bytes than the smallest one if it takes at most one
/// part of so many more: its rows are blocks of their own.
static constexpr int64_t kHardlyMore = 10;

/// The share of a layer's time that reading its weights from bytes may take
/// more where memory for weights is not scarce.
static constexpr double kBytesShare = 0.1;

/// Seconds for a byte that are more than any decoder takes to make it.
static constexpr double kDearBytes = 1;

namespace {
/// A way to store a weight, and what it costs each run.
struct Choice {
  /// Nothing where the weight is stored as it is.
  std::optional<StoredMatrix> stored;
  const Routine *decoder = nullptr; ///< that makes the weight, if one does
  /// Those of the layers, in order, if these read what is stored.
  SmallVector<const Routine *> readers;
  int64_t bytes = 0;
  /// More than with the weight as it is, decoders with kDecodedShare. Readers
  /// may take fewer: less than 0.
  double seconds = 0;
  double getSeconds() const {
    return decoder ? seconds / kDecodedShare : seconds;
  }
};

/// A weight of the module, which several functions may have.
struct Weight {
  SmallVector<ConstantOp> constants; ///< of the same values and type
  SmallVector<OpOperand *> uses;     ///< each of which needs it decoded
  std::vector<Choice> choices;       ///< the first is to store it as it is
  size_t chosen = 0;
  bool lacksRoom = false; ///< for a decoded copy, which a form would need

  RankedTensorType getType() const {
    return ConstantOp(constants.front()).getY().getType();
  }
  /// Whether only layers read it, which compute with decoded values as well.
  bool isOpen() const;
  /// Whether it is one of kByteWeightsAttr.
  bool isOfBytes() const;
};

struct StoreWeightsPass : nnc::impl::StoreWeightsBase<StoreWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto machine = target::getTarget(module);
    WeightRules rules;
    rules.encoding = weightsEncoding;
    if (failed(machine) || failed(verifyWeightRules(rules, module.getLoc())))
      return signalPassFailure();
    shareEqualConstants(module);
    const bool isOpen = weightsEncoding == "auto";
    const bool isLimited = maxWeights < std::numeric_limits<int64_t>::max();
    int64_t bytes = 0;
    for (auto function : module.getOps<func::FuncOp>())
      bytes += nnc::getWeightBytes(function);
    SmallVector<StoredKind> kinds;
    for (StoredKind kind : compression::kStoredKinds)
      if (isOpen ? isLimited || front || kind == StoredKind::csr
                 : weightsEncoding == compression::toString(kind).str())
        kinds.push_back(kind);
    if (kinds.empty() && !isLimited && !front)
      return;
    isFree = isOpen && !isLimited && !front;
    CostModel cost(*machine, bytes);
    findRoom();
    std::vector<Weight> weights = findWeights(kinds, cost);
    align = getMemoryAlign(module);
    if (front)
      module->setAttr(kWeightsFrontAttr, findFront(weights));
    if (isLimited)
      keepBelow(weights, maxWeights - getHeaderBytes());
    else if (!isOpen)
      chooseSmallest(weights);
    else
      chooseFastest(weights, cost);
    double seconds = 0;
    SmallVector<Attribute> kept;
    for (Weight &weight : weights) {
      if (!isOpen && weightsEncoding != "dense" && weight.isOpen() &&
          weight.choices.size() == 1)
        kept.push_back(StringAttr::get(
            &getContext(),
            getModelName(weight.constants.front().getLoc(), "weight")));
      seconds += weight.choices[weight.chosen].getSeconds();
      apply(weight);
    }
    if (!kept.empty())
      module->setAttr(kKeptWeightsAttr, ArrayAttr::get(&getContext(), kept));
    if (seconds != 0)
      module->setAttr(kStoredNsAttr, Builder(module).getI64IntegerAttr(
                                         std::llround(seconds * 1e9)));
  }

private:
  std::vector<Weight> findWeights(ArrayRef<StoredKind> kinds,
                                  const CostModel &cost);
  /// With `onlyReaders` only what makes layers faster is looked for.
  void addChoices(Weight &weight, ArrayRef<StoredKind> kinds, bool onlyReaders,
                  const CostModel &cost);
  void addReaders(Weight &weight, const TensorData &data, StoredKind kind,
                  bool onlyReaders, const CostModel &cost);
  bool addStrips(Weight &weight, ArrayRef<char> elements, StoredKind kind,
                 const CostModel &cost);
  void findRoom();
  /// Whether the weight can be decoded for each of its layers without that the
  /// model needs more memory.
  bool hasRoom(const Weight &weight) const {
    return llvm::all_of(weight.uses, [&](OpOperand *use) {
      return getPhysicalBytes(weight.getType()) <= room.lookup(use->getOwner());
    });
  }
  /// Whether the decoded weight and what the model needs beside its layers keep
  /// to `maxRam`.
  bool fitsIntoRam(const Weight &weight) const {
    return llvm::all_of(weight.uses, [&](OpOperand *use) {
      return getPhysicalBytes(weight.getType()) <=
             maxRam - taken.lookup(use->getOwner());
    });
  }
  static void chooseSmallest(MutableArrayRef<Weight> weights);
  ArrayAttr findFront(std::vector<Weight> &weights);
  static void choose(std::vector<Weight> &weights, double byteSeconds);
  static void chooseFastest(std::vector<Weight> &weights,
                            const CostModel &cost);
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
  /// Whether neither a form nor a limit is asked for.
  bool isFree = false;
  /// Bytes of memory that are free beside each op, and that are not, by
  /// findRoom().
  DenseMap<Operation *, int64_t> room, taken;
};
} // namespace

/// Returns the bytes that are in use while each op of a function runs, which
/// are those of values that are computed and still read, and of routines.
static std::vector<int64_t> findUse(Block &block) {
  DenseMap<Operation *, size_t> places;
  for (Operation &op : block)
    places.try_emplace(&op, places.size());
  // The bytes that each op holds, and by how many values take more than at
  // the op before.
  std::vector<int64_t> bytes(places.size()), more(places.size() + 1);
  for (Operation &op : block) {
    if (isa<ConstantOp>(op))
      continue;
    size_t first = places.lookup(&op);
    bytes[first] = getScratchBytes(&op, /*threads=*/1);
    for (Value result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      size_t last = first;
      bool isOutput = false;
      for (Operation *user : result.getUsers()) {
        Operation *reader = block.findAncestorOpInBlock(*user);
        last = std::max(last, places.lookup(reader));
        isOutput |= isa<func::ReturnOp>(reader);
      }
      if (!type || isOutput)
        continue;
      more[first] += getPhysicalBytes(type);
      more[last + 1] -= getPhysicalBytes(type);
    }
  }
  int64_t live = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] += live += more[i];
  return bytes;
}

/// Finds how much memory is left beside each layer while the model needs no
/// more than it does at most. A function that an op runs has what is in use
/// there beside it.
void StoreWeightsPass::findRoom() {
  DenseSet<func::FuncOp> bodies;
  getOperation().walk([&](Operation *op) {
    for (func::FuncOp body : nn::getBodies(op))
      bodies.insert(body);
  });
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isDeclaration() || bodies.contains(function))
      continue;
    DenseMap<func::FuncOp, int64_t> outside;
    int64_t most = 0;
    for (func::FuncOp each : nn::getAllBodies(function)) {
      Block &block = each.getBody().front();
      for (auto [op, bytes] : llvm::zip_equal(block, findUse(block))) {
        int64_t all = outside.lookup(each) + bytes;
        taken[&op] = all;
        most = std::max(most, all);
        for (func::FuncOp body : nn::getBodies(&op))
          outside[body] = all;
      }
    }
    for (func::FuncOp each : nn::getAllBodies(function))
      for (Operation &op : each.getBody().front())
        room[&op] = most - taken.lookup(&op);
  }
}

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

void StoreWeightsPass::addChoices(Weight &weight, ArrayRef<StoredKind> kinds,
                                  bool onlyReaders, const CostModel &cost) {
  RankedTensorType type = weight.getType();
  const int64_t plainBytes = weight.choices.front().bytes;
  std::optional<TensorData> data =
      TensorData::get(weight.constants.front().getValue());
  int size = static_cast<int>(getElementBytes(type.getElementType()));
  if (!data || size > 4)
    return;
  SmallVector<char, 0> bytes;
  ArrayRef<char> elements = data->getBytes();
  // Packing or transforming all weights takes a while, and readers need none.
  if (getLayout(type) && !onlyReaders) {
    bytes.resize(plainBytes);
    storeWeight(type, *data, bytes.data());
    elements = bytes;
  }
  for (StoredKind kind : kinds) {
    addReaders(weight, *data, kind, onlyReaders, cost);
    if (onlyReaders)
      continue;
    // Strips take more time, and less memory, which counts where there is none.
    // Nobody has asked for fewer bytes of weights at the cost of more RAM.
    if (!hasRoom(weight) &&
        (addStrips(weight, elements, kind, cost) || isFree)) {
      weight.lacksRoom = weight.choices.size() == 1;
      continue;
    }
    auto form = StoredForm::get(kind, elements, size, getRuns(type));
    if (!form)
      continue;
    Choice choice;
    choice.bytes = static_cast<int64_t>(form->bytes.size());
    if (plainBytes - choice.bytes < kLeastSaved)
      continue;
    ShapeAttr shape = toAttribute(form->shape, &getContext());
    DecodeCost found =
        findDecode(shape, getStoredType(*form, &getContext()), type, cost);
    choice.stored = StoredMatrix{std::move(*form), shape};
    choice.decoder = found.routine;
    choice.seconds = kDecodedShare * found.seconds * double(weight.uses.size());
    if (choice.decoder && fitsIntoRam(weight))
      weight.choices.push_back(std::move(choice));
  }
}

/// Whether half of the elements or more are zeros, of either sign if they are
/// floats.
static bool areMostlyZero(const TensorData &data) {
  ArrayRef<char> bytes = data.getBytes();
  const size_t size = getElementBytes(data.getElementType());
  const bool isFloat = isa<FloatType>(data.getElementType());
  size_t zeros = 0;
  for (size_t i = 0; i < bytes.size(); i += size)
    zeros += std::all_of(bytes.begin() + i, bytes.begin() + i + size - 1,
                         [](char byte) { return byte == 0; }) &&
             (bytes[i + size - 1] & (isFloat ? 0x7f : 0xff)) == 0;
  return zeros * 2 * size >= bytes.size();
}

/// Adds the choices in which the layers of a weight, all of them dense ones,
/// read what is stored of it.
void StoreWeightsPass::addReaders(Weight &weight, const TensorData &data,
                                  StoredKind kind, bool onlyReaders,
                                  const CostModel &cost) {
  SmallVector<DenseLayer> layers;
  for (OpOperand *use : weight.uses) {
    std::optional<DenseLayer> dense = DenseLayer::get(*use);
    if (!dense || (!layers.empty() && !dense->hasWeightsOf(layers.front())))
      return;
    layers.push_back(*dense);
  }
  if (onlyReaders && !areMostlyZero(data))
    return;
  for (StoredMatrix &matrix : storeMatrix(layers.front(), data, kind)) {
    Choice choice;
    choice.bytes = static_cast<int64_t>(matrix.form.bytes.size());
    if (weight.choices.front().bytes - choice.bytes < kLeastSaved)
      continue;
    for (const DenseLayer &dense : layers) {
      StoredProduct found = findStoredProduct(dense, matrix, cost);
      if (!found.routine)
        break;
      choice.readers.push_back(found.routine);
      choice.seconds += found.seconds;
    }
    choice.stored = std::move(matrix);
    if (choice.readers.size() == layers.size())
      weight.choices.push_back(std::move(choice));
  }
}

/// Adds the choice in which the layers of a weight, all of them convolutions,
/// decode a strip of filters at a time. Returns whether there is one.
bool StoreWeightsPass::addStrips(Weight &weight, ArrayRef<char> elements,
                                 StoredKind kind, const CostModel &cost) {
  Choice choice;
  for (OpOperand *use : weight.uses) {
    std::optional<ConvLayer> conv = ConvLayer::get(*use);
    if (!conv)
      return false;
    double seconds = 0;
    if (!choice.stored) {
      choice.stored = storeFilters(*conv, elements, kind, cost, seconds);
    } else {
      std::optional<double> found;
      if (choice.stored->order == conv->order)
        found = findStoredConv(*conv, *choice.stored, cost);
      if (!found)
        return false;
      seconds = *found;
    }
    if (!choice.stored)
      return false;
    choice.readers.push_back(conv->routine);
    choice.seconds += seconds;
  }
  choice.bytes = static_cast<int64_t>(choice.stored->form.bytes.size());
  if (weight.choices.front().bytes - choice.bytes < kLeastSaved)
    return false;
  weight.choices.push_back(std::move(choice));
  return true;
}

bool Weight::isOfBytes() const {
  return isOpen() && llvm::all_of(uses, [](OpOperand *use) {
           return cast<LayerOp>(use->getOwner())
                      .getAnchorOp()
                      ->hasAttr(kByteWeightsAttr) &&
                  use->getOperandNumber() == 1;
         });
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
    // Those of bytes have a table of the integers that occur.
    if (weight.isOpen())
      addChoices(weight,
                 isFree && weight.isOfBytes() ? ArrayRef(StoredKind::codebook)
                                              : kinds,
                 isFree && !weight.isOfBytes(), cost);
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

/// Chooses for each weight the fastest of those forms that take hardly more
/// bytes than the smallest one; as it is if there is none.
void StoreWeightsPass::chooseSmallest(MutableArrayRef<Weight> weights) {
  for (Weight &weight : weights) {
    weight.chosen = 0;
    int64_t least = weight.choices.front().bytes;
    for (const Choice &choice : weight.choices)
      least = std::min(least, choice.bytes);
    for (size_t i = 1; i < weight.choices.size(); ++i) {
      const Choice &choice = weight.choices[i];
      if (choice.bytes <= least + least / kHardlyMore &&
          (weight.chosen == 0 ||
           choice.seconds < weight.choices[weight.chosen].seconds))
        weight.chosen = i;
    }
  }
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

/// Chooses what is fastest, but lets the weights that are integers of 8 bits in
/// the model be those of the module, too: always on targets without an
/// operating system, whose memory for weights is small, and elsewhere where
/// that takes little time.
void StoreWeightsPass::chooseFastest(std::vector<Weight> &weights,
                                     const CostModel &cost) {
  choose(weights, 0);
  for (Weight &weight : weights) {
    if (!weight.isOfBytes())
      continue;
    chooseSmallest(weight);
    if (weight.lacksRoom)
      for (OpOperand *use : weight.uses)
        cast<LayerOp>(use->getOwner())
            .getAnchorOp()
            ->setAttr(kBytesNeedRamAttr,
                      UnitAttr::get(use->getOwner()->getContext()));
    double layers = 0;
    for (OpOperand *use : weight.uses)
      layers += getLayerSeconds(cast<LayerOp>(use->getOwner()), cost);
    if (!cost.getMachine().isBare() &&
        weight.choices[weight.chosen].seconds > kBytesShare * layers)
      weight.chosen = 0;
  }
}

/// Returns the plans of kWeightsFrontAttr: from the fastest one on, each makes
/// one weight smaller, that for which a byte costs the least time.
ArrayAttr StoreWeightsPass::findFront(std::vector<Weight> &weights) {
  Builder builder(&getContext());
  SmallVector<Attribute> points;
  for (choose(weights, 0);;) {
    double seconds = 0, least = std::numeric_limits<double>::infinity();
    Weight *smaller = nullptr;
    size_t chosen = 0;
    for (Weight &weight : weights) {
      const Choice &now = weight.choices[weight.chosen];
      seconds += now.seconds;
      for (auto [i, choice] : llvm::enumerate(weight.choices)) {
        double price =
            (choice.seconds - now.seconds) / double(now.bytes - choice.bytes);
        if (choice.bytes < now.bytes && price < least) {
          least = price;
          smaller = &weight;
          chosen = i;
        }
      }
    }
    points.push_back(builder.getDenseF64ArrayAttr(
        {double(getBytes(weights) + getHeaderBytes()), seconds}));
    if (!smaller)
      return builder.getArrayAttr(points);
    smaller->chosen = chosen;
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
  if (!choice.stored)
    return;
  RankedTensorType type = getStoredType(choice.stored->form, &getContext());
  TensorData bytes = TensorData::allocate(type);
  llvm::copy(choice.stored->form.bytes,
             reinterpret_cast<uint8_t *>(bytes.getMutableBytes()));
  ElementsAttr value = bytes.toAttribute(
      getModelName(weight.constants.front().getLoc(), "weight"));
  for (ConstantOp constant : weight.constants) {
    OpBuilder builder(constant);
    auto stored = builder.create<ConstantOp>(constant.getLoc(), type, value);
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
      if (choice.decoder) {
        builder.setInsertionPoint(use.getOwner());
        use.set(builder.create<DecodeOp>(
            constant.getLoc(), constant.getY().getType(), stored.getY(),
            choice.stored->shape, builder.getStringAttr(choice.decoder->name)));
        continue;
      }
      size_t place = llvm::find(weight.uses, &use) - weight.uses.begin();
      if (std::optional<DenseLayer> dense = DenseLayer::get(use))
        readStored(*dense, *choice.stored, *choice.readers[place],
                   stored.getY());
      else
        readStored(*ConvLayer::get(use), *choice.stored, stored.getY());
    }
    constant.erase();
  }
}
