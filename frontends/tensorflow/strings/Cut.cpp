//===- Cut.cpp - Cuts string preprocessing off a model --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/strings/Cut.h"

#include "frontends/tensorflow/strings/Flatten.h"
#include "frontends/tensorflow/strings/ResultTypes.h"
#include "frontends/tensorflow/tables/Contents.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace nnc::tensorflow;

namespace {
/// The cutter of one model, whose calls have been replaced by their nodes.
class Cutter {
public:
  Cutter(LoadedModel &model, Problems &problems);

  bool run();

private:
  using Node = const pb::NodeDef *;
  using NodeSet = llvm::SetVector<Node>;

  Node find(StringRef reference) const {
    return nodes.lookup(parseReference(reference).node);
  }
  ResultInfo getInfo(StringRef reference) const;
  void addInnerText(Node node, llvm::StringSet<> &seen,
                    llvm::SetVector<StringRef> &operators) const;
  llvm::SetVector<StringRef> getText(Node node) const;
  NodeSet getReaders(ArrayRef<Node> from) const;
  NodeSet getSources(ArrayRef<Node> from) const;
  void findTextNodes();
  void takeOffLabels();
  void takeNumbersOf(const Port &label, std::vector<Port> &added);
  bool takeOffWords();
  std::string getFeature(Node node, int64_t index) const;
  Port makeInput(StringRef reference, Node source);

  LoadedModel &model;
  Problems &problems;
  llvm::StringMap<Node> nodes;
  llvm::StringMap<const pb::FunctionDef *> functions;
  NodeSet fromText;  ///< nodes that depend on strings
  NodeSet textNodes; ///< those that read strings, or what belongs to them
  NodeSet fed;       ///< nodes that depend on inputs that are numbers
  /// The names of the new inputs, by the references that they replace.
  std::map<std::string, std::string> replaced;
};
} // namespace

static std::vector<StringRef> getDataInputs(const pb::NodeDef &node) {
  std::vector<StringRef> inputs;
  for (const std::string &input : node.input())
    if (!StringRef(input).starts_with("^"))
      inputs.push_back(input);
  return inputs;
}

/// Returns true if `type` is one of tensors of numbers.
static bool isNumber(pb::DataType type) {
  return type != pb::DT_INVALID && type != pb::DT_STRING &&
         type != pb::DT_RESOURCE && type != pb::DT_VARIANT;
}

Cutter::Cutter(LoadedModel &model, Problems &problems)
    : model(model), problems(problems) {
  for (const pb::NodeDef &node : model.graph.node())
    nodes[node.name()] = &node;
  for (const pb::FunctionDef &function : model.graph.library().function())
    functions[function.signature().name()] = &function;
}

ResultInfo Cutter::getInfo(StringRef reference) const {
  Node node = find(reference);
  return node ? getResultInfo(*node, parseReference(reference)) : ResultInfo();
}

/// Adds the operators on strings in the functions that `node` runs.
void Cutter::addInnerText(Node node, llvm::StringSet<> &seen,
                          llvm::SetVector<StringRef> &operators) const {
  for (const auto &[name, value] : node->attr()) {
    std::vector<StringRef> names;
    if (value.has_func())
      names.push_back(value.func().name());
    for (const pb::NameAttrList &function : value.list().func())
      names.push_back(function.name());
    for (StringRef each : names) {
      auto found = functions.find(each);
      if (found == functions.end() || !seen.insert(each).second)
        continue;
      for (const pb::NodeDef &inner : found->second->node_def()) {
        if (isTextOperator(inner))
          operators.insert(inner.op());
        addInnerText(&inner, seen, operators);
      }
    }
  }
}

/// Returns the operators on strings among `node` and what it runs.
llvm::SetVector<StringRef> Cutter::getText(Node node) const {
  llvm::SetVector<StringRef> operators;
  llvm::StringSet<> seen;
  if (isTextOperator(*node))
    operators.insert(node->op());
  addInnerText(node, seen, operators);
  return operators;
}

/// Returns `from` and all nodes that depend on them by the data that they read.
Cutter::NodeSet Cutter::getReaders(ArrayRef<Node> from) const {
  llvm::DenseMap<Node, std::vector<Node>> readers;
  for (const pb::NodeDef &node : model.graph.node())
    for (StringRef input : getDataInputs(node))
      if (Node read = find(input))
        readers[read].push_back(&node);
  NodeSet found(from.begin(), from.end());
  for (size_t i = 0; i < found.size(); ++i)
    for (Node reader : readers[found[i]])
      found.insert(reader);
  return found;
}

/// Returns `from` and all nodes whose data they depend on.
Cutter::NodeSet Cutter::getSources(ArrayRef<Node> from) const {
  NodeSet found(from.begin(), from.end());
  for (size_t i = 0; i < found.size(); ++i)
    for (StringRef input : getDataInputs(*found[i]))
      if (Node read = find(input))
        found.insert(read);
  return found;
}

