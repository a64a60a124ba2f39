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

/// A command line that a manual page shows, and what it does.
struct Example {
  const char *line = nullptr, *does = nullptr;
};

/// A command: what help tells in a line, and manual pages in full.
struct CommandEntry {
  const char *name, *summary;
  std::unique_ptr<Command> (*make)();
  /// Whether what it prints only sums up what its files or its exit code say.
  bool sumsUp;
  const char *description;
  Example examples[2];
};

/// Returns all commands in the order of help.
llvm::ArrayRef<CommandEntry> getCommands();

/// Returns the entry of a command, or null if there is none.
const CommandEntry *findCommand(llvm::StringRef name);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_COMMANDS_COMMANDTABLE_H
