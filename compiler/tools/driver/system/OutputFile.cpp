//===- OutputFile.cpp - Checks of the output file -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/system/OutputFile.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>

namespace nnc::tools {

ExitCode checkNoInput(const std::string &output,
                      const std::vector<std::string> &inputs) {
  // Files that do not exist cannot be inputs.
  bool isInput = llvm::any_of(inputs, [&](const std::string &input) {
    return llvm::sys::fs::equivalent(input, output);
  });
  if (!isInput)
    return ExitCode::done;
  return fail(makeError(fmt::format("-o: {} is a file that this command reads; "
                                    "give another one",
                                    displayText(output))),
              ExitCode::usage);
}

} // namespace nnc::tools