/// Finds the nodes that depend on strings, and those that work on them.
void Cutter::findTextNodes() {
  std::vector<Node> texts, numbers;
  llvm::StringSet<> inputs, words;
  for (const Port &port : model.texts)
    words.insert(parseReference(port.tensor).node);
  for (const Port &port : model.inputs)
    inputs.insert(parseReference(port.tensor).node);
  for (const pb::NodeDef &node : model.graph.node()) {
    if (inputs.contains(node.name())) {
      numbers.push_back(&node);
      continue;
    }
    ResultInfo info = getResultInfo(node, Reference());
    bool isTable =
        StringRef(node.op()).contains("HashTable") && !isNumberTable(node);
    bool isConstant = node.op() == "Const" && info.type == pb::DT_STRING;
    if (isTable || isConstant || words.contains(node.name()))
      texts.push_back(&node);
  }
  fed = getReaders(numbers);
  fromText = getReaders(texts);
  // A node that reads the list which a node on strings gives belongs to it;
  // hence the loop.
  textNodes.insert(texts.begin(), texts.end());
  for (bool changes = true; changes;) {
    changes = false;
    for (Node node : fromText) {
      if (textNodes.contains(node))
        continue;
      bool isText = !getText(node).empty();
      for (StringRef input : getDataInputs(*node))
        isText |=
            textNodes.contains(find(input)) && !isNumber(getInfo(input).type);
      if (isText)
        changes |= textNodes.insert(node);
    }
  }
}

/// Adds the numbers from which a label is chosen to the outputs, unless they
/// are among them.
void Cutter::takeNumbersOf(const Port &label, std::vector<Port> &added) {
  NodeSet open;
  if (Node node = find(label.tensor))
    open.insert(node);
  for (size_t i = 0; i < open.size(); ++i)
    for (StringRef input : getDataInputs(*open[i])) {
      Node read = find(input);
      if (!read)
        continue;
      StringRef op = read->op();
      if (textNodes.contains(read)) {
        open.insert(read);
        continue;
      }
      // Shapes only say how many labels there are.
      if (!fed.contains(read) || op.starts_with("Shape") || op == "Size" ||
          op == "Placeholder" || op == "StridedSlice" || op == "Pack" ||
          op == "Rank")
        continue;
      auto isIt = [&](const Port &port) {
        return port.tensor == input || port.name == read->name();
      };
      if (llvm::none_of(model.outputs, isIt) && llvm::none_of(added, isIt))
        added.push_back({read->name(), input.str(), pb::DT_INVALID, {}});
    }
}

/// Leaves out the outputs that are strings.
void Cutter::takeOffLabels() {
  auto isText = [&](const Port &port) {
    return port.type == pb::DT_STRING ||
           getInfo(port.tensor).type == pb::DT_STRING;
  };
  std::vector<Port> labels, added;
  llvm::copy_if(model.outputs, std::back_inserter(labels), isText);
  llvm::erase_if(model.outputs, isText);
  for (const Port &label : labels) {
    size_t before = added.size();
    takeNumbersOf(label, added);
    auto warning = emitWarning(problems.getLoc(label.name));
    warning << "is an output of strings, with which nnc does not compute, and "
               "is left out";
    if (added.size() > before) {
      warning << "; the numbers from which it follows are the output";
      for (size_t i = before; i < added.size(); ++i)
        warning << (i > before ? ", " : " ") << "'" << added[i].name << "'";
    }
  }
  llvm::append_range(model.outputs, added);
}

/// Returns the name of the feature that ParseExample reads as its dense result
/// `index`; empty if it is not known.
std::string Cutter::getFeature(Node node, int64_t index) const {
  auto readText = [&](StringRef reference, int64_t i) -> std::string {
    Node constant = find(reference);
    if (!constant)
      return "";
    auto value = constant->attr().find("value");
    if (value == constant->attr().end() || !value->second.has_tensor())
      return "";
    const pb::TensorProto &tensor = value->second.tensor();
    return i < tensor.string_val_size() ? tensor.string_val(int(i)) : "";
  };
  std::vector<StringRef> inputs = getDataInputs(*node);
  if (node->op() == "ParseExampleV2")
    return inputs.size() > 3 ? readText(inputs[3], index) : "";
  auto keys = node->attr().find("dense_keys");
  if (keys != node->attr().end() && index < keys->second.list().s_size())
    return keys->second.list().s(int(index));
  // ParseExample reads the names of the sparse features, and then those of the
  // dense ones.
  auto sparse = node->attr().find("Nsparse");
  if (node->op() != "ParseExample" || sparse == node->attr().end())
    return "";
  size_t place = 2 +
                 size_t(std::clamp<int64_t>(sparse->second.i(), 0, 1 << 20)) +
                 size_t(index);
  return place < inputs.size() ? readText(inputs[place], 0) : "";
}

/// Makes the input that takes the place of a result of `source`.
Port Cutter::makeInput(StringRef reference, Node source) {
  ResultInfo info = getInfo(reference);
  std::vector<ResultInfo> infos = getResultInfos(*source);
  std::string name = source->name();
  if (info.name == "dense_values")
    if (std::string feature = getFeature(source, info.index); !feature.empty())
      return {feature, name + "/" + feature, info.type, info.shape};
  if (infos.size() > 1) {
    name += "_" + (info.name.empty() ? std::string("output") : info.name);
    auto isOther = [&](const ResultInfo &other) {
      return other.name == info.name && other.index != info.index;
    };
    if (llvm::any_of(infos, isOther))
      name += "_" + std::to_string(info.index);
  }
  return {name, name, info.type, info.shape};
}

