//===- StoredCheck.h - Finds damage in stored weights -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The routines of runtime/routines/stored_weights/decode/ read stored weights
// without any checks. If both functions of this file find no fault in a stored
// weight, these routines neither read outside of its bytes nor write outside of
// its elements.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H

#include "runtime/routines/stored_weights/decode/shape.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace nnc::stored {

/// Returns a description of what is wrong with the shape of a weight that is
/// stored in `bytes` bytes and has elements of `size` bytes, or "". Takes
/// constant time.
std::string findWrongShape(const decode_shape &shape, int64_t bytes, int size);

/// Returns a description of what is wrong with the bytes of a stored weight, or
/// "". Checks the offsets of blocks, the tables of Huffman codes, the codes and
/// the gaps. `shape` must have passed findWrongShape(). Takes about as long as
/// decoding.
std::string findDamage(const decode_shape &shape, llvm::ArrayRef<uint8_t> bytes,
                       int size);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H
