//===- Importer.cpp - Walks a model's graph and functions -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Importer.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/attributes/State.h"
#include "frontends/common/Module.h"
#include "frontends/tensorflow/Ops.h"
#include "frontends/tensorflow/custom/Custom.h"
#include "frontends/tensorflow/graph/Layer.h"
#include "frontends/tensorflow/graph/Tensors.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tensorflow;

static std::vector<std::string> getOutputTensors(const LoadedModel &model) {
  std::vector<std::string> tensors;
  for (const Port &port : model.outputs)
    tensors.push_back(port.tensor);
  return tensors;
}

/// Returns the elements of `value` as ones of type `element`.
static Value castTo(OpBuilder &builder, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  return builder.create<nn::CastOp>(value.getLoc(), type.clone(element), value);
}

GraphImporter::GraphImporter(std::shared_ptr<const LoadedModel> loaded,
                             const Graphs &graphs, Checkpoint &checkpoint,
                             const ImportOptions &options, Problems &problems,
                             func::FuncOp function, bool isRebound)
    : loaded(std::move(loaded)), graphs(graphs), checkpoint(checkpoint),
      options(options), problems(problems), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      isRebound(isRebound), customs(options.customs),
      lengths(options.foundSizes, options.expectedSizes) {}

//===----------------------------------------------------------------------===//
// Constants and variables
//===----------------------------------------------------------------------===//

ElementsAttr GraphImporter::getConstant(const pb::TensorProto &tensor,
                                        StringRef name, Location loc) {
  return readTensor(loaded, tensor, name, problems, loc);
}

State *GraphImporter::getState(StringRef name) {
  State &state = states[builder.getStringAttr(name)];
  if (state.argument)
    return &state;
  ElementsAttr initial = checkpoint.getValue(name, problems.getLoc(name));
  if (!initial)
    return nullptr;
  unsigned index = function.getNumArguments();
  function.insertArgument(index, initial.getType(),
                          builder.getDictionaryAttr(builder.getNamedAttr(
                              nn::kNameAttr, builder.getStringAttr(name))),
                          problems.getLoc(name));
  state.name = name;
  state.initial = initial;
  state.argument = function.getArgument(index);
  state.value = state.argument;
  return &state;
}

Value GraphImporter::readVariable(StringRef name) {
  if (assigned.count(name)) {
    auto found = states.find(builder.getStringAttr(name));
    return found == states.end() ? Value() : found->second.value;
  }
  bool isMain = builder.getInsertionBlock() == &function.getBody().front();
  if (isMain)
    if (Value known = constants.lookup(name))
      return known;
  ElementsAttr value = checkpoint.getValue(name, problems.getLoc(name));
  if (!value)
    return {};
  Value constant = builder.create<nn::ConstantOp>(problems.getLoc(name), value);
  if (isMain)
    constants[name] = constant;
  return constant;
}

bool GraphImporter::assignVariable(StringRef name, Value value, Layer &caller) {
  auto found = states.find(builder.getStringAttr(name));
  if (!value)
    return false;
  if (found == states.end()) {
    caller.unsupported("assigns the variable '" + name +
                       "' by a handle that nnc does not follow");
    return false;
  }
  if (value.getType() != found->second.argument.getType()) {
    caller.unsupported("gives the variable '" + name +
                       "' another shape or type than it has in the checkpoint");
    return false;
  }
  found->second.value = value;
  return true;
}

TableContents GraphImporter::getTable(StringRef name) {
  if (!tables)
    tables = findTables(graphs, problems.getLimits());
  return tables->lookup(name);
}

GraphImporter::BodyScope::BodyScope(GraphImporter &importer,
                                    llvm::function_ref<Value(Value)> capture)
    : importer(importer) {
  for (auto &[name, state] : importer.states) {
    before.push_back(state.value);
    state.value = capture(state.value);
    given.push_back(state.value);
  }
}

SmallVector<Value> GraphImporter::getVariables() const {
  SmallVector<Value> values;
  for (const auto &entry : states)
    values.push_back(entry.second.value);
  return values;
}

void GraphImporter::setVariable(size_t i, Value value) {
  std::next(states.begin(), i)->second.value = value;
}

GraphImporter::BodyScope::~BodyScope() {
  for (auto [value, entry] : llvm::zip(before, importer.states))
    entry.second.value = value;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Passed GraphImporter::find(Scope &scope, StringRef text, Location loc,
                           StringRef op) {
  Reference reference = parseReference(text);
  auto found = scope.values.find(reference.node);
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken, loc, op)
        << (op.empty() ? "an output" : op) << " reads '" << text << "', "
        << why;
    return Passed();
  };
  if (found == scope.values.end()) {
    // Nodes that are there were sorted in front of their readers.
    return scope.graph->nodes.count(reference.node)
               ? Passed()
               : fail("and there is no node of this name");
  }
  int64_t index = reference.index;
  auto node = scope.graph->nodes.find(reference.node);
  if (!reference.result.empty() && node != scope.graph->nodes.end())
    if (const OpInfo *info = findOp(node->second->op())) {
      SmallVector<StringRef> names;
      info->results.split(names, ' ', -1, /*KeepEmpty=*/false);
      const auto *place = llvm::find(names, reference.result);
      if (place != names.end())
        index += place - names.begin();
      else if (!names.empty())
        return fail("and that node has no such result");
    }
  if (index < 0)
    return fail("which is no reference to a tensor");
  return size_t(index) < found->second.size() ? found->second[size_t(index)]
                                              : Passed();
}

