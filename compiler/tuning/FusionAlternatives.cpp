//===- FusionAlternatives.cpp - Layer pairs fused and split in turn -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/FusionAlternatives.h"

#include "compiler/routines/Catalogue.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

/// The relative error that the cost of a form may have.
static constexpr double kFormDoubt = 0.25;

/// Returns true if errors of this size in the two costs could reverse the
/// decision between the forms.
static bool isClose(const FusedForm &form, DictionaryAttr costs) {
  auto get = [&](StringRef name) {
    auto nanoseconds = costs.getAs<IntegerAttr>(name);
    return nanoseconds ? double(nanoseconds.getInt()) : 0.0;
  };
  const double one = get("one_ns"), enough = form.worthwhile * get("apart_ns");
  return one < (1 + kFormDoubt) * enough && enough < (1 + kFormDoubt) * one;
}

static bool isOf(LayerOp layer, StringRef family) {
  auto anchor = dyn_cast_or_null<RoutineOpInterface>(layer.getAnchorOp());
  return anchor && anchor.getRoutineCalls().front().family == family;
}

std::vector<Subject> nnc::chooseOtherForms(func::FuncOp function,
                                           const FusedForm &form) {
  // The first choice names no layer: it keeps the list from being empty, in
  // which case costs would decide.
  std::vector<Subject> choices(1);
  bool isAnyClose = false;
  for (auto layer : function.getOps<LayerOp>())
    for (const FusedForm &fused : kFusedForms) {
      auto costs = layer->getAttrOfType<DictionaryAttr>(fused.note);
      if (!costs)
        continue;
      const bool changes = fused.name == form.name && isClose(form, costs);
      isAnyClose |= changes;
      if (isOf(layer, fused.family) == changes)
        continue;
      const Routine *routine =
          Catalogue::get().getRoutinesOf(fused.family).front();
      choices.push_back({layer.getName().str(), routine->name.str(), {}});
    }
  return isAnyClose ? choices : std::vector<Subject>();
}
