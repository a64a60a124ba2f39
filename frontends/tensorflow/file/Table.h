//===- Table.h - The table in the index of a checkpoint ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_FILE_TABLE_H
#define NNC_FRONTENDS_TENSORFLOW_FILE_TABLE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace nnc::tensorflow {

/// Returns the CRC-32C (Castagnoli) of `bytes`.
uint32_t computeCrc32c(llvm::StringRef bytes);

/// Returns the form in which tables and checkpoints store a CRC: rotated by 15
/// bits, plus a constant.
uint32_t maskCrc(uint32_t crc);

/// Reads all entries of a sorted table of strings, the format of LevelDB that
/// TensorFlow keeps the index of a checkpoint in. Fails if the table is
/// damaged, or if a block is compressed. The message completes a sentence that
/// starts with the file.
llvm::Expected<llvm::StringMap<std::string>> readTable(llvm::StringRef file);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_FILE_TABLE_H
