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

/// The deepest nesting of bodies that run depending on values.
static constexpr size_t kMaxBodies = 8;

/// One string that tells apart what ONNX tells apart by three.
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
      declaredInMain(getDeclared(builder.getContext(), model.graph())),
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

std::optional<unsigned> GraphImporter::addLength(LayerBuilder &builder,
                                                 FoundSize size, Value count) {
  declarations.loosen();
  return lengths.add(builder, std::move(size), count);
}

bool GraphImporter::isInBody() const {
  return builder.getInsertionBlock()->getParentOp() !=
         mlir::func::FuncOp(function).getOperation();
}

const LengthMaker *GraphImporter::findMaker(StringRef name,
                                            const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent)
    if (auto found = each->makers.find(name); found != each->makers.end())
      return &found->second;
  return nullptr;
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

uint64_t GraphImporter::findSources(StringRef name, const Scope &scope) const {
  for (const Scope *each = &scope; each; each = each->parent)
    if (auto found = each->sources.find(name); found != each->sources.end())
      return found->second;
  return 0;
}

uint64_t GraphImporter::findSources(const NodeProto &node,
                                    const Scope &scope) const {
  uint64_t sources = 0;
  for (const std::string &name : node.input())
    sources |= findSources(name, scope);
  return sources;
}

Value GraphImporter::linkLengths(Value x, uint64_t sources, Location loc) {
  uint64_t missing = sources & ~lengths.findSources(x);
  for (unsigned size = 0; size < 64 && missing >> size != 0; ++size)
    if (missing >> size & 1)
      x = lengths.link(builder, loc, x, size);
  return x;
}

Value GraphImporter::linkFilled(const NodeProto &node, Scope &scope,
                                Value result) {
  static const llvm::StringSet<> fills = {"ConstantOfShape", "Expand", "Tile"};
  if (lengths.getSizes().empty() || isInBody() || !node.domain().empty() ||
      !fills.contains(node.op_type()) || !result || !isTensor(result) ||
      !result.getDefiningOp<nn::ConstantOp>() || getRank(result) == 0 ||
      !isa<FloatType>(getElement(result)) || isNarrow(getElement(result)))
    return result;
  return linkLengths(result, findSources(node, scope), result.getLoc());
}

void GraphImporter::linkLengths(const NodeProto &node, Scope &scope,
                                MutableArrayRef<Value> operands) {
  ArrayRef<FoundSize> sizes = lengths.getSizes();
  if (sizes.empty() || isInBody())
    return;
  auto canDepend = [](Value x) {
    auto type = x ? dyn_cast<RankedTensorType>(x.getType()) : nullptr;
    return type && !isNarrow(type.getElementType()) &&
           !x.getDefiningOp<nn::ConstantOp>();
  };
  Value *dependent = llvm::find_if(operands, canDepend);
  // A slice looks at the length of what it reads first.
  if (dependent == operands.end() || node.op_type() == "Slice")
    return;
  for (auto [name, operand] : llvm::zip(node.input(), operands)) {
    uint64_t sources = findSources(name, scope);
    bool isKnown = operand && operand.getDefiningOp<nn::ConstantOp>();
    if (isKnown)
      *dependent = linkLengths(*dependent, sources, getLoc(node, scope));
  }
}

