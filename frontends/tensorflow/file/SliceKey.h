//===- SliceKey.h - Keys of slices in checkpoints ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_FILE_SLICEKEY_H
#define NNC_FRONTENDS_TENSORFLOW_FILE_SLICEKEY_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace nnc::tensorflow {

/// Returns the key of a slice of the tensor `name` in the index of a
/// checkpoint. `part` tells the shape of the tensor and the slice, as RestoreV2
/// reads it: "10 4 0,5:-" are the first 5 rows of 10, with all 4 columns.
/// Returns nullopt if the text is another one, and the key of the tensor if the
/// slice is the whole of it.
std::optional<std::string> makeSliceKey(llvm::StringRef name,
                                        llvm::StringRef part);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_FILE_SLICEKEY_H
