//===- WeightChoice.cpp - Which weights routines may read -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/WeightChoice.h"

#include "dialects/nn/encodings/WeightEncoding.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "dialects/nn/tensors/TensorData.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

LogicalResult nnc::verifyWeightRules(const WeightRules &rules,
                                     Location location) {
  SmallVector<StringRef> known = {"auto", "dense"};
  for (stored::StoredKind kind : stored::kStoredKinds)
    known.push_back(stored::toString(kind));
  if (!llvm::is_contained(known, rules.encoding))
    return emitError(location)
           << "there is no weights-encoding '" << rules.encoding
           << "'; choose one of " << llvm::join(known, ", ");
  return success();
}

StringRef nnc::getWeightsKind(const Routine &routine) {
  for (StringRef layout : routine.layouts)
    if (const WeightEncoding *encoding = splitLayoutName(layout).second)
      if (StringRef kind = encoding->getKind(); !kind.empty())
        return kind;
  return "";
}

bool nnc::readsOwnValues(const Routine &routine) {
  return llvm::none_of(routine.layouts, [](StringRef layout) {
    return splitLayoutName(layout).second;
  });
}

bool nnc::isWorthStoring(LayerOp layer, StringRef kind) {
  for (stored::StoredKind form : stored::kStoredKinds)
    if ((kind.empty() || kind == stored::toString(form)) && layer.getAnchorOp())
      for (Value input : layer.getInputs())
        if (std::optional<TensorData> data = TensorData::get(input))
          if (int64_t size = getElementBytes(data->getElementType());
              size <= 4 && stored::isWorthStoring(form, data->getBytes(),
                                                  static_cast<int>(size)))
            return true;
  return false;
}
