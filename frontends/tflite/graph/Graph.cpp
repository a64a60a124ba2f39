//===- Graph.cpp - Walks a model's subgraphs ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/graph/Graph.h"

#include "dialects/nn/attributes/State.h"
#include "dialects/qnn/Port.h"
#include "frontends/common/Elements.h"
#include "frontends/common/Module.h"
#include "frontends/tflite/Ops.h"
#include "frontends/tflite/custom/Custom.h"
#include "frontends/tflite/file/Sparse.h"
#include "frontends/tflite/graph/CheckTypes.h"
#include "frontends/tflite/graph/Layer.h"

#include <cstring>

using namespace mlir;
using namespace nnc;
using namespace nnc::tflite;

GraphImporter::GraphImporter(const LoadedModel &loaded,
                             const ImportOptions &options, Problems &problems,
                             func::FuncOp function, bool isRebound)
    : loaded(loaded), options(options), problems(problems), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      isRebound(isRebound), customs(options.customs) {}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the elements of `packed`, which have `width` bits each with the
/// first in the low bits of its byte, as 8-bit elements.
static AsmResourceBlob unpack(StringRef packed, unsigned width, bool isSigned,
                              int64_t count) {
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(count, /*align=*/1);
  MutableArrayRef<char> to = blob.getMutableData();
  unsigned perByte = 8 / width, sign = isSigned ? 1U << (width - 1) : 0;
  for (int64_t i = 0; i < count; ++i) {
    auto byte = static_cast<unsigned char>(packed[i / perByte]);
    unsigned bits = (byte >> (i % perByte * width)) & ((1U << width) - 1);
    to[i] = static_cast<char>((bits ^ sign) - sign);
  }
  return blob;
}

