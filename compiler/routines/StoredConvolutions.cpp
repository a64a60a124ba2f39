//===- StoredConvolutions.cpp - Convolutions by decoded strips ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/StoredConvolutions.h"

#include "compiler/routines/Candidates.h"
#include "runtime/routines/stored_weights/stored_conv2d/shape.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;
using stored::StoredForm;
using stored::StoredKind;

/// The least number of weights in a strip. Decoding fewer saves hardly any
/// memory.
static constexpr int64_t kLeastStrip = 512;

/// The fraction of a layer's time that a longer strip must save to be worth its
/// memory.
static constexpr double kWorthMemory = 0.04;

/// The layouts that correspond to the values of stored_filters, in the spelling
/// of routines.inc.
static constexpr StringRef kFilterLayouts[] = {
    "KRSC", "KRSC2k4c", "KRSC4k", "KRSC8k", "plain", "KCRS4k", "KCRS8k"};
static_assert(std::size(kFilterLayouts) == stored_filters_count);

std::optional<ConvLayer> ConvLayer::get(OpOperand &use, StringRef routine) {
  auto layer = dyn_cast<LayerOp>(use.getOwner());
  if (!layer || use.getOperandNumber() != 1 || layer.getInputs().size() != 2 ||
      layer->hasAttr(kOtherShapesAttr))
    return std::nullopt;
  auto conv = dyn_cast_or_null<ConvOp>(layer.getAnchorOp());
  if (!conv || conv.getGroups() != 1 || conv.getX().getType().getRank() > 4)
    return std::nullopt;
  Type element = getTensorType(use.get()).getElementType();
  if (!element.isF32() && !element.isSignlessInteger(8))
    return std::nullopt;
  const Catalogue &catalogue = Catalogue::get();
  const Routine *plain = catalogue.findRoutine(routine);
  ConvLayer found{layer};
  found.routine = catalogue.findRoutine(("stored_" + routine).str());
  if (!plain || !found.routine)
    return std::nullopt;
  const auto *layout = llvm::find(kFilterLayouts, plain->getLayout(1));
  if (layout == std::end(kFilterLayouts))
    return std::nullopt;
  found.order = layout - std::begin(kFilterLayouts);
  return found;
}

std::optional<double> nnc::findStoredConv(const ConvLayer &conv,
                                          const Candidate &decoded,
                                          const StoredMatrix &filters,
                                          const CostModel &cost) {
  LayerOp layer = conv.layer;
  auto op = cast<ConvOp>(layer.getAnchorOp());
  ShapeFields fields(layer.getContext());
  ShapeAttr plain = op.getRoutineCalls().front().fields;
  conv2d_shape image = {};
  image.visit(
      [&](const char *name, int) { fields.add(name, plain.getInt(name)); });
  decode_shape stored = filters.form.shape;
  stored.visit([&](const char *name, int value) { fields.add(name, value); });
  fields.add("order", conv.order).add("strip", filters.strip);
  std::optional<RoutineShape> shape =
      readShape(RoutineCall{"stored_conv2d", fields.get(), {0, 1}}, nullptr);
  if (!shape || !cost.getDevice().hasIsa(conv.routine->isa) ||
      !conv.routine->applies(*shape, decoded.params))
    return std::nullopt;
  SmallVector<RankedTensorType> types = decoded.operands;
  types[1] = getStoredType(filters.form, layer.getContext());
  LayerWork work = getLayerWork(layer, types, decoded.result);
  return cost.estimate(*conv.routine, *shape, decoded.params, work) -
         decoded.estimate;
}

std::optional<StoredMatrix> nnc::storeFilters(const ConvLayer &conv,
                                              const Candidate &decoded,
                                              ArrayRef<char> elements,
                                              StoredKind kind,
                                              const CostModel &cost) {
  LayerOp layer = conv.layer;
  RankedTensorType weight = getLogicalType(getTensorType(layer.getInputs()[1]));
  const int64_t size = getElementBytes(weight.getElementType());
  const int64_t count = int64_t(elements.size()) / size;
  const int64_t together =
      stored_filters_together(static_cast<int>(conv.order));
  const int64_t filters = llvm::alignTo(weight.getDimSize(0), together);
  if (count == 0 || count % filters != 0)
    return std::nullopt;
  const int64_t filter = count / filters;
  const bool hasCodes = kind == StoredKind::codebook;
  double seconds = 0;
  std::optional<StoredMatrix> found;
  for (int64_t strip = together; strip < filters; strip *= 2) {
    // Each strip of codes must begin at a whole byte.
    if (strip * filter < kLeastStrip || (hasCodes && strip * filter % 8 != 0))
      continue;
    auto form = StoredForm::get(kind, elements, static_cast<int>(size), {},
                                hasCodes ? count : strip * filter);
    if (!form)
      continue;
    StoredMatrix now{std::move(*form), {}, conv.order, strip};
    now.shape = toAttribute(now.form.shape, layer.getContext());
    std::optional<double> more = findStoredConv(conv, decoded, now, cost);
    if (!more)
      continue;
    if (found && decoded.estimate + *more >
                     (1 - kWorthMemory) * (decoded.estimate + seconds))
      break;
    seconds = *more;
    found = std::move(now);
  }
  return found;
}

void nnc::readStored(const ConvLayer &conv, const StoredMatrix &filters,
                     Value stored) {
  LayerOp layer = conv.layer;
  auto op = cast<ConvOp>(layer.getAnchorOp());
  OpBuilder builder(op);
  layer->setOperand(1, stored);
  BlockArgument weight = layer.getAnchor().front().getArgument(1);
  // The op needs the filters' sizes, which are in the original type of the
  // weight.
  ArrayRef<int64_t> sizes = getTensorType(weight).getShape();
  int64_t count = sizes.front();
  SmallVector<int64_t> kernel(sizes.drop_front(2));
  weight.setType(cast<RankedTensorType>(stored.getType()));
  auto reading = builder.create<StoredConvOp>(
      op.getLoc(), op.getY().getType(), op.getX(), weight, filters.shape, count,
      kernel, op.getStrides(), op.getDilations(), op.getPads(), filters.order,
      filters.strip, op.getAccumulatorAttr(), op.getFill());
  if (op->hasAttr(kByteWeightsAttr))
    reading->setAttr(kByteWeightsAttr, builder.getUnitAttr());
  op.getY().replaceAllUsesWith(reading.getY());
  op.erase();
  layer.setRoutineAttr(builder.getStringAttr(conv.routine->name));
}
