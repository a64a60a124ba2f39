//===- LayoutScope.h - Which layouts a choice is among --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H
#define NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H

namespace nnc {

/// The layouts that values between layers may have. Each but the last leaves
/// something of the global search out, to see what that is worth (NeoCPU,
/// section 4.2), and takes the first params of each routine for all layers, as
/// one would who picks them by hand.
enum class LayoutScope {
  plain,  ///< row-major order alone
  local,  ///< any inside a layer, row-major order between two
  fixed,  ///< row-major order, or blocks of the widest vector
  global, ///< any
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H
