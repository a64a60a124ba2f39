//===- Graph.cpp - Walks the graph of a symbol ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Graph.h"

#include "frontends/common/Module.h"
#include "frontends/mxnet/Ops.h"
#include "frontends/mxnet/graph/Layer.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::mxnet;

GraphImporter::GraphImporter(const Symbol &symbol, const Params &params,
                             const ImportOptions &options, Problems &problems,
                             func::FuncOp function)
    : symbol(symbol), params(params), problems(problems), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      customs(options.customs), values(symbol.nodes.size()) {}

std::vector<uint32_t> GraphImporter::findInputs(const Symbol &symbol,
                                                const Params &params,
                                                ArrayRef<uint32_t> sorted) {
  std::vector<uint32_t> inputs;
  for (uint32_t number : sorted) {
    const SymbolNode &node = symbol.nodes[number];
    if (node.isVariable() && !params.find(node.name))
      inputs.push_back(number);
  }
  llvm::sort(inputs);
  return inputs;
}

Value GraphImporter::getParameter(StringRef name) {
  const Param *param = depth ? nullptr : params.find(name);
  if (!param)
    return {};
  auto [entry, isNew] = parameters.try_emplace(name);
  if (!isNew)
    return entry->second;
  Location loc = problems.getLoc(name);
  if (ElementsAttr constant =
          makeConstant(params, *param, name, problems, loc)) {
    entry->second = builder.create<nn::ConstantOp>(loc, constant);
    if (param->type == getTypeNumber("float16"))
      countHalfConstant(entry->second.getDefiningOp(),
                        getNumElements(entry->second));
  }
  return entry->second;
}

void GraphImporter::importVariable(uint32_t number) {
  values[number] = {getParameter(symbol.nodes[number].name)};
}

/// Returns the number of leading inputs that a node reads.
static size_t countReads(const SymbolNode &node) {
  const OpInfo *info = findOp(node.op);
  return info ? info->countReads(node) : node.inputs.size();
}

void GraphImporter::importNode(const Symbol &graph, Values &values,
                               uint32_t number) {
  const SymbolNode &node = graph.nodes[number];
  Location loc = problems.getLoc(node.name);
  SmallVector<Value> inputs;
  const OpInfo *info = findOp(node.op);
  for (const Entry &entry :
       llvm::ArrayRef(node.inputs).take_front(countReads(node))) {
    ArrayRef<Value> results = values[entry.node];
    // A node that failed has no results, which is reported once.
    if (!results.empty() && entry.output >= results.size()) {
      problems.report(ImportStatus::broken, loc, node.op)
          << node.op << " reads result " << entry.output << " of '"
          << graph.nodes[entry.node].name << "', which has " << results.size();
      return;
    }
    inputs.push_back(results.empty() ? Value() : results[entry.output]);
  }
  Layer layer(*this, node, inputs, loc);
  if (!info) {
    if (const CustomFunction *function = customs.find(node.op)) {
      convertCustom(layer, customs, *function, node.op);
      values[number] = layer.takeResults();
      return;
    }
    customs.noteMissing(node.op);
    auto [entry, isNew] = missing.insert(
        {builder.getStringAttr(node.op), MissingOperator{loc, 0}});
    ++entry->second.count;
    return;
  }
  if (node.inputs.size() < info->minInputs ||
      node.inputs.size() > info->maxInputs) {
    layer.broken("has " + Twine(node.inputs.size()) + " inputs");
    return;
  }
  if (llvm::is_contained(inputs, Value()))
    return;
  Value first = info->convert(layer);
  layer.setResult(0, first);
  if (first && !layer.hasFailed())
    values[number] = layer.takeResults();
}

