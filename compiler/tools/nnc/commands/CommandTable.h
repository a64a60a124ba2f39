//===- CommandTable.h - The commands of nnc ---------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMANDTABLE_H
#define NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMANDTABLE_H

#include "compiler/tools/nnc/commands/Command.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace nnc::tools {

/// A command line for a manual page, and a description of what it does.
struct Example {
  const char *line = nullptr, *does = nullptr;
};

/// A command, with its line in the help and its texts for the manual page.
struct CommandEntry {
  const char *name, *summary;
  std::unique_ptr<Command> (*make)();
  /// Whether its output only summarizes what its files or its exit code tell.
  bool sumsUp;
  const char *description;
  Example examples[2];
};

/// Returns all commands in the order of the help.
llvm::ArrayRef<CommandEntry> getCommands();

/// Returns the entry of a command, or null if there is none.
const CommandEntry *findCommand(llvm::StringRef name);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMANDTABLE_H
