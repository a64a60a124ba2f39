//===- Control.h - What operators that run functions share ------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_CONTROL_CONTROL_H
#define NNC_FRONTENDS_TENSORFLOW_CONTROL_CONTROL_H

#include "frontends/common/Body.h"
#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// Sets the layer's results.
void setResults(Layer &layer, llvm::ArrayRef<Passed> results);

/// Returns the name of the function of a branch or loop of the layer.
std::string nameOfBody(Layer &layer, llvm::StringRef name);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_CONTROL_CONTROL_H
