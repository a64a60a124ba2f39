//===- Frontend.cpp - The frontend for PyTorch's exported programs --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/torch/Import.h"
#include "frontends/torch/Ops.h"
#include "frontends/torch/file/Program.h"

#include "llvm/Support/Path.h"

using namespace nnc::torch;
using namespace nnc::frontends;

/// Returns true for a zip archive that PyTorch wrote, also one that nnc does
/// not read, and for a damaged archive whose name says that it is one.
static bool recognizes(const FileStart &start) {
  if (!llvm::StringRef(start.bytes).starts_with("PK\003\004"))
    return false;
  auto archive = Archive::open(start.path);
  if (archive)
    return getKind(**archive) != ArchiveKind::other;
  llvm::consumeError(archive.takeError());
  llvm::StringRef extension = llvm::sys::path::extension(start.path);
  return extension == ".pt2" || extension == ".pt" || extension == ".pth" ||
         extension == ".ptl";
}

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps())
    rows.push_back({op.name.str(), 0, 0, op.limits.str()});
  return rows;
}

namespace nnc::torch {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {
      "PyTorch",
      ".pt2",
      recognizes,
      /*hasMagic=*/true,
      importModel,
      listOps,
      "operators of ATen, also in the forms that work in place",
      "",
      nullptr};
  return frontend;
}
} // namespace nnc::torch