/// Returns the constant value of a tensor that no operator computes; null after
/// an error if it has none.
ElementsAttr GraphImporter::getConstant(Scope &scope, int32_t index) {
  const fb::Tensor &tensor = *scope.graph->tensors()->Get(index);
  std::string name = scope.prefix + getTensorName(*scope.graph, index);
  auto fail = [&](ImportStatus status, const Twine &why) -> ElementsAttr {
    problems.report(status, problems.getLoc(name)) << why;
    return {};
  };
  Type element = getElementType(builder.getContext(), tensor.type());
  if (!element)
    return fail(ImportStatus::unsupported, "has elements of type " +
                                               getTypeName(tensor.type()) +
                                               ", which nnc does not handle");
  SmallVector<int64_t> shape(getList(tensor.shape()));
  unsigned width = element.getIntOrFloatBitWidth();
  bool isNarrow = isPacked(element);
  Type wide =
      isNarrow
          ? Type(IntegerType::get(builder.getContext(), 8,
                                  cast<IntegerType>(element).getSignedness()))
          : element;
  if (auto problem = findSizeProblem(shape, wide, problems.getLimits()))
    return fail(ImportStatus::limit, "is one " + *problem);
  auto type = RankedTensorType::get(shape, wide);
  int64_t count = type.getNumElements();
  StringRef bytes = *loaded.getBuffer(tensor.buffer());
  if (const fb::Sparsity *sparsity = tensor.sparsity()) {
    if (isNarrow)
      return fail(ImportStatus::unsupported,
                  "is a sparse tensor of type " + getTypeName(tensor.type()) +
                      "; nnc handles elements of 8 bits and more");
    size_t size = std::max(1U, width / 8);
    std::vector<int64_t> places;
    std::string problem = findPlaces(
        *sparsity, shape, 2 * uint64_t(loaded.file->getBufferSize()), places);
    if (problem.empty() && bytes.size() != places.size() * size)
      problem = "holds " + std::to_string(bytes.size()) +
                " bytes of data; its " + std::to_string(places.size()) +
                " sparse elements need " + std::to_string(places.size() * size);
    if (!problem.empty())
      return fail(ImportStatus::broken, problem);
    AsmResourceBlob blob =
        HeapAsmResourceBlob::allocate(std::max<int64_t>(count * size, 1), size);
    MutableArrayRef<char> dense = blob.getMutableData();
    std::memset(dense.data(), 0, dense.size());
    for (auto [i, place] : llvm::enumerate(places))
      std::memcpy(dense.data() + place * size, bytes.data() + i * size, size);
    return count == 0 ? DenseElementsAttr::get(type, ArrayRef<Attribute>())
                      : makeElements(type, name, std::move(blob));
  }
  int64_t expected = isNarrow ? llvm::divideCeil(count * width, 8)
                              : count * std::max(1U, width / 8);
  if (int64_t(bytes.size()) != expected)
    return fail(ImportStatus::broken,
                bytes.empty()
                    ? Twine("has no data, and nothing computes it before it "
                            "is read")
                    : "holds " + Twine(bytes.size()) +
                          " bytes of data; its type and shape (" +
                          toString(shape) + ") need " + Twine(expected));
  if (count == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (isNarrow)
    return makeElements(
        type, name,
        unpack(bytes, width, !cast<IntegerType>(element).isUnsigned(), count));
  size_t align = std::max(1U, width / 8);
  ArrayRef<char> data(bytes.data(), bytes.size());
  if (reinterpret_cast<uintptr_t>(data.data()) % align)
    return makeElements(
        type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(data, align));
  // The file stays mapped for as long as a constant reads it.
  auto keep = [file = loaded.file](void *, size_t, size_t) {};
  return makeElements(
      type, name, AsmResourceBlob(data, align, keep, /*dataIsMutable=*/false));
}

Value GraphImporter::getValue(Scope &scope, int32_t tensor, Location loc) {
  if (scope.handles.count(tensor)) {
    problems.report(ImportStatus::unsupported, loc)
        << "reads '" << getTensorName(*scope.graph, tensor)
        << "', the handle of a variable, as a tensor";
    return {};
  }
  std::optional<Value> &value = scope.values[tensor];
  if (value)
    return *value;
  const fb::Tensor &stated = *scope.graph->tensors()->Get(tensor);
  if (stated.is_variable()) {
    Variable *variable = getVariable(scope, tensor, loc);
    return variable ? variable->value : Value();
  }
  // The function of a branch or loop body has its own constants.
  if (builder.getInsertionBlock() != &function.getBody().front()) {
    auto known = constants.find({scope.graph, tensor});
    Operation *made = known == constants.end() || !known->second
                          ? nullptr
                          : known->second.getDefiningOp();
    ElementsAttr constant = made ? cast<nn::ConstantOp>(made).getValue()
                                 : getConstant(scope, tensor);
    value = constant ? Value(builder.create<nn::ConstantOp>(
                           problems.getLoc(getTensorName(*scope.graph, tensor)),
                           constant))
                     : Value();
    return *value;
  }
  auto [known, isNew] = constants.try_emplace({scope.graph, tensor});
  if (isNew)
    if (ElementsAttr constant = getConstant(scope, tensor))
      known->second = builder.create<nn::ConstantOp>(
          problems.getLoc(getTensorName(*scope.graph, tensor)), constant);
  value = known->second;
  return *value;
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Variable *GraphImporter::getVariable(StringRef key, StringRef name,
                                     RankedTensorType type, Location loc) {
  std::unique_ptr<Variable> &entry = variables[builder.getStringAttr(key)];
  if (!entry)
    entry = std::make_unique<Variable>();
  Variable &variable = *entry;
  if (!variable.argument) {
    if (auto problem = findSizeProblem(type.getShape(), type.getElementType(),
                                       problems.getLimits())) {
      problems.report(ImportStatus::limit, loc)
          << "has a variable '" << name << "' that is one " << *problem;
      return nullptr;
    }
    unsigned index = function.getNumArguments();
    function.insertArgument(index, type,
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                nn::kNameAttr, builder.getStringAttr(name))),
                            problems.getLoc(name));
    variable.name = name;
    variable.argument = function.getArgument(index);
    variable.value = variable.argument;
  }
  if (variable.argument.getType() == type)
    return &variable;
  problems.report(ImportStatus::unsupported, loc)
      << "has a variable '" << name << "' of shape "
      << toString(type.getShape()) << " and type "
      << getTypeName(type.getElementType())
      << ", which other operators use with another shape or type";
  return nullptr;
}

unsigned GraphImporter::getNumber(const fb::SubGraph *graph) const {
  const auto *graphs = loaded.model->subgraphs();
  unsigned number = 0;
  while (graphs->Get(number) != graph)
    ++number;
  return number;
}

