//===- Flatten.cpp - Calls in the main graph as nodes of it ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/strings/Flatten.h"

#include "frontends/tensorflow/graph/Graph.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::tensorflow;

namespace {
class Flattener {
public:
  Flattener(LoadedModel &model, Problems &problems)
      : model(model), problems(problems) {}

  bool run();

private:
  bool expand(size_t call, int64_t depth);
  bool copyFunction(const pb::FunctionDef &function, const pb::NodeDef &call);
  std::string resolve(StringRef reference) const;
  std::string makeUnique(StringRef name, StringRef caller);
  bool fail(ImportStatus status, const pb::NodeDef &node, const Twine &why) {
    problems.report(status, problems.getLoc(node.name()), node.op())
        << node.op() << " " << why;
    return false;
  }

  LoadedModel &model;
  Problems &problems;
  llvm::StringMap<const pb::FunctionDef *> functions;
  /// The nodes that are not replaced, and those of functions.
  std::vector<pb::NodeDef> nodes;
  llvm::StringSet<> names;
  /// The references in the main graph that the results of each call stand for,
  /// by the call.
  llvm::StringMap<std::vector<std::string>> results;
  /// The nodes that run whenever a call runs, by the call.
  llvm::StringMap<std::vector<std::string>> effects;
};
} // namespace

static bool isCall(const pb::NodeDef &node) {
  return node.op() == "PartitionedCall" ||
         node.op() == "StatefulPartitionedCall";
}

std::string Flattener::makeUnique(StringRef name, StringRef caller) {
  std::string unique = name.str();
  if (names.contains(unique))
    unique = (caller + "/" + name).str();
  while (!names.insert(unique).second && names.contains(unique))
    unique += "_";
  return unique;
}

/// Adds the nodes of a function that `call` runs, and notes what the results of
/// the call are.
bool Flattener::copyFunction(const pb::FunctionDef &function,
                             const pb::NodeDef &call) {
  std::vector<std::string> given, before;
  for (const std::string &input : call.input())
    (StringRef(input).starts_with("^") ? before : given).push_back(input);
  const pb::OpDef &signature = function.signature();
  if (int64_t(given.size()) != signature.input_arg_size())
    return fail(ImportStatus::broken, call,
                "runs the function '" + signature.name() + "' with " +
                    Twine(given.size()) + " values; it takes " +
                    Twine(signature.input_arg_size()));
  llvm::StringMap<std::string> arguments, renamed;
  for (auto [argument, input] : llvm::zip(signature.input_arg(), given))
    arguments[argument.name()] = input;
  for (const pb::NodeDef &node : function.node_def())
    renamed[node.name()] = makeUnique(node.name(), call.name());
  auto translate = [&](StringRef text) -> std::string {
    Reference reference = parseReference(text);
    if (auto found = arguments.find(reference.node); found != arguments.end())
      return found->second;
    auto found = renamed.find(reference.node);
    std::string name =
        found == renamed.end() ? reference.node.str() : found->second;
    StringRef rest = text.drop_front(reference.isControl ? 1 : 0)
                         .drop_front(reference.node.size());
    return (reference.isControl ? "^" : "") + name + rest.str();
  };
  for (const pb::NodeDef &node : function.node_def()) {
    pb::NodeDef &copy = nodes.emplace_back(node);
    copy.set_name(renamed[node.name()]);
    for (std::string &input : *copy.mutable_input())
      input = translate(input);
    for (const std::string &control : before)
      copy.add_input(control);
  }
  for (const auto &result : signature.output_arg()) {
    auto found = function.ret().find(result.name());
    results[call.name()].push_back(
        found == function.ret().end() ? "" : translate(found->second));
  }
  auto &acting = effects[call.name()];
  for (const auto &[name, node] : function.control_ret())
    acting.push_back(translate(node));
  llvm::sort(acting);
  return true;
}

