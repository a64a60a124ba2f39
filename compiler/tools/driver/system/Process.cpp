//===- Process.cpp - Starts other programs --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/system/Process.h"

#include "compiler/tools/driver/console/ExitCode.h"
#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Threading.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <thread>

namespace nnc::tools {

std::string quoted(const Words &command) {
  std::string text;
  for (const std::string &word : command) {
    bool plain = word.find_first_of(" '\"\\$&();<>|*?") == std::string::npos;
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return text;
}

Words splitCommand(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  return Words(words.begin(), words.end());
}

llvm::Expected<std::string> findProgram(const std::string &name) {
  // A name with a slash is a path, for which PATH is not searched.
  if (llvm::StringRef(name).contains('/')) {
    if (llvm::sys::fs::can_execute(name))
      return name;
    return makeError("there is no program " + name);
  }
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(name);
  if (!program)
    return makeError("there is no program " + name +
                     " on PATH; scripts/setup installs what nnc uses");
  return *program;
}

namespace {

/// A running program whose output goes to files.
struct Running {
  Words command;
  std::string input, output, errors;
  /// The exit code with which the program says that there is no GPU for it.
  std::optional<int> noGpuCode = {};
  llvm::sys::ProcessInfo process = {};

  llvm::Error start() {
    llvm::Expected<std::string> program = findProgram(command.front());
    if (!program)
      return program.takeError();
    llvm::SmallVector<llvm::StringRef> arguments(command.begin(),
                                                 command.end());
    std::string message;
    bool failed = false;
    process = llvm::sys::ExecuteNoWait(*program, arguments, std::nullopt,
                                       {llvm::StringRef(input),
                                        llvm::StringRef(output),
                                        llvm::StringRef(errors)},
                                       /*MemoryLimit=*/0, &message, &failed);
    if (failed)
      return makeError(fmt::format("cannot start {}: {}", *program, message));
    return llvm::Error::success();
  }

  llvm::Expected<std::string> finish() {
    std::string message;
    process = llvm::sys::Wait(process, std::nullopt, &message);
    if (process.ReturnCode == 0)
      return readTextFile(output);
    llvm::Expected<std::string> said = readTextFile(errors);
    std::string why = said ? llvm::StringRef(*said).rtrim().str() : "";
    if (!said)
      llvm::consumeError(said.takeError());
    if (!message.empty())
      why += (why.empty() ? "" : "\n") + message;
    if (why.empty())
      why = fmt::format("exit code {}", process.ReturnCode);
    return makeError(fmt::format("{} failed: {}\n  {}", command.front(), why,
                                 quoted(command)),
                     process.ReturnCode == noGpuCode
                         ? std::error_code(ENODEV, std::generic_category())
                         : llvm::inconvertibleErrorCode());
  }
};

} // namespace

llvm::Expected<std::string> runProgram(const Words &command,
                                       const std::string &log,
                                       const std::string &input) {
  Running running{command, input, log + ".out", log + ".err"};
  if (llvm::Error error = running.start())
    return error;
  return running.finish();
}

llvm::Expected<std::string> runRunner(const Words &command,
                                      const std::string &log,
                                      const std::string &input) {
  Running running{command, input, log + ".out", log + ".err"};
  running.noGpuCode = int(ExitCode::noGpu);
  if (llvm::Error error = running.start())
    return error;
  return running.finish();
}

llvm::Error runPrograms(const std::vector<Words> &commands,
                        const std::string &log) {
  std::mutex mutex;
  // Only the first failure is reported to the caller.
  llvm::Error result = llvm::Error::success();
  size_t next = 0;
  auto work = [&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (next < commands.size() && !result) {
      size_t i = next++;
      lock.unlock();
      llvm::Expected<std::string> output =
          runProgram(commands[i], fmt::format("{}.{}", log, i));
      lock.lock();
      if (output)
        continue;
      if (result)
        llvm::consumeError(output.takeError());
      else
        result = output.takeError();
    }
  };
  size_t atOnce = llvm::hardware_concurrency().compute_thread_count();
  std::vector<std::thread> threads;
  while (threads.size() < std::min(atOnce, commands.size()))
    threads.emplace_back(work);
  for (std::thread &thread : threads)
    thread.join();
  return result;
}

} // namespace nnc::tools
