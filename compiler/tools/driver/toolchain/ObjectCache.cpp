//===- ObjectCache.cpp - Object files of the runner ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/toolchain/ObjectCache.h"

#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/driver/system/UserCache.h"
#include "compiler/tools/runner/Sources.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace nnc::tools {

/// The largest number of files in the cache. An object takes about 100 kB.
static constexpr size_t kMostFiles = 200;

/// Variables by which GCC and Clang find headers and programs.
static constexpr const char *kVariables[] = {
    "CPATH",           "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
    "GCC_EXEC_PREFIX", "COMPILER_PATH",  "CCC_OVERRIDE_OPTIONS",
    "SDKROOT"};

/// Returns the path, size and time of modification of the program that a
/// command starts, or an empty string if the program is not found.
static std::string identify(llvm::StringRef program) {
  llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(program);
  llvm::SmallString<256> real;
  fs::file_status status;
  if (!found || fs::real_path(*found, real) || fs::status(real, status))
    return "";
  return fmt::format(
      "{} {} {}", real.str().str(), status.getSize(),
      status.getLastModificationTime().time_since_epoch().count());
}

/// Returns the name and the features of this machine's processor, on which code
/// depends that is compiled with -march=native.
static std::string describeHost() {
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.getValue())
      features.push_back(feature.getKey().str());
  llvm::sort(features);
  return llvm::sys::getHostCPUName().str() + " " + llvm::join(features, ",");
}

ObjectCache::ObjectCache(const Toolchain &toolchain) : toolchain(toolchain) {
  if (toolchain.hostCompiler.empty())
    return;
  this->toolchain.compiler = toolchain.hostCompiler;
  this->toolchain.flags.clear();
}

void ObjectCache::open() {
  if (std::exchange(isOpen, true))
    return;
  std::optional<std::string> user = findUserCache();
  Words command = splitCommand(toolchain.compiler);
  if (!user || command.empty())
    return;
  std::string program = identify(command.front());
  llvm::Expected<std::string> version = compilerVersion(toolchain);
  if (!version || program.empty()) {
    llvm::consumeError(version.takeError());
    return;
  }
  place = *user + "/runner";
  base = program + "\n" + *version + "\n" + toolchain.compiler + "\n" +
         llvm::join(toolchain.flags, " ") + "\n" + describeHost() + "\n";
  for (const char *variable : kVariables)
    if (const char *value = std::getenv(variable))
      base += std::string(variable) + "=" + value + "\n";
  for (const runner::Source &source : runner::getSources())
    base += source.text;
}

std::string ObjectCache::getPath(const CompileJob &job,
                                 const std::string &folder) const {
  auto relative = [&](llvm::StringRef word) {
    size_t at = word.find(folder);
    return at == llvm::StringRef::npos
               ? word.str()
               : (word.take_front(at) + word.drop_front(at + folder.size()))
                     .str();
  };
  llvm::SHA256 hash;
  hash.update(base);
  for (const std::string &word : job.flags)
    hash.update("\n" + relative(word));
  hash.update("\n" + relative(job.source));
  return place + "/" + llvm::toHex(hash.final(), /*LowerCase=*/true) + ".o";
}

bool ObjectCache::restore(const CompileJob &job, const std::string &folder) {
  if (job.callsCuda)
    return false;
  open();
  if (place.empty())
    return false;
  std::string kept = getPath(job, folder);
  // A file may be empty if the machine crashed while it was written.
  uint64_t size;
  if (fs::file_size(kept, size) || size == 0 ||
      fs::copy_file(kept, job.object)) {
    fs::remove(job.object);
    return false;
  }
  // The time of modification of a file tells when it was last used.
  int descriptor;
  if (!fs::openFileForWrite(kept, descriptor, fs::CD_OpenExisting)) {
    (void)fs::setLastAccessAndModificationTime(
        descriptor, std::chrono::system_clock::now());
    fs::closeFile(descriptor);
  }
  return true;
}

void ObjectCache::store(llvm::ArrayRef<CompileJob> jobs,
                        const std::string &folder) {
  if (jobs.empty())
    return;
  open();
  if (place.empty() || fs::create_directories(place))
    return;
  for (const CompileJob &job : jobs) {
    if (job.callsCuda)
      continue;
    llvm::SmallString<256> made;
    if (fs::createUniqueFile(place + "/%%%%%%%%.tmp", made))
      return;
    if (fs::copy_file(job.object, made) ||
        fs::rename(made, getPath(job, folder)))
      fs::remove(made);
  }
  removeOldest();
}

void ObjectCache::removeOldest() const {
  std::vector<std::pair<llvm::sys::TimePoint<>, std::string>> files;
  std::error_code code;
  for (fs::directory_iterator i(place, code), end; i != end && !code;
       i.increment(code))
    if (llvm::ErrorOr<fs::basic_file_status> status = i->status())
      files.push_back({status->getLastModificationTime(), i->path()});
  if (files.size() <= kMostFiles)
    return;
  std::sort(files.begin(), files.end());
  files.resize(files.size() - kMostFiles);
  for (const auto &[time, file] : files)
    fs::remove(file);
}

} // namespace nnc::tools
