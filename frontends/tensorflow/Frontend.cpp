//===- Frontend.cpp - The frontend for TensorFlow -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/tensorflow/Import.h"
#include "frontends/tensorflow/Ops.h"
#include "frontends/tensorflow/file/Load.h"

#include "llvm/ADT/StringExtras.h"

using namespace nnc::tensorflow;
using namespace nnc::frontends;
using llvm::StringRef;

/// Takes a number from the front of `bytes`.
static bool takeVarint(StringRef &bytes, uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<unsigned char>(bytes.front());
    bytes = bytes.drop_front();
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

/// Takes the tag of a field with text or a message, `tag`, and its length.
static bool takeField(StringRef &bytes, char tag, uint64_t &length) {
  return !bytes.empty() && bytes.front() == tag &&
         takeVarint(bytes = bytes.drop_front(), length);
}

/// Returns true if bytes begin as a GraphDef does. Protobuf has no magic
/// number. But a GraphDef begins with a node, and a node with its name and
/// operator, which are an identifier each; the tags of these fields are none of
/// an ONNX model.
static bool isGraph(StringRef bytes) {
  uint64_t node = 0, name = 0, op = 0;
  if (!takeField(bytes, '\x0a', node) || !takeField(bytes, '\x0a', name) ||
      name == 0 || name > node || name >= bytes.size())
    return false;
  auto isOfName = [](char c) {
    return llvm::isAlnum(c) || StringRef("_./\\->").contains(c);
  };
  if (!llvm::all_of(bytes.take_front(name), isOfName))
    return false;
  bytes = bytes.drop_front(name);
  if (!takeField(bytes, '\x12', op) || op == 0 || op > node)
    return false;
  return llvm::all_of(bytes.take_front(op), [](char c) {
    return llvm::isAlnum(c) || StringRef("_>.").contains(c);
  });
}

/// Returns true if bytes are a GraphDef without nodes: its versions alone.
static bool isEmptyGraph(StringRef bytes) {
  uint64_t length = 0;
  return takeField(bytes, '\x22', length) && length == bytes.size() &&
         length > 1 && bytes.front() == '\x08';
}

static bool recognizes(const FileStart &start) {
  return !findSavedModel(start.path, start.isFolder).empty() ||
         (!start.isFolder &&
          (isGraph(start.bytes) || isEmptyGraph(start.bytes)));
}

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps())
    rows.push_back({op.name.str(), 0, 0, op.limits.str()});
  return rows;
}

namespace nnc::tensorflow {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {"TensorFlow",
                                        ".pb",
                                        recognizes,
                                        /*hasMagic=*/true,
                                        importModel,
                                        listOps,
                                        "operators of TensorFlow",
                                        "",
                                        nullptr,
                                        /*weightExtensions=*/"",
                                        /*hasSignatures=*/true};
  return frontend;
}
} // namespace nnc::tensorflow