/// Cuts off what computes numbers from strings.
bool Cutter::takeOffWords() {
  std::vector<Node> results;
  for (const Port &port : model.outputs)
    if (Node node = find(port.tensor))
      results.push_back(node);
  NodeSet needed = getSources(results);
  std::vector<Node> lasts;
  for (Node node : textNodes)
    if (needed.contains(node))
      lasts.push_back(node);
  NodeSet front = getSources(lasts);
  auto isCutOff = [&](Node node) {
    return node && front.contains(node) && fromText.contains(node);
  };
  // Outputs that the operators on strings compute.
  llvm::erase_if(model.outputs, [&](const Port &port) {
    if (!isCutOff(find(port.tensor)))
      return false;
    emitWarning(problems.getLoc(port.name))
        << "is an output that operators on strings compute, which nnc does not "
           "run, and is left out";
    return true;
  });
  std::vector<Port> inputs;
  std::vector<Node> cuts;
  for (Node node : needed) {
    if (isCutOff(node))
      continue;
    for (StringRef input : getDataInputs(*node)) {
      Node source = find(input);
      if (!isCutOff(source) || replaced.count(input.str()))
        continue;
      Port port = makeInput(input, source);
      while (nodes.count(port.tensor) && nodes.lookup(port.tensor) != source)
        port.tensor += "_";
      replaced[input.str()] = port.tensor;
      // A result may be referred to in several ways.
      if (llvm::any_of(inputs, [&](const Port &other) {
            return other.tensor == port.tensor;
          }))
        continue;
      auto hasName = [&](const Port &other) { return other.name == port.name; };
      while (llvm::any_of(model.inputs, hasName) ||
             llvm::any_of(inputs, hasName))
        port.name += "_";
      inputs.push_back(port);
      cuts.push_back(source);
    }
  }
  if (model.outputs.empty()) {
    problems.report(ImportStatus::unsupported)
        << "computes only with strings, of which nnc makes no code: its "
           "outputs are strings, or numbers that operators on strings compute";
    return false;
  }
  for (auto [cut, port] : llvm::zip(cuts, inputs)) {
    llvm::SetVector<StringRef> operators;
    for (Node node : getSources({cut}))
      for (StringRef op : getText(node))
        operators.insert(op);
    auto sorted = operators.takeVector();
    llvm::sort(sorted);
    emitWarning(problems.getLoc(port.name))
        << "is an input in place of the strings, with which nnc does not "
           "compute: the caller runs what stands in front of it ("
        << llvm::join(sorted, ", ") << ") and gives the tensor of numbers";
  }
  for (const Port &text : model.texts)
    if (Node node = find(text.tensor); node && !needed.contains(node))
      emitWarning(problems.getLoc(text.name))
          << "is an input of strings on which no output depends, and is left "
             "out";
  // The nodes in front are removed, so that the names of inputs are free.
  pb::GraphDef kept;
  for (pb::NodeDef &node : *model.graph.mutable_node()) {
    if (isCutOff(&node))
      continue;
    for (std::string &input : *node.mutable_input())
      if (auto found = replaced.find(input); found != replaced.end())
        input = found->second;
    int last = 0;
    for (int i = 0; i < node.input_size(); ++i) {
      Node read = find(node.input(i));
      if (parseReference(node.input(i)).isControl && isCutOff(read))
        continue;
      node.mutable_input()->SwapElements(i, last++);
    }
    node.mutable_input()->DeleteSubrange(last, node.input_size() - last);
  }
  for (pb::NodeDef &node : *model.graph.mutable_node())
    if (!isCutOff(&node))
      kept.add_node()->Swap(&node);
  for (const Port &port : inputs) {
    pb::NodeDef &node = *kept.add_node();
    node.set_name(port.tensor);
    node.set_op("Placeholder");
  }
  model.graph.mutable_node()->Swap(kept.mutable_node());
  llvm::append_range(model.inputs, inputs);
  model.texts.clear();
  return true;
}

bool Cutter::run() {
  findTextNodes();
  takeOffLabels();
  return takeOffWords();
}

/// Returns true if a node in the graph, outside of functions, that the outputs
/// depend on works on strings.
static bool hasText(const LoadedModel &model) {
  if (!model.texts.empty())
    return true;
  for (const Port &port : model.outputs)
    if (port.type == pb::DT_STRING)
      return true;
  // SavedModels say which of their inputs and outputs are strings.
  if (!model.savedModel.empty())
    return false;
  for (const pb::NodeDef &node : model.graph.node())
    if (isTextOperator(node))
      return true;
  return false;
}

bool nnc::tensorflow::cutStrings(LoadedModel &model, Problems &problems) {
  if (!hasText(model))
    return true;
  return flattenCalls(model, problems) && Cutter(model, problems).run();
}