Variable *GraphImporter::getVariable(Scope &scope, int32_t tensor, Location loc,
                                     RankedTensorType type) {
  const fb::Tensor &stated = *scope.graph->tensors()->Get(tensor);
  std::string name = getTensorName(*scope.graph, tensor);
  Type element = getElementType(builder.getContext(), stated.type());
  if (!element || isPacked(element)) {
    problems.report(ImportStatus::unsupported, loc)
        << "has a variable '" << name << "' of type "
        << getTypeName(stated.type()) << ", which nnc does not handle";
    return nullptr;
  }
  if (!type)
    type = RankedTensorType::get(SmallVector<int64_t>(getList(stated.shape())),
                                 element);
  // A variable belongs to its subgraph; all calls of the subgraph share it.
  Variable *variable =
      getVariable("tensor/" + std::to_string(getNumber(scope.graph)) + "/" +
                      std::to_string(tensor),
                  name, type, loc);
  // Integers of 8 bits start as the real number 0.
  Quantization quantization;
  if (variable && !variable->initial && element.isSignlessInteger(8) &&
      readQuantization(stated, quantization).empty() && quantization &&
      quantization.getZeroPoint() != 0)
    variable->initial = DenseElementsAttr::get(
        type, APInt(8, static_cast<uint64_t>(quantization.getZeroPoint()),
                    /*isSigned=*/true));
  return variable;
}

SmallVector<Value> GraphImporter::getVariableValues() const {
  SmallVector<Value> values;
  for (const auto &[key, variable] : variables)
    values.push_back(variable->value);
  return values;
}

void GraphImporter::setVariableValues(ArrayRef<Value> values) {
  size_t i = 0;
  for (auto &[key, variable] : variables) {
    variable->value = i < values.size() ? values[i] : variable->argument;
    ++i;
  }
}