bool GraphImporter::importSubgraph(Layer &layer, const Symbol &graph,
                                   ArrayRef<Value> inputs,
                                   SmallVectorImpl<Value> &results,
                                   ArrayRef<Computed> computed) {
  Values inner(graph.nodes.size());
  size_t given = 0;
  for (auto [number, node] : llvm::enumerate(graph.nodes)) {
    if (!node.isVariable())
      continue;
    if (given < inputs.size())
      inner[number] = {inputs[given]};
    ++given;
  }
  if (given != inputs.size()) {
    layer.broken("gives " + Twine(inputs.size()) +
                 " values to a subgraph that has " + Twine(given) +
                 " variables");
    return false;
  }
  imported += int64_t(graph.nodes.size());
  if (imported > problems.getLimits().nodes) {
    layer.fail(ImportStatus::limit, "has loops that expand to more than " +
                                        Twine(problems.getLimits().nodes) +
                                        " nodes; --limit nodes=N allows more");
    return false;
  }
  for (auto [number, value] : computed)
    inner[number] = {value};
  auto sorted = sortNodes(
      graph,
      [&](const SymbolNode &node) {
        bool isComputed = !inner[&node - graph.nodes.data()].empty();
        return isComputed ? 0 : countReads(node);
      },
      problems);
  if (!sorted)
    return false;
  ++depth;
  for (uint32_t number : *sorted)
    if (!graph.nodes[number].isVariable() && inner[number].empty())
      importNode(graph, inner, number);
  --depth;
  for (const Entry &head : graph.heads) {
    ArrayRef<Value> made = inner[head.node];
    if (!made.empty() && head.output >= made.size()) {
      layer.broken("has a subgraph that gives result " + Twine(head.output) +
                   " of '" + graph.nodes[head.node].name + "', which has " +
                   Twine(made.size()));
      return false;
    }
    // A node that failed has no results, which is reported once.
    if (made.empty() || !made[head.output])
      return false;
    results.push_back(made[head.output]);
  }
  return true;
}

/// Returns the name that MXNet gives result `output` of a node among the
/// outputs of a symbol.
static std::string getOutputName(const SymbolNode &node, uint32_t output,
                                 size_t count) {
  if (node.isVariable())
    return node.name;
  return node.name + "_output" + (count > 1 ? std::to_string(output) : "");
}

void GraphImporter::returnResults() {
  SmallVector<Value> results;
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  for (const Entry &head : symbol.heads) {
    const SymbolNode &node = symbol.nodes[head.node];
    ArrayRef<Value> made = values[head.node];
    if (head.output >= made.size()) {
      problems.report(ImportStatus::broken, problems.getLoc(node.name))
          << "has " << made.size() << " results; the model's outputs have its "
          << "result " << head.output;
      continue;
    }
    results.push_back(made[head.output]);
    std::string name = getOutputName(node, head.output, made.size());
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i)
      unique = name + "_" + std::to_string(i);
    names.push_back(unique);
  }
  if (!problems.none())
    return;
  returnFromMain(function, results,
                 SmallVector<StringRef>(names.begin(), names.end()));
}

void GraphImporter::run(ArrayRef<uint32_t> sorted,
                        ArrayRef<uint32_t> inputNodes, ArrayRef<Input> inputs) {
  auto arguments = function.getArguments().begin();
  for (auto [number, input] : llvm::zip_equal(inputNodes, inputs)) {
    if (input.value)
      values[number] = {builder.create<nn::ConstantOp>(
          problems.getLoc(input.name), input.value)};
    else if (input.type)
      values[number] = {*arguments++};
  }
  for (uint32_t number : sorted)
    if (!symbol.nodes[number].isVariable())
      importNode(symbol, values, number);
    else if (params.find(symbol.nodes[number].name))
      importVariable(number);
  reportMissing(missing, problems, "operators",
                "`nnc ops --frontend=mxnet` lists what is, and --custom takes "
                "a function of yours for it");
  customs.reportUnused([](StringRef name) { return findOp(name) != nullptr; },
                       problems);
  if (problems.none())
    returnResults();
}
