//===- LayoutScope.h - Layouts that the search may use --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H
#define NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H

namespace nnc {

/// The set of layouts that values between layers may have. All but `global`
/// restrict the search, to measure the benefit of the global search (NeoCPU,
/// section 4.2). They also use the first parameters of each routine for all
/// layers, as a manual choice would.
enum class LayoutScope {
  plain,  ///< only row-major order
  local,  ///< any inside a layer, row-major order between layers
  fixed,  ///< row-major order, or channel blocks of the widest vector
  global, ///< any layout
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYOUTSCOPE_H
