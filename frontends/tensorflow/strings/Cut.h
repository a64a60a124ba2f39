//===- Cut.h - Cuts string preprocessing off a model ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// nnc computes with numbers. A model that begins with words, serialized
// examples or compressed images is cut behind the last operator on them: the
// tensors of numbers that it computes become inputs of the model. A model that
// ends in labels is cut in front of the first operator on them.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_STRINGS_CUT_H
#define NNC_FRONTENDS_TENSORFLOW_STRINGS_CUT_H

#include "frontends/tensorflow/file/Load.h"

namespace nnc::tensorflow {

/// Cuts the operators on strings off a model, and warns of each input that
/// takes their place and of each output that is left out. Returns false after
/// an error; a model without strings is left as it is.
bool cutStrings(LoadedModel &model, Problems &problems);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_STRINGS_CUT_H
