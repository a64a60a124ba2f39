//===- Sources.cpp - The runner's sources, inside nnc ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/runner/Sources.h"

llvm::ArrayRef<nnc::runner::Source> nnc::runner::getSources() {
  static constexpr Source sources[] = {
#include "compiler/tools/runner/Sources.inc"
  };
  return sources;
}