void GraphImporter::noteSources(const NodeProto &node, Scope &scope,
                                ArrayRef<Value> operands, size_t known) {
  size_t count = std::min<size_t>(64, lengths.getSizes().size());
  if (count == 0)
    return;
  bool asksShape = node.domain().empty() &&
                   (node.op_type() == "Shape" || node.op_type() == "Size");
  uint64_t sources = asksShape && !operands.empty() && operands[0]
                         ? lengths.findSources(operands[0])
                         : 0;
  sources |= findSources(node, scope);
  for (size_t size = known; sources && size < count; ++size)
    sources |= uint64_t(1) << size;
  for (const std::string &name : node.output())
    if (Value value = scope.values.lookup(name);
        sources && value && value.getDefiningOp<nn::ConstantOp>()) {
      scope.sources[name] = sources;
      lengths.noteVarying(value);
      scope.makers.try_emplace(name, LengthMaker{node, std::nullopt});
    }
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
    if (value && !isText && isNarrow(element))
      value = makeNarrow(builder, value, element);
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
  // What no output needs is not worth an error.
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
    // That is reported in the end: here it may be that of an attempt.
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
  // Of a node that fails ONNX's own check all has been said.
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
  // Behind a problem, all that can be told is which operators there are.
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
      !isNarrow(getElement(results[0]))) {
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

/// Returns the node as it is called in `scope`: attributes that stand for one
/// of the function's call have that one's value or are gone, and so are names
/// of operands that the call leaves out. What ONNX builds a body from looks at
/// the node alone.
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

/// Lets the body of an operator that ONNX defines by those of its default
/// domain import that domain. Where the operator itself is of another domain,
/// ONNX leaves that to the caller, whose subgraphs the body may hold.
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
    operands = fillPromised(view);
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

//===----------------------------------------------------------------------===//
// Functions and subgraphs
//===----------------------------------------------------------------------===//

FunctionProto *GraphImporter::findFunction(const NodeProto &node) {
  return functions.lookup(getKey(node, node.op_type()));
}

SmallVector<Value> GraphImporter::call(FunctionProto &function, NodeProto &node,
                                       Scope &caller, ArrayRef<Value> operands,
                                       const ::onnx::OpSchema *schema) {
  if (int64_t most = problems.getLimits().depth; caller.depth >= most) {
    problems.report(ImportStatus::limit, getLoc(node, caller))
        << node.op_type() << " is called through more than " << most
        << " other functions; --limit depth=N allows more";
    return {};
  }
  if (node.input_size() > function.input_size() ||
      node.output_size() > function.output_size()) {
    problems.report(ImportStatus::broken, getLoc(node, caller))
        << node.op_type() << " has " << node.input_size() << " inputs and "
        << node.output_size() << " results; the function of that name has "
        << function.input_size() << " and " << function.output_size();
    return {};
  }
  Scope::Attributes actual;
  for (auto &attribute : *function.mutable_attribute_proto())
    actual[attribute.name()] = &attribute;
  std::deque<::onnx::AttributeProto> defaults;
  for (const std::string &name : function.attribute())
    if (const auto *value = schema ? getDefault(*schema, name) : nullptr)
      actual[name] = &defaults.emplace_back(*value);
  for (auto &attribute : *node.mutable_attribute()) {
    auto *value = &attribute;
    if (!attribute.ref_attr_name().empty())
      value = caller.actual ? caller.actual->lookup(attribute.ref_attr_name())
                            : nullptr;
    if (value)
      actual[attribute.name()] = value;
  }
  Scope scope;
  scope.imports = &function.opset_import();
  scope.actual = &actual;
  scope.prefix = caller.prefix + getNodeName(node).str() + "/";
  scope.depth = caller.depth + 1;
  for (int i = 0; i < function.input_size(); ++i) {
    bool isAbsent = i >= node.input_size() || node.input(i).empty() ||
                    caller.absent.contains(node.input(i));
    if (isAbsent)
      scope.absent.insert(function.input(i));
    else
      scope.values[function.input(i)] = operands[i];
    if (uint64_t sources = isAbsent ? 0 : findSources(node.input(i), caller))
      scope.sources[function.input(i)] = sources;
  }
  llvm::StringSet<> outputs;
  outputs.insert(function.output().begin(), function.output().end());
  importNodes(*function.mutable_node(), scope, outputs);
  SmallVector<Value> results;
  // A function need not compute what its caller leaves out.
  for (auto [i, name] : llvm::enumerate(function.output())) {
    bool isUsed = int(i) < node.output_size() && !node.output(i).empty();
    results.push_back(isUsed ? getResult(name, scope) : Value());
  }
  return results;
}

Value GraphImporter::getResult(const std::string &name, Scope &scope) {
  auto value = lookup(name, scope);
  // Past the limit nothing is imported any more.
  if (!value && imported < problems.getLimits().nodes)
    problems.report(ImportStatus::broken,
                    problems.getLoc(StringRef(scope.prefix).rtrim('/')))
        << "has a result '" << name << "' that nothing computes";
  return value.value_or(Value());
}

bool GraphImporter::inlineGraph(GraphProto &graph, Scope &outer,
                                const std::string &prefix,
                                ArrayRef<Value> inputs, Body *body,
                                SmallVectorImpl<Value> &results) {
  auto leave = llvm::make_scope_exit(
      [&, before = openBodies.size()] { openBodies.truncate(before); });
  if (body)
    openBodies.push_back(body);
  if (openBodies.size() > kMaxBodies) {
    problems.report(ImportStatus::limit, problems.getLoc(prefix))
        << "has loops and branches nested more than " << kMaxBodies
        << " deep that run depending on what the network computes";
    return false;
  }
  if (int64_t most = problems.getLimits().depth; outer.depth >= most) {
    problems.report(ImportStatus::limit, problems.getLoc(prefix))
        << "has subgraphs nested more than " << most
        << " deep; --limit depth=N allows more";
    return false;
  }
  Scope scope;
  scope.parent = &outer;
  scope.imports = outer.imports;
  scope.actual = outer.actual;
  scope.prefix = prefix;
  scope.depth = outer.depth + 1;
  scope.body = body;
  Declarations::Scope declared = getDeclared(builder.getContext(), graph);
  scope.declared = &declared;
  for (auto &tensor : *graph.mutable_initializer())
    scope.initializers[tensor.name()] = &tensor;
  for (auto [input, value] : llvm::zip(graph.input(), inputs))
    scope.values[input.name()] = value;
  llvm::StringSet<> outputs;
  for (const auto &output : graph.output())
    outputs.insert(output.name());
  importNodes(*graph.mutable_node(), scope, outputs);
  for (const auto &output : graph.output()) {
    results.push_back(getResult(output.name(), scope));
    if (!results.back())
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

Value GraphImporter::importStrings(const ::onnx::TensorProto &tensor,
                                   Location loc) {
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  int64_t count = tensor.string_data_size();
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }) ||
      product(shape) != count || tensor.data_location() != tensor.DEFAULT) {
    problems.reportLasting(ImportStatus::broken, loc)
        << "tensor '" << tensor.name() << "' of shape " << toString(shape)
        << " holds " << count << " strings";
    return {};
  }
  Elements places{
      RankedTensorType::get(shape, builder.getI64Type()), iota(count), {}};
  std::vector<std::string> texts(tensor.string_data().begin(),
                                 tensor.string_data().end());
  return makeStrings(builder, createConstant(makeAttribute(places), loc),
                     makeTexts(builder, texts));
}

