//===- Command.h - A command of nnc ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMAND_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMAND_H

#include "compiler/tools/driver/console/ExitCode.h"

#include <memory>

namespace CLI {
class App;
}

namespace nnc::tools {

/// A command `nnc NAME ...`. addOptions() is called before run().
class Command {
public:
  virtual ~Command() = default;
  virtual void addOptions(CLI::App &app) = 0;
  virtual ExitCode run() = 0;
};

std::unique_ptr<Command> makeBench();
std::unique_ptr<Command> makeCheck();
std::unique_ptr<Command> makeCompile();
std::unique_ptr<Command> makeCompletion();
std::unique_ptr<Command> makeCompress();
std::unique_ptr<Command> makeExplain();
std::unique_ptr<Command> makeManual();
std::unique_ptr<Command> makeOps();
std::unique_ptr<Command> makeQuantize();
std::unique_ptr<Command> makeReport();
std::unique_ptr<Command> makeRoutines();
std::unique_ptr<Command> makeRun();
std::unique_ptr<Command> makeTargetProbe();
std::unique_ptr<Command> makeTargets();
std::unique_ptr<Command> makeTune();
std::unique_ptr<Command> makeVerify();

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMAND_H
