//===- Check.h - Validation of ONNX models --------------------------------===//
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
/// which has rules of its own. Returns false if the errors prevent walking the
/// graph. Operators in `customs`, for which the user gives a function, need not
/// be known.
bool checkModel(const ::onnx::ModelProto &model,
                const std::vector<CustomFunction> &customs, Problems &problems);

/// Returns the version of `domain` in the list of imported operator sets, or 0
/// if it is not imported.
template <class Imports>
int64_t findOpset(const Imports &imports, llvm::StringRef domain) {
  for (const auto &import : imports)
    if (import.domain() == domain.str())
      return import.version();
  return 0;
}

/// Returns the name of a node in messages: its own, or that of its first result
/// if it has none.
inline llvm::StringRef getNodeName(const ::onnx::NodeProto &node) {
  if (!node.name().empty() || node.output_size() == 0)
    return node.name();
  return node.output(0);
}

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_FILE_CHECK_H
