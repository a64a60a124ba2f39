//===- Frontend.cpp - The frontend for MXNet ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/mxnet/Import.h"
#include "frontends/mxnet/Ops.h"

using namespace nnc::mxnet;
using namespace nnc::frontends;

/// Returns true if a file is a JSON object with a list of nodes. MXNet writes
/// the nodes first.
static bool recognizes(const FileStart &start) {
  llvm::StringRef text = llvm::StringRef(start.bytes).ltrim();
  if (!text.consume_front("{"))
    return false;
  text = text.ltrim();
  return text.starts_with("\"arg_nodes\"") ||
         (text.starts_with("\"nodes\"") && text.contains("\"op\"")) ||
         text.contains("\"node_row_ptr\"");
}

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps())
    rows.push_back({op.name.str(), 0, 0, op.limits.str()});
  return rows;
}

namespace nnc::mxnet {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {"MXNet",
                                        ".json",
                                        recognizes,
                                        /*hasMagic=*/true,
                                        importModel,
                                        listOps,
                                        "operators of MXNet 0.8 to 1.9",
                                        "",
                                        nullptr,
                                        /*weightExtensions=*/".params"};
  return frontend;
}
} // namespace nnc::mxnet
