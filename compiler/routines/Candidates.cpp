//===- Candidates.cpp - Routines that can compute a layer -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Candidates.h"

#include "compiler/routines/Decode.h"
#include "compiler/routines/Devices.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/Schema.h"
#include "compiler/routines/Signature.h"
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

/// A candidate is cheaper than an earlier one only if its time is below this
/// fraction of the earlier one's time. Otherwise the order of the table
/// decides.
static constexpr double kBetter = 0.999;

bool Candidate::hasSchemaOf(const Candidate &other) const {
  // An encoded operand is a constant, so its layout does not affect other
  // layers.
  auto isSame = [&](auto pair) {
    auto [a, b] = pair;
    return a == b || (!weighsBytes && (isEncoded(a) || isEncoded(b)));
  };
  return result == other.result &&
         llvm::all_of(llvm::zip(operands, other.operands), isSame);
}

/// Returns the error that storing the layer's weights in the signature's
/// encodings adds to the routine's own error.
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

/// Returns true if two lists of parameters produce the same code for a layer
/// with `points` points: they differ only in sizes of a tile that holds all
/// points in either case.
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

/// Returns true if `routine` supports all further sizes with which the layer
/// will be called (kOtherShapesAttr), or a sample of them if there are many.
static bool appliesToOtherShapes(LayerOp layer, const Routine &routine,
                                 ArrayRef<int64_t> params) {
  auto others = layer->getAttrOfType<ArrayAttr>(kOtherShapesAttr);
  if (!others)
    return true;
  // If there are many sizes, only a sample is checked here. All of them are
  // checked once the routine is chosen.
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
/// dimension is not a multiple of the block at all sizes. Its padded length is
/// then not an expression of the sizes.
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

/// Returns the bytes by which the layer's values under `signature` exceed those
/// in row-major order. Constants do not count, as they are not working memory.
static int64_t getPaddingBytes(LayerOp layer, const Signature &signature) {
  auto getPadding = [](RankedTensorType type) {
    return getPhysicalBytes(type) - getPhysicalBytes(getLogicalType(type));
  };
  int64_t bytes = getPadding(signature.result);
  for (auto [value, type] : llvm::zip(layer.getOperands(), signature.operands))
    if (!isConstantValue(value))
      bytes += getPadding(type);
  return bytes;
}

/// Returns the candidates of `routine` for the layer with their estimated
/// costs. Operands that the routine takes in any layout have the layout `any`.
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
    if (const LayerForms *forms = cost.getForms())
      if (double rounding = forms->getRounding(layer))
        candidate.error =
            std::hypot(candidate.error * forms->getUnitOfHalves(), rounding);
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

/// Returns a placeholder for the routine of candidates that are views.
static const Routine &getViewRoutine() {
  static const Routine routine = [] {
    Routine view = *Catalogue::get().getRoutinesOf("copy").front();
    view.name = kViewName;
    return view;
  }();
  return routine;
}

bool Candidate::isView() const { return routine == &getViewRoutine(); }

/// Visits the candidates of a transposing layer that are views: one side has
/// one of `layouts`, the other side is row-major, and no element moves.
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

/// Returns the names of the devices that may compute a layer: all devices of
/// the machine, or one device if the layer names its routine.
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

/// Visits the candidates of a form of a layer on the device of `cost`, with the
/// routines that `isWanted` accepts.
static void forEachOfKind(LayerOp layer, LayerOp form, const CostModel &cost,
                          ArrayRef<LayoutAttr> layouts,
                          llvm::function_ref<void(Candidate)> visit,
                          ParamChoice choice,
                          llvm::function_ref<bool(const Routine &)> isWanted) {
  CandidateMemo own;
  CandidateMemo &memo = cost.getMemo() ? *cost.getMemo() : own;
  const bool isExact = form != layer && cost.getForms()->isExact(form);
  const bool isTf32 = form != layer && cost.getForms()->roundsToTf32(form);
  std::string family;
  for (const Routine *routine :
       Catalogue::get().getRoutinesOf(getFamily(form, family))) {
    if (form.getRoutine().value_or(routine->name) != routine->name ||
        (isTf32 && routine->elements != "tf32") ||
        !getObstacle(form, *routine, cost.getMachine(), cost.getDeviceName(),
                     isTf32)
             .empty() ||
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
  // Only the first of these kinds of routines is used that has any candidate
  // for the layer: routines that read the wanted encoding, then routines that
  // read the weights' own values if they can be stored in that encoding, then
  // all routines.
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
