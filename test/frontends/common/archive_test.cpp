//===- archive_test.cpp - Tests of zip archives ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The archives are written here, by the published description of the format,
// so that each field can be wrong.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Archive.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <catch2/catch.hpp>
#include <zlib.h>

using nnc::frontends::Archive;

namespace {

/// A file as a test writes it into an archive.
struct File {
  std::string name, bytes;
  uint16_t method = 0, flags = 0;
  /// The size that the list states in place of the true one.
  std::optional<uint32_t> size = std::nullopt;
  bool hasWrongCrc = false;
  /// Whether sizes, and sizes and the position of the file in the list, have 64
  /// bits.
  bool isZip64 = false, hasLongOffset = false;
};

template <class T> void put(std::string &to, T number) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to.push_back(static_cast<char>(number >> (8 * i)));
}

/// Appends the fields that the header of a file and its entry in the list have
/// in common, from the version to the lengths of name and extra field.
void putCommon(std::string &to, const File &file, uint32_t crc, size_t extra) {
  uint32_t size = file.size.value_or(file.bytes.size());
  put<uint16_t>(to, file.isZip64 ? 45 : 20);
  put<uint16_t>(to, file.flags);
  put<uint16_t>(to, file.method);
  put<uint32_t>(to, 0x00210000); // date and time
  put<uint32_t>(to, crc);
  put<uint32_t>(to, file.isZip64 ? 0xffffffff : size);
  put<uint32_t>(to, file.isZip64 ? 0xffffffff : size);
  put<uint16_t>(to, file.name.size());
  put<uint16_t>(to, extra);
}

/// Returns the extra fields of a file, among them that with the numbers of 64
/// bits if it has one.
std::string getExtra(const File &file, std::optional<uint64_t> offset) {
  std::string extra;
  if (file.isZip64) {
    put<uint16_t>(extra, 0x5455); // another field, of three bytes
    put<uint16_t>(extra, 3);
    extra += "abc";
    put<uint16_t>(extra, 1);
    put<uint16_t>(extra, offset ? 24 : 16);
    put<uint64_t>(extra, file.bytes.size());
    put<uint64_t>(extra, file.bytes.size());
    if (offset)
      put<uint64_t>(extra, *offset);
  }
  return extra;
}

std::string writeZip(const std::vector<File> &files) {
  std::string zip, list;
  for (const File &file : files) {
    uint32_t crc = crc32(0, reinterpret_cast<const Bytef *>(file.bytes.data()),
                         file.bytes.size()) +
                   file.hasWrongCrc;
    std::optional<uint64_t> offset;
    if (file.hasLongOffset)
      offset = zip.size();
    std::string extra = getExtra(file, offset);
    put<uint32_t>(list, 0x02014b50);
    put<uint16_t>(list, 45);
    putCommon(list, file, crc, extra.size());
    put<uint16_t>(list, 0); // length of the comment
    put<uint16_t>(list, 0); // disk
    put<uint16_t>(list, 0);
    put<uint32_t>(list, 0);
    put<uint32_t>(list, offset ? UINT32_MAX : zip.size());
    list += file.name + extra;
    extra = getExtra(file, std::nullopt);
    put<uint32_t>(zip, 0x04034b50);
    putCommon(zip, file, crc, extra.size());
    zip += file.name + extra + file.bytes;
  }
  size_t start = zip.size();
  zip += list;
  put<uint32_t>(zip, 0x06054b50);
  put<uint32_t>(zip, 0); // disks
  put<uint16_t>(zip, files.size());
  put<uint16_t>(zip, files.size());
  put<uint32_t>(zip, list.size());
  put<uint32_t>(zip, start);
  put<uint16_t>(zip, 0); // length of the comment
  return zip;
}

/// A temporary file with the given bytes.
struct Saved {
  explicit Saved(llvm::StringRef bytes) {
    int handle = -1;
    REQUIRE(
        !llvm::sys::fs::createTemporaryFile("archive", "zip", handle, path));
    llvm::raw_fd_ostream(handle, /*shouldClose=*/true) << bytes;
  }
  ~Saved() { llvm::sys::fs::remove(path); }
  llvm::SmallString<128> path;
};

llvm::Expected<std::unique_ptr<Archive>> open(llvm::StringRef bytes) {
  Saved saved(bytes);
  return Archive::open(saved.path);
}

std::string getProblem(llvm::StringRef bytes) {
  auto archive = open(bytes);
  return archive ? "" : llvm::toString(archive.takeError());
}

std::string getProblemOf(const std::vector<File> &files) {
  return getProblem(writeZip(files));
}

