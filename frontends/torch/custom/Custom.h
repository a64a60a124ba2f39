//===- Custom.h - Operators of the user's library -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_CUSTOM_CUSTOM_H
#define NNC_FRONTENDS_TORCH_CUSTOM_CUSTOM_H

#include "frontends/common/Customs.h"
#include "frontends/torch/graph/Node.h"

namespace nnc::torch {

/// Returns the names by which --custom can refer to an operator, from the most
/// to the least specific: "audio.gate.default" in a program is
/// "audio::gate.default", as torch.library spells it, "audio::gate" and "gate".
std::vector<std::string> getCustomNames(llvm::StringRef op);

/// Converts a node to a call of the user's function. Tensors become operands in
/// their order, other arguments attributes. The program states the types and
/// shapes of results.
void convertCustom(Node &node, Customs &customs,
                   const CustomFunction &function);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_CUSTOM_CUSTOM_H
