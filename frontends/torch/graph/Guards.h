//===- Guards.h - Sizes for which a program was specialised -----*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_GUARDS_H
#define NNC_FRONTENDS_TORCH_GRAPH_GUARDS_H

#include "frontends/torch/graph/Signature.h"
#include "frontends/torch/graph/Symbols.h"

namespace nnc::torch {

/// An equation of sizes that held when a program was exported, and on which its
/// operators depend. PyTorch writes such guards where Python code of the model
/// decides by a size that is otherwise open.
struct Guard {
  /// The equation as users read it: "(x.size(1) // 16) == 20".
  std::string equation;
  /// Options that give the inputs with open sizes the shapes of the example
  /// with which the program was exported: "--shape x=1x320".
  std::string options;
};

/// Returns the first guard of the program that holds for the sizes of its
/// example, and not for the sizes that `symbols` gives; nullopt if there is
/// none.
std::optional<Guard> findBrokenGuard(const Program &program,
                                     const Signature &signature,
                                     const Symbols &symbols);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_GUARDS_H