TEST_CASE("files are read in place") {
  std::string weights;
  for (int i = 0; i < 1000; ++i)
    put<uint16_t>(weights, i * 31);
  for (auto [isZip64, isFar] :
       {std::pair(false, false), {true, false}, {true, true}}) {
    auto archive = open(writeZip({{"net/", ""},
                                  {"net/models/model.json", "{}"},
                                  {"net/data/weights", weights, 0, 0,
                                   std::nullopt, false, isZip64, isFar},
                                  {"net/empty", ""}}));
    if (!archive)
      FAIL(llvm::toString(archive.takeError()));
    const Archive &zip = **archive;
    CHECK(zip.getEntries().size() == 3);
    CHECK(!zip.find("net/"));
    CHECK(!zip.find("models/model.json"));
    const Archive::Entry *model = zip.findBelowFolder("models/model.json");
    REQUIRE(model);
    CHECK(model == zip.find("net/models/model.json"));
    CHECK(llvm::cantFail(zip.read(*model)) == "{}");
    llvm::StringRef read =
        llvm::cantFail(zip.read(*zip.find("net/data/weights")));
    CHECK(read == weights);
    CHECK(read.data() >= zip.getBytes().begin());
    CHECK(read.data() + read.size() <= zip.getBytes().end());
    CHECK(llvm::cantFail(zip.read(*zip.find("net/empty"))).empty());
  }
}

TEST_CASE("blobs outlive the archive and are aligned") {
  std::optional<mlir::AsmResourceBlob> aligned, copied;
  {
    auto archive = open(writeZip({{"a", "0123456789abcdefghij"}}));
    REQUIRE(bool(archive));
    llvm::StringRef bytes =
        llvm::cantFail((*archive)->read((*archive)->getEntries()[0]));
    // The start of one of two neighbours is not aligned to 2 bytes.
    for (size_t at : {0, 1}) {
      bool isAligned =
          (reinterpret_cast<uintptr_t>(bytes.data()) + at) % 2 == 0;
      auto &blob = isAligned ? aligned : copied;
      blob.emplace((*archive)->share(bytes.substr(at, 8), 2));
      CHECK((blob->getData().data() == bytes.data() + at) == isAligned);
    }
  }
  for (auto *blob : {&aligned, &copied}) {
    llvm::StringRef bytes((*blob)->getData().data(), 8);
    CHECK((bytes == "01234567" || bytes == "12345678"));
    CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % 2 == 0);
  }
}

TEST_CASE("names that leave the archive are refused") {
  for (const char *name :
       {"/etc/passwd", "../up", "a/../../b", "a/..", "a\\b"}) {
    CAPTURE(name);
    CHECK(llvm::StringRef(getProblemOf({{name, "x"}}))
              .contains("outside of the archive"));
  }
  CHECK(getProblemOf({{"a..b/c", "x"}}).empty());
  CHECK(llvm::StringRef(getProblemOf({{"a\xff", "x"}})).contains("UTF-8"));
  CHECK(llvm::StringRef(getProblemOf({{"a", "x"}, {"a", "y"}}))
            .contains("two files with the name 'a'"));
}

TEST_CASE("files that cannot be read in place are named") {
  auto archive = open(writeZip({{"packed", "x", 8},
                                {"secret", "x", 0, 1},
                                {"wrong", "x", 0, 0, std::nullopt, true}}));
  REQUIRE(bool(archive));
  auto getReason = [&](llvm::StringRef name) {
    auto bytes = (*archive)->read(*(*archive)->find(name));
    return bytes ? "" : llvm::toString(bytes.takeError());
  };
  CHECK(llvm::StringRef(getReason("packed"))
            .contains("'packed' that is compressed"));
  CHECK(llvm::StringRef(getReason("secret"))
            .contains("'secret' that is encrypted"));
  CHECK(
      llvm::StringRef(getReason("wrong")).contains("'wrong' that is damaged"));
}

TEST_CASE("archives that are cut off or lie are refused") {
  std::string zip = writeZip({{"a", "0123456789"}, {"b", "abcdef"}});
  REQUIRE(getProblem(zip).empty());
  for (size_t size = 0; size < zip.size(); ++size)
    CHECK(!getProblem(llvm::StringRef(zip).take_front(size)).empty());
  CHECK(llvm::StringRef(getProblemOf({{"a", "x", 0, 0, 1000000}}))
            .contains("not all in the archive"));
  // Every byte takes some other values; no value may read beyond the file.
  for (size_t at = 0; at < zip.size(); ++at)
    for (unsigned char flip : {1, 0x80, 0xff}) {
      std::string damaged = zip;
      damaged[at] ^= flip;
      auto archive = open(damaged);
      if (!archive) {
        CHECK(!llvm::toString(archive.takeError()).empty());
        continue;
      }
      for (const Archive::Entry &entry : (*archive)->getEntries()) {
        auto bytes = (*archive)->read(entry);
        if (!bytes)
          CHECK(!llvm::toString(bytes.takeError()).empty());
        else
          CHECK(bytes->size() == entry.size);
      }
    }
}

} // namespace
