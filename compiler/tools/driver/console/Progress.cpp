//===- Progress.cpp - Progress of a command -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/Progress.h"

#include "compiler/tools/driver/console/Supervise.h"
#include "compiler/tools/driver/console/Terminal.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace nnc::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// The interval at which the line is drawn again, in microseconds.
constexpr useconds_t drawMicroseconds = 250'000;
/// The time in seconds after which a step shows how long it has taken.
constexpr double shownSeconds = 2;
/// The fraction that must be done and the seconds that must have passed before
/// the remaining time is shown. It would be too inaccurate earlier.
constexpr double leastShare = 0.02, leastSeconds = 1;

struct Step {
  std::string name, detail, result;
  Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> end; ///< expected end

  double getSeconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  void expectEnd(double seconds) {
    end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(seconds));
  }
};

/// The state that the command shares with the thread that draws. It is never
/// destroyed, because the thread ends with the process.
struct State {
  std::mutex mutex;
  std::vector<Step> steps; ///< outermost first
  bool hasThread = false;
};

State &state() {
  static State &made = *new State;
  return made;
}

std::string describeSeconds(double seconds) {
  int64_t whole = int64_t(seconds + 0.5);
  return whole < 120 ? fmt::format("{} s", whole)
                     : fmt::format("{} min {} s", whole / 60, whole % 60);
}

/// Returns the line that shows the present steps: "tuning (about 34 s left):
/// building 96 candidates, 5 s ...".
std::string describe(const std::vector<Step> &steps) {
  std::string line;
  for (const Step &step : steps) {
    line += (line.empty() ? "" : ": ") + step.name;
    if (step.end && step.getSeconds() >= leastSeconds) {
      std::chrono::duration<double> left = *step.end - Clock::now();
      line += left.count() < 0 ? " (longer than estimated)"
                               : fmt::format(" (about {} left)",
                                             describeSeconds(left.count()));
    }
  }
  const Step &last = steps.back();
  if (!last.detail.empty())
    line += ": " + last.detail;
  if (last.getSeconds() >= shownSeconds)
    line += ", " + describeSeconds(last.getSeconds());
  return displayText(line) + " ...";
}

/// Reports the present steps to the supervisor.
void noteSteps(const std::vector<Step> &steps) {
  std::vector<std::string> names;
  for (const Step &step : steps)
    names.push_back(step.name);
  noteStep(llvm::join(names, ": "));
}

/// Draws the line. The mutex must be held.
void draw(State &all) {
  if (all.steps.empty())
    return;
  size_t columns = getColumns(STDERR_FILENO);
  std::string line = describe(all.steps);
  // A longer line would wrap to the next row, and could not be removed.
  writeError("\r\x1b[K" +
             colouredForStderr(Colour::faint, fitColumns(line, columns)));
  std::fflush(stderr);
}

/// Removes the line. It also erases the row if no line is shown, because the
/// supervisor does not know whether there is one.
void clear() {
  if (showsProgress())
    writeError("\r\x1b[K");
}

void *drawForever(void *) {
  for (;;) {
    ::usleep(drawMicroseconds);
    State &all = state();
    std::lock_guard lock(all.mutex);
    draw(all);
  }
  return nullptr;
}

/// Starts the thread that updates the times. If there is no memory for it, the
/// line changes only with the steps.
void startThread(State &all) {
  if (std::exchange(all.hasThread, true))
    return;
  pthread_attr_t attributes;
  pthread_t thread;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_create(&thread, &attributes, drawForever, nullptr);
  ::pthread_attr_destroy(&attributes);
}

void tell(size_t depth, llvm::StringRef text) {
  writeError(fmt::format("nnc: {:{}}{}\n", "", 2 * depth, displayText(text)));
}

} // namespace

Progress::Progress(llvm::StringRef step) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  index = all.steps.size();
  all.steps.push_back({step.str(), "", "", Clock::now(), {}});
  noteSteps(all.steps);
  if (!showsProgress())
    return;
  startThread(all);
  draw(all);
}

Progress::~Progress() {
  State &all = state();
  std::lock_guard lock(all.mutex);
  Step step = std::move(all.steps.back());
  all.steps.pop_back();
  noteSteps(all.steps);
  clear();
  if (isVerbose())
    tell(all.steps.size(),
         fmt::format("{}: {}{}{}", step.name, formatSeconds(step.getSeconds()),
                     step.result.empty() ? "" : ", ", step.result));
}

void Progress::setShare(double share) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  Step &step = all.steps[index];
  if (share >= leastShare)
    step.expectEnd(step.getSeconds() * (1 - share) / share);
}

void Progress::setSecondsLeft(double seconds) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  all.steps[index].expectEnd(seconds);
}

void Progress::setResult(const std::string &result) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  all.steps[index].result = result;
}

void noteDetail(llvm::StringRef detail) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  if (all.steps.empty())
    return;
  all.steps.back().detail = detail.str();
  if (showsProgress())
    draw(all);
}

void resumeStep() {
  State &all = state();
  std::lock_guard lock(all.mutex);
  noteSteps(all.steps);
}

void tellTime(llvm::StringRef what, double seconds) {
  State &all = state();
  std::lock_guard lock(all.mutex);
  clear();
  if (isVerbose())
    tell(all.steps.size(),
         fmt::format("{}: {}", what.str(), formatSeconds(seconds)));
}

void clearProgress() {
  std::lock_guard lock(state().mutex);
  clear();
}

void writeMessage(const std::string &text) {
  std::lock_guard lock(state().mutex);
  clear();
  writeError(text);
}

} // namespace nnc::tools
