//===- Flatten.h - Calls in the main graph as nodes of it -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_STRINGS_FLATTEN_H
#define NNC_FRONTENDS_TENSORFLOW_STRINGS_FLATTEN_H

#include "frontends/tensorflow/file/Load.h"

namespace nnc::tensorflow {

/// Replaces the calls of functions on which the outputs of a model depend by
/// the nodes of these functions, so that the whole computation is in the main
/// graph, apart from branches and loops. Nodes keep their names where these are
/// unique. Returns false after an error.
bool flattenCalls(LoadedModel &model, Problems &problems);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_STRINGS_FLATTEN_H