/// Replaces the call nodes[call] and those in its function.
bool Flattener::expand(size_t call, int64_t depth) {
  const pb::NodeDef node = nodes[call];
  StringRef name = getFunction(node, "f");
  auto function = functions.find(name);
  if (function == functions.end())
    return fail(ImportStatus::broken, node,
                "runs a function '" + name +
                    "', which the model does not have");
  const Limits &limits = problems.getLimits();
  if (depth > limits.depth)
    return fail(ImportStatus::limit, node,
                "runs functions more than " + Twine(limits.depth) +
                    " calls deep; --limit depth=N allows more");
  size_t first = nodes.size();
  if (!copyFunction(*function->second, node))
    return false;
  if (int64_t(nodes.size()) > limits.nodes)
    return fail(ImportStatus::limit, node,
                "leads to more than " + Twine(limits.nodes) +
                    " nodes with those of all calls; --limit nodes=N allows "
                    "more");
  for (size_t i = first, end = nodes.size(); i < end; ++i)
    if (isCall(nodes[i]) && !expand(i, depth + 1))
      return false;
  return true;
}

/// Returns what a reference to the result of a call stands for.
std::string Flattener::resolve(StringRef text) const {
  std::string resolved = text.str();
  // A call whose result is its own argument would be resolved forever.
  for (size_t step = 0; step <= results.size(); ++step) {
    Reference reference = parseReference(resolved);
    auto found = results.find(reference.node);
    if (found == results.end() || reference.isControl)
      return resolved;
    size_t index = size_t(std::max<int64_t>(reference.index, 0));
    if (index >= found->second.size())
      return "";
    resolved = found->second[index];
  }
  return "";
}

/// Returns the names of the nodes on which the outputs of the model depend.
static llvm::StringSet<> findNeeded(const LoadedModel &model) {
  llvm::StringMap<const pb::NodeDef *> byName;
  for (const pb::NodeDef &node : model.graph.node())
    byName[node.name()] = &node;
  std::vector<StringRef> open;
  for (const Port &port : model.outputs)
    open.push_back(parseReference(port.tensor).node);
  llvm::StringSet<> needed;
  while (!open.empty()) {
    StringRef name = open.back();
    open.pop_back();
    auto node = byName.find(name);
    if (!needed.insert(name).second || node == byName.end())
      continue;
    for (const std::string &input : node->second->input())
      open.push_back(parseReference(input).node);
  }
  return needed;
}

bool Flattener::run() {
  for (const pb::FunctionDef &function : model.graph.library().function())
    functions[function.signature().name()] = &function;
  llvm::StringSet<> needed = findNeeded(model);
  for (const pb::NodeDef &node : model.graph.node()) {
    nodes.push_back(node);
    names.insert(node.name());
  }
  for (size_t i = 0, end = nodes.size(); i < end; ++i)
    if (isCall(nodes[i]) && needed.contains(nodes[i].name()) && !expand(i, 1))
      return false;
  model.graph.clear_node();
  for (pb::NodeDef &node : nodes) {
    if (results.count(node.name()) || effects.count(node.name()))
      continue;
    pb::NodeDef &kept = *model.graph.add_node();
    kept.Swap(&node);
    std::vector<std::string> inputs(kept.input().begin(), kept.input().end());
    kept.clear_input();
    for (const std::string &input : inputs) {
      Reference reference = parseReference(input);
      auto acting = effects.find(reference.node);
      if (!reference.isControl || acting == effects.end()) {
        kept.add_input(resolve(input));
        continue;
      }
      for (const std::string &effect : acting->second)
        kept.add_input("^" + effect);
    }
  }
  for (auto &entry : effects)
    llvm::append_range(model.effects, entry.second);
  llvm::sort(model.effects);
  for (Port &port : model.outputs)
    port.tensor = resolve(port.tensor);
  return true;
}

bool nnc::tensorflow::flattenCalls(LoadedModel &model, Problems &problems) {
  return Flattener(model, problems).run();
}
