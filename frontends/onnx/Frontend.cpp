//===- Frontend.cpp - The frontend for ONNX -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Frontend.h"

#include "frontends/onnx/Import.h"
#include "frontends/onnx/Ops.h"
#include "frontends/onnx/file/TensorFile.h"
#include "frontends/onnx/microsoft/Microsoft.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace nnc::onnx;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// ONNX's text syntax
//===----------------------------------------------------------------------===//

static StringRef skipSpace(StringRef text) {
  while (true) {
    text = text.ltrim();
    if (!text.consume_front("#"))
      return text;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

static StringRef takeIdentifier(StringRef &text) {
  text = skipSpace(text);
  StringRef name =
      text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  text = skipSpace(text.drop_front(name.size()));
  return name;
}

/// Returns true if a text starts like a model: with properties in angle
/// brackets, or with the name and the inputs of the graph.
static bool isModelText(StringRef text) {
  static constexpr llvm::StringLiteral properties[] = {
      "ir_version", "opset_import",  "producer_name", "producer_version",
      "domain",     "model_version", "doc_string",    "metadata_props"};
  text = skipSpace(text);
  if (text.consume_front("<"))
    return llvm::is_contained(properties, takeIdentifier(text));
  return !takeIdentifier(text).empty() && text.starts_with("(");
}

//===----------------------------------------------------------------------===//
// Protobuf
//===----------------------------------------------------------------------===//

static bool readVarint(StringRef &bytes, uint64_t &value) {
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

/// Returns true if bytes look like a ModelProto. Protobuf has no magic number,
/// but each field begins with a tag that holds its number and encoding, so that
/// the first field must be one of ModelProto. A damaged model is accepted, too;
/// the parser then reports what is wrong with it.
static bool isModelProto(StringRef bytes) {
  enum Encoding { varint = 0, text = 2 };
  // The fields of ModelProto: ir_version, producer_name, producer_version,
  // domain, model_version, doc_string, graph, opset_import, metadata_props,
  // training_info, functions and configuration.
  static constexpr std::pair<uint64_t, Encoding> fields[] = {
      {1, varint}, {2, text}, {3, text},  {4, text},  {5, varint}, {6, text},
      {7, text},   {8, text}, {14, text}, {20, text}, {25, text},  {26, text}};
  uint64_t tag = 0, value = 0;
  if (!readVarint(bytes, tag))
    return false;
  bool isKnown = llvm::any_of(fields, [&](auto field) {
    return tag == (field.first << 3 | field.second);
  });
  return isKnown && readVarint(bytes, value);
}

/// Returns true if a file is a model in ONNX's text syntax or a ModelProto.
/// Bytes that are text are not tested as a ModelProto, whose version is
/// practically always a control character.
static bool recognizes(const FileStart &start) {
  return start.isText() ? isModelText(start.bytes) : isModelProto(start.bytes);
}

static std::vector<OpRow> listOps() {
  std::vector<OpRow> rows;
  for (const OpInfo &op : getOps()) {
    auto [first, last] = op.getOpsets();
    rows.push_back({op.name.str(), first, last, op.limits.str()});
  }
  for (StringRef domain : {kLearnedDomain, kPreviewDomain})
    for (const OpInfo &op : getOps(domain)) {
      auto [first, last] = op.getOpsets(domain);
      rows.push_back(
          {(domain + "." + op.name).str(), first, last, op.limits.str()});
    }
  for (const OpInfo &op : getOps(kMicrosoftDomain))
    rows.push_back(
        {(kMicrosoftDomain + "." + op.name).str(), 1, 1, op.limits.str()});
  for (StringRef name : getMicrosoftOps())
    rows.push_back({(kMicrosoftDomain + "." + name).str(), 1, 1,
                    "as the unfused operators"});
  return rows;
}

namespace nnc::onnx {
const Frontend &getFrontend() {
  static constexpr Frontend frontend = {
      "ONNX",
      ".onnx, .onnxtxt",
      recognizes,
      /*hasMagic=*/false,
      importModel,
      listOps,
      "operators of ONNX's default domain, of its domains ai.onnx.ml and "
      "ai.onnx.preview and of onnxruntime's, and what ONNX itself defines by "
      "these",
      ".pb",
      readTensor};
  return frontend;
}
} // namespace nnc::onnx
