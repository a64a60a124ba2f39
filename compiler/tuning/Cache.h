//===- Cache.h - Cache of measurements for later runs ---------------------===//
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

/// The conditions of a measurement besides its subject. A measurement is valid
/// only under the same conditions.
struct Circumstances {
  std::string machine; ///< chip, compiler, flags, threads, where weights lie
  std::string code;    ///< hash of the routine's source text
};

/// A cache of measurements in a database file in a folder of the user. Any
/// number of processes may use it at once, and a process that is interrupted
/// leaves it intact.
class MeasurementCache {
public:
  /// Opens the database in `folder`. Creates the folder and the database if
  /// they do not exist.
  static llvm::Expected<MeasurementCache> open(llvm::StringRef folder);

  /// Returns the measured time in nanoseconds, or nullopt if there is none.
  llvm::Expected<std::optional<int64_t>> find(const Circumstances &where,
                                              const Subject &subject);

  struct Entry {
    Circumstances where;
    Subject subject;
    int64_t nanoseconds;
  };
  /// Stores the entries in one transaction: either all of them or none. They
  /// replace earlier entries with the same keys.
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