/// Returns true if an operator works on strings or on tables of them.
static bool isOfStrings(StringRef op) {
  for (StringRef begin : {"HashTable", "LookupTable", "MutableHashTable",
                          "Regex", "String", "Unicode"})
    if (op.starts_with(begin))
      return true;
  return false;
}

void GraphImporter::importNode(Scope &scope, const pb::NodeDef &node) {
  StringRef op = node.op();
  auto &results = scope.values[node.name()];
  if (!results.empty()) // an input of the model
    return;
  Location loc = problems.getLoc(scope.prefix + node.name());
  const OpInfo *info = findOp(op);
  const CustomFunction *custom = info ? nullptr : customs.find({op.str()});
  SmallVector<Passed> inputs;
  bool isAbsent = false, isDead = false, isText = isOfStrings(op);
  for (const std::string &input : node.input()) {
    if (StringRef(input).starts_with("^"))
      continue;
    inputs.push_back(find(scope, input, loc, op));
    isAbsent |= inputs.back().kind == Passed::absent;
    isDead |= inputs.back().kind == Passed::dead;
    isText |= inputs.back().kind == Passed::text;
  }
  if (!info && !custom && isText) {
    // The node that reads numbers made of strings says so.
    results.assign(4,
                   {Passed::text, {}, "'" + node.name() + "' of " + node.op()});
    return;
  }
  if (!info && !custom) {
    customs.noteMissing(op);
    auto [entry, isNew] =
        missing.insert({builder.getStringAttr(op), MissingOperator{loc, 0}});
    ++entry->second.count;
    return;
  }
  if (info &&
      (inputs.size() < info->minInputs || inputs.size() > info->maxInputs)) {
    problems.report(ImportStatus::broken, loc, op)
        << op << " has " << inputs.size() << " inputs; it takes "
        << info->minInputs
        << (info->maxInputs != info->minInputs ? " or more" : "");
    return;
  }
  bool merges = op == "Merge";
  if (isAbsent && !merges) // The missing operands have been reported.
    return;
  if (isDead && !merges) {
    scope.values[node.name()].assign(4, Passed{Passed::dead});
    return;
  }
  Layer layer(*this, node, inputs, loc, op);
  if (custom) {
    convertCustom(layer, *custom, isRebound);
  } else {
    bool before = problems.none() && missing.empty();
    Value first = info->convert(layer);
    if (first)
      layer.setResult(0, first);
    bool lacks = layer.getResults().empty() ||
                 layer.getResults()[0].kind == Passed::absent;
    if (lacks && info->kind != OpKind::acting && before && problems.none() &&
        missing.empty())
      layer.fail(ImportStatus::fault,
                 "could not be imported, without saying why; please report "
                 "this");
  }
  auto &kept = scope.values[node.name()];
  kept.assign(layer.getResults().begin(), layer.getResults().end());
}

bool GraphImporter::importNodes(Scope &scope) {
  std::vector<std::string> results = scope.graph->name.empty()
                                         ? getOutputTensors(*loaded)
                                         : scope.graph->results;
  auto sorted = sortNodes(*scope.graph, results, problems);
  if (!sorted)
    return false;
  const Limits &limits = problems.getLimits();
  inlined += int64_t(sorted->size());
  if (inlined > limits.nodes) {
    problems.report(ImportStatus::limit)
        << "has more than " << limits.nodes
        << " nodes with those of all calls and loops; --limit nodes=N allows "
           "more";
    return false;
  }
  for (const pb::NodeDef *node : *sorted)
    importNode(scope, *node);
  return true;
}

const Graph *GraphImporter::findFunction(StringRef name, Layer &caller) {
  const Graph *graph = graphs.find(name);
  if (!graph)
    caller.broken(name.empty() ? Twine("names no function that it runs")
                               : "runs a function '" + name +
                                     "', which the model does not have");
  return graph;
}

