//===- StoredCheck.h - Finds damage in stored weights -----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The routines of runtime/routines/stored_weights/decode/ read what is stored
// as it is. What has passed both functions here they decode within the bytes
// that are stored and the elements that the weight has.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H

#include "runtime/routines/stored_weights/decode/shape.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace nnc::stored {

/// Returns what is wrong with a shape by which `bytes` bytes are read as
/// elements of `size` bytes each, or "". It takes no time.
std::string findWrongShape(const decode_shape &shape, int64_t bytes, int size);

/// Returns what is wrong with bytes that are read by a shape without a fault,
/// or "": places of blocks, tables of Huffman codes, codes, and gaps. It takes
/// about the time of decoding.
std::string findDamage(const decode_shape &shape, llvm::ArrayRef<uint8_t> bytes,
                       int size);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDCHECK_H
