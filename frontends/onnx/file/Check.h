//===- Check.h - Is it a sound ONNX model? --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_FILE_CHECK_H
#define NNC_FRONTENDS_ONNX_FILE_CHECK_H

#include "frontends/common/Problems.h"
#include "frontends/onnx/Import.h"

#include "onnx/onnx_pb.h"

namespace nnc::onnx {

/// Reports everything that ONNX's checker finds wrong, node by node (the
/// checker by itself stops at the first), and versions that nnc does not know.
/// The nodes have been sorted. Files with external data are left to `Weights`,
/// which has rules of its own. False where the graph cannot be walked any
/// further. Operators for which the user gives a function need not be known.
bool checkModel(const ::onnx::ModelProto &model,
                const std::vector<CustomFunction> &customs, Problems &problems);

/// Version of `domain` among the imports, or 0.
template <class Imports>
int64_t findOpset(const Imports &imports, llvm::StringRef domain) {
  for (const auto &import : imports)
    if (import.domain() == domain.str())
      return import.version();
  return 0;
}

/// What a node is called in messages: its name, else its first result's.
inline llvm::StringRef getNodeName(const ::onnx::NodeProto &node) {
  if (!node.name().empty() || node.output_size() == 0)
    return node.name();
  return node.output(0);
}

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_FILE_CHECK_H
