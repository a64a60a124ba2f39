//===- Archive.cpp - Files in a zip archive -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// minizip reads the list of files. It gets the archive as a file in memory,
// and every position that it returns is checked against the archive's size.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Archive.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <cstring>
#include <minizip/unzip.h>
#include <zlib.h>

using namespace nnc::frontends;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// A file in memory, as minizip reads it
//===----------------------------------------------------------------------===//

namespace {
struct MemoryFile {
  StringRef bytes;
  uint64_t position = 0;
  bool isCutOff = false; ///< whether bytes behind the end were asked for
};
} // namespace

static MemoryFile &getFile(voidpf stream) {
  return *static_cast<MemoryFile *>(stream);
}

static voidpf openMemory(voidpf file, const void *, int) { return file; }

static uLong readMemory(voidpf, voidpf stream, void *to, uLong size) {
  MemoryFile &file = getFile(stream);
  uint64_t left = file.bytes.size() - file.position;
  uLong count = std::min<uint64_t>(size, left);
  std::memcpy(to, file.bytes.data() + file.position, count);
  file.position += count;
  file.isCutOff |= count < size;
  return count;
}

static ZPOS64_T tellMemory(voidpf, voidpf stream) {
  return getFile(stream).position;
}

static long seekMemory(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  MemoryFile &file = getFile(stream);
  uint64_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? file.position
                  : origin == ZLIB_FILEFUNC_SEEK_END ? file.bytes.size()
                                                     : 0;
  // Steps backwards are negative numbers, which wrap around.
  if (from + offset > file.bytes.size())
    return -1;
  file.position = from + offset;
  return 0;
}

static int closeMemory(voidpf, voidpf) { return 0; }
// minizip takes bytes that are missing without an error for zeros.
static int hasError(voidpf, voidpf stream) { return getFile(stream).isCutOff; }

//===----------------------------------------------------------------------===//
// The list of files
//===----------------------------------------------------------------------===//

static llvm::Error fail(const llvm::Twine &why) {
  return llvm::createStringError(why);
}

/// Returns why a file in an archive may not have `name`, or an empty string.
static std::string findNameProblem(StringRef name) {
  namespace path = llvm::sys::path;
  if (!llvm::json::isUTF8(name) || name.contains('\0'))
    return "has a file whose name is not UTF-8";
  bool climbs = false;
  for (StringRef part : llvm::split(name, '/'))
    climbs |= part == "..";
  if (name.empty() || path::is_absolute(name, path::Style::posix) || climbs ||
      name.contains('\\'))
    return ("has a file '" + name + "', which would lie outside of the archive")
        .str();
  return "";
}

/// Returns true if the record that ends an archive is not all there. minizip
/// takes a comment that is missing, and fields that it does not need.
static bool isCutOff(StringRef archive) {
  constexpr uint64_t kRecord = 22;
  size_t begin = archive.rfind("PK\5\6");
  if (begin == StringRef::npos || archive.size() - begin < kRecord)
    return true;
  uint64_t comment =
      llvm::support::endian::read16le(archive.data() + begin + kRecord - 2);
  return archive.size() - begin - kRecord < comment;
}

namespace {
/// The fields of 64 bits in the list of files. Debian 12's minizip does not use
/// them.
struct LongFields {
  std::optional<uint64_t> size, packedSize, headerOffset;
};
} // namespace

/// Returns the fields of 64 bits from the extra field of a file. Each is there
/// if its field of 32 bits has the largest number.
static LongFields readLongFields(StringRef extra, const unz_file_info64 &info) {
  namespace endian = llvm::support::endian;
  LongFields fields;
  while (extra.size() >= 4) {
    uint16_t kind = endian::read16le(extra.data());
    StringRef data = extra.substr(4, endian::read16le(extra.data() + 2));
    extra = extra.drop_front(4 + data.size());
    if (kind != 1)
      continue;
    auto take = [&](bool isThere) -> std::optional<uint64_t> {
      if (!isThere || data.size() < 8)
        return std::nullopt;
      uint64_t number = endian::read64le(data.data());
      data = data.drop_front(8);
      return number;
    };
    fields.size = take(info.uncompressed_size == UINT32_MAX);
    fields.packedSize = take(info.compressed_size == UINT32_MAX);
    fields.headerOffset = take(true);
    break;
  }
  return fields;
}

/// Returns the position of the bytes of a file whose own header is at `offset`,
/// or nullopt if there is no such header.
static std::optional<uint64_t> skipHeader(StringRef archive, uint64_t offset) {
  namespace endian = llvm::support::endian;
  constexpr uint64_t kHeader = 30;
  if (archive.size() < kHeader || offset > archive.size() - kHeader)
    return std::nullopt;
  const char *header = archive.data() + offset;
  if (endian::read32le(header) != 0x04034b50)
    return std::nullopt;
  return offset + kHeader + endian::read16le(header + 26) +
         endian::read16le(header + 28);
}