bool GraphImporter::failsOnStrings(const NodeProto &node, Scope &scope,
                                   ArrayRef<Value> operands) {
  bool hasTexts =
      llvm::any_of(operands, [](Value operand) { return getTexts(operand); });
  if (!hasTexts || takesStrings(node.op_type()))
    return false;
  problems.report(ImportStatus::unsupported, getLoc(node, scope),
                  node.op_type())
      << node.op_type()
      << " computes with strings, of which nnc knows only indices in a list; "
         "export the model with integers in their place";
  return true;
}

void GraphImporter::noteTexts(StringRef name, ArrayRef<std::string> list) {
  texts[name] = list.vec();
}

//===----------------------------------------------------------------------===//
// What nnc lacks
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

/// Returns true if `value` is an input of the network, or one whose carrier is
/// made of it.
static bool isInput(Value value) {
  value = getCarrier(value);
  if (auto cast = value.getDefiningOp<nn::CastOp>())
    value = cast.getX();
  return isa<BlockArgument>(value);
}

/// Returns `value` as it lies in the memory of an output.
Value GraphImporter::store(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  value = getCarrier(value);
  Type stored = getStoredType(type.getElementType());
  if (getElementTypeOrSelf(value) == stored)
    return value;
  return builder.create<nn::CastOp>(value.getLoc(), type.clone(stored), value);
}

/// Returns an input, which the model declares as `element`, as nodes see it.
Value GraphImporter::load(Value argument, Type element) {
  if (!element || !isNarrow(element))
    return argument;
  auto type = cast<RankedTensorType>(argument.getType());
  Type carrier = getCarrier(element);
  if (type.getElementType() != carrier)
    argument = builder.create<nn::CastOp>(argument.getLoc(),
                                          type.clone(carrier), argument);
  return makeNarrow(builder, argument, element);
}

void GraphImporter::addResults() {
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  for (const auto &output : model.graph().output()) {
    Value value = lookup(output.name(), main).value_or(Value());
    if (!value) {
      if (problems.none())
        problems.report(ImportStatus::fault)
            << "has the output '" << output.name()
            << "', which nnc could not import, without saying why; please "
               "report this";
      return;
    }
    if (!isTensor(value)) {
      problems.report(ImportStatus::unsupported)
          << "has the output '" << output.name()
          << "', a sequence or an optional; nnc's outputs are tensors: make "
             "its "
             "elements outputs";
      return;
    }
    // What nodes compute has been checked.
    if (isInput(value))
      checkDeclared(output.name(), value, "the input",
                    problems.getLoc(output.name()), main);
    if (ArrayAttr list = getTexts(value)) {
      for (Attribute text : list)
        texts[output.name()].push_back(cast<StringAttr>(text).str());
      emitWarning(problems.getLoc(output.name()))
          << "is an output of strings; the module gives their indices in a "
             "list that is in the metadata";
    }
    if (auto found = texts.find(output.name()); found != texts.end())
      outputTexts.emplace_back("labels_" + output.name(),
                               llvm::join(found->second, "\n"));
    // Known numbers whose shape follows from lengths that data decide.
    if (uint64_t sources = findSources(output.name(), main);
        sources && value.getDefiningOp<nn::ConstantOp>()) {
      LayerBuilder layer(builder, problems, value.getLoc(), "an output");
      Value number = computeNumber(layer, output.name(), main);
      value = number ? number : linkLengths(value, sources, value.getLoc());
    }
    results.push_back(store(value));
    names.push_back(output.name());
  }
  SmallVector<std::string> countNames;
  for (const FoundSize &size : lengths.getSizes())
    countNames.push_back(size.name + "_count");
  size_t own = results.size();
  llvm::append_range(results, lengths.getCounts());
  names.append(countNames.begin(), countNames.end());
  returnFromMain(function, results, names);
  for (size_t i = own; i < results.size(); ++i)
    function.setResultAttr(i, nn::kSizeAttr,
                           builder.getI64IntegerAttr(int64_t(i - own)));
  markQuantizedPorts(function);
  for (auto [i, output] : llvm::enumerate(model.graph().output()))
    if (std::string name =
            getPackedName(getElementTypeOrSelf(*lookup(output.name(), main)));
        !name.empty())
      function.setResultAttr(i, nn::kModelTypeAttr,
                             builder.getStringAttr(name));
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
    eraseNarrow(each);
  if (problems.none())
    declarations.warnOfStale();
}
