//===- Graph.cpp - Walks a model's graph ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Graph.h"

#include "frontends/common/Body.h"
#include "frontends/common/Module.h"
#include "frontends/onnx/Ops.h"
#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/custom/Custom.h"
#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Node.h"
#include "frontends/onnx/graph/ShapeOperands.h"
#include "frontends/onnx/graph/Sort.h"
#include "frontends/onnx/graph/Strings.h"
#include "frontends/onnx/graph/ValueInfo.h"
#include "frontends/onnx/microsoft/Microsoft.h"
#include "frontends/onnx/qnn/QuantizedPorts.h"
#include "frontends/onnx/schema/Schema.h"
#include "frontends/onnx/schema/Types.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

/// Returns a unique key of a function: ONNX identifies it by domain, name and
/// overload.
template <class Proto>
static std::string getKey(const Proto &proto, const std::string &name) {
  return proto.domain() + '\0' + name + '\0' + proto.overload();
}

GraphImporter::GraphImporter(::onnx::ModelProto &model,
                             const ImportOptions &options, Problems &problems,
                             Weights &weights, func::FuncOp function,
                             bool isRebound)
    : model(model), problems(problems), weights(weights), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      declarations(
          problems, isRebound,
          [](Type type) { return getDataTypeName(getDataType(type)); }),
      declaredInMain(getDeclaredTypes(builder.getContext(), model.graph())),
      customs(options.customs),
      lengths(options.foundSizes, options.expectedSizes),
      sample(options.isSample),
      emptySample(sample && llvm::is_contained(options.foundSizes, 0)) {
  main.imports = &model.opset_import();
  main.declared = &declaredInMain;
  for (auto &tensor : *model.mutable_graph()->mutable_initializer())
    main.initializers[tensor.name()] = &tensor;
  for (FunctionProto &function : *model.mutable_functions())
    functions[getKey(function, function.name())] = &function;
}

bool GraphImporter::isInBody() const {
  return builder.getInsertionBlock()->getParentOp() !=
         mlir::func::FuncOp(function).getOperation();
}

std::optional<SmallVector<int64_t>>
GraphImporter::readNumbers(StringRef name, const Scope &scope) const {
  Value value = findValue(name, scope);
  auto known = value && isTensor(value) ? readElements(value) : std::nullopt;
  if (!known || known->isReal())
    return std::nullopt;
  return llvm::to_vector(known->ints);
}

Value GraphImporter::findValue(StringRef name, const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent)
    if (auto found = each->values.find(name); found != each->values.end())
      return found->second;
  return {};
}

Location GraphImporter::getLoc(const NodeProto &node, const Scope &scope) {
  return problems.getLoc(scope.prefix + getNodeName(node).str());
}

Value GraphImporter::createConstant(ElementsAttr value, Location loc) {
  auto constant = builder.create<nn::ConstantOp>(loc, value);
  if (emptySample && value.getNumElements() == 0)
    constant->setAttr(nn::kAlwaysEmptyAttr, builder.getUnitAttr());
  return constant;
}

std::optional<Value> GraphImporter::lookup(StringRef name, Scope &scope) {
  if (auto found = scope.values.find(name); found != scope.values.end())
    return found->second;
  if (auto found = scope.initializers.find(name);
      found != scope.initializers.end()) {
    Location loc = problems.getLoc(scope.prefix + name.str());
    bool isText = found->second->data_type() == ::onnx::TensorProto::STRING;
    ElementsAttr elements =
        isText ? ElementsAttr() : weights.get(*found->second, loc);
    Value value = isText     ? importStrings(*found->second, loc)
                  : elements ? createConstant(elements, loc)
                             : Value();
    Type element =
        getElementType(builder.getContext(), found->second->data_type());
    if (value && element && nn::isHalf(element))
      countHalfConstant(value.getDefiningOp(), getNumElements(value));
    if (value && !isText && hasCarrier(element))
      value = castFromCarrier(builder, value, element);
    checkDeclared(name, value, "the initializer", loc, scope);
    return scope.values[name] = value;
  }
  if (!scope.parent)
    return std::nullopt;
  if (!scope.body)
    return lookup(name, *scope.parent);
  OpBuilder::InsertionGuard guard(builder);
  scope.body->setOutside();
  std::optional<Value> found = lookup(name, *scope.parent);
  if (!found || !*found)
    return found;
  builder.setInsertionPointToEnd(&scope.body->getBlock());
  return scope.values[name] = scope.body->capture(*found);
}

