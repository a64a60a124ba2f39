//===- Archive.h - Files in a zip archive ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_ARCHIVE_H
#define NNC_FRONTENDS_COMMON_ARCHIVE_H

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nnc::frontends {

/// A zip archive, mapped into memory, whose files are read in place. ZIP64 is
/// supported. Compressed and encrypted files are listed but not read, so that
/// no archive takes more memory than its own size.
class Archive {
public:
  /// A file in the archive.
  struct Entry {
    std::string name; ///< relative path, with '/' between folders
    uint64_t size = 0;
    bool isCompressed = false, isEncrypted = false;
    uint32_t crc = 0;
    /// The position of the file's bytes in the archive; 0 for a file that
    /// cannot be read in place.
    uint64_t offset = 0;

    /// Returns false if nnc does not read the form in which the file is stored.
    bool isReadable() const { return !isCompressed && !isEncrypted; }
  };

  /// Opens the archive at `path` and checks its list of files. Fails if that
  /// list is damaged, if two files have the same name, if a name is absolute or
  /// contains "..", or if the bytes of a file are not all in the archive. The
  /// message completes a sentence that starts with the archive.
  static llvm::Expected<std::unique_ptr<Archive>> open(llvm::StringRef path);

  /// Returns the files in the order of the list, without folders.
  llvm::ArrayRef<Entry> getEntries() const { return entries; }
  /// Returns the file `name`, or null.
  const Entry *find(llvm::StringRef name) const;
  /// Returns the only file whose path ends in `name`, which follows the name of
  /// a folder, or null if there is none or several.
  const Entry *findBelowFolder(llvm::StringRef name) const;

  /// Returns the bytes of a file, after a check of its CRC. Fails if they are
  /// damaged, compressed or encrypted. The message completes a sentence that
  /// starts with the archive.
  llvm::Expected<llvm::StringRef> read(const Entry &entry) const;
  /// Returns bytes that read() returned as a blob, aligned to `align`. They are
  /// copied only if they are not aligned in the archive.
  mlir::AsmResourceBlob share(llvm::StringRef bytes, size_t align) const;

  /// Returns the bytes of the whole archive.
  llvm::StringRef getBytes() const { return file->getBuffer(); }

private:
  explicit Archive(std::unique_ptr<llvm::MemoryBuffer> file)
      : file(std::move(file)) {}

  std::shared_ptr<llvm::MemoryBuffer> file;
  std::vector<Entry> entries;
  llvm::StringMap<size_t> numbers; ///< places in `entries`, by name
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_ARCHIVE_H
