//===- tuning_cache_test.cpp - What one process keeps the others find -----===//

#include "compiler/tuning/Cache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace nnc;

namespace {
/// A temporary folder that the destructor removes.
class Folder {
public:
  Folder() { llvm::sys::fs::createUniqueDirectory("nnc-cache", path); }
  ~Folder() { llvm::sys::fs::remove_directories(path); }
  MeasurementCache open() const {
    return llvm::cantFail(MeasurementCache::open(path));
  }
  llvm::SmallString<64> path;
};
} // namespace

static const Circumstances kHere{"znver4, 1 threads", "1f"};

static Subject getSubject(int i) {
  return {"conv2d n=" + std::to_string(i), "conv2d_f32_portable", {1, i}};
}

TEST_CASE("The cache finds what it was given, and nothing else") {
  Folder folder;
  {
    MeasurementCache cache = folder.open();
    llvm::cantFail(cache.add({{kHere, getSubject(1), 10},
                              {kHere, getSubject(2), 20},
                              {kHere, getSubject(1), 11}}));
  }
  MeasurementCache cache = folder.open();
  auto find = [&](const Circumstances &where, const Subject &subject) {
    return llvm::cantFail(cache.find(where, subject));
  };
  CHECK(find(kHere, getSubject(1)) == 11);
  CHECK(find(kHere, getSubject(2)) == 20);
  CHECK_FALSE(find(kHere, getSubject(3)));
  CHECK_FALSE(find({kHere.machine, "20"}, getSubject(1)));
  CHECK_FALSE(find({"znver3, 1 threads", kHere.code}, getSubject(1)));
  CHECK_FALSE(find(kHere, {"conv2d n=1", "conv2d_f32_portable", {1, 2}}));
  // A measurement is one of a device.
  CHECK_FALSE(
      find(kHere, {"conv2d n=1", "conv2d_f32_portable", {1, 1}, "shadow"}));
}

TEST_CASE("Processes write at once") {
  Folder folder;
  constexpr int processes = 4, each = 50;
  for (int process = 0; process < processes; ++process) {
    if (fork() != 0)
      continue;
    MeasurementCache cache = folder.open();
    for (int i = 0; i < each; ++i)
      llvm::cantFail(
          cache.add({{kHere, getSubject(process * each + i), i + 1}}));
    _exit(0);
  }
  for (int process = 0; process < processes; ++process) {
    int status = -1;
    wait(&status);
    CHECK(status == 0);
  }
  MeasurementCache cache = folder.open();
  for (int i = 0; i < processes * each; ++i)
    CHECK(llvm::cantFail(cache.find(kHere, getSubject(i))) == i % each + 1);
}
