//===- Sources.h - The runner's sources, inside nnc -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_RUNNER_SOURCES_H
#define NNC_TOOLS_RUNNER_SOURCES_H

#include "llvm/ADT/ArrayRef.h"

namespace nnc::runner {

struct Source {
  const char *name, *text;
};

/// Returns the source files of the runner's program.
llvm::ArrayRef<Source> getSources();

} // namespace nnc::runner

#endif // NNC_TOOLS_RUNNER_SOURCES_H
