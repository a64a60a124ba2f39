//===- FoldViews.cpp - Folds views of constant weights --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/FoldViews.h"

#include "frontends/onnx/compress/MatrixForm.h"
#include "frontends/onnx/compress/WeightScales.h"
#include "frontends/onnx/file/Check.h"

#include <cstring>
#include <numeric>

using namespace nnc::onnx;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using Sizes = std::vector<int64_t>;

/// Returns the elements of a constant of 64-bit integers.
static std::optional<Sizes> getSizes(const TensorProto *tensor) {
  if (!tensor || tensor->data_type() != TensorProto::INT64)
    return std::nullopt;
  if (!tensor->has_raw_data() || tensor->raw_data().empty())
    return Sizes(tensor->int64_data().begin(), tensor->int64_data().end());
  Sizes values(tensor->raw_data().size() / sizeof(int64_t));
  std::memcpy(values.data(), tensor->raw_data().data(),
              values.size() * sizeof(int64_t));
  return values;
}

/// Returns the axes of a Squeeze or Unsqueeze in the range from 0 to `rank`;
/// nullopt if they are not known. In older operator sets they are an attribute.
static std::optional<Sizes> getAxes(const GraphIndex &index,
                                    const NodeProto &node, int64_t rank) {
  std::optional<Sizes> axes;
  if (hasInput(node, 1))
    axes = getSizes(index.getConstant(node.input(1)));
  else if (const auto *own = findAttribute(node, "axes"))
    axes = Sizes(own->ints().begin(), own->ints().end());
  if (!axes)
    return std::nullopt;
  for (int64_t &axis : *axes) {
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return std::nullopt;
  }
  return axes;
}

static std::optional<Sizes> reshape(const GraphIndex &index,
                                    const NodeProto &node, const Sizes &dims) {
  auto sizes = hasInput(node, 1) ? getSizes(index.getConstant(node.input(1)))
                                 : std::nullopt;
  if (!sizes || getInt(node, "allowzero", 0) != 0)
    return std::nullopt;
  int64_t known = 1, *open = nullptr;
  for (size_t i = 0; i < sizes->size(); ++i) {
    int64_t &size = (*sizes)[i];
    if (size == 0 && i < dims.size())
      size = dims[i];
    if (size == -1 && !open)
      open = &size;
    else if (size < 1 || size > INT32_MAX || known > INT32_MAX)
      return std::nullopt;
    else
      known *= size;
  }
  if (open)
    *open = getProduct(dims) / known;
  return sizes;
}

/// Returns the result's shape of a node that does not change the order of
/// elements; nullopt if it is not known.
static std::optional<Sizes>
getNewDims(const GraphIndex &index, const NodeProto &node, const Sizes &dims) {
  llvm::StringRef op = node.op_type();
  auto rank = static_cast<int64_t>(dims.size());
  if (op == "Identity")
    return dims;
  if (op == "Reshape")
    return reshape(index, node, dims);
  if (op == "Flatten") {
    int64_t axis = getInt(node, "axis", 1);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis > rank)
      return std::nullopt;
    llvm::ArrayRef<int64_t> all = dims;
    return Sizes{getProduct(all.take_front(axis)),
                 getProduct(all.drop_front(axis))};
  }
  if (op == "Squeeze") {
    auto axes = getAxes(index, node, rank);
    Sizes result;
    for (int64_t i = 0; i < rank; ++i)
      if (!axes || !llvm::is_contained(*axes, i))
        result.push_back(dims[i]);
    return axes ? std::optional(result) : std::nullopt;
  }
  if (op != "Unsqueeze")
    return std::nullopt;
  const TensorProto *given =
      hasInput(node, 1) ? index.getConstant(node.input(1)) : nullptr;
  const auto *own = findAttribute(node, "axes");
  size_t count = given ? getSizes(given).value_or(Sizes()).size()
                 : own ? own->ints_size()
                       : 0;
  auto newRank = static_cast<int64_t>(dims.size() + count);
  auto axes = getAxes(index, node, newRank);
  if (!axes)
    return std::nullopt;
  Sizes result;
  auto next = dims.begin();
  for (int64_t i = 0; i < newRank; ++i)
    if (llvm::is_contained(*axes, i))
      result.push_back(1);
    else if (next != dims.end())
      result.push_back(*next++);
  return result;
}

/// Returns elements of shape `dims` with the axes in another order.
template <class T>
static std::vector<T> transpose(const std::vector<T> &elements,
                                const Sizes &dims, const Sizes &order) {
  size_t rank = dims.size();
  Sizes strides(rank, 1), place(rank, 0);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * dims[i];
  std::vector<T> result;
  result.reserve(elements.size());
  while (result.size() < elements.size()) {
    int64_t from = 0;
    for (size_t i = 0; i < rank; ++i)
      from += place[i] * strides[order[i]];
    result.push_back(elements[from]);
    for (size_t i = rank; i-- > 0;) {
      if (++place[i] < dims[order[i]])
        break;
      place[i] = 0;
    }
  }
  return result;
}

