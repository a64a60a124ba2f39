//===- Arena.h - The arena over time ----------------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_TOOLS_NNC_FIGURES_ARENA_H
#define NNC_COMPILER_TOOLS_NNC_FIGURES_ARENA_H

#include "compiler/tools/driver/manifest/Manifest.h"

namespace nnc::tools {

/// The layer at which the most bytes of the arena are in use.
struct ArenaPeak {
  int64_t layer = 0; ///< index of the layer
  int64_t bytes = 0; ///< bytes of all places in use at that layer
  std::vector<const ArenaPlace *> places; ///< these places, the largest first
};

/// Returns the first peak of the arena. It has no places if the arena is empty.
ArenaPeak findPeak(const Manifest &manifest);

/// Returns a picture of the arena as SVG, with layers from left to right, bytes
/// from bottom to top, and a named box for each place.
std::string drawArena(const Manifest &manifest);

} // namespace nnc::tools

#endif // NNC_COMPILER_TOOLS_NNC_FIGURES_ARENA_H
