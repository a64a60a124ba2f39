//===- Npz.cpp - Reads NumPy's .npz files ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Such a file is a ZIP archive of .npy files. The format:
// https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/tensors/Npz.h"

#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>
#include <zlib.h>

namespace nnc::tools {
namespace {

namespace endian = llvm::support::endian;

/// A file in the archive, as the archive's directory describes it.
struct Entry {
  std::string name;
  unsigned method;
  uint32_t checksum;
  /// The sizes in bytes, and the offset of the file's own header.
  uint64_t packedBytes, bytes, header;
};

/// Reads little-endian numbers at offsets that may lie outside of the file.
class Archive {
public:
  explicit Archive(llvm::StringRef bytes) : bytes(bytes) {}
  llvm::Expected<std::vector<Entry>> readDirectory() const;
  llvm::Expected<std::string> unpack(const Entry &entry) const;

private:
  bool has(uint64_t at, uint64_t size) const {
    return at <= bytes.size() && size <= bytes.size() - at;
  }
  template <class T> T get(uint64_t at) const {
    return has(at, sizeof(T))
               ? endian::read<T, llvm::endianness::little>(bytes.data() + at)
               : 0;
  }
  void readLargeSizes(Entry &entry, uint64_t at, uint64_t end) const;

  llvm::StringRef bytes;
};

llvm::Error truncated() {
  return makeError("is damaged or truncated: it is not a whole ZIP archive; "
                   "write it with numpy.savez");
}

} // namespace

/// Reads the sizes that do not fit in 32 bits from the extra fields at `at`.
void Archive::readLargeSizes(Entry &entry, uint64_t at, uint64_t end) const {
  while (at + 4 <= end) {
    unsigned kind = get<uint16_t>(at), size = get<uint16_t>(at + 2);
    uint64_t value = at + 4;
    at = value + size;
    if (kind != 1)
      continue;
    for (uint64_t *each : {&entry.bytes, &entry.packedBytes, &entry.header})
      if (*each == 0xffffffff) {
        *each = get<uint64_t>(value);
        value += 8;
      }
  }
}

llvm::Expected<std::vector<Entry>> Archive::readDirectory() const {
  // The end record comes last, followed only by a comment of up to 65535 bytes.
  size_t end = bytes.rfind(llvm::StringRef("PK\5\6", 4));
  if (end == llvm::StringRef::npos || !has(end, 22))
    return truncated();
  uint64_t count = get<uint16_t>(end + 10), at = get<uint32_t>(end + 16);
  if (end >= 20 && bytes.substr(end - 20, 4) == llvm::StringRef("PK\6\7", 4)) {
    uint64_t large = get<uint64_t>(end - 12);
    count = get<uint64_t>(large + 32);
    at = get<uint64_t>(large + 48);
  }
  std::vector<Entry> entries;
  for (; entries.size() < count;) {
    if (!has(at, 46) || bytes.substr(at, 4) != llvm::StringRef("PK\1\2", 4))
      return truncated();
    uint64_t nameBytes = get<uint16_t>(at + 28),
             extraBytes = get<uint16_t>(at + 30),
             commentBytes = get<uint16_t>(at + 32);
    Entry entry{bytes.substr(at + 46, nameBytes).str(),
                get<uint16_t>(at + 10),
                get<uint32_t>(at + 16),
                get<uint32_t>(at + 20),
                get<uint32_t>(at + 24),
                get<uint32_t>(at + 42)};
    at += 46 + nameBytes;
    readLargeSizes(entry, at, at + extraBytes);
    at += extraBytes + commentBytes;
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Decompresses data that was compressed with "deflate", without a zlib header.
static bool inflateAll(llvm::StringRef packed, std::string &text) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return false;
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef *>(text.data());
  // zlib counts in 32 bits.
  constexpr uint64_t most = 1u << 30;
  uint64_t in = packed.size(), out = text.size();
  int status = Z_OK;
  while (status == Z_OK) {
    auto giveIn = static_cast<uInt>(std::min(in, most)),
         giveOut = static_cast<uInt>(std::min(out, most));
    stream.avail_in = giveIn;
    stream.avail_out = giveOut;
    status = inflate(&stream, Z_NO_FLUSH);
    in -= giveIn - stream.avail_in;
    out -= giveOut - stream.avail_out;
    if (giveIn == stream.avail_in && giveOut == stream.avail_out)
      break;
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && out == 0;
}

llvm::Expected<std::string> Archive::unpack(const Entry &entry) const {
  // The name and the extra fields are repeated in front of the data.
  uint64_t at = entry.header;
  if (!has(at, 30) || bytes.substr(at, 4) != llvm::StringRef("PK\3\4", 4))
    return truncated();
  at += 30 + get<uint16_t>(at + 26) + get<uint16_t>(at + 28);
  if (!has(at, entry.packedBytes))
    return truncated();
  llvm::StringRef packed = bytes.substr(at, entry.packedBytes);
  std::string text;
  // "deflate" cannot compress by more than a factor of 1032.
  bool isSound = entry.method == 0 ? entry.bytes == packed.size()
                                   : entry.bytes / 1100 <= packed.size();
  if (entry.method != 0 && entry.method != 8)
    return makeError(fmt::format(
        "has its array {} packed by a method that nnc does not know; write it "
        "with numpy.savez or numpy.savez_compressed",
        entry.name));
  if (isSound && entry.method == 0)
    text = packed.str();
  if (isSound && entry.method == 8) {
    text.resize(entry.bytes);
    isSound = inflateAll(packed, text);
  }
  if (!isSound ||
      llvm::crc32(llvm::arrayRefFromStringRef(text)) != entry.checksum)
    return makeError(fmt::format("is damaged: the array {} has not the bytes "
                                 "that were written",
                                 entry.name));
  return text;
}

llvm::Expected<std::vector<std::pair<std::string, Tensor>>>
readNpz(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError(
        fmt::format("cannot read {}: {}", path, buffer.getError().message()),
        buffer.getError());
  auto fail = [&](llvm::Error error) {
    return makeError(path + " " + llvm::toString(std::move(error)));
  };
  Archive archive((*buffer)->getBuffer());
  llvm::Expected<std::vector<Entry>> entries = archive.readDirectory();
  if (!entries)
    return fail(entries.takeError());
  std::vector<std::pair<std::string, Tensor>> arrays;
  for (const Entry &entry : *entries) {
    llvm::Expected<std::string> text = archive.unpack(entry);
    if (!text)
      return fail(text.takeError());
    llvm::Expected<Tensor> tensor = parseNpy(*text);
    if (!tensor)
      return fail(makeError(fmt::format("has an array {} that {}", entry.name,
                                        llvm::toString(tensor.takeError()))));
    llvm::StringRef name = entry.name;
    name.consume_back(".npy");
    arrays.emplace_back(name.str(), std::move(*tensor));
  }
  return arrays;
}

} // namespace nnc::tools
