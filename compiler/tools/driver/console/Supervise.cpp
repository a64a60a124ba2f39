//===- Supervise.cpp - Runs a command and reports its crashes -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Supervise.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nnc::tools {
namespace {

/// The memory that the command and its supervisor share.
struct Shared {
  static constexpr int slots = 16;
  char step[256];
  bool isOutOfMemory;
  char scratch[slots][4096];
};

Shared *shared() {
  static Shared *memory = [] {
    void *mapped = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    // Without shared memory nothing is cleaned up after a crash, but all else
    // works.
    return mapped == MAP_FAILED
               ? static_cast<Shared *>(std::calloc(1, sizeof(Shared)))
               : static_cast<Shared *>(mapped);
  }();
  return memory;
}

void removeAll(llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path) &&
      !llvm::sys::fs::is_symlink_file(path))
    llvm::sys::fs::remove_directories(path, /*IgnoreErrors=*/true);
  else
    llvm::sys::fs::remove(path);
}

int64_t mostMemory = 0, mostSeconds = 0; // 0: no limit

volatile pid_t child = 0;
volatile bool isOutOfTime = false;

void passOn(int signal) {
  // The signal goes to the whole group, so that compilers and emulators that
  // the command started end with it.
  if (child > 0)
    ::kill(-child, signal);
}

void stopChild(int) {
  isOutOfTime = true;
  passOn(SIGKILL);
}

constexpr int endings[] = {SIGINT, SIGTERM, SIGHUP};

[[noreturn]] void stopWithoutMemory() {
  shared()->isOutOfMemory = true; // the parent reports it
  std::_Exit(int(ExitCode::limit));
}

[[noreturn]] void runChild(llvm::function_ref<ExitCode()> command) {
  ::setpgid(0, 0);
  std::signal(SIGTTOU, SIG_IGN); // may write to the terminal all the same
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGXFSZ, SIG_IGN); // makes a file that is too large an error
  std::set_new_handler(stopWithoutMemory);
  // LLVM's own containers take memory without operator new.
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { stopWithoutMemory(); });
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    // Creating a thread also fails if there is no memory for its stack.
    if (llvm::StringRef(reason).starts_with("pthread_create failed"))
      stopWithoutMemory();
    printError(reason);
  });
  if (mostMemory) {
    rlimit most = {rlim_t(mostMemory), rlim_t(mostMemory)};
    ::setrlimit(RLIMIT_DATA, &most);
  }
  int code = int(finish(command()));
  // MLIR's contexts need not be destroyed.
  std::_Exit(code);
}

bool crashed = false;

/// Returns " while ..." with the command's last step, or an empty string.
std::string describeStep() {
  std::string step = shared()->step;
  return step.empty() ? "" : " while " + step;
}

int reportLimit(const std::string &problem) {
  crashed = true;
  printError(problem + describeStep());
  return int(ExitCode::limit);
}

int reportCrash(int signal) {
  crashed = true;
  std::string doing = describeStep();
  if (signal == SIGKILL) {
    printError("killed by the system" + doing +
               ", most likely for want of memory");
    return int(ExitCode::limit);
  }
  printError(fmt::format("a bug in nnc: {}{}; please report it with the model "
                         "and the command line",
                         ::strsignal(signal), doing));
  return int(ExitCode::ownFault);
}

} // namespace

bool hasCrashed() { return crashed; }

ExitCode finish(ExitCode code) {
  std::error_code failure = flushOut();
  std::fflush(stderr);
  if (!failure)
    return code;
  // This error is printed even with --json, since the document could not be
  // written.
  writeError("nnc: error: cannot write to standard output: " +
             failure.message() + "\n");
  return ExitCode::environment;
}

void limitMemory(int64_t bytes) { mostMemory = bytes; }

void limitTime(int64_t seconds) { mostSeconds = seconds; }

void noteStep(llvm::StringRef step) {
  step = step.take_front(sizeof(Shared::step) - 1);
  std::memcpy(shared()->step, step.data(), step.size());
  shared()->step[step.size()] = 0;
}

int supervise(llvm::function_ref<ExitCode()> command) {
  shared();
  if (std::getenv("NNC_IN_PROCESS"))
    return int(finish(command()));
  std::fflush(nullptr);
  pid_t pid = ::fork();
  if (pid < 0)
    return int(finish(command()));
  if (pid == 0)
    runChild(command);
  ::setpgid(pid, pid); // in parent and child, as either may run first
  child = pid;
  for (int signal : endings)
    std::signal(signal, passOn);
  if (mostSeconds) {
    std::signal(SIGALRM, stopChild);
    ::alarm(unsigned(std::min<int64_t>(mostSeconds, UINT_MAX)));
  }

  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  child = 0;
  ::alarm(0);
  for (const char *path : shared()->scratch)
    if (*path)
      removeAll(path);
  if (isOutOfTime) {
    clearProgress();
    return reportLimit(fmt::format("not done after {} s, as --limit time={}s "
                                   "says,",
                                   mostSeconds, mostSeconds));
  }
  if (shared()->isOutOfMemory)
    return reportLimit(
        mostMemory ? fmt::format("takes more memory than --limit memory={} "
                                 "allows",
                                 mostMemory)
                   : "out of memory");
  if (WIFEXITED(status))
    return WEXITSTATUS(status);
  int signal = WTERMSIG(status);
  for (int ending : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    if (signal == ending) {
      clearProgress();
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
  return reportCrash(signal);
}

Scratch::Scratch(std::string path) : where(std::move(path)), slot(-1) {
  for (int i = 0; i < Shared::slots && slot < 0; ++i)
    if (!shared()->scratch[i][0] &&
        where.size() < sizeof shared()->scratch[i]) {
      std::memcpy(shared()->scratch[i], where.c_str(), where.size() + 1);
      slot = i;
    }
}

Scratch::~Scratch() {
  if (where.empty())
    return;
  removeAll(where);
  keep();
}

void Scratch::keep() {
  if (slot >= 0)
    shared()->scratch[slot][0] = 0;
  slot = -1;
  where.clear();
}

} // namespace nnc::tools
