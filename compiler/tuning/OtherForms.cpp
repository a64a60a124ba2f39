//===- OtherForms.cpp - Pairs of layers as one, or one as a pair ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/OtherForms.h"

#include "compiler/schedule/Catalogue.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// By how much of itself a form's cost may be wrong. Passes want one layer to
/// take up to a tenth less than two, lest it be one for nothing.
static constexpr double kFormDoubt = 0.25, kMargin = 0.1;

/// The attribute that has both costs of what could be a layer of each family.
static constexpr std::pair<StringLiteral, StringLiteral> kNotes[] = {
    {"expanded_conv2d", "nn.expanded"},
    {"separable_conv2d", "nn.separable"},
    {"scaled_conv2d", "nn.scaling"}};

ArrayRef<StringLiteral> nnc::getFusedFamilies() {
  static const SmallVector<StringLiteral> families =
      llvm::map_to_vector(kNotes, [](auto &entry) { return entry.first; });
  return families;
}

static bool isClose(DictionaryAttr costs) {
  auto get = [&](StringRef name) {
    auto nanoseconds = costs.getAs<IntegerAttr>(name);
    return nanoseconds ? double(nanoseconds.getInt()) : 0.0;
  };
  const double apart = get("apart_ns"), one = get("one_ns");
  return one < (1 + kFormDoubt) * apart &&
         (1 - kMargin) * apart < (1 + kFormDoubt) * one;
}

static bool isOf(LayerOp layer, StringRef family) {
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  return anchor && anchor.getRoutineCalls().front().family == family;
}

std::vector<Subject> nnc::chooseOtherForms(func::FuncOp function,
                                           StringRef family) {
  // A first one of no layer: without any, costs would decide.
  std::vector<Subject> choices(1);
  bool isAnyClose = false;
  for (auto layer : function.getOps<LayerOp>())
    for (auto &[fused, note] : kNotes) {
      auto costs = layer->getAttrOfType<DictionaryAttr>(note);
      if (!costs)
        continue;
      const bool changes = fused == family && isClose(costs);
      isAnyClose |= changes;
      if (isOf(layer, fused) == changes)
        continue;
      const Routine *routine = Catalogue::get().getRoutinesOf(fused).front();
      choices.push_back({layer.getName().str(), routine->name.str(), {}});
    }
  return isAnyClose ? choices : std::vector<Subject>();
}
