//===- Frontend.cpp - The frontend for TFLite -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/tflite/Import.h"
#include "frontends/tflite/Ops.h"

using namespace nnc::tflite;
using namespace nnc::frontends;

static bool recognizes(const FileStart &start) {
  return llvm::StringRef(start.bytes).substr(4).starts_with("TFL3");
}

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps())
    rows.push_back({op.name.str(), 0, 0, op.limits.str()});
  return rows;
}

namespace nnc::tflite {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {
      "TFLite",
      ".tflite",
      recognizes,
      /*hasMagic=*/true,
      importModel,
      listOps,
      "operators of TFLite, in all their versions",
      "",
      nullptr};
  return frontend;
}
} // namespace nnc::tflite
