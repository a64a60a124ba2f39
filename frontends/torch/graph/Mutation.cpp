//===- Mutation.cpp - Views, and operators that work in place -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Mutation.h"

#include "frontends/torch/Ops.h"
#include "frontends/torch/graph/Node.h"
#include "frontends/torch/moves/Moves.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

namespace {
/// The way in which a view is written back into its base.
enum class ViewKind { none, same, reshape, transpose, slice, pattern };
} // namespace

/// Returns the kind of view that an operator, named without its overload,
/// makes.
static ViewKind getViewKind(StringRef op) {
  static const llvm::StringMap<ViewKind> kinds = {
      {"_unsafe_view", ViewKind::reshape},
      {"alias", ViewKind::same},
      {"as_strided", ViewKind::pattern},
      {"chunk", ViewKind::slice},
      {"contiguous", ViewKind::same},
      {"detach", ViewKind::same},
      {"diagonal", ViewKind::pattern},
      {"dropout", ViewKind::same},
      {"dsplit", ViewKind::slice},
      {"expand", ViewKind::pattern},
      {"expand_as", ViewKind::pattern},
      {"flatten", ViewKind::reshape},
      {"hsplit", ViewKind::slice},
      {"lift_fresh", ViewKind::same},
      {"movedim", ViewKind::transpose},
      {"narrow", ViewKind::slice},
      {"numpy_T", ViewKind::transpose},
      {"permute", ViewKind::transpose},
      {"reshape", ViewKind::reshape},
      {"select", ViewKind::slice},
      {"slice", ViewKind::slice},
      {"split", ViewKind::slice},
      {"split_with_sizes", ViewKind::slice},
      {"squeeze", ViewKind::reshape},
      {"swapaxes", ViewKind::transpose},
      {"t", ViewKind::transpose},
      {"tensor_split", ViewKind::slice},
      {"to", ViewKind::same},
      {"transpose", ViewKind::transpose},
      {"type_as", ViewKind::same},
      {"unbind", ViewKind::slice},
      {"unflatten", ViewKind::reshape},
      {"unfold", ViewKind::pattern},
      {"unsqueeze", ViewKind::reshape},
      {"view", ViewKind::reshape},
      {"view_as", ViewKind::reshape},
      {"vsplit", ViewKind::slice},
  };
  auto found = kinds.find(op);
  return found == kinds.end() ? ViewKind::none : found->second;
}

std::string nnc::torch::getFunctionalName(StringRef op) {
  auto [base, overload] = op.split('.');
  // Python's operators: "__iand__" is that of "__and__".
  for (StringRef name : {"and", "lshift", "or", "rshift", "xor"})
    if (base == ("__i" + name + "__").str())
      return ("__" + name + "__." + overload).str();
  if (!base.ends_with("_") || base.ends_with("__") || base.size() < 2)
    return "";
  return (base.drop_back() + "." + overload).str();
}

bool nnc::torch::changesShape(StringRef op) {
  StringRef base = op.split('.').first;
  return base == "squeeze_" || base == "t_" || base == "transpose_" ||
         base == "unsqueeze_";
}

/// Returns true if the metadata of a tensor state that its elements follow each
/// other in row-major order, or leave that open.
static bool isContiguous(const json::Object &meta) {
  const json::Array *sizes = meta.getArray("sizes"),
                    *strides = meta.getArray("strides");
  if (!sizes || !strides || sizes->size() != strides->size())
    return true;
  int64_t expected = 1;
  for (size_t i = sizes->size(); i-- > 0;) {
    const json::Object *size = (*sizes)[i].getAsObject(),
                       *stride = (*strides)[i].getAsObject();
    auto count = size ? size->getInteger("as_int") : std::nullopt;
    auto step = stride ? stride->getInteger("as_int") : std::nullopt;
    if (!count || !step)
      return true;
    if (*count != 1 && *step != expected)
      return false;
    if (llvm::MulOverflow(expected, *count, expected))
      return true;
  }
  return true;
}

