//===- Sparse.h - Sparse tensors ------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_FILE_SPARSE_H
#define NNC_FRONTENDS_TFLITE_FILE_SPARSE_H

#include "frontends/tflite/schema_generated.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace nnc::tflite {

/// Finds the position in a dense tensor of the shape `shape` of each element
/// that a sparse tensor stores, in order. `most` is the largest number of parts
/// that a file of the model's size can describe. Returns a description of what
/// is not valid, as the end of a sentence, or an empty string.
std::string findPlaces(const fb::Sparsity &sparsity,
                       llvm::ArrayRef<int64_t> shape, uint64_t most,
                       std::vector<int64_t> &places);

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_FILE_SPARSE_H
