//===- ModelName.cpp - Names that a model gives to its parts --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/attributes/ModelName.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

StringRef nn::getModelName(Location location, StringRef fallback) {
  StringRef name = fallback;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}