bool nnc::torch::isView(const json::Object &node, const json::Object &graph) {
  std::string op = getOpName(node.getString("target").value_or(""));
  StringRef base = StringRef(op).split('.').first;
  // detach_ is the only operator with the name of one in place that changes
  // nothing.
  if (!getFunctionalName(op).empty())
    return base == "detach_";
  ViewKind kind = getViewKind(base);
  const json::Object *metas = graph.getObject("tensor_values");
  SmallVector<StringRef> results = getResultNames(node);
  if (kind == ViewKind::none || !metas || results.empty())
    return false;
  const json::Object *from = metas->getObject(getFirstTensor(node)),
                     *to = metas->getObject(results[0]);
  if (!from || !to)
    return true;
  // These copy where they change the type or the order of the elements.
  if (kind == ViewKind::same)
    for (StringRef field : {"dtype", "sizes", "strides"}) {
      const json::Value *a = from->get(field), *b = to->get(field);
      if (!a || !b || *a != *b)
        return false;
    }
  if (base == "reshape" || base == "flatten")
    return isContiguous(*from);
  return true;
}

StringRef nnc::torch::getFirstTensor(const json::Object &node) {
  const json::Array *inputs = node.getArray("inputs");
  const json::Object *first =
      inputs && !inputs->empty() ? inputs->front().getAsObject() : nullptr;
  const json::Object *argument = first ? first->getObject("arg") : nullptr;
  const json::Object *tensor =
      argument ? argument->getObject("as_tensor") : nullptr;
  return tensor ? tensor->getString("name").value_or("") : "";
}

Value nnc::torch::writeThroughView(Node &node, size_t result, Value base,
                                   Value view) {
  if (!base || !view)
    return {};
  StringRef op = node.getOp().split('.').first;
  op.consume_back("_");
  // The result of an operator that works in place is its operand.
  ViewKind kind = getViewKind(op);
  if (kind == ViewKind::none)
    kind = ViewKind::same;
  switch (kind) {
  case ViewKind::same:
    if (base.getType() == view.getType())
      return view;
    break;
  case ViewKind::reshape:
    return node.reshape(view, getShape(base));
  case ViewKind::transpose:
    if (auto permutation = getPermutation(node, getRank(base))) {
      SmallVector<int64_t> inverse(permutation->size());
      for (auto [to, from] : llvm::enumerate(*permutation))
        inverse[from] = to;
      return node.transpose(view, inverse);
    }
    return {};
  case ViewKind::slice:
    if (auto part = getPart(node, base, result)) {
      if (part->dropsAxis)
        view = node.unsqueeze(view, part->axis);
      return writePart(node, base, view, *part);
    }
    return {};
  case ViewKind::pattern:
    return writePattern(node, base, view);
  default:
    break;
  }
  return node.unsupported("is a view that the program changes in place, which "
                          "nnc cannot follow; change a copy of it (clone) in "
                          "the model");
}

std::set<std::string> nnc::torch::findChanged(const json::Object &graph) {
  std::set<std::string> changed;
  llvm::StringMap<std::string> roots;
  auto getRoot = [&](StringRef name) {
    auto found = roots.find(name);
    return found == roots.end() ? name.str() : found->second;
  };
  for (const json::Value &entry : getList(graph, "nodes")) {
    const json::Object *node = entry.getAsObject();
    if (!node)
      continue;
    std::string op = getOpName(node->getString("target").value_or(""));
    bool isInPlace = !getFunctionalName(op).empty();
    StringRef self = getFirstTensor(*node);
    bool isViewing = isView(*node, graph);
    if (self.empty() || (!isInPlace && !isViewing))
      continue;
    std::string root = getRoot(self);
    if (isInPlace && !isViewing && !changesShape(op))
      changed.insert(root);
    for (StringRef name : getResultNames(*node))
      roots[name] = root;
  }
  return changed;
}
