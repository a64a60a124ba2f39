//===- Values.cpp - Values of tensors that programs change ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/Ops.h"
#include "frontends/torch/graph/Graph.h"
#include "frontends/torch/graph/Mutation.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

SmallVector<StringRef> nnc::torch::getResultNames(const json::Object &node) {
  SmallVector<StringRef> names;
  auto add = [&](const json::Object *named) {
    names.push_back(named ? named->getString("name").value_or("") : "");
  };
  for (const json::Value &entry : getList(node, "outputs")) {
    const json::Object *output = entry.getAsObject();
    if (!output) {
      add(nullptr);
      continue;
    }
    if (const json::Array *list = output->getArray("as_tensors")) {
      for (const json::Value &tensor : *list)
        add(tensor.getAsObject());
      continue;
    }
    if (const json::Object *tensor = output->getObject("as_tensor")) {
      add(tensor);
      continue;
    }
    StringRef name;
    for (StringRef kind : {"as_sym_int", "as_sym_float", "as_sym_bool"})
      if (const json::Object *symbolic = output->getObject(kind))
        name = symbolic->getString("as_name").value_or("");
    names.push_back(name);
  }
  return names;
}

/// Builds the value of a view anew, after a change of its base. The node that
/// makes the view reads the base's new value.
void GraphImporter::refresh(Scope &scope, Tensor &tensor) {
  std::string target = tensor.node->getString("target").value_or("").str();
  // The result of an operator that changed its operand in place is the operand:
  // the change is not repeated.
  std::string op = getOpName(target);
  if (!getFunctionalName(op).empty() && !changesShape(op)) {
    tensor.value = scope.tensors[tensor.base].value;
    return;
  }
  const OpInfo *info = findOp(target, usesComplex(scope, *tensor.node));
  StringRef place = tensor.node->getString("name").value_or("");
  Node node(*this, *tensor.node, scope,
            problems.getLoc(scope.prefix + place.str()), op);
  tensor.value = {};
  if (!info)
    return;
  node.setNnOp(info->nnOp);
  node.setResult(0, info->convert(node));
  if (tensor.result < node.getResults().size() && !node.hasFailed())
    tensor.value = node.getResults()[tensor.result];
}

/// Returns the newest name of a tensor whose shape operators changed in place,
/// as `node` sees it: the operator itself reads the shape before the change.
static std::string getNewestName(Scope &scope, StringRef name,
                                 const Node &node) {
  std::string newest = name.str();
  for (auto newer = scope.renamed.find(newest);
       newer != scope.renamed.end() &&
       scope.tensors[newer->second].node != &node.getJson();
       newer = scope.renamed.find(newest))
    newest = newer->second;
  return newest;
}

Value GraphImporter::getValue(Scope &scope, StringRef name, Node &node) {
  return readOwn(scope, getNewestName(scope, name, node), node);
}

Value GraphImporter::readOwn(Scope &scope, StringRef name, Node &node) {
  auto found = scope.tensors.find(name);
  if (found == scope.tensors.end()) {
    node.broken("reads '" + name + "', which nothing computes before it");
    return {};
  }
  Tensor &tensor = found->second;
  if (tensor.isLeftOut) {
    node.unsupported("reads '" + name +
                     "', a result that nnc does not compute");
    return {};
  }
  if (tensor.base.empty())
    return tensor.value;
  // The base may itself be a view.
  readOwn(scope, tensor.base, node);
  Tensor &base = scope.tensors[tensor.base];
  if (base.changes != tensor.seen) {
    refresh(scope, tensor);
    tensor.seen = base.changes;
    ++tensor.changes;
  }
  return tensor.value;
}

bool GraphImporter::setValue(Scope &scope, StringRef name, Value value,
                             Node &node) {
  return setOwn(scope, getNewestName(scope, name, node), value, node);
}

bool GraphImporter::setOwn(Scope &scope, StringRef name, Value value,
                           Node &node) {
  Value before = readOwn(scope, name, node);
  if (!before || !value)
    return false;
  if (before.getType() != value.getType()) {
    node.broken("stores a result of another shape or type in '" + name + "'");
    return false;
  }
  Tensor &tensor = scope.tensors[name];
  if (!tensor.base.empty()) {
    Value base = readOwn(scope, tensor.base, node);
    StringRef target = tensor.node->getString("target").value_or("");
    std::string op = getOpName(target);
    Node view(*this, *tensor.node, scope, node.getLoc(), op);
    if (!setOwn(scope, tensor.base,
                writeThroughView(view, tensor.result, base, value), node))
      return false;
    tensor.seen = scope.tensors[tensor.base].changes;
  }
  tensor.value = value;
  ++tensor.changes;
  return true;
}