Value GraphImporter::getOutside(BlockArgument argument) const {
  for (Body *body : openBodies)
    if (&body->getBlock() == argument.getOwner()) {
      ArrayRef<Value> captured = body->getCaptured();
      size_t own = body->getBlock().getNumArguments() - captured.size();
      size_t number = argument.getArgNumber();
      return number < own ? Value() : captured[number - own];
    }
  return {};
}

void GraphImporter::checkDeclared(StringRef name, Value value, StringRef origin,
                                  Location loc, Scope &scope) {
  auto type =
      value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (type && scope.declared)
    declarations.check(*scope.declared, name, type, origin, loc);
}

//===----------------------------------------------------------------------===//
// Lists of nodes
//===----------------------------------------------------------------------===//

void GraphImporter::importNodes(Nodes &nodes, Scope &scope,
                                const llvm::StringSet<> &outputs) {
  // Nodes on which no output depends are not imported, so that they cause no
  // errors.
  llvm::StringSet<> needed = outputs;
  SmallVector<NodeProto *> live;
  for (int i = nodes.size(); i-- > 0;) {
    bool isUsed = llvm::any_of(nodes[i].output(), [&](const std::string &name) {
      return needed.contains(name);
    });
    if (!isUsed)
      continue;
    collectUses(nodes[i],
                [&](const std::string &name) { needed.insert(name); });
    live.push_back(&nodes[i]);
  }
  scope.outputs = &outputs;
  scope.needed = &needed;
  for (NodeProto *node : llvm::reverse(live)) {
    // The error is reported at the end of the import, because an attempt could
    // drop it here.
    if (++imported >= problems.getLimits().nodes)
      return;
    importNode(*node, scope);
  }
}

static bool isMicrosoftOp(const NodeProto &node) {
  return node.domain() == kMicrosoftDomain.str() &&
         llvm::is_contained(getMicrosoftOps(), StringRef(node.op_type()));
}

void GraphImporter::importNode(NodeProto &node, Scope &scope) {
  SmallVector<Value> operands, results;
  // The errors of a node that fails ONNX's own check have been reported.
  Location loc = getLoc(node, scope);
  bool isReported = problems.isReported(loc), known = !isReported;
  for (const std::string &name : node.input()) {
    bool isAbsent = name.empty() || scope.absent.contains(name);
    auto value = isAbsent ? std::nullopt : lookup(name, scope);
    known &= isAbsent || value.value_or(Value());
    if (!isAbsent && !value && !isReported)
      problems.report(ImportStatus::broken, loc, node.op_type())
          << node.op_type() << " reads '" << name
          << "', which nothing computes";
    operands.push_back(value.value_or(Value()));
  }
  size_t knownSizes = lengths.getSizes().size();
  bool isCall = findFunction(node) != nullptr;
  // After an error, only unsupported operators are still collected.
  computeNumbers(node, scope, operands);
  linkLengths(node, scope, operands);
  if (known || isCall)
    results = convert(node, scope, operands);
  else if (!findOp(node.domain(), node.op_type()) && !isMicrosoftOp(node) &&
           !findCustom(node))
    noteUnsupported(node, scope);
  results.resize(node.output_size());
  if (!results.empty())
    results[0] = linkFilled(node, scope, makeLength(node, scope, results[0]));
  // No shape is computed with floats from here on.
  if (node.domain().empty() && node.op_type() == "Cast" && results[0] &&
      isTensor(results[0]) && isa<FloatType>(getElement(results[0])) &&
      !hasCarrier(getElement(results[0]))) {
    LayerBuilder layer(builder, problems, loc, node.op_type());
    if (Value number = computeNumber(layer, node.input(0), scope))
      results[0] = layer.castTo(number, getElement(results[0]));
  }
  for (auto [name, value] : llvm::zip(node.output(), results)) {
    checkDeclared(name, value, node.op_type(), loc, scope);
    scope.values[name] = value;
  }
  noteSources(node, scope, operands, knownSizes);
}

