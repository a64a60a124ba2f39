//===- StoredWriters.h - Writers of the stored forms ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDWRITERS_H
#define NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDWRITERS_H

#include "dialects/nn/stored_weights/forms/Codebook.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc::stored {

/// The largest number of values in a table, so that an index fits in a byte.
inline constexpr size_t kMostPlaces = 256;
/// The largest number of bits of a gap between entries.
inline constexpr int kMostGapBits = 8;

//===----------------------------------------------------------------------===//
// The forms, each defined in a file of its own
//===----------------------------------------------------------------------===//

/// Returns the largest number of distinct values in a block of `block`
/// elements; nullopt if it exceeds `limit`.
std::optional<size_t> getMostValues(const Codebook &book, int64_t block,
                                    size_t limit);

/// Stores each element as its index in the table of values of its block. A
/// block has `block` elements, or if that is 0, one of the lengths that
/// StoredForm::get() tries.
std::optional<StoredForm>
storeCodes(const Codebook &book, llvm::ArrayRef<int64_t> runs, int64_t block);

/// Stores each element as a Huffman code, in blocks of `block` elements.
StoredForm storeHuffman(const Codebook &book, int64_t block);

/// Stores an entry, with its distance to the one before and its value, for each
/// element that differs from the most frequent value.
StoredForm storeEntries(const Codebook &book, int64_t block);
StoredForm storeHuffmanEntries(const Codebook &book, int64_t block);

/// Stores an entry with the value itself for each element, of `size` bytes,
/// that is not `skipped`; nullopt if that takes as many bytes as all elements.
std::optional<StoredForm> storeLiterals(llvm::ArrayRef<char> bytes, int size,
                                        uint32_t skipped, int64_t block);
/// Stores the same number of entries for each group of 2, 4, 8 or 16
/// consecutive elements within runs of `run` elements (a pattern such as 2:4),
/// choosing the group and the number that take the fewest bits. With `book`,
/// the table of all values, an entry holds an index in it instead of a value.
/// Returns nullopt if no pattern fits.
std::optional<StoredForm> storePattern(llvm::ArrayRef<char> bytes, int size,
                                       const Codebook *book, int64_t run);
/// Returns whether entries for the elements that are not zero take fewer bytes
/// than all elements.
bool hasManyZeros(llvm::ArrayRef<char> bytes, int size);

//===----------------------------------------------------------------------===//
// Functions that all forms share
//===----------------------------------------------------------------------===//

/// Returns the number of bits that hold the numbers from 0 to count - 1; at
/// least 1.
int getNumberBits(size_t count);

/// Appends the lowest `size` bytes of a number, least significant byte first.
void addNumber(std::vector<uint8_t> &bytes, uint32_t number, int size);

/// A writer that appends bits to a list of bytes, least significant bit first.
class BitWriter {
public:
  explicit BitWriter(std::vector<uint8_t> &bytes) : bytes(bytes) {}

  void add(uint32_t bits, int count) {
    for (int i = 0; i < count; ++i, ++used) {
      if (used % 8 == 0)
        bytes.push_back(0);
      bytes.back() |= (bits >> i & 1) << used % 8;
    }
  }

private:
  std::vector<uint8_t> &bytes;
  int64_t used = 0;
};

/// Sets the fields of the shape that all forms except decode_codes have: blocks
/// of `block` elements, the last of which may be shorter.
void setBlocks(StoredForm &form, int number, int64_t elements, int64_t block);

/// Appends the blocks of a form behind its tables: first the offset of each
/// block, then the bytes that write(begin, end) appends for each.
void addBlocks(StoredForm &form,
               llvm::function_ref<void(int64_t, int64_t)> write);

} // namespace nnc::stored

#endif // NNC_DIALECTS_NN_STORED_WEIGHTS_FORMS_STOREDWRITERS_H
