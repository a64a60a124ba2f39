//===- Candidates.cpp - What could compute a layer ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Candidates.h"

#include "compiler/routines/Decode.h"
#include "compiler/routines/Devices.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/Schema.h"
#include "compiler/routines/WeightChoice.h"
#include "compiler/routines/WeightError.h"
#include "compiler/search/Search.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "dialects/nn/layers/Layer.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <functional>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// Estimates this close are equal: then the table's order decides.
static constexpr double kBetter = 0.999;

static bool isConstant(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && producer->hasTrait<OpTrait::ConstantLike>();
}

//===----------------------------------------------------------------------===//
// Schemas: layouts of operands and result
//===----------------------------------------------------------------------===//

namespace {
/// The types of a layer's operands and result that a routine takes.
struct Signature {
  /// Those of the inputs, then of the extras.
  SmallVector<RankedTensorType> operands;
  RankedTensorType result;

  void moveTo(StringRef device) {
    for (RankedTensorType &type : operands)
      type = onDevice(type, device);
    result = onDevice(result, device);
  }
};
} // namespace

/// Returns the row-major type with the elements that the layer reads an operand
/// as. The operand of a form has the type that the layer itself reads.
static RankedTensorType getReadType(LayerOp layer, unsigned operand) {
  return Schema{getReadElement(layer, operand), LayoutAttr(), ""}.on(
      getTensorType(layer.getOperand(operand)));
}

/// The routine family that computes the layer.
static StringRef getFamily(LayerOp layer, std::string &storage) {
  if (auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp()))
    storage = anchor.getRoutineCalls().front().family;
  else
    storage = "elementwise";
  return storage;
}

/// Returns `type` in the layout that a line of routines.inc calls `name`. If
/// the line says "any", that is the layout `any`. Nullopt if the layout has
/// another rank.
static std::optional<RankedTensorType>
withTableLayout(LayerOp layer, RankedTensorType type, StringRef name,
                int64_t operand, LayoutAttr any) {
  if (name == "plain" || (name == "any" && !any))
    return inRowMajor(type);
  LayoutAttr layout = any;
  if (name != "any") {
    auto anchor = cast<RoutineOpInterface>(layer.getAnchorOp());
    layout =
        LayoutAttr::get(type.getContext(), anchor.spellLayout(name, operand));
  }
  if (layout.getRank() != type.getRank())
    return std::nullopt;
  return withLayout(type, layout);
}

/// An extra lies as the result does, except where it has one value for each
/// blocked axis: then it is row-major.
static RankedTensorType getExtraType(RankedTensorType type,
                                     RankedTensorType result) {
  LayoutAttr layout = getLayout(result);
  if (!layout || type.getRank() != result.getRank())
    return inRowMajor(type);
  bool varies = type.getShape() == result.getShape();
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    varies |= layout.getBlockSize(axis) > 1 && type.getDimSize(axis) > 1;
  return varies ? withLayout(type, layout) : inRowMajor(type);
}

/// The signature of `routine`, with `any` for what it leaves open.
static std::optional<Signature>
getSignature(LayerOp layer, const Routine &routine, LayoutAttr any) {
  Signature signature;
  auto result = withTableLayout(layer, getTensorType(layer.getY()),
                                routine.getLayout(-1), -1, any);
  if (!result)
    return std::nullopt;
  signature.result = *result;
  const unsigned inputs = layer.getInputs().size();
  for (unsigned i = 0; i < inputs; ++i) {
    // Operands of another rank, such as indices, stay row-major.
    RankedTensorType type = getReadType(layer, i);
    bool open = any && any.getRank() == type.getRank();
    auto operand = withTableLayout(layer, type, routine.getLayout(i), i,
                                   open ? any : LayoutAttr());
    if (!operand)
      return std::nullopt;
    signature.operands.push_back(*operand);
  }
  for (unsigned i = inputs; i < layer->getNumOperands(); ++i)
    signature.operands.push_back(
        getExtraType(getReadType(layer, i), signature.result));
  // Only an anchor's routine knows where padding is and keeps it zero.
  if (!layer.getAnchorOp() && isPadded(signature.result) &&
      !keepsZeros(layer, signature.operands))
    return std::nullopt;
  return signature;
}

