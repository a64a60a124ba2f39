//===- Frontend.cpp - The frontend for Caffe ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/caffe/Import.h"
#include "frontends/caffe/Ops.h"
#include "frontends/caffe/file/Recognize.h"

using namespace nnc::caffe;
using namespace nnc::frontends;

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps())
    rows.push_back({op.name.str(), 0, 0, op.limits.str()});
  return rows;
}

namespace nnc::caffe {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {
      "Caffe",
      ".prototxt",
      recognizes,
      /*hasMagic=*/true,
      importModel,
      listOps,
      "types of layers of Caffe and its forks",
      "",
      nullptr,
      ".caffemodel"};
  return frontend;
}
} // namespace nnc::caffe
