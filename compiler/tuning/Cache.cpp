//===- Cache.cpp - Cache of measurements for later runs -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/Cache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <sqlite3.h>

using namespace nnc;

/// The time to wait for another process that is writing, in milliseconds.
static constexpr int kBusyMilliseconds = 10000;

/// The command that creates the table. SQLite's journal restores the file after
/// a power failure. If the columns change, the table needs a new name.
static constexpr const char *kTable =
    "CREATE TABLE IF NOT EXISTS measured_1 (machine TEXT, code TEXT, "
    "layer TEXT, routine TEXT, params TEXT, nanoseconds INTEGER NOT NULL, "
    "PRIMARY KEY (machine, code, layer, routine, params)) WITHOUT ROWID";
static constexpr const char *kFind =
    "SELECT nanoseconds FROM measured_1 WHERE machine = ? AND code = ? AND "
    "layer = ? AND routine = ? AND params = ?";
static constexpr const char *kAdd =
    "INSERT OR REPLACE INTO measured_1 VALUES (?, ?, ?, ?, ?, ?)";

static llvm::Error makeError(sqlite3 *database) {
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(), "%s: %s",
      database ? sqlite3_db_filename(database, "main") : "",
      database ? sqlite3_errmsg(database) : "out of memory");
}

namespace {
/// A prepared SQL statement.
class Statement {
public:
  Statement(sqlite3 *database, const char *command) {
    sqlite3_prepare_v2(database, command, -1, &handle, nullptr);
  }
  ~Statement() { sqlite3_finalize(handle); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  /// Sets the first five parameters, which are the key of a measurement.
  void bind(const Circumstances &where, const Subject &subject) {
    sqlite3_reset(handle);
    std::string params = llvm::join(
        llvm::map_range(subject.params,
                        [](int64_t param) { return std::to_string(param); }),
        " ");
    std::string routine = subject.getDescriptor();
    int column = 0;
    for (llvm::StringRef text :
         {llvm::StringRef(where.machine), llvm::StringRef(where.code),
          llvm::StringRef(subject.layer), llvm::StringRef(routine),
          llvm::StringRef(params)})
      sqlite3_bind_text(handle, ++column, text.data(), text.size(),
                        SQLITE_TRANSIENT);
  }
  void bindSixth(int64_t value) { sqlite3_bind_int64(handle, 6, value); }
  /// Returns SQLITE_ROW, SQLITE_DONE, or an error, which may be one of the
  /// preparation.
  int step() { return sqlite3_step(handle); }
  int64_t getFirst() { return sqlite3_column_int64(handle, 0); }

private:
  sqlite3_stmt *handle = nullptr;
};
} // namespace

void MeasurementCache::Close::operator()(sqlite3 *database) const {
  sqlite3_close(database);
}

llvm::Error MeasurementCache::execute(const char *command) {
  if (sqlite3_exec(database.get(), command, nullptr, nullptr, nullptr))
    return makeError(database.get());
  return llvm::Error::success();
}

llvm::Expected<MeasurementCache>
MeasurementCache::open(llvm::StringRef folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError(code, "%s: %s", folder.str().c_str(),
                                   code.message().c_str());
  std::string file = (folder + "/measurements.sqlite").str();
  sqlite3 *handle = nullptr;
  int status = sqlite3_open(file.c_str(), &handle);
  MeasurementCache cache(handle);
  if (status)
    return makeError(handle);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (llvm::Error error = cache.execute(kTable))
    return error;
  return cache;
}

llvm::Expected<std::optional<int64_t>>
MeasurementCache::find(const Circumstances &where, const Subject &subject) {
  Statement select(database.get(), kFind);
  select.bind(where, subject);
  switch (select.step()) {
  case SQLITE_ROW:
    return select.getFirst();
  case SQLITE_DONE:
    return std::nullopt;
  default:
    return makeError(database.get());
  }
}

llvm::Error MeasurementCache::add(llvm::ArrayRef<Entry> entries) {
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  Statement insert(database.get(), kAdd);
  for (const Entry &entry : entries) {
    insert.bind(entry.where, entry.subject);
    insert.bindSixth(entry.nanoseconds);
    if (insert.step() == SQLITE_DONE)
      continue;
    llvm::Error error = makeError(database.get());
    return llvm::joinErrors(std::move(error), execute("ROLLBACK"));
  }
  return execute("COMMIT");
}
