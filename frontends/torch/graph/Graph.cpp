//===- Graph.cpp - Walks the graph of an exported program -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Graph.h"

#include "dialects/nn/attributes/State.h"
#include "frontends/common/Module.h"
#include "frontends/torch/Ops.h"
#include "frontends/torch/custom/Custom.h"
#include "frontends/torch/graph/Mutation.h"
#include "frontends/torch/graph/Node.h"
#include "frontends/torch/graph/Vmap.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

GraphImporter::GraphImporter(Program &program, const Signature &signature,
                             Symbols symbols, const ImportOptions &options,
                             Problems &problems, func::FuncOp function)
    : program(program), signature(signature), symbols(std::move(symbols)),
      lengths(options.foundSizes, options.expectedSizes), options(options),
      problems(problems), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      customs(options.customs) {}

//===----------------------------------------------------------------------===//
// Statements of the program
//===----------------------------------------------------------------------===//

/// Returns the metadata of a tensor, or null if the program has none.
static const json::Object *findMeta(const Scope &scope, StringRef name) {
  const json::Object *values = scope.graph->getObject("tensor_values");
  return values ? values->getObject(name) : nullptr;
}

Type GraphImporter::getStatedType(const Scope &scope, StringRef name) {
  const json::Object *meta = findMeta(scope, name);
  auto dtype = meta ? meta->getInteger("dtype") : std::nullopt;
  return dtype ? getStoredType(builder.getContext(), *dtype) : Type();
}

std::optional<int64_t> GraphImporter::getDtype(const Scope &scope,
                                               StringRef name) const {
  const json::Object *meta = findMeta(scope, name);
  return meta ? meta->getInteger("dtype") : std::nullopt;
}

std::optional<SmallVector<int64_t>>
GraphImporter::getStatedShape(const Scope &scope, StringRef name) {
  const json::Object *meta = findMeta(scope, name);
  const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr;
  if (!sizes)
    return std::nullopt;
  SmallVector<int64_t> shape;
  for (const json::Value &size : *sizes) {
    const json::Object *object = size.getAsObject();
    auto known = object ? object->getInteger("as_int") : std::nullopt;
    if (!known)
      known = evaluate(getSizeExpression(size), symbols);
    if (!known || *known < 0)
      return std::nullopt;
    shape.push_back(*known);
  }
  return shape;
}

