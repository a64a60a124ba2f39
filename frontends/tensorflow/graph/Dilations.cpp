//===- Dilations.cpp - Dilated convolutions made of blocks ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Dilations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace nnc::tensorflow;

namespace {
/// The nodes from the blocks to the image.
struct Dilation {
  const pb::NodeDef *split, *expand, *conv, *squeeze, *join;
};
} // namespace

/// Returns true if all numbers of a list attribute are 1, or the node lacks it.
static bool areOnes(const pb::NodeDef &node, StringRef name) {
  auto found = node.attr().find(name.str());
  return found == node.attr().end() ||
         llvm::all_of(found->second.list().i(),
                      [](int64_t number) { return number == 1; });
}

static StringRef getTextOf(const pb::NodeDef &node, StringRef name) {
  auto found = node.attr().find(name.str());
  return found == node.attr().end() ? StringRef() : found->second.s();
}

/// Returns true if a convolution has neither padding, strides nor dilations.
static bool isPlain(const pb::NodeDef &conv) {
  return getTextOf(conv, "padding") == "VALID" && areOnes(conv, "strides") &&
         areOnes(conv, "dilations") &&
         !getTextOf(conv, "data_format").starts_with("NC");
}

/// Returns the tensor of a constant, or null.
static const pb::TensorProto *getConstant(const Graph &graph,
                                          StringRef reference) {
  const pb::NodeDef *node = graph.nodes.lookup(parseReference(reference).node);
  if (!node || node->op() != "Const")
    return nullptr;
  auto value = node->attr().find("value");
  return value != node->attr().end() && value->second.has_tensor()
             ? &value->second.tensor()
             : nullptr;
}

/// Returns the only 32-bit integer of a constant, or nullopt.
static std::optional<int64_t> getOneInt(const pb::TensorProto *tensor) {
  if (!tensor || tensor->dtype() != pb::DT_INT32)
    return std::nullopt;
  if (tensor->int_val_size() == 1)
    return tensor->int_val(0);
  if (tensor->tensor_content().size() != sizeof(int32_t))
    return std::nullopt;
  int32_t number = 0;
  std::memcpy(&number, tensor->tensor_content().data(), sizeof number);
  return number;
}

/// Returns true if an ExpandDims and a Squeeze add and remove the first spatial
/// axis.
static bool areOfFirstAxis(const Graph &graph, const pb::NodeDef &expand,
                           const pb::NodeDef &squeeze) {
  auto axis = getOneInt(getConstant(graph, expand.input(1)));
  auto removed = squeeze.attr().find("squeeze_dims");
  if (!axis || (*axis != 1 && *axis != -3) || removed == squeeze.attr().end())
    return false;
  const auto &axes = removed->second.list().i();
  return axes.size() == 1 && (axes[0] == 1 || axes[0] == -3);
}

/// Returns the nodes of a dilated convolution that ends in `join`; nullopt if
/// there are others in between, or others read what they compute.
static std::optional<Dilation>
findDilation(const Graph &graph, const pb::NodeDef &join,
             const llvm::StringMap<int> &readers) {
  auto getBefore = [&](const pb::NodeDef *node) -> const pb::NodeDef * {
    if (!node || node->input_size() == 0)
      return nullptr;
    StringRef name = parseReference(node->input(0)).node;
    return readers.lookup(name) == 1 ? graph.nodes.lookup(name) : nullptr;
  };
  auto isOp = [](const pb::NodeDef *node, StringRef op, int inputs) {
    return node && node->op() == op && node->input_size() == inputs;
  };
  Dilation found = {nullptr, nullptr, getBefore(&join), nullptr, &join};
  if (isOp(found.conv, "Squeeze", 1)) {
    found.squeeze = found.conv;
    found.conv = getBefore(found.squeeze);
  }
  bool isConv = isOp(found.conv, "Conv2D", 2) ||
                isOp(found.conv, "Conv3D", 2) ||
                isOp(found.conv, "DepthwiseConv2dNative", 2);
  if (!isConv || !isPlain(*found.conv))
    return std::nullopt;
  found.split = getBefore(found.conv);
  if (found.squeeze) {
    found.expand = found.split;
    if (!isOp(found.expand, "ExpandDims", 2) ||
        !areOfFirstAxis(graph, *found.expand, *found.squeeze))
      return std::nullopt;
    found.split = getBefore(found.expand);
  }
  if (!isOp(found.split, "SpaceToBatchND", 3) ||
      !isOp(&join, "BatchToSpaceND", 3))
    return std::nullopt;
  const pb::TensorProto *blocks = getConstant(graph, found.split->input(1)),
                        *others = getConstant(graph, join.input(1));
  if (!blocks || !others ||
      blocks->SerializeAsString() != others->SerializeAsString())
    return std::nullopt;
  return found;
}

void nnc::tensorflow::reduceDilations(Graph &graph,
                                      ArrayRef<std::string> results,
                                      const MadeParts &parts) {
  std::vector<const pb::NodeDef *> joins;
  llvm::StringMap<int> readers;
  for (const auto &entry : graph.nodes) {
    if (entry.second->op() == "BatchToSpaceND")
      joins.push_back(entry.second);
  }
  if (joins.empty())
    return;
  for (const auto &entry : graph.nodes)
    for (const std::string &input : entry.second->input())
      ++readers[parseReference(input).node];
  for (const std::string &result : results)
    ++readers[parseReference(result).node];
  for (const pb::NodeDef *join : joins) {
    auto found = findDilation(graph, *join, readers);
    if (!found)
      continue;
    // The last node of the new ones has the name of the one that is read, the
    // others have those of the ones that they replace.
    pb::NodeDef &conv = parts.addNode();
    conv = *found->conv;
    conv.set_input(0, found->expand ? found->expand->name()
                                    : found->split->input(0));
    for (const std::string &input :
         {found->split->input(1), found->split->input(2), join->input(2)})
      conv.add_input(input);
    if (!found->expand) {
      conv.set_name(join->name());
    } else {
      pb::NodeDef &expand = parts.addNode();
      expand = *found->expand;
      expand.set_input(0, found->split->input(0));
      graph.nodes[expand.name()] = &expand;
      graph.nodes[conv.name()] = &conv;
      pb::NodeDef &squeeze = parts.addNode();
      squeeze = *found->squeeze;
      squeeze.set_name(join->name());
      graph.nodes[join->name()] = &squeeze;
      continue;
    }
    graph.nodes[conv.name()] = &conv;
  }
}
