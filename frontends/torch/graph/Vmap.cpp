//===- Vmap.cpp - The nodes of torch.vmap ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Vmap.h"

#include "frontends/torch/graph/Graph.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

/// The largest number of nodes that all slices of a batch have together.
static constexpr int64_t kMostVmapNodes = 4096;

/// Returns the name of a node of torch.vmap without its module; empty for other
/// nodes.
static StringRef getVmapName(const json::Object &node) {
  StringRef target = node.getString("target").value_or("");
  return target.consume_front("torch._functorch.predispatch.") ? target : "";
}

bool nnc::torch::isVmapStart(const json::Object &node) {
  return getVmapName(node) == "_vmap_increment_nesting";
}

size_t GraphImporter::importVmap(Scope &scope, const json::Array &nodes,
                                 size_t begin, size_t end) {
  auto getName = [&](size_t i) {
    const json::Object *node = nodes[i].getAsObject();
    return node ? getVmapName(*node) : StringRef();
  };
  size_t last = begin;
  for (int depth = 1; depth > 0 && ++last < end;)
    depth += getName(last) == "_vmap_increment_nesting"   ? 1
             : getName(last) == "_vmap_decrement_nesting" ? -1
                                                          : 0;
  const json::Object &start = *nodes[begin].getAsObject();
  Location loc = problems.getLoc(
      scope.prefix + start.getString("name").value_or("vmap").str());
  Node first(*this, start, scope, loc, "vmap");
  if (last >= end) {
    first.broken("has no end");
    return end;
  }
  int64_t batch = first.getIntAt(0, 0);
  if (batch < 1 || first.hasFailed() ||
      batch * static_cast<int64_t>(last - begin) > kMostVmapNodes) {
    first.unsupported(
        "maps " + Twine(last - begin) + " nodes over a batch of " +
        Twine(batch) + ", more than " + Twine(kMostVmapNodes) +
        " in all; save program.run_decompositions() instead of the program");
    for (size_t i = begin; i <= last; ++i)
      if (const json::Object *node = nodes[i].getAsObject())
        for (StringRef name : getResultNames(*node))
          scope.tensors.try_emplace(name, Tensor{});
    return last;
  }
  // The results of each run by the places of the nodes that join them.
  std::map<size_t, SmallVector<Value>> results;
  for (int64_t run = 0; run < batch; ++run) {
    Scope inner = scope;
    for (size_t i = begin + 1; i < last; ++i) {
      if (!countNode())
        return last;
      const json::Object *object = nodes[i].getAsObject();
      StringRef name = getName(i);
      if (name == "_add_batch_dim") {
        Node node(*this, *object, inner, loc, "vmap");
        Value x = node.getTensorAt(0);
        auto axis = x ? node.normalizeAxis(node.getIntAt(1, 0), getRank(x))
                      : std::nullopt;
        Value slice;
        if (axis && getShape(x)[*axis] == batch) {
          SmallVector<int64_t> shape(getShape(x));
          shape.erase(shape.begin() + *axis);
          slice = node.reshape(node.slice(x, *axis, run, 1), shape);
        } else if (axis) {
          node.broken("maps an axis of another size than its batch");
        }
        for (StringRef result : node.getResultNames())
          inner.tensors[result] = Tensor{slice};
        continue;
      }
      if (name == "_remove_batch_dim") {
        Node node(*this, *object, inner, loc, "vmap");
        results[i].push_back(node.getTensorAt(0));
        continue;
      }
      if (object && isVmapStart(*object))
        i = importVmap(inner, nodes, i, last);
      else if (object)
        importNode(inner, *object, i);
    }
  }
  for (auto &[place, values] : results) {
    Node node(*this, *nodes[place].getAsObject(), scope, loc, "vmap");
    Value joined;
    if (!llvm::is_contained(values, Value())) {
      auto axis =
          node.normalizeAxis(node.getIntAt(3, 0), getRank(values[0]) + 1);
      for (Value &value : values)
        value = axis ? node.unsqueeze(value, *axis) : Value();
      joined =
          values.size() == 1
              ? values[0]
              : node.create<nn::ConcatOp>(ValueRange(values), axis.value_or(0));
    }
    for (StringRef result : node.getResultNames())
      scope.tensors[result] = Tensor{joined};
  }
  return last;
}