bool GraphImporter::inlineFunction(StringRef name, Layer &caller,
                                   ArrayRef<Passed> inputs,
                                   SmallVectorImpl<Passed> &results) {
  // Functions that call others twice each double the nodes at every level. One
  // report is enough: the callers stop one by one.
  if (hasTooManyNodes())
    return false;
  const Graph *graph = findFunction(name, caller);
  if (!graph)
    return false;
  if (llvm::is_contained(active, graph)) {
    caller.broken("runs the function '" + name + "' within itself");
    return false;
  }
  if (int64_t(active.size()) > problems.getLimits().depth) {
    caller.fail(ImportStatus::limit,
                "runs functions more than " +
                    Twine(problems.getLimits().depth) +
                    " calls deep; --limit depth=N allows more");
    return false;
  }
  if (graph->arguments.size() != inputs.size()) {
    caller.broken("runs the function '" + name + "' with " +
                  Twine(inputs.size()) + " values; it takes " +
                  Twine(graph->arguments.size()));
    return false;
  }
  Scope inner{graph, ""};
  auto give = [&](StringRef argument, const Passed &input) {
    Reference reference = parseReference(argument);
    auto &values = inner.values[reference.node];
    if (values.size() <= size_t(reference.index))
      values.resize(size_t(reference.index) + 1);
    values[size_t(reference.index)] = input;
  };
  for (auto [argument, input] : llvm::zip_equal(graph->arguments, inputs))
    give(argument, input);
  for (const auto &[reference, argument] : graph->aliases)
    give(reference, inputs[argument]);
  active.push_back(graph);
  bool isImported = importNodes(inner);
  if (isImported)
    for (const std::string &result : graph->results)
      results.push_back(find(inner, result, caller.getLoc(), caller.getOp()));
  active.pop_back();
  return isImported && llvm::none_of(results, [](const Passed &result) {
           return result.kind == Passed::absent;
         });
}

/// Returns the number of results of the node to which `text` refers if that is
/// too small for the reference; otherwise 0.
static size_t countResults(const Scope &scope, StringRef text) {
  Reference reference = parseReference(text);
  auto found = scope.values.find(reference.node);
  size_t count = found == scope.values.end() ? 0 : found->second.size();
  return reference.result.empty() && reference.index >= int64_t(count) ? count
                                                                       : 0;
}

void GraphImporter::run(ArrayRef<Input> inputs) {
  assigned = findAssigned(graphs, getOutputTensors(*loaded), problems);
  if (!problems.none())
    return;
  Scope scope{&graphs.getMain(), ""};
  auto arguments = function.getArguments().begin();
  for (auto [port, input] : llvm::zip(loaded->inputs, inputs)) {
    Value value = input.value ? Value(builder.create<nn::ConstantOp>(
                                    problems.getLoc(input.name), input.value))
                              : Value(*arguments++);
    value = castTo(builder, value, getComputedType(getElement(value)));
    scope.values[parseReference(port.tensor).node].assign(1, makeTensor(value));
  }
  for (const Port &port : loaded->texts)
    scope.values[parseReference(port.tensor).node].assign(
        1, Passed{Passed::text, {}, "the input '" + port.name + "'"});
  for (const auto &entry : assigned)
    getState(entry.getKey());
  if (!importNodes(scope))
    return;
  reportMissing(missing, problems, "operators",
                "`nnc ops --frontend=tensorflow` lists what is, and --custom "
                "takes a function of yours for it");
  customs.reportUnused([](StringRef name) { return findOp(name) != nullptr; },
                       problems);
  SmallVector<Value> results;
  std::vector<std::string> names;
  for (const Port &port : loaded->outputs) {
    Passed result = find(scope, port.tensor, problems.getLoc(), "");
    Type stored = getElementType(builder.getContext(), port.type);
    if (result.isTensor() && stored && nn::isHalf(stored))
      results.push_back(castTo(builder, result.value, stored));
    else if (result.isTensor())
      results.push_back(result.value);
    else if (size_t count = countResults(scope, port.tensor))
      problems.report(ImportStatus::broken, problems.getLoc(port.name))
          << "is an output that is '" << port.tensor << "', a result of a node "
          << "that has " << count;
    else if (problems.none())
      problems.report(ImportStatus::unsupported, problems.getLoc(port.name))
          << "is an output that is no tensor of numbers; outputs of nnc are "
             "such tensors";
    names.push_back(port.name);
  }
  if (problems.none())
    returnResults(results, names);
}

/// Ends the function with its outputs and, behind them, the next values of its
/// variables.
void GraphImporter::returnResults(ArrayRef<Value> outputs,
                                  ArrayRef<std::string> names) {
  SmallVector<Value> results(outputs);
  SmallVector<StringRef> resultNames(names.begin(), names.end());
  for (const auto &[name, state] : states) {
    unsigned argument = state.argument.getArgNumber();
    function.setArgAttr(
        argument, nn::kStateAttr,
        builder.getI64IntegerAttr(static_cast<int64_t>(results.size())));
    function.setArgAttr(argument, nn::kInitialAttr, state.initial);
    results.push_back(state.value);
    resultNames.push_back(state.name);
  }
  // The run-time values of data-dependent sizes.
  size_t own = results.size();
  std::vector<std::string> countNames;
  for (const FoundSize &size : lengths.getSizes())
    countNames.push_back(size.name + "_count");
  llvm::append_range(results, lengths.getCounts());
  resultNames.append(countNames.begin(), countNames.end());
  returnFromMain(function, results, resultNames);
  for (size_t i = own; i < results.size(); ++i)
    function.setResultAttr(i, nn::kSizeAttr,
                           builder.getI64IntegerAttr(int64_t(i - own)));
}