/// The shapes of the layer's calls under `signature`; none where the anchor
/// cannot compute so, or a shape does not fit its struct.
static SmallVector<RoutineShape>
makeShapes(LayerOp layer, const Signature &signature, std::string &problem) {
  SmallVector<RoutineShape> shapes;
  auto calls = layer.getRoutineCallsOn(signature.operands, signature.result);
  if (calls.empty())
    problem = "the anchor cannot be computed in these layouts";
  for (const RoutineCall &call : calls) {
    auto shape = readShape(call, &problem);
    if (!shape)
      return {};
    shapes.push_back(*shape);
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

bool Candidate::hasSchemaOf(const Candidate &other) const {
  // An encoded operand is a constant: no other layer minds.
  auto isSame = [&](auto pair) {
    auto [a, b] = pair;
    return a == b || (!weighsBytes && (isEncoded(a) || isEncoded(b)));
  };
  return result == other.result &&
         llvm::all_of(llvm::zip(operands, other.operands), isSame);
}

/// Returns why `routine`, which is of the layer's family, cannot compute the
/// layer on a device of the machine in any layout, or an empty string if it
/// can.
static std::string getObstacle(LayerOp layer, const Routine &routine,
                               target::MachineAttr machine,
                               StringRef deviceName) {
  auto device = machine ? machine.findDevice(deviceName) : target::DeviceAttr();
  if (device && !device.hasIsa(routine.isa))
    return "needs " + routine.isa.str() + ", which the target '" +
           machine.getName().str() + "' lacks";
  // Portable routines of NHWC are for targets whose other routines have no
  // blocked layouts: there they would widen the search for nothing.
  if (device && device.hasVectors() && routine.isa == "portable" &&
      llvm::is_contained(routine.layouts, "NHWC"))
    return "is slower than the vector routines of the target '" +
           machine.getName().str() + "'";
  Type first = layer.getOperands().empty()
                   ? getTensorType(layer.getY()).getElementType()
                   : getReadElement(layer, 0);
  if (!routine.takesElement(first))
    return "does not compute on the layer's element type";
  // Only lines that say so have inputs of types of their own.
  if (!routine.sums.empty())
    for (unsigned i = 0; i < layer.getInputs().size(); ++i)
      if (!routine.takesElement(getReadElement(layer, i), i))
        return "does not compute on the element type of operand " +
               std::to_string(i);
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  if (!routine.takesSums(anchor ? anchor.getAccumulatorType() : Type()))
    return "does not sum in the layer's accumulator type";
  for (auto [i, value] : llvm::enumerate(layer.getInputs()))
    if (splitLayoutName(routine.getLayout(i)).second && !isConstant(value) &&
        !value.getDefiningOp<DecodeOp>())
      return "transforms operand " + std::to_string(i) +
             ", which is not a constant";
  if (layer.getAnchorOp() && !layer.hasEmptyEpilogue() &&
      !routine.family->channelAxis)
    return "takes no epilogue";
  return "";
}

/// Returns the counter of `work` to which an elementwise function belongs.
static double &getCount(LayerWork &work, StringRef function) {
  StringRef header = Catalogue::get().getHeaderOf(function);
  if (header == "runtime/simd/gates.h" ||
      header == "runtime/simd/fixed_point.h")
    return work.gates;
  bool isShort = header == "" || header == "runtime/simd/arithmetic.h" ||
                 header == "runtime/simd/vec.h";
  return isShort ? work.epilogueOperations : work.exponentials;
}

LayerWork nnc::getLayerWork(LayerOp layer, ArrayRef<RankedTensorType> operands,
                            RankedTensorType result) {
  LayerWork work;
  double elements = result.getNumElements();
  for (auto op : layer.getEpilogue().front().getOps<ElementwiseOpInterface>())
    for (StringRef step : op.getSteps())
      getCount(work, step) += elements;
  if (auto anchor = dyn_cast_or_null<CostOpInterface>(layer.getAnchorOp())) {
    Work own = anchor.getWork();
    work.operations = std::max<double>(own.multiplyAdds, own.operations);
  }
  if (work.operations == 0) // the layer only moves data
    work.operations = elements;
  work.activationBytes = getPhysicalBytes(result);
  for (auto [value, type] : llvm::zip(layer.getOperands(), operands)) {
    // At most one entry of a table is read per operation.
    auto bytes = std::min(getPhysicalBytes(type),
                          8 * static_cast<int64_t>(work.operations));
    (isConstant(value) ? work.weightBytes : work.activationBytes) += bytes;
  }
  return work;
}

/// Returns the error that storing the layer's weights in the signature's
/// encodings adds to that of the routine.
static double getWeightError(LayerOp layer, const Signature &signature,
                             CandidateMemo &memo) {
  double error = 0;
  for (auto [value, type] : llvm::zip(layer.getInputs(), signature.operands)) {
    if (!isEncoded(type))
      continue;
    auto [known, isNew] =
        memo.weightErrors.try_emplace({value, getLayout(type)}, 0);
    if (isNew)
      known->second = getWeightError(value, type).value_or(0);
    error = std::max(error, known->second);
  }
  return error;
}

/// Returns the number of elements of the layer's result in each channel.
static int64_t getPoints(LayerOp layer) {
  RankedTensorType type = getTensorType(layer.getY());
  std::optional<int64_t> axis = layer.getChannelAxis();
  if (!axis || type.getNumElements() == 0)
    return type.getNumElements();
  return type.getNumElements() / type.getDimSize(*axis);
}

/// Returns true if two lists of parameters make the same code for a layer with
/// so many points: if they differ only in sizes of a tile that holds all points
/// anyway.
static bool makeSameTile(const Routine &routine, ArrayRef<int64_t> a,
                         ArrayRef<int64_t> b, int64_t points) {
  int64_t pointsOfA = 1, pointsOfB = 1;
  for (auto [name, ofA, ofB] : llvm::zip(routine.params, a, b)) {
    if (llvm::is_contained({"ROWS", "COLS", "M", "P"}, name)) {
      pointsOfA *= ofA;
      pointsOfB *= ofB;
    } else if (ofA != ofB) {
      return false;
    }
  }
  return points <= std::min(pointsOfA, pointsOfB);
}

/// Returns true if `routine` computes the layer at all sizes that it is to be
/// called with.
static bool appliesToOtherShapes(LayerOp layer, const Routine &routine,
                                 ArrayRef<int64_t> params) {
  auto others = layer->getAttrOfType<ArrayAttr>(kOtherShapesAttr);
  if (!others)
    return true;
  // Not all of many: all are checked once the routine is chosen.
  constexpr size_t kMost = 32;
  for (size_t i = 0, step = others.size() / kMost + 1; i < others.size();
       i += step) {
    auto fields = cast<ShapeAttr>(others[i]);
    auto shape = readShape({routine.family->name.str(), fields, {}});
    if (!shape || !routine.applies(*shape, params))
      return false;
  }
  return true;
}

/// Returns true if a value has a layout with blocks along an axis whose
/// dimension is no multiple of them at all sizes. How long it is with its
/// padding is then no expression of the sizes.
static bool padsVaryingAxis(LayerOp layer, const Signature &signature) {
  auto varying = layer->getAttrOfType<ArrayAttr>(kVaryingAxesAttr);
  if (!varying)
    return false;
  SmallVector<RankedTensorType> types(signature.operands);
  types.push_back(signature.result);
  for (auto [type, list] :
       llvm::zip(types, varying.getAsRange<DenseI64ArrayAttr>()))
    for (ArrayRef<int64_t> rest = list.asArrayRef(); !rest.empty();
         rest = rest.drop_front(2))
      if (rest[1] % getBlockSize(type, rest[0]) != 0)
        return true;
  return false;
}

/// Returns the bytes that the layer's values take under `signature` more than
/// in row-major order. Those of constants are no working memory.
static int64_t getPaddingBytes(LayerOp layer, const Signature &signature) {
  auto getPadding = [](RankedTensorType type) {
    return getPhysicalBytes(type) - getPhysicalBytes(getLogicalType(type));
  };
  int64_t bytes = getPadding(signature.result);
  for (auto [value, type] : llvm::zip(layer.getOperands(), signature.operands))
    if (!isConstant(value))
      bytes += getPadding(type);
  return bytes;
}

/// Returns the candidates of `routine` for the layer with their estimated
/// costs; operands that the routine takes in any layout have the layout `any`.
static std::vector<CandidateMemo::Entry>
findEstimated(LayerOp layer, const Routine &routine, LayoutAttr any,
              const CostModel &cost, CandidateMemo &memo) {
  auto signature = getSignature(layer, routine, any);
  if (!signature || padsVaryingAxis(layer, *signature))
    return {};
  signature->moveTo(cost.getDeviceName());
  std::string problem;
  auto shapes = makeShapes(layer, *signature, problem);
  if (shapes.empty())
    return {};
  LayerWork work = getLayerWork(layer, signature->operands, signature->result);
  std::string text;
  if (cost.knowsMeasurements() || cost.getMemo())
    text = describeLayer(layer, signature->operands, signature->result);
  SmallVector<SmallVector<int64_t>> values = routine.candidates;
  if (auto own = layer.getParams())
    values = {SmallVector<int64_t>(*own)};
  std::vector<CandidateMemo::Entry> found;
  std::optional<double> weightError;
  const int64_t points = getPoints(layer);
  for (const auto &params : values) {
    if (!llvm::all_of(shapes, [&](const RoutineShape &shape) {
          return routine.applies(shape, params);
        }))
      continue;
    if (!appliesToOtherShapes(layer, routine, params))
      continue;
    if (!weightError)
      weightError = getWeightError(layer, *signature, memo);
    // The encoding cannot hold the weight.
    if (!layer.getRoutine() && std::isinf(*weightError))
      return {};
    Candidate candidate{
        {}, &routine, params, signature->operands, signature->result};
    candidate.estimate = cost.estimate(routine, shapes, params, work);
    if (!layer.getParams() &&
        (std::isinf(candidate.estimate) ||
         llvm::any_of(found, [&](const CandidateMemo::Entry &other) {
           return other.candidate.estimate == candidate.estimate &&
                  makeSameTile(routine, other.candidate.params, params, points);
         })))
      continue;
    candidate.error = *weightError;
    for (const RoutineShape &shape : shapes)
      candidate.error =
          std::max(candidate.error, routine.getError(shape, params));
    if (const FreeMemory *free = cost.getFreeMemory()) {
      for (const RoutineShape &shape : shapes)
        candidate.memory =
            std::max(candidate.memory,
                     routine.getScratchBytes(shape, params, free->threads));
      candidate.memory += getPaddingBytes(layer, *signature);
    }
    found.push_back({std::move(candidate), text});
  }
  return found;
}

/// Stands for the routine of candidates that are views.
static const Routine &getViewRoutine() {
  static const Routine routine = [] {
    Routine view = *Catalogue::get().getRoutinesOf("copy").front();
    view.name = kViewName;
    return view;
  }();
  return routine;
}

bool Candidate::isView() const { return routine == &getViewRoutine(); }

/// Visits the candidates of a layer that only transposes its operand for which
/// nothing moves: those in which one side has one of `layouts`, and the other
/// is row-major.
static void forEachView(LayerOp layer, LayerOp form,
                        ArrayRef<LayoutAttr> layouts,
                        llvm::function_ref<void(Candidate)> visit) {
  auto transpose = dyn_cast_or_null<TransposeOp>(form.getAnchorOp());
  if (!transpose || !form.hasEmptyEpilogue() ||
      form.getRoutine().value_or(kViewName) != kViewName)
    return;
  auto x = getReadType(form, 0), y = getLogicalType(form.getY().getType());
  auto visitIfView = [&](RankedTensorType from, RankedTensorType to) {
    if (!TransposeOp::isViewBetween(from, to, transpose.getPermutation()))
      return;
    Candidate view{{}, &getViewRoutine(), {}, {from}, to};
    view.seconds = 0;
    if (form != layer)
      view.form = form;
    visit(std::move(view));
  };
  for (LayoutAttr layout : layouts)
    if (layout.getRank() == x.getRank() && !layout.getEncoding()) {
      visitIfView(withLayout(x, layout), y);
      visitIfView(x, withLayout(y, layout));
    }
}

/// Returns the names of the devices that may compute a layer: all of the
/// machine, or that of a layer which names its routine.
static SmallVector<std::string> listDevices(LayerOp layer,
                                            const CostModel &cost) {
  if (layer.getRoutine())
    return {getDevice(layer.getY().getType()).str()};
  SmallVector<std::string> names = {""};
  for (Attribute device :
       cost.getMachine().getDevices().getValue().drop_front())
    names.push_back(cast<target::DeviceAttr>(device).getName().str());
  return names;
}

/// Visits the candidates of a form of a layer on the device of `cost` whose
/// routines `isWanted` accepts.
static void forEachOfKind(LayerOp layer, LayerOp form, const CostModel &cost,
                          ArrayRef<LayoutAttr> layouts,
                          llvm::function_ref<void(Candidate)> visit,
                          ParamChoice choice,
                          llvm::function_ref<bool(const Routine &)> isWanted) {
  CandidateMemo own;
  CandidateMemo &memo = cost.getMemo() ? *cost.getMemo() : own;
  const bool isExact = form != layer && cost.getForms()->isExact(form);
  std::string family;
  for (const Routine *routine :
       Catalogue::get().getRoutinesOf(getFamily(form, family))) {
    if (form.getRoutine().value_or(routine->name) != routine->name ||
        !getObstacle(form, *routine, cost.getMachine(), cost.getDeviceName())
             .empty() ||
        takesTooFewBits(form, cost.getWeightRules(), *routine) ||
        !isWanted(*routine))
      continue;
    SmallVector<LayoutAttr> open = {LayoutAttr()};
    if (llvm::is_contained(routine->layouts, "any"))
      llvm::append_range(open, layouts);
    for (LayoutAttr any : open) {
      auto [known, isNew] =
          memo.entries.try_emplace({form, routine, any.getAsOpaquePointer()});
      if (isNew)
        known->second = findEstimated(form, *routine, any, cost, memo);
      for (const auto &[estimated, text] : known->second) {
        if (isExact && estimated.error > 0)
          continue;
        Candidate candidate = estimated;
        cost.price(candidate, *routine, candidate.params, text);
        candidate.memorySeconds =
            cost.getMemorySeconds(layer, candidate.memory);
        candidate.seconds += candidate.memorySeconds;
        if (form != layer)
          candidate.form = form;
        visit(std::move(candidate));
        if (choice == ParamChoice::first)
          break;
      }
    }
  }
}

/// Visits the candidates of a form of a layer.
static void forEachOfForm(LayerOp layer, LayerOp form, const CostModel &cost,
                          ArrayRef<LayoutAttr> layouts,
                          llvm::function_ref<void(Candidate)> visit,
                          ParamChoice choice) {
  const WeightRules &rules = cost.getWeightRules();
  // The first of these kinds of routines of which the layer has any: those that
  // read the wanted encoding, then those that read the weights' own values if
  // they can be stored so, then all.
  SmallVector<std::function<bool(const Routine &)>> filters;
  if (!rules.isEncodingOpen() && !form.getRoutine()) {
    StringRef kind = rules.getKind();
    filters.push_back(
        [=](const Routine &each) { return getWeightsKind(each) == kind; });
    if (isWorthStoring(form, kind))
      filters.push_back(
          [](const Routine &each) { return readsOwnValues(each); });
  }
  if (rules.isEncodingOpen() && !form.getRoutine() && form.getAnchorOp() &&
      form.getAnchorOp()->hasAttr(kByteWeightsAttr) &&
      cost.getMachine().isBare())
    filters.push_back([](const Routine &each) { return readsOwnValues(each); });
  filters.push_back([](const Routine &) { return true; });
  bool isAny = false;
  for (const auto &isWanted : filters) {
    forEachOfKind(
        layer, form, cost, layouts,
        [&](Candidate candidate) {
          isAny = true;
          candidate.weighsBytes = rules.weighsBytes;
          visit(std::move(candidate));
        },
        choice, isWanted);
    if (isAny)
      break;
  }
}

void nnc::forEachCandidate(LayerOp layer, const CostModel &cost,
                           ArrayRef<LayoutAttr> layouts,
                           llvm::function_ref<void(Candidate)> visit,
                           ParamChoice choice) {
  SmallVector<LayerOp> all = {layer};
  if (const LayerForms *forms = cost.getForms()) {
    if (forms->isLeftOut(layer))
      all.clear();
    llvm::append_range(all, forms->getOthers(layer));
  }
  for (const std::string &device : listDevices(layer, cost)) {
    const bool isOwn = device == cost.getDeviceName();
    std::optional<CostModel> other;
    if (!isOwn)
      other = cost.forDevice(device);
    for (LayerOp form : all) {
      forEachOfForm(layer, form, isOwn ? cost : *other, layouts, visit, choice);
      if (device.empty())
        forEachView(layer, form, layouts, visit);
    }
  }
}

double nnc::getLayerSeconds(LayerOp layer, const CostModel &cost) {
  SmallVector<LayoutAttr> layouts;
  for (Type type : layer.getOperandTypes())
    if (LayoutAttr layout = getLayout(type))
      layouts.push_back(layout);
  if (LayoutAttr layout = getLayout(layer.getY().getType()))
    layouts.push_back(layout);
  double best = std::numeric_limits<double>::infinity(), same = best;
  forEachCandidate(layer, cost, layouts, [&](const Candidate &candidate) {
    best = std::min(best, candidate.seconds);
    if (candidate.result == layer.getY().getType() &&
        llvm::equal(candidate.operands, layer.getOperandTypes()))
      same = std::min(same, candidate.seconds);
  });
  return std::isfinite(same) ? same : std::isfinite(best) ? best : 0;
}

llvm::SetVector<LayoutAttr> nnc::findLayouts(Block &block,
                                             const CostModel &cost) {
  llvm::SetVector<LayoutAttr> layouts;
  for (LayerOp layer : block.getOps<LayerOp>())
    forEachCandidate(
        layer, cost, {},
        [&](const Candidate &candidate) {
          if (LayoutAttr layout = getLayout(candidate.result))
            layouts.insert(layout);
        },
        ParamChoice::first);
  return layouts;
}

void nnc::forEachAdapt(
    ArrayRef<RankedTensorType> values, ArrayRef<LayoutAttr> layouts,
    const CostModel &cost,
    llvm::function_ref<void(RankedTensorType, RankedTensorType,
                            const AdaptCost &)>
        visit) {
  auto visitAll = [&](RankedTensorType from, RankedTensorType to) {
    cost.forEachAdapt(from, to,
                      [&](const AdaptCost &adapt) { visit(from, to, adapt); });
  };
  for (RankedTensorType plain : values)
    for (LayoutAttr layout : layouts) {
      if (layout.getRank() != plain.getRank())
        continue;
      RankedTensorType blocked = withLayout(plain, layout);
      visitAll(plain, blocked);
      visitAll(blocked, plain);
    }
}

CostModel nnc::makeCostModel(func::FuncOp function, target::MachineAttr machine,
                             const Measurements *measured, CandidateMemo *memo,
                             const LayerForms *forms,
                             const WeightRules &rules) {
  CostModel cost(machine, getWeightBytes(function), measured);
  cost.setWeightRules(rules);
  cost.setMemo(memo);
  cost.setForms(forms);
  if (!cost.knowsMeasurements())
    return cost;
  Calibration calibration;
  Block &block = function.getBody().front();
  llvm::SetVector<LayoutAttr> layouts = findLayouts(block, cost);
  llvm::SetVector<RankedTensorType> values;
  for (LayerOp layer : block.getOps<LayerOp>()) {
    values.insert(getLogicalType(getTensorType(layer.getY())));
    forEachCandidate(
        layer, cost, layouts.getArrayRef(), [&](const Candidate &candidate) {
          if (candidate.measured && !candidate.isView())
            calibration.add(describeLayer(candidate.getForm(layer),
                                          candidate.operands, candidate.result),
                            *candidate.routine, candidate.params, candidate);
        });
  }
  forEachAdapt(
      values.getArrayRef(), layouts.getArrayRef(), cost,
      [&](RankedTensorType from, RankedTensorType to, const AdaptCost &adapt) {
        if (adapt.measured)
          calibration.add(describeAdapt(*getAdaptCall(from, to), from),
                          *adapt.routine, adapt.params, adapt);
      });
  cost.setCalibration(std::move(calibration));
  return cost;
}

SmallVector<Candidate, 0> nnc::findCandidates(LayerOp layer,
                                              const CostModel &cost,
                                              ArrayRef<LayoutAttr> layouts,
                                              ParamChoice params) {
  SmallVector<Candidate, 0> found;
  auto keepIfBetter = [&](Candidate candidate) {
    if (llvm::any_of(found, [&](const Candidate &other) {
          return other.hasSchemaOf(candidate) &&
                 other.seconds * kBetter <= candidate.seconds &&
                 other.error <= candidate.error;
        }))
      return;
    llvm::erase_if(found, [&](const Candidate &other) {
      return other.hasSchemaOf(candidate) &&
             other.seconds >= candidate.seconds &&
             other.error >= candidate.error;
    });
    found.push_back(std::move(candidate));
  };
  forEachCandidate(layer, cost, layouts, keepIfBetter, params);
  return found;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::string listRoutines(StringRef family) {
  SmallVector<StringRef> names;
  for (const Routine *routine : Catalogue::get().getRoutinesOf(family))
    names.push_back(routine->name);
  return llvm::join(names, ", ");
}

/// Checks that `values` are what `routine` has params for, and that it applies.
static LogicalResult checkParams(Operation *op, const Routine &routine,
                                 ArrayRef<RoutineShape> shapes,
                                 std::optional<ArrayRef<int64_t>> values) {
  ArrayRef<int64_t> params = values.value_or(ArrayRef<int64_t>());
  if (params.size() != routine.params.size())
    return op->emitOpError("has ")
           << params.size() << " params; " << routine.name << " has "
           << routine.params.size() << " (" << llvm::join(routine.params, ", ")
           << ")";
  for (auto [name, value] : llvm::zip(routine.params, params)) {
    if (name == "INLINE") {
      if (value != 0 && value != 1)
        return op->emitOpError("has INLINE = ")
               << value << " for " << routine.name
               << "; it is 1 for register tiles of the layer's own, else 0";
    } else if (value < 1) {
      return op->emitOpError("has params of ")
             << routine.name
             << " below 1: they are numbers of points and blocks";
    }
  }
  for (const RoutineShape &shape : shapes)
    if (!routine.applies(shape, params))
      return op->emitOpError("has a shape that ")
             << routine.name << " does not apply to";
  return success();
}

LogicalResult nnc::checkRoutine(LayerOp layer, target::MachineAttr machine) {
  std::string family;
  StringRef name = layer.getRoutine().value_or("");
  if (name.empty())
    return layer.emitOpError(
        "has no routine; nnc-choose-routines gives it one");
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine)
    return layer.emitOpError("names the routine '")
           << name << "', which is not in the catalogue; of its family there "
           << "are " << listRoutines(getFamily(layer, family));
  if (routine->family->name != getFamily(layer, family))
    return layer.emitOpError("names the routine '")
           << name << "', which belongs to the family " << routine->family->name
           << "; the layer is of " << family;
  const StringRef device = getDevice(layer.getY().getType());
  std::string obstacle = getObstacle(layer, *routine, machine, device);
  if (!obstacle.empty())
    return layer.emitOpError("names the routine '")
           << name << "', which " << obstacle;

  // The layout for "any" is that of the result, or of the first operand whose
  // routine layout is "any".
  LayoutAttr any = getLayout(layer.getY().getType());
  auto signature = getSignature(layer, *routine, any);
  if (signature)
    signature->moveTo(device);
  if (!signature)
    return layer.emitOpError("has a result of ")
           << layer.getY().getType() << ", which '" << name
           << "' cannot write in that layout";
  if (signature->result != layer.getY().getType())
    return layer.emitOpError("has a result of ")
           << layer.getY().getType() << "; '" << name << "' writes "
           << signature->result;
  for (auto [i, value] : llvm::enumerate(layer.getOperands()))
    if (value.getType() != signature->operands[i] &&
        !(i >= layer.getInputs().size() &&
          isViewOf(signature->operands[i], getTensorType(value))))
      return layer.emitOpError("has an operand ")
             << i << " of " << value.getType() << "; '" << name << "' reads "
             << signature->operands[i];
  std::string problem;
  auto shapes = makeShapes(layer, *signature, problem);
  if (shapes.empty())
    return layer.emitOpError("names the routine '")
           << name << "', but " << problem;
  return checkParams(layer, *routine, shapes, layer.getParams());
}

LogicalResult nnc::checkRoutine(AdaptOp adapt, target::MachineAttr machine) {
  if (adapt.isView() || adapt.isTransfer())
    return success();
  auto call = getAdaptCall(adapt.getX().getType(), adapt.getY().getType());
  if (!call)
    return adapt.emitOpError("changes ")
           << adapt.getX().getType() << " to " << adapt.getY().getType()
           << ", which no routine does";
  StringRef name = adapt.getRoutine().value_or("");
  const Routine *routine = Catalogue::get().findRoutine(name);
  if (!routine || routine->family->name != call->family)
    return adapt.emitOpError("names the routine '")
           << name << "'; of its family there are "
           << listRoutines(call->family);
  auto device = machine ? machine.findDevice(getDevice(adapt.getY().getType()))
                        : target::DeviceAttr();
  if (device && !device.hasIsa(routine->isa))
    return adapt.emitOpError("names the routine '")
           << name << "', which needs " << routine->isa
           << "; the target lacks that";
  std::string problem;
  auto shape = readShape(*call, &problem);
  if (!shape)
    return adapt.emitOpError("cannot be computed: ") << problem;
  return checkParams(adapt, *routine, *shape, adapt.getParams());
}

LogicalResult nnc::checkRoutines(Operation *root, target::MachineAttr machine) {
  bool sound = succeeded(checkDevices(root, machine));
  root->walk([&](Operation *op) {
    if (auto layer = dyn_cast<LayerOp>(op))
      sound &= succeeded(checkRoutine(layer, machine));
    else if (auto adapt = dyn_cast<AdaptOp>(op))
      sound &= succeeded(checkRoutine(adapt, machine));
    else if (auto decode = dyn_cast<DecodeOp>(op))
      sound &= succeeded(checkRoutine(decode, machine));
  });
  return success(sound);
}
