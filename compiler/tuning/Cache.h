//===- Cache.h - Measurements that other runs can use ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TUNING_CACHE_H
#define NNC_COMPILER_TUNING_CACHE_H

#include "compiler/routines/Measurements.h"

#include "llvm/Support/Error.h"

#include <memory>

struct sqlite3;

namespace nnc {

/// What a measurement holds for, besides its subject.
struct Circumstances {
  std::string machine; ///< chip, compiler, flags, threads, where weights lie
  std::string code;    ///< a hash of the routine's text
};

/// A database file in a folder of the user's. Any number of processes may use
/// it at once, and one that ends halfway leaves it as it was.
class MeasurementCache {
public:
  /// Opens the database in `folder`, and makes both where they are not there.
  static llvm::Expected<MeasurementCache> open(llvm::StringRef folder);

  /// Nanoseconds, or nothing where that is not known.
  llvm::Expected<std::optional<int64_t>> find(const Circumstances &where,
                                              const Subject &subject);

  struct Entry {
    Circumstances where;
    Subject subject;
    int64_t nanoseconds;
  };
  /// Keeps all of the entries or none; newer ones replace older ones.
  llvm::Error add(llvm::ArrayRef<Entry> entries);

private:
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  explicit MeasurementCache(sqlite3 *database) : database(database) {}
  llvm::Error execute(const char *command);

  std::unique_ptr<sqlite3, Close> database;
};

} // namespace nnc

#endif // NNC_COMPILER_TUNING_CACHE_H
