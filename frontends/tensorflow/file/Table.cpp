//===- Table.cpp - The table in the index of a checkpoint -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A table is a sequence of blocks and a footer. The footer names the index
// block, whose values are the places of the data blocks. An entry of a block
// holds how many bytes its key shares with the one before, the other bytes of
// the key, and the value. Behind each block are its compression and its CRC.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/file/Table.h"

#include "llvm/Support/Endian.h"

#include <array>
#include <optional>

using namespace llvm;

static constexpr std::array<uint32_t, 256> makeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}

/// For each k, the CRCs of a byte that k zero bytes follow, so that eight bytes
/// are added in one step.
static constexpr std::array<std::array<uint32_t, 256>, 8> makeCrcTables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  tables[0] = makeCrcTable();
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t i = 0; i < 256; ++i)
      tables[k][i] =
          (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
  return tables;
}

uint32_t nnc::tensorflow::computeCrc32c(StringRef bytes) {
  static constexpr auto tables = makeCrcTables();
  uint32_t crc = ~0U;
  while (bytes.size() >= 8) {
    uint64_t word = support::endian::read64le(bytes.data()) ^ crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k)
      crc ^= tables[7 - k][(word >> (8 * k)) & 0xff];
    bytes = bytes.drop_front(8);
  }
  for (char c : bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

uint32_t nnc::tensorflow::maskCrc(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

namespace {
/// The place of a block in the file, without what follows it.
struct BlockHandle {
  uint64_t offset, size;
};
} // namespace

/// Bytes of a block's compression and CRC, and of a table's footer.
static constexpr size_t kTrailer = 5, kFooter = 48;
static constexpr uint64_t kMagic = 0xdb4775248b80fb57;

static Error damaged(const Twine &why) {
  return createStringError("is no table of a checkpoint, or is damaged: " +
                           why);
}

/// Takes a number of at most 64 bits from the front of `bytes`.
static bool takeVarint(StringRef &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes = bytes.drop_front();
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

static bool takeHandle(StringRef &bytes, BlockHandle &handle) {
  return takeVarint(bytes, handle.offset) && takeVarint(bytes, handle.size);
}

/// Returns the contents of a block, after a check of its CRC.
static Expected<StringRef> readBlock(StringRef file, BlockHandle handle) {
  if (handle.size > file.size() || file.size() - handle.size < kTrailer ||
      handle.offset > file.size() - handle.size - kTrailer)
    return damaged("a block lies beyond its end");
  StringRef block = file.substr(handle.offset, handle.size);
  StringRef trailer = file.substr(handle.offset + handle.size, kTrailer);
  uint32_t crc = computeCrc32c(file.substr(handle.offset, handle.size + 1));
  if (support::endian::read32le(trailer.data() + 1) !=
      nnc::tensorflow::maskCrc(crc))
    return damaged("a block does not have the CRC that is stored behind it");
  if (trailer[0] != 0)
    return createStringError(
        "has a block that is compressed" +
        Twine(trailer[0] == 1 ? " with snappy" : "") +
        "; save the model with a current TensorFlow, which does not compress");
  return block;
}

/// Calls `take` for each entry of a block.
static Error
readEntries(StringRef block,
            llvm::function_ref<Error(StringRef key, StringRef value)> take) {
  if (block.size() < 4)
    return damaged("a block is too short");
  uint64_t restarts =
      support::endian::read32le(block.data() + block.size() - 4);
  if (restarts > (block.size() - 4) / 4)
    return damaged("a block has more restart points than bytes");
  StringRef entries = block.drop_back(4 + 4 * restarts);
  std::string key;
  while (!entries.empty()) {
    uint64_t shared, own, length;
    if (!takeVarint(entries, shared) || !takeVarint(entries, own) ||
        !takeVarint(entries, length) || shared > key.size() ||
        own > entries.size() || length > entries.size() - own)
      return damaged("an entry of a block lies beyond its end");
    key.resize(shared);
    key += entries.take_front(own);
    StringRef value = entries.substr(own, length);
    entries = entries.drop_front(own + length);
    if (Error error = take(key, value))
      return error;
  }
  return Error::success();
}

Expected<StringMap<std::string>> nnc::tensorflow::readTable(StringRef file) {
  if (file.size() < kFooter ||
      support::endian::read64le(file.end() - 8) != kMagic)
    return damaged("it does not end as one");
  StringRef footer = file.take_back(kFooter);
  BlockHandle metaIndex, index;
  if (!takeHandle(footer, metaIndex) || !takeHandle(footer, index))
    return damaged("its footer has no places of blocks");
  StringMap<std::string> table;
  uint64_t bytes = 0;
  auto takeEntry = [&](StringRef key, StringRef value) -> Error {
    // Keys that share bytes, and blocks that several handles name, take more
    // memory than the file. Sound tables have keys of a few hundred bytes.
    bytes += key.size() + value.size();
    if (bytes > 16 * uint64_t(file.size()) + (1 << 20))
      return damaged("its entries hold far more bytes than the file");
    if (!table.try_emplace(key, value.str()).second)
      return damaged("it has the key '" + key + "' twice");
    return Error::success();
  };
  auto indexBlock = readBlock(file, index);
  if (!indexBlock)
    return indexBlock.takeError();
  Error error =
      readEntries(*indexBlock, [&](StringRef, StringRef value) -> Error {
        BlockHandle handle;
        if (!takeHandle(value, handle))
          return damaged("an entry of its index is no place of a block");
        auto block = readBlock(file, handle);
        return block ? readEntries(*block, takeEntry) : block.takeError();
      });
  if (error)
    return std::move(error);
  return std::move(table);
}
