//===- MicrosoftNode.cpp - A node of onnxruntime's own operators ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/microsoft/MicrosoftNode.h"

#include "frontends/common/Elements.h"
#include "frontends/onnx/schema/Schema.h"
#include "frontends/onnx/schema/Types.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace nnc::onnx;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

int MicrosoftNode::countInputs() const {
  int count = proto.input_size();
  while (count > 0 && proto.input(count - 1).empty())
    --count;
  return count;
}

int32_t MicrosoftNode::getElementType(int i) const {
  return getDataType(getType(i).getElementType());
}

std::optional<int64_t> MicrosoftNode::getKnown(int i) const {
  auto known = size_t(i) < operands.size() && operands[i]
                   ? readElements(operands[i])
                   : std::nullopt;
  return known && known->ints.size() == 1 ? std::optional(known->ints[0])
                                          : std::nullopt;
}

const ::onnx::AttributeProto *MicrosoftNode::find(StringRef name) const {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name.str())
      return &attribute;
  return nullptr;
}

int64_t MicrosoftNode::getInt(StringRef name, int64_t otherwise) const {
  const ::onnx::AttributeProto *attribute = find(name);
  return attribute ? attribute->i() : otherwise;
}

double MicrosoftNode::getFloat(StringRef name, double otherwise) const {
  const ::onnx::AttributeProto *attribute = find(name);
  return attribute ? attribute->f() : otherwise;
}

std::string MicrosoftNode::getString(StringRef name,
                                     StringRef otherwise) const {
  const ::onnx::AttributeProto *attribute = find(name);
  return attribute ? attribute->s() : otherwise.str();
}

SmallVector<int64_t> MicrosoftNode::getInts(StringRef name) const {
  const ::onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<int64_t>(attribute->ints().begin(),
                              attribute->ints().end());
}

SmallVector<double> MicrosoftNode::getFloats(StringRef name) const {
  const ::onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<double>(attribute->floats().begin(),
                             attribute->floats().end());
}

SmallVector<std::string> MicrosoftNode::getStrings(StringRef name) const {
  const ::onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<std::string>(attribute->strings().begin(),
                                  attribute->strings().end());
}

std::string nnc::onnx::print(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9e", value);
  return text;
}

std::string nnc::onnx::print(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values, stream);
  return "[" + text + "]";
}

std::string nnc::onnx::printInts(StringRef name, ArrayRef<int64_t> values) {
  return (name + " = Constant <value_ints: ints = " + print(values) + "> () ")
      .str();
}

std::string nnc::onnx::printFloat(StringRef name, double value) {
  return (name + " = Constant <value_float: float = " + print(value) + "> () ")
      .str();
}

//===----------------------------------------------------------------------===//
// Operators in another domain
//===----------------------------------------------------------------------===//

/// Changes the domain of nodes in a list. Returns true if any node was changed.
template <class Nodes> static bool rename(Nodes &nodes, int opset) {
  bool isFound = false;
  for (::onnx::NodeProto &node : nodes) {
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        isFound |= rename(*attribute.mutable_g()->mutable_node(), opset);
      for (auto &graph : *attribute.mutable_graphs())
        isFound |= rename(*graph.mutable_node(), opset);
    }
    bool isOwn = node.domain().empty() &&
                 (node.op_type() == "LayerNormalization" ||
                  node.op_type() == "SimplifiedLayerNormalization");
    if (!isOwn || findSchema("", node.op_type(), opset))
      continue;
    node.set_domain(kMicrosoftDomain.str());
    isFound = true;
  }
  return isFound;
}

/// Adds an import of the domain com.microsoft unless there is one.
template <class Imports> static void importDomain(Imports &imports) {
  for (const auto &import : imports)
    if (import.domain() == kMicrosoftDomain.str())
      return;
  auto *added = imports.Add();
  added->set_domain(kMicrosoftDomain.str());
  added->set_version(1);
}

/// Returns the version of the default domain in the imports, or 0.
template <class Imports> static int findDefault(const Imports &imports) {
  for (const auto &import : imports)
    if (import.domain().empty())
      return static_cast<int>(import.version());
  return 0;
}

void nnc::onnx::renameMicrosoftOps(::onnx::ModelProto &model) {
  if (!model.has_graph())
    return;
  if (rename(*model.mutable_graph()->mutable_node(),
             findDefault(model.opset_import())))
    importDomain(*model.mutable_opset_import());
  for (auto &function : *model.mutable_functions())
    if (rename(*function.mutable_node(), findDefault(function.opset_import())))
      importDomain(*function.mutable_opset_import());
}