std::optional<Scalar> GraphImporter::getScalar(Scope &scope, StringRef name) {
  if (auto known = scope.scalars.find(name); known != scope.scalars.end())
    return known->second;
  for (StringRef list : {"sym_int_values", "sym_bool_values"}) {
    const json::Object *values = scope.graph->getObject(list);
    const json::Object *stated = values ? values->getObject(name) : nullptr;
    if (!stated)
      continue;
    bool isBool = list == "sym_bool_values";
    auto number = stated->getInteger("as_int");
    if (auto truth = stated->getBoolean("as_bool"))
      number = *truth;
    LengthExpression length;
    bool isOfSizes = false;
    if (const json::Object *expression = stated->getObject("as_expr")) {
      StringRef text = expression->getString("expr_str").value_or("");
      number = evaluate(text, symbols);
      length = readLength(text, lengths, found);
      isOfSizes = options.isSample && !findSymbols(text).empty();
    }
    if (length.getConstant())
      length = {};
    if (number)
      return Scalar{/*isReal=*/false,
                    isBool,
                    *number,
                    static_cast<double>(*number),
                    {},
                    length,
                    isOfSizes};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void GraphImporter::checkResult(Scope &scope, StringRef name, Value value,
                                Node &node) {
  Type stated = getStatedType(scope, name);
  if (stated && getComputedType(stated) != getElement(value)) {
    node.broken("has a result of type " +
                nnc::torch::getTypeName(getElement(value)) +
                "; the program states " + nnc::torch::getTypeName(stated));
    return;
  }
  const json::Object *meta = findMeta(scope, name);
  if (const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr)
    for (const json::Value &size : *sizes) {
      // Symbols of numbers that data decide begin with u.
      auto isKnown = [&](StringRef symbol) {
        return symbols.count(symbol) || symbol.starts_with("u");
      };
      StringRef text = getSizeExpression(size);
      if (!text.empty() && !isExpression(text, isKnown)) {
        node.broken("has a result with the size '" + text +
                    "', which is no expression of the sizes of inputs; export "
                    "the program again");
        return;
      }
    }
  auto shape = getStatedShape(scope, name);
  if (shape && isComplex(scope, name))
    shape->push_back(2);
  if (shape && ArrayRef<int64_t>(*shape) != getShape(value))
    node.broken("has a result of shape " + toString(getShape(value)) +
                "; the program states " + toString(ArrayRef(*shape)));
}

void GraphImporter::takeResults(Scope &scope, Node &node) {
  StringRef target = node.getJson().getString("target").value_or("");
  std::string op = getOpName(target);
  bool isInPlace = !getFunctionalName(op).empty(),
       isViewing = isView(node.getJson(), *scope.graph) ||
                   (isInPlace && changesShape(op));
  // The first argument, which the operator changes or shares.
  std::string self;
  if (isInPlace || isViewing)
    self = getFirstTensor(node.getJson()).str();
  ArrayRef<StringRef> names = node.getResultNames();
  for (auto [i, name] : llvm::enumerate(names)) {
    Value value = node.getResults()[i];
    if (name.empty() || scope.scalars.count(name))
      continue;
    if (node.hasFailed())
      value = {};
    // A missing result is reported once: not again after another problem of
    // this operator or of its operands.
    bool isLeftOut = !value && i > 0 && !node.hasFailed();
    if (!value && !isLeftOut && problems.none() && missing.empty())
      node.broken("does not compute its result " + Twine(i));
    if (value)
      checkResult(scope, name, value, node);
    value = linkConstant(scope, name, value);
    Tensor tensor{value};
    tensor.isLeftOut = isLeftOut;
    if (!self.empty() && self != name && scope.tensors.count(self)) {
      if (isInPlace && !isViewing && value)
        setValue(scope, self, value, node);
      tensor.base = self;
      tensor.node = &node.getJson();
      tensor.result = i;
      tensor.seen = scope.tensors[self].changes;
    }
    if (!scope.tensors.try_emplace(name, std::move(tensor)).second)
      node.broken("computes '" + name + "', which another node computes, too");
    if (isInPlace && changesShape(op) && !self.empty())
      scope.renamed[self] = name.str();
  }
}

/// Returns the names of the tensors that a node reads.
static SmallVector<StringRef> getOperandNames(const json::Object &object) {
  SmallVector<StringRef> names;
  auto add = [&](const json::Object *tensor) {
    if (auto name = tensor ? tensor->getString("name") : std::nullopt)
      names.push_back(*name);
  };
  for (const json::Value &entry : getList(object, "inputs")) {
    const json::Object *input = entry.getAsObject();
    const json::Object *argument = input ? input->getObject("arg") : nullptr;
    if (!argument)
      continue;
    add(argument->getObject("as_tensor"));
    if (const json::Object *given = argument->getObject("as_optional_tensor"))
      add(given->getObject("as_tensor"));
    for (StringRef kind : {"as_tensors", "as_optional_tensors"})
      for (const json::Value &element : getList(*argument, kind)) {
        const json::Object *named = element.getAsObject();
        if (named && named->getObject("as_tensor"))
          named = named->getObject("as_tensor");
        add(named);
      }
  }
  return names;
}

bool GraphImporter::lacksOperand(Scope &scope, const json::Object &object) {
  return llvm::any_of(getOperandNames(object), [&](StringRef name) {
    auto found = scope.tensors.find(name);
    return found != scope.tensors.end() && !found->second.value &&
           !found->second.isLeftOut;
  });
}

bool GraphImporter::usesComplex(const Scope &scope,
                                const json::Object &object) const {
  auto holds = [&](StringRef name) { return isComplex(scope, name); };
  return llvm::any_of(getOperandNames(object), holds) ||
         llvm::any_of(getResultNames(object), holds);
}

/// Returns true if a node runs a check, such as that a matrix is invertible,
/// and orders it by a token.
static bool isCheckWithEffect(const json::Object &node) {
  if (node.getString("target") != "torch.ops.higher_order.with_effects")
    return false;
  const json::Array &inputs = getList(node, "inputs");
  const json::Object *input =
      inputs.size() > 1 ? inputs[1].getAsObject() : nullptr;
  const json::Object *argument = input ? input->getObject("arg") : nullptr;
  if (argument)
    for (const auto &entry : *argument)
      if (auto name = entry.second.getAsString())
        return name->contains("_linalg_check_errors") ||
               name->contains("_assert");
  return false;
}

void GraphImporter::importNode(Scope &scope, const json::Object &object,
                               unsigned index) {
  StringRef target = object.getString("target").value_or("");
  std::string name = getOpName(target);
  // Old programs do not name nodes, but their results.
  SmallVector<StringRef> results = getResultNames(object);
  std::string place = object.getString("name").value_or("").str();
  if (place.empty())
    place = results.empty() || results[0].empty()
                ? "node" + std::to_string(index)
                : results[0].str();
  Location loc = problems.getLoc(scope.prefix + place);
  if (isIgnored(name) || isCheckWithEffect(object))
    return;
  // The program states the numbers that follow from the sizes of its inputs.
  if (results.size() == 1 && !results[0].empty() &&
      !findMeta(scope, results[0]) && getScalar(scope, results[0]))
    return;
  bool isComplex = usesComplex(scope, object);
  const OpInfo *info = findOp(target, isComplex);
  const CustomFunction *custom =
      info || isComplex ? nullptr : customs.find(getCustomNames(name));
  // Numbers of sizes follow from tensors, of which an error may have been
  // reported.
  bool isOfSizes =
      StringRef(name).starts_with("sym_") || !StringRef(name).contains('.');
  if (!info && !custom && isOfSizes && (!problems.none() || !missing.empty()))
    return;
  if (!info && !custom) {
    customs.noteMissing(getCustomNames(name).front());
    if (isComplex)
      name += " of complex numbers";
    auto [entry, isNew] =
        missing.insert({builder.getStringAttr(name), MissingOperator{loc, 0}});
    ++entry->second.count;
  }
  // Nothing more is known about what reads the results of a node with an error.
  if ((!info && !custom) || lacksOperand(scope, object)) {
    for (StringRef result : results)
      if (!result.empty())
        scope.tensors.try_emplace(result, Tensor{});
    return;
  }
  Node node(*this, object, scope, loc, name);
  if (custom) {
    convertCustom(node, customs, *custom);
  } else {
    node.setNnOp(info->nnOp);
    node.setResult(0, info->convert(node));
  }
  takeResults(scope, node);
}

bool GraphImporter::countNode() {
  if (++imported <= problems.getLimits().nodes)
    return true;
  if (imported == problems.getLimits().nodes + 1)
    problems.report(ImportStatus::limit)
        << "has more than " << problems.getLimits().nodes
        << " nodes; --limit nodes=N allows more";
  return false;
}

void GraphImporter::importNodes(Scope &scope) {
  const json::Array &nodes = getList(*scope.graph, "nodes");
  importNodes(scope, nodes, 0, nodes.size());
}

void GraphImporter::importNodes(Scope &scope, const json::Array &nodes,
                                size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index) {
    if (!countNode())
      return;
    const json::Object *object = nodes[index].getAsObject();
    if (!object)
      problems.report(ImportStatus::broken)
          << "has node number " << index << " that is no object";
    else if (isVmapStart(*object))
      index = importVmap(scope, nodes, index, end);
    else
      importNode(scope, *object, index);
  }
}

//===----------------------------------------------------------------------===//
// The main graph
//===----------------------------------------------------------------------===//

void GraphImporter::bindInputs(Scope &scope, ArrayRef<Input> inputs) {
  unsigned argument = 0;
  auto next = inputs.begin();
  for (const GraphInput &input : signature.inputs) {
    if (input.kind == GraphInput::Kind::user) {
      const Input &bound = *next++;
      Value value = bound.value ? Value(builder.create<nn::ConstantOp>(
                                      problems.getLoc(bound.name), bound.value))
                                : Value(function.getArgument(argument++));
      Type computed = getComputedType(getElement(value));
      if (computed != getElement(value))
        value = builder.create<nn::CastOp>(
            value.getLoc(), RankedTensorType::get(getShape(value), computed),
            value);
      scope.tensors[input.name] = Tensor{value};
    } else if (input.kind == GraphInput::Kind::stored) {
      ElementsAttr elements =
          program.readTensor(input.target, problems, *builder.getContext());
      if (!elements) {
        scope.tensors[input.name] = Tensor{};
        continue;
      }
      if (input.isState) {
        unsigned index = function.getNumArguments();
        function.insertArgument(
            index, elements.getType(),
            builder.getDictionaryAttr(
                {builder.getNamedAttr(nn::kNameAttr,
                                      builder.getStringAttr(input.target)),
                 builder.getNamedAttr(nn::kInitialAttr, elements)}),
            problems.getLoc(input.target));
        scope.tensors[input.name] = Tensor{function.getArgument(index)};
        continue;
      }
      // Tied parameters are one constant.
      Value &value = constants[elements];
      if (!value) {
        value = builder.create<nn::ConstantOp>(problems.getLoc(input.target),
                                               elements);
        Type stored = getStatedType(scope, input.name);
        if (stored && stored != getComputedType(stored))
          countHalfConstant(value.getDefiningOp(), getNumElements(value));
      }
      scope.tensors[input.name] = Tensor{value};
      Node reader(*this, program.getGraph(), scope,
                  problems.getLoc(input.target), "the parameter");
      checkResult(scope, input.name, value, reader);
    }
  }
}

void GraphImporter::returnResults(Scope &scope) {
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  llvm::StringMap<std::string> next; // new values of buffers
  Node reader(*this, program.getGraph(), scope, problems.getLoc(),
              "the program");
  auto read = [&](StringRef name) {
    Value value = getValue(scope, name, reader);
    // Users get the dtype of the program.
    Type stored = getStatedType(scope, name);
    return stored && value ? reader.castTo(value, stored) : value;
  };
  for (const GraphOutput &output : signature.outputs) {
    if (!output.target.empty()) {
      next[output.target] = output.name;
    } else if (!output.name.empty()) {
      results.push_back(read(output.name));
      names.push_back(output.port);
    }
  }
  if (results.empty())
    problems.report(ImportStatus::broken) << "has no outputs";
  for (const GraphInput &input : signature.inputs) {
    if (!input.isState)
      continue;
    auto returned = next.find(input.target);
    Value value = getValue(scope,
                           returned == next.end() ? StringRef(input.name)
                                                  : StringRef(returned->second),
                           reader);
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto name = function.getArgAttrOfType<StringAttr>(i, nn::kNameAttr);
          name && name.getValue() == input.target &&
          function.getArgAttr(i, nn::kInitialAttr)) {
        auto type = cast<RankedTensorType>(function.getArgument(i).getType());
        if (value && value.getType() != type)
          problems.report(ImportStatus::broken, problems.getLoc(input.target))
              << "is a buffer of shape " << toString(type.getShape())
              << ", and the program gives it a value of shape "
              << toString(getShape(value)) << " or of another type";
        function.setArgAttr(
            i, nn::kStateAttr,
            builder.getI64IntegerAttr(static_cast<int64_t>(results.size())));
      }
    results.push_back(value);
    names.push_back(input.target);
  }
  // The values of the data-dependent sizes are the last results.
  std::vector<std::string> counts;
  for (const FoundSize &size : lengths.getSizes())
    counts.push_back(size.name + "_count");
  size_t own = results.size();
  llvm::append_range(results, lengths.getCounts());
  names.append(counts.begin(), counts.end());
  if (!problems.none() || llvm::is_contained(results, Value()))
    return;
  returnFromMain(function, results, names);
  for (size_t i = own; i < results.size(); ++i)
    function.setResultAttr(
        i, nn::kSizeAttr,
        builder.getI64IntegerAttr(static_cast<int64_t>(i - own)));
}

void GraphImporter::run(ArrayRef<Input> inputs) {
  Scope scope{&program.getGraph(), ""};
  bindInputs(scope, inputs);
  importNodes(scope);
  reportMissing(missing, problems, "nodes",
                "`nnc ops --frontend=pytorch` lists what is, and --custom "
                "takes a function of yours for it");
  customs.reportUnused(
      [](StringRef given) {
        return findOp(given, /*isComplex=*/false) ||
               findOp((given + ".default").str(), /*isComplex=*/false);
      },
      problems);
  if (problems.none())
    returnResults(scope);
}