llvm::Expected<std::unique_ptr<Archive>> Archive::open(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail("cannot be read: " + file.getError().message());
  std::unique_ptr<Archive> archive(new Archive(std::move(*file)));
  StringRef bytes = archive->getBytes();
  MemoryFile memory{bytes};
  zlib_filefunc64_def functions = {openMemory, readMemory, nullptr,
                                   tellMemory, seekMemory, closeMemory,
                                   hasError,   &memory};
  unzFile zip = unzOpen2_64(&memory, &functions);
  if (!zip)
    return fail("is a zip archive without its list of files, which stands at "
                "the end: the file was not fetched or saved as a whole");
  auto close = llvm::make_scope_exit([&] { unzClose(zip); });
  if (isCutOff(bytes))
    return fail("is a zip archive whose end is missing: the file was not "
                "fetched or saved as a whole");
  const auto damaged = [&] {
    return fail("is a zip archive whose list of files is damaged");
  };
  // Each file takes at least 46 bytes of the list.
  unz_global_info64 global;
  if (unzGetGlobalInfo64(zip, &global) != UNZ_OK ||
      global.number_entry > bytes.size() / 46)
    return damaged();
  for (uint64_t i = 0; i < global.number_entry; ++i) {
    if ((i == 0 ? unzGoToFirstFile(zip) : unzGoToNextFile(zip)) != UNZ_OK)
      return damaged();
    unz_file_info64 info;
    if (unzGetCurrentFileInfo64(zip, &info, nullptr, 0, nullptr, 0, nullptr,
                                0) != UNZ_OK)
      return damaged();
    // minizip puts a zero behind a name.
    std::string name(info.size_filename + 1, '\0');
    std::string extra(info.size_file_extra, '\0');
    if (unzGetCurrentFileInfo64(zip, &info, name.data(), name.size(),
                                extra.data(), extra.size(), nullptr,
                                0) != UNZ_OK)
      return damaged();
    name.pop_back();
    LongFields fields = readLongFields(extra, info);
    if (std::string problem = findNameProblem(name); !problem.empty())
      return fail(problem);
    if (name.back() == '/')
      continue;
    Entry entry;
    entry.name = name;
    entry.size = fields.size.value_or(info.uncompressed_size);
    entry.crc = info.crc;
    entry.isEncrypted = info.flag & 1;
    entry.isCompressed = info.compression_method != 0;
    if (!entry.isEncrypted && !entry.isCompressed) {
      std::optional<uint64_t> offset;
      // In raw mode, minizip checks the file's own header and decodes nothing.
      int method = 0, level = 0;
      if (fields.headerOffset) {
        offset = skipHeader(bytes, *fields.headerOffset);
      } else if (unzOpenCurrentFile2(zip, &method, &level, /*raw=*/1) ==
                 UNZ_OK) {
        offset = unzGetCurrentFileZStreamPos64(zip);
        unzCloseCurrentFile(zip);
      }
      if (!offset)
        return damaged();
      entry.offset = *offset;
      uint64_t packed = fields.packedSize.value_or(info.compressed_size);
      if (packed != entry.size || entry.offset > bytes.size() ||
          entry.size > bytes.size() - entry.offset)
        return fail("has a file '" + name +
                    "' whose bytes are not all in the archive");
    }
    if (!archive->numbers.try_emplace(name, archive->entries.size()).second)
      return fail("has two files with the name '" + name + "'");
    archive->entries.push_back(std::move(entry));
  }
  return archive;
}

const Archive::Entry *Archive::find(StringRef name) const {
  auto found = numbers.find(name);
  return found == numbers.end() ? nullptr : &entries[found->second];
}

const Archive::Entry *Archive::findBelowFolder(StringRef name) const {
  const Entry *found = nullptr;
  for (const Entry &entry : entries) {
    StringRef folder = entry.name;
    if (!folder.consume_back(name) || !folder.ends_with("/"))
      continue;
    if (found)
      return nullptr;
    found = &entry;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

llvm::Expected<StringRef> Archive::read(const Entry &entry) const {
  if (entry.isEncrypted)
    return fail("has a file '" + entry.name +
                "' that is encrypted, which nnc does not read");
  if (entry.isCompressed)
    return fail("has a file '" + entry.name +
                "' that is compressed, which nnc does not read; store it "
                "without compression, as the framework writes it");
  StringRef bytes = getBytes().substr(entry.offset, entry.size);
  uLong crc =
      crc32_z(crc32_z(0, nullptr, 0),
              reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
  if (crc != entry.crc)
    return fail("has a file '" + entry.name +
                "' that is damaged: its bytes do not have the CRC that the "
                "archive states");
  return bytes;
}

mlir::AsmResourceBlob Archive::share(StringRef bytes, size_t align) const {
  llvm::ArrayRef<char> data(bytes.data(), bytes.size());
  if (reinterpret_cast<uintptr_t>(data.data()) % align)
    return mlir::HeapAsmResourceBlob::allocateAndCopyWithAlign(data, align);
  return mlir::AsmResourceBlob(
      data, align, [kept = file](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
}