void GraphImporter::prepare(uint32_t subgraph, const Scope &scope,
                            const Layer &caller) {
  SmallVector<Passed> results;
  bool before = std::exchange(preparing, true);
  inlineGraph(subgraph, scope, caller, {}, results);
  preparing = before;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Reports an error if an operator's result does not have the type that the
/// model states.
void GraphImporter::checkResult(Scope &scope, int32_t tensor, Value value,
                                StringRef op, Location loc, bool isShapeOpen) {
  const fb::Tensor &stated = *scope.graph->tensors()->Get(tensor);
  Type element = getElementType(builder.getContext(), stated.type());
  if (element != getElement(value)) {
    problems.report(ImportStatus::broken, loc, op)
        << op << " has a result of type " << getTypeName(getElement(value))
        << "; the model states " << getTypeName(stated.type());
    return;
  }
  SmallVector<int64_t> shape(getList(stated.shape()));
  ArrayRef<int32_t> signature = getList(stated.shape_signature());
  // Converters leave out shapes that they do not know.
  bool isOpen = shape.empty() || isRebound || isShapeOpen;
  for (int32_t size : signature)
    isOpen |= size < 0;
  if (!isOpen && ArrayRef<int64_t>(shape) != getShape(value))
    problems.report(ImportStatus::broken, loc, op)
        << op << " has a result of shape " << toString(getShape(value))
        << "; the model states " << toString(shape);
}

void GraphImporter::importOperator(Scope &scope, const fb::Operator &op,
                                   unsigned index) {
  const fb::OperatorCode &code =
      *loaded.model->operator_codes()->Get(op.opcode());
  std::string name = getOpName(code);
  ArrayRef<int32_t> outputs = getList(op.outputs());
  // Messages name what an operator computes: operators have no names.
  std::string place = !outputs.empty() && outputs[0] >= 0
                          ? getTensorName(*scope.graph, outputs[0])
                          : "operator" + std::to_string(index);
  Location loc = problems.getLoc(scope.prefix + place);
  const OpInfo *info = findOp(code);
  if (!info) {
    if (const CustomFunction *function = customs.find(getBareName(code))) {
      Layer layer(*this, op, scope, loc, name);
      if (outputs.empty()) {
        layer.broken("has no results");
        return;
      }
      convertCustom(layer, customs, *function, getBareName(code), isRebound);
      takeResults(scope, layer, outputs, name);
      return;
    }
    customs.noteMissing(getBareName(code));
    auto [entry, isNew] =
        missing.insert({builder.getStringAttr(name), MissingOperator{loc, 0}});
    ++entry->second.count;
    return;
  }
  Layer layer(*this, op, scope, loc, name);
  if (layer.getNumInputs() < info->minInputs ||
      layer.getNumInputs() > info->maxInputs ||
      (outputs.empty() ? !info->lacksResults() && !info->runsSubgraphs()
                       : info->lacksResults())) {
    layer.broken("has " + Twine(layer.getNumInputs()) + " inputs and " +
                 Twine(outputs.size()) + " outputs");
    return;
  }
  if (info->lacksResults() || info->givesHandle()) {
    info->convert(layer);
    return;
  }
  // Converters read the type of the first result without checking that it
  // exists.
  if (!outputs.empty() && outputs[0] < 0) {
    layer.broken("lacks its first result");
    return;
  }
  // Operands behind the least number of inputs are optional.
  for (unsigned i = 0; i < info->minInputs; ++i)
    if (!layer.hasInput(i)) {
      layer.broken("lacks operand " + Twine(i));
      return;
    }
  if (!checkTypes(layer, *info))
    return;
  layer.setResult(0, info->convert(layer));
  takeResults(scope, layer, outputs, name);
}

void GraphImporter::takeResults(Scope &scope, Layer &layer,
                                ArrayRef<int32_t> outputs, StringRef op) {
  for (auto [i, tensor] : llvm::enumerate(outputs)) {
    Value value = layer.getResults()[i];
    if (tensor < 0 || scope.handles.count(tensor))
      continue;
    // A missing result is reported once: not again after another problem of
    // this operator or of its operands.
    if (!value && problems.none() && missing.empty())
      layer.broken("does not compute result " + Twine(i) +
                   ": it has no such result, or lacks an operand");
    if (value)
      checkResult(scope, tensor, value, op, layer.getLoc(),
                  layer.ignoresStatedShapes());
    scope.values[tensor] = value;
  }
}

void GraphImporter::importOperators(Scope &scope) {
  const auto *operators = scope.graph->operators();
  // A value that no operator could compute is null, and its readers report
  // nothing.
  for (unsigned i = 0; operators && i < operators->size(); ++i) {
    const fb::Operator &op = *operators->Get(i);
    importOperator(scope, op, i);
    for (int32_t tensor : getList(op.outputs()))
      if (tensor >= 0 && !scope.values[tensor])
        scope.values[tensor] = Value();
  }
}

bool GraphImporter::mayInline(uint32_t subgraph, const Layer &caller,
                              ArrayRef<Passed> inputs) {
  const auto *graphs = loaded.model->subgraphs();
  auto fail = [&](ImportStatus status, const Twine &why) {
    problems.report(status, caller.getLoc(), caller.getOp())
        << caller.getOp() << " calls subgraph " << subgraph << why;
    return false;
  };
  if (subgraph >= graphs->size())
    return fail(ImportStatus::broken,
                "; the model has " + Twine(graphs->size()));
  if (llvm::is_contained(active, subgraph))
    return fail(ImportStatus::broken, " within itself");
  const Limits &limits = problems.getLimits();
  if (int64_t(active.size()) > limits.depth)
    return fail(ImportStatus::limit, ", more than " + Twine(limits.depth) +
                                         " calls deep; --limit depth=N allows "
                                         "more");
  const fb::SubGraph *graph = graphs->Get(subgraph);
  size_t parameters = getList(graph->inputs()).size();
  if (parameters != inputs.size())
    return fail(ImportStatus::broken, " with " + Twine(inputs.size()) +
                                          " values; it takes " +
                                          Twine(parameters));
  for (auto [tensor, input] :
       llvm::zip_equal(getList(graph->inputs()), inputs)) {
    const fb::Tensor &stated = *graph->tensors()->Get(tensor);
    Type element = getElementType(builder.getContext(), stated.type());
    // Constants of 2 and 4 bits have been unpacked to 8 bits.
    bool fits = input.isHandle ? stated.type() == fb::TensorType::RESOURCE
                               : element == getElement(input.value) ||
                                     (element && isPacked(element));
    if (!fits)
      return fail(ImportStatus::broken,
                  " with " +
                      (input.isHandle ? "the handle of a variable"
                                      : getTypeName(getElement(input.value))) +
                      " for '" + getTensorName(*graph, tensor) + "' of type " +
                      getTypeName(stated.type()));
  }
  // Subgraphs that call others twice each double the operators at every level.
  // One report is enough: the callers stop one by one.
  if (inlined > limits.nodes)
    return false;
  inlined += graph->operators() ? graph->operators()->size() : 0;
  if (inlined > limits.nodes)
    return fail(ImportStatus::limit,
                "; with it, calls and loops have more "
                "than " +
                    Twine(limits.nodes) +
                    " operators; --limit nodes=N allows more");
  return true;
}

bool GraphImporter::inlineGraph(uint32_t subgraph, const Scope &scope,
                                const Layer &caller, ArrayRef<Passed> inputs,
                                SmallVectorImpl<Passed> &results) {
  if (!mayInline(subgraph, caller, inputs))
    return false;
  const fb::SubGraph *graph = loaded.model->subgraphs()->Get(subgraph);
  Scope inner{graph, scope.prefix + getText(graph->name()) + "/"};
  inner.values.resize(graph->tensors() ? graph->tensors()->size() : 0);
  for (auto [tensor, input] : llvm::zip_equal(getList(graph->inputs()), inputs))
    if (input.isHandle)
      inner.handles[tensor] = input.handle;
    else
      inner.values[tensor] = input.value;
  active.push_back(subgraph);
  importOperators(inner);
  active.pop_back();
  for (int32_t tensor : getList(graph->outputs())) {
    if (auto handle = inner.handles.find(tensor); handle != inner.handles.end())
      results.push_back({{}, handle->second, true});
    else
      results.push_back({getValue(inner, tensor, problems.getLoc())});
    if (!results.back().isHandle && !results.back().value)
      return false;
  }
  return true;
}

void GraphImporter::run(ArrayRef<std::string> names, ArrayRef<Input> inputs) {
  Scope scope{loaded.model->subgraphs()->Get(0), ""};
  scope.values.resize(scope.graph->tensors() ? scope.graph->tensors()->size()
                                             : 0);
  auto arguments = function.getArguments().begin();
  for (auto [tensor, input] : llvm::zip(getList(scope.graph->inputs()), inputs))
    if (input.value)
      scope.values[tensor] = builder.create<nn::ConstantOp>(
          problems.getLoc(input.name), input.value);
    else
      scope.values[tensor] = *arguments++;
  importOperators(scope);
  reportMissing(missing, problems, "operators",
                "`nnc ops --frontend=tflite` lists what is, and --custom takes "
                "a function of yours for it");
  customs.reportUnused(
      [](StringRef name) {
        return llvm::any_of(getOps(),
                            [&](const OpInfo &op) { return op.name == name; });
      },
      problems);
  ArrayRef<int32_t> outputs = getList(scope.graph->outputs());
  if (outputs.empty())
    problems.report(ImportStatus::broken) << "has no outputs";
  SmallVector<Value> results;
  if (problems.none())
    for (int32_t tensor : outputs)
      results.push_back(getValue(scope, tensor, problems.getLoc()));
  if (!problems.none())
    return;
  returnResults(results, names);
  markQuantizedPorts(scope, inputs);
}

/// Sets the attribute with scale and zero point for integer inputs and outputs.
void GraphImporter::markQuantizedPorts(const Scope &scope,
                                       ArrayRef<Input> inputs) {
  auto describe = [&](int32_t tensor) {
    const fb::Tensor &stated = *scope.graph->tensors()->Get(tensor);
    auto storage = dyn_cast_or_null<IntegerType>(
        getElementType(builder.getContext(), stated.type()));
    Quantization quantization;
    if (!storage || storage.getWidth() < 8 || storage.getWidth() > 32 ||
        !readQuantization(stated, quantization).empty() || !quantization)
      return DictionaryAttr();
    return qnn::makePortAttr(
        qnn::makeType(SmallVector<int64_t>(getList(stated.shape())), storage,
                      quantization.scales, quantization.zeroPoints,
                      quantization.axis),
        qnn::Rounding::half_away);
  };
  unsigned argument = 0;
  for (auto [tensor, input] : llvm::zip(getList(scope.graph->inputs()), inputs))
    if (!input.value) {
      if (DictionaryAttr port = describe(tensor))
        function.setArgAttr(argument, qnn::kPortAttr, port);
      ++argument;
    }
  for (auto [i, tensor] : llvm::enumerate(getList(scope.graph->outputs())))
    if (DictionaryAttr port = describe(tensor))
      function.setResultAttr(i, qnn::kPortAttr, port);
}

/// Ends the function with its outputs and, behind them, the next values of its
/// variables.
void GraphImporter::returnResults(ArrayRef<Value> outputs,
                                  ArrayRef<std::string> names) {
  SmallVector<Value> results(outputs);
  SmallVector<StringRef> resultNames(names.begin(), names.end());
  for (const auto &[key, variable] : variables) {
    unsigned argument = variable->argument.getArgNumber();
    function.setArgAttr(
        argument, nn::kStateAttr,
        builder.getI64IntegerAttr(static_cast<int64_t>(results.size())));
    if (variable->initial)
      function.setArgAttr(argument, nn::kInitialAttr, variable->initial);
    results.push_back(variable->value);
    resultNames.push_back(variable->name);
  }
  returnFromMain(function, results, resultNames);
}
