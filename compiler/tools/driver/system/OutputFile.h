//===- OutputFile.h - Checks of the output file --------------- -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_DRIVER_SYSTEM_OUTPUTFILE_H
#define NNC_COMPILER_TOOLS_DRIVER_SYSTEM_OUTPUTFILE_H

#include "compiler/tools/driver/console/ExitCode.h"

#include <string>
#include <vector>

namespace nnc::tools {

/// Reports an error if the file of -o is one of the files that the command
/// reads, even under another name.
ExitCode checkNoInput(const std::string &output,
                      const std::vector<std::string> &inputs);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_DRIVER_SYSTEM_OUTPUTFILE_H
