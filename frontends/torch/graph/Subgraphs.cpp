//===- Subgraphs.cpp - Graphs that nodes run ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Graph.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

bool GraphImporter::inlineGraph(const json::Object &graph, StringRef name,
                                const Node &caller, ArrayRef<Value> inputs,
                                SmallVectorImpl<Value> &results,
                                SmallVectorImpl<Value> *after) {
  auto fail = [&](ImportStatus status, const Twine &why) {
    problems.report(status, caller.getLoc(), caller.getOp())
        << caller.getOp() << " runs the graph '" << name << "'" << why;
    return false;
  };
  if (llvm::is_contained(inputs, Value()))
    return false;
  if (int64_t(active.size()) > problems.getLimits().depth)
    return fail(ImportStatus::limit,
                ", more than " + Twine(problems.getLimits().depth) +
                    " graphs deep; --limit depth=N allows more");
  Scope scope{&graph, (name + "/").str()};
  scope.isAutocast = caller.getScope().isAutocast ||
                     caller.getOp() == "higher_order.wrap_with_autocast";
  const json::Array *arguments = graph.getArray("inputs");
  const json::Array *outputs = graph.getArray("outputs");
  if (!arguments || !outputs || arguments->size() != inputs.size())
    return fail(ImportStatus::broken, ", which has not its number of inputs: " +
                                          Twine(inputs.size()));
  for (auto [entry, input] : llvm::zip_equal(*arguments, inputs)) {
    const json::Object *argument = entry.getAsObject();
    const json::Object *tensor =
        argument ? argument->getObject("as_tensor") : nullptr;
    const json::Object *symbolic =
        argument ? argument->getObject("as_sym_int") : nullptr;
    auto own = tensor ? tensor->getString("name") : std::nullopt;
    if (symbolic && symbolic->getString("as_name")) {
      if (getScalar(scope, *symbolic->getString("as_name")))
        continue;
      Scalar number;
      number.value = input;
      if (auto known = readElements(input);
          known && !known->isReal() && known->ints.size() == 1)
        number = {false, false, known->ints[0], double(known->ints[0])};
      scope.scalars[*symbolic->getString("as_name")] = number;
      continue;
    }
    if (!own)
      return fail(ImportStatus::unsupported,
                  ", which has an input that is no tensor");
    scope.tensors.try_emplace(*own, Tensor{input});
  }
  active.push_back(&graph);
  importNodes(scope);
  active.pop_back();
  Node reader(*this, graph, scope, caller.getLoc(), caller.getOp());
  for (auto [entry, input] : llvm::zip_equal(*arguments, inputs))
    if (after) {
      const json::Object *tensor = entry.getAsObject()->getObject("as_tensor");
      after->push_back(
          tensor ? getValue(scope, *tensor->getString("name"), reader) : input);
    }
  for (const json::Value &entry : *outputs) {
    const json::Object *output = entry.getAsObject();
    const json::Object *tensor =
        output ? output->getObject("as_tensor") : nullptr;
    auto own = tensor ? tensor->getString("name") : std::nullopt;
    if (!own)
      return fail(ImportStatus::unsupported,
                  ", which has a result that is no tensor");
    results.push_back(getValue(scope, *own, reader));
    if (!results.back())
      return false;
  }
  return true;
}