/// Returns the node with the attributes and operands of the call in `scope`:
/// attributes that refer to one of the call get its value or are removed, and
/// so are names of operands that the call leaves out. ONNX builds a function's
/// body from the node alone.
static NodeProto resolve(const NodeProto &node, const Scope &scope) {
  NodeProto resolved = node;
  resolved.clear_attribute();
  for (const AttributeProto &own : node.attribute()) {
    const AttributeProto *attribute = &own;
    if (!own.ref_attr_name().empty())
      attribute =
          scope.actual ? scope.actual->lookup(own.ref_attr_name()) : nullptr;
    if (!attribute)
      continue;
    *resolved.add_attribute() = *attribute;
    resolved.mutable_attribute()->rbegin()->set_name(own.name());
  }
  for (std::string &name : *resolved.mutable_input())
    if (scope.absent.contains(name))
      name.clear();
  return resolved;
}

/// Adds an import of the default domain to the body of an operator that ONNX
/// defines by operators of that domain. If the operator itself belongs to
/// another domain, ONNX relies on the import of the caller, whose subgraphs the
/// body may contain.
static void importDefaultDomain(FunctionProto &body,
                                const Scope::Imports &caller) {
  if (findOpset(body.opset_import(), "") != 0)
    return;
  int64_t version = findOpset(caller, "");
  body.add_opset_import()->set_version(version ? version : getNewestOpset());
}

static bool hasSequences(ArrayRef<Value> operands) {
  return llvm::any_of(operands,
                      [](Value value) { return value && !isTensor(value); });
}

SmallVector<Value> GraphImporter::convert(NodeProto &node, Scope &scope,
                                          ArrayRef<Value> given) {
  if (FunctionProto *function = findFunction(node))
    return call(*function, node, scope, given);
  int opset = findOpset(*scope.imports, node.domain());
  const auto *schema = findSchema(node.domain(), node.op_type(), opset);
  if (!schema)
    return convertForeign(node, scope, given);
  SmallVector<RankedTensorType> types;
  for (Value operand : given)
    types.push_back(operand ? dyn_cast<RankedTensorType>(operand.getType())
                            : RankedTensorType());
  bool hasOthers = hasSequences(given);
  std::optional<std::string> problem;
  if (!hasOthers)
    problem = findTypeProblem(*schema, types);
  else if (!takesSequences(node.op_type()))
    problem = "takes tensors, not sequences or optionals";
  if (problem) {
    problems.report(ImportStatus::broken, getLoc(node, scope), node.op_type())
        << node.op_type() << " " << *problem;
    return {};
  }
  if (failsOnStrings(node, scope, given))
    return {};
  SmallVector<Value> operands(given);
  if (scope.declared && hasShapeOperands(node)) {
    Node view(*this, node, scope, given, *schema);
    if (!view.checkAttributes())
      return {};
    operands = fillShapeOperands(view);
  }
  const OpInfo *op = findOp(node.domain(), node.op_type());
  if (op && op->convert) {
    Node view(*this, node, scope, operands, *schema);
    Value first = view.checkAttributes() ? op->convert(view) : Value();
    if (!first)
      return {};
    view.setResult(0, first);
    for (size_t i = 0; i < view.getNumResults(); ++i)
      if (view.hasResult(i) && !view.getResults()[i])
        view.unsupported("has a result '" + node.output(i) +
                         "' that nnc does not compute");
    return SmallVector<Value>(view.getResults());
  }
  // The user's function has precedence over the definition of an operator that
  // nnc lacks.
  if (const CustomFunction *custom = op ? nullptr : findCustom(node))
    return convertCustom(node, scope, operands, *custom);
  if (auto body =
          getFunctionBody(*schema, resolve(node, scope), types, opset)) {
    importDefaultDomain(*body, *scope.imports);
    bodies.push_back(std::move(body));
    return call(*bodies.back(), node, scope, operands, schema);
  }
  noteUnsupported(node, scope);
  return {};
}

const CustomFunction *GraphImporter::findCustom(const NodeProto &node) {
  return customs.find(getCustomNames(node));
}

SmallVector<Value> GraphImporter::convertCustom(const NodeProto &node,
                                                Scope &scope,
                                                ArrayRef<Value> operands,
                                                const CustomFunction &custom) {
  LayerBuilder layer(builder, problems, getLoc(node, scope), node.op_type());
  return onnx::convertCustom(node, scope, operands, layer, customs, custom,
                             symbols, *customShapes);
}