/// Returns the order of the axes of a Transpose, if it is one of `rank` axes.
static std::optional<Sizes> getOrder(const NodeProto &node, size_t rank) {
  Sizes order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto *given = findAttribute(node, "perm"))
    order.assign(given->ints().begin(), given->ints().end());
  Sizes sorted = order;
  llvm::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return std::nullopt;
  return order.size() == rank ? std::optional(order) : std::nullopt;
}

bool nnc::onnx::isView(const NodeProto &node) {
  static constexpr llvm::StringLiteral names[] = {
      "Identity", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze"};
  return node.domain().empty() && llvm::is_contained(names, node.op_type());
}

/// Replaces a constant by the result of the node that reads it. Returns false
/// if the result is not known.
static bool apply(const GraphIndex &index, const NodeProto &node,
                  TensorProto &tensor) {
  Sizes dims(tensor.dims().begin(), tensor.dims().end());
  std::optional<Sizes> result;
  if (node.op_type() == "Transpose") {
    auto order = getOrder(node, dims.size());
    if (!order)
      return false;
    if (isOfBytes(tensor))
      setIntegers(tensor, transpose(getIntegers(tensor), dims, *order));
    else
      setFloats(tensor, transpose(getFloats(tensor), dims, *order));
    result.emplace();
    for (int64_t axis : *order)
      result->push_back(dims[axis]);
  } else {
    result = getNewDims(index, node, dims);
  }
  if (!result || getProduct(*result) != getProduct(dims))
    return false;
  tensor.mutable_dims()->Assign(result->begin(), result->end());
  return true;
}

namespace {

class ViewFolder {
public:
  ViewFolder(ModelProto &model, const std::set<std::string> &exclude)
      : model(model), exclude(exclude) {
    index.emplace(model);
    for (const auto &input : model.graph().input())
      inputs.insert(input.name());
  }
  void run();

private:
  void fold(int node);

  ModelProto &model;
  const std::set<std::string> &exclude;
  std::optional<GraphIndex> index;
  /// Values whose declared shapes have become wrong, and operands of folded
  /// nodes.
  llvm::StringSet<> stale, operands;
  llvm::StringSet<> inputs; ///< includes inputs with a value in the file
};

} // namespace

/// Folds a view and the views in front of it, if all of them can be folded.
void ViewFolder::fold(int number) {
  llvm::SmallVector<int> views;
  while (true) {
    const NodeProto &node = index->getNode(number);
    if (!isView(node) || node.input_size() == 0 || node.output_size() != 1 ||
        exclude.count(getNodeName(node).str()) ||
        index->isOutput(node.output(0)) || index->isCaptured(node.output(0)))
      return;
    views.push_back(number);
    const std::string &value = node.input(0);
    if (index->getOnlyReader(value) != number || inputs.contains(value))
      return;
    if (index->isConstant(value))
      break;
    number = index->getProducer(value);
    if (number < 0)
      return;
  }
  const std::string constant = index->getNode(views.back()).input(0);
  TensorProto &tensor = *index->getConstant(constant);
  if (tensor.data_type() != TensorProto::FLOAT && !isOfBytes(tensor))
    return;
  // A copy is changed because folding may fail on invalid attributes.
  TensorProto changed = tensor;
  for (int view : llvm::reverse(views))
    if (!apply(*index, index->getNode(view), changed))
      return;
  tensor.Swap(&changed);
  const std::string result = index->getNode(views.front()).output(0);
  for (int reader : index->getReaders(result))
    for (std::string &input : *index->getNode(reader).mutable_input())
      if (input == result)
        input = constant;
  for (int view : views) {
    NodeProto &node = index->getNode(view);
    operands.insert(node.input().begin(), node.input().end());
    node.Clear();
  }
  stale.insert(constant);
  stale.insert(result);
  index.emplace(model);
}

void ViewFolder::run() {
  for (int number = 0; number < index->getNumNodes(); ++number)
    for (int i = 0; i < index->getNode(number).input_size(); ++i) {
      const NodeProto &layer = index->getNode(number);
      if (!canBeWeights(layer, i))
        continue;
      int producer = index->getProducer(layer.input(i));
      if (producer >= 0 &&
          index->getNode(producer).op_type() == "DequantizeLinear")
        producer = index->getProducer(index->getNode(producer).input(0));
      if (producer >= 0)
        fold(producer);
    }
  auto erase = [](auto *list, auto condition) {
    list->erase(std::remove_if(list->begin(), list->end(), condition),
                list->end());
  };
  erase(model.mutable_graph()->mutable_value_info(),
        [&](const auto &value) { return stale.contains(value.name()); });
  erase(model.mutable_graph()->mutable_node(),
        [&](const NodeProto &node) { return node.op_type().empty(); });
  removeUnusedConstants(model, operands);
}

void nnc::onnx::foldViews(ModelProto &model,
                          const std::set<std::string> &exclude) {
  ViewFolder(model, exclude).run();
}