SmallVector<Value> GraphImporter::convertForeign(NodeProto &node, Scope &scope,
                                                 ArrayRef<Value> operands) {
  std::string why;
  if (hasSequences(operands)) {
    problems.report(ImportStatus::unsupported, getLoc(node, scope),
                    node.op_type())
        << node.op_type() << " takes tensors, not sequences or optionals";
    return {};
  }
  if (node.domain() == kMicrosoftDomain.str())
    if (auto body = makeMicrosoftBody(node, operands, why)) {
      if (!why.empty() && !sample)
        emitWarning(getLoc(node, scope)) << node.op_type() << " " << why;
      bodies.push_back(std::move(body));
      return call(*bodies.back(), node, scope, operands);
    }
  const CustomFunction *custom =
      isMicrosoftOp(node) ? nullptr : findCustom(node);
  if (custom)
    return convertCustom(node, scope, operands, *custom);
  if (why.empty())
    noteUnsupported(node, scope);
  else
    problems.report(ImportStatus::unsupported, getLoc(node, scope),
                    node.op_type())
        << node.op_type() << " " << why;
  return {};
}

FunctionProto *GraphImporter::findFunction(const NodeProto &node) {
  return functions.lookup(getKey(node, node.op_type()));
}

//===----------------------------------------------------------------------===//
// Unsupported operators
//===----------------------------------------------------------------------===//

void GraphImporter::noteUnsupported(const NodeProto &node, Scope &scope) {
  std::string name = node.domain().empty()
                         ? node.op_type()
                         : node.domain() + "." + node.op_type();
  auto [entry, isNew] =
      missing.insert({builder.getStringAttr(name), {getLoc(node, scope), 0}});
  ++entry->second.count;
  customs.noteMissing(getCustomNames(node).front());
}

void GraphImporter::reportUnsupported() {
  for (const auto &[name, nodes] : missing) {
    auto diagnostic = problems.report(ImportStatus::unsupported, nodes.first,
                                      name.getValue());
    diagnostic << "operator '" << name.getValue() << "' is not supported";
    if (nodes.count > 1)
      diagnostic << " (" << nodes.count << " nodes, this is the first)";
    diagnostic << "; " << getAdvice(name.getValue());
  }
}

void GraphImporter::run(const GivenShapes &given, ArrayRef<Input> inputs) {
  customShapes = &given;
  for (const auto &input : model.graph().input())
    if (!main.initializers.contains(input.name()))
      main.values[input.name()] = Value();
  for (const Input &input : inputs)
    if (input.value)
      main.values[input.name] =
          load(createConstant(input.value, problems.getLoc(input.name)),
               declaredInMain.lookup(input.name).info.element);
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), nn::kNameAttr)) {
      Type element = declaredInMain.lookup(name.getValue()).info.element;
      main.values[name.getValue()] = load(argument, element);
      if (std::string narrow = getPackedName(element); !narrow.empty())
        function.setArgAttr(argument.getArgNumber(), nn::kModelTypeAttr,
                            builder.getStringAttr(narrow));
    }
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), nn::kNameAttr))
      if (const auto &dims = declaredInMain.lookup(name.getValue()).info.dims)
        for (auto [dim, size] : llvm::zip(
                 *dims, cast<RankedTensorType>(argument.getType()).getShape()))
          if (!dim.size && !dim.symbol.empty())
            symbols.try_emplace(dim.symbol, size);
  llvm::StringSet<> outputs;
  for (const auto &output : model.graph().output())
    outputs.insert(output.name());
  importNodes(*model.mutable_graph()->mutable_node(), main, outputs);
  if (int64_t most = problems.getLimits().nodes; imported >= most)
    problems.report(ImportStatus::limit)
        << "has more than " << most
        << " nodes once its functions and loops are expanded; --limit nodes=N "
           "allows more";
  reportUnsupported();
  customs.reportUnused(
      [](StringRef name) {
        auto [domain, type] = name.split("::");
        return type.empty() ? findOp("", name) != nullptr
                            : findOp(domain, type) != nullptr;
      },
      problems);
  if (problems.none())
    addResults();
  for (auto each : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    eraseCarrierCasts(each);
  if (problems.none())
    declarations.warnOfStale();
}
