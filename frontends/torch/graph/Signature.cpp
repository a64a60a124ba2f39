//===- Signature.cpp - Inputs and outputs of an exported program ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/graph/Signature.h"

#include "frontends/common/ParseJson.h"
#include "frontends/torch/graph/Mutation.h"
#include "frontends/torch/graph/Types.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::torch;

/// Returns the name of the tensor that a specification's `arg` is; an empty
/// text if it is none.
static StringRef getName(const json::Object &spec) {
  const json::Object *argument = spec.getObject("arg");
  if (!argument)
    return "";
  if (const json::Object *tensor = argument->getObject("as_tensor"))
    argument = tensor;
  return argument->getString("name").value_or("");
}

//===----------------------------------------------------------------------===//
// Names of outputs
//===----------------------------------------------------------------------===//

/// Returns the keys of a dictionary or a data class from the context of its
/// tree, which is JSON; none for other contexts.
static std::vector<std::string> readKeys(StringRef context) {
  std::vector<std::string> keys;
  auto parsed = nnc::frontends::parseJson(context);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return keys;
  }
  if (const json::Array *list = parsed->getAsArray())
    for (const json::Value &key : *list)
      if (auto text = key.getAsString())
        keys.push_back(text->str());
  return keys;
}

/// Appends a name for each leaf of `spec`, a tree that PyTorch's pytree
/// describes: the keys and positions on the way to it, joined by '_'. The name
/// is empty if there are no keys.
static void nameLeaves(const json::Object &spec, const std::string &prefix,
                       bool hasKeys, std::vector<std::string> &names,
                       unsigned depth) {
  const json::Array *children = spec.getArray("children_spec");
  auto type = spec.getString("type");
  if (depth > 64)
    return;
  if (!children || (!type && children->empty())) {
    names.push_back(hasKeys ? prefix : "");
    return;
  }
  std::vector<std::string> keys =
      readKeys(spec.getString("context").value_or(""));
  bool isNamed = keys.size() == children->size() && !keys.empty();
  for (auto [i, child] : llvm::enumerate(*children)) {
    std::string own = isNamed ? keys[i] : std::to_string(i);
    if (const json::Object *object = child.getAsObject())
      nameLeaves(*object, prefix.empty() ? own : prefix + "_" + own,
                 hasKeys || isNamed, names, depth + 1);
  }
}

/// Returns the names of the outputs of the program by its signature. They are
/// empty where that has no keys.
static std::vector<std::string> nameOutputs(const Program &program) {
  std::vector<std::string> names;
  const json::Array *calls = program.getModule().getArray("module_call_graph");
  const json::Object *call =
      calls && !calls->empty() ? calls->front().getAsObject() : nullptr;
  const json::Object *signature = call ? call->getObject("signature") : nullptr;
  auto text = signature ? signature->getString("out_spec") : std::nullopt;
  if (!text)
    return names;
  auto spec = nnc::frontends::parseJson(*text);
  if (!spec) {
    llvm::consumeError(spec.takeError());
    return names;
  }
  // A list of the version of the description and the tree.
  const json::Array *list = spec->getAsArray();
  if (list && list->size() == 2)
    if (const json::Object *tree = (*list)[1].getAsObject())
      nameLeaves(*tree, "", /*hasKeys=*/false, names, 0);
  return names;
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  Reader(const Program &program, Problems &problems)
      : program(program), problems(problems) {}
  std::optional<Signature> run();

private:
  void fail(ImportStatus status, StringRef name, const Twine &why) {
    problems.report(status, problems.getLoc(name)) << why;
  }
  void readInput(const json::Object &spec);
  void readOutput(const json::Object &spec);
  /// Returns a name for an output that no other has.
  std::string makeUnique(const std::string &name);

  const Program &program;
  Problems &problems;
  Signature signature;
  std::vector<std::string> names; ///< of user outputs, by the out_spec
  size_t userOutputs = 0;
  llvm::StringSet<> taken;
};
} // namespace

void Reader::readInput(const json::Object &spec) {
  using Kind = GraphInput::Kind;
  if (const json::Object *user = spec.getObject("user_input")) {
    const json::Object *argument = user->getObject("arg");
    if (argument && argument->getObject("as_tensor")) {
      signature.inputs.push_back({Kind::user, getName(*user).str()});
    } else if (argument &&
               (argument->get("as_sym_int") || argument->get("as_sym_float") ||
                argument->get("as_sym_bool"))) {
      fail(ImportStatus::unsupported, "",
           "has an input that is a number and not a tensor; export the model "
           "with that number as a constant or as a tensor of one element");
      signature.inputs.push_back({Kind::constant, ""});
    } else {
      signature.inputs.push_back({Kind::constant, ""});
    }
    return;
  }
  for (auto [kind, field] :
       {std::pair("parameter", "parameter_name"),
        std::pair("buffer", "buffer_name"),
        std::pair("tensor_constant", "tensor_constant_name")})
    if (const json::Object *stored = spec.getObject(kind)) {
      signature.inputs.push_back({Kind::stored, getName(*stored).str(),
                                  stored->getString(field).value_or("").str()});
      return;
    }
  if (spec.getObject("token"))
    signature.inputs.push_back({Kind::token, ""});
  else if (spec.getObject("constant_input"))
    signature.inputs.push_back({Kind::constant, ""});
  else if (const json::Object *object = spec.getObject("custom_obj"))
    fail(ImportStatus::unsupported, getName(*object),
         "is an object of a class that TorchScript knows, which nnc does not "
         "handle; export the model without it");
  else
    fail(ImportStatus::broken, "",
         "has an input of an unknown kind in its signature");
}

std::string Reader::makeUnique(const std::string &name) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

void Reader::readOutput(const json::Object &spec) {
  if (const json::Object *user = spec.getObject("user_output")) {
    std::string name = getName(*user).str();
    std::string port =
        userOutputs < names.size() ? names[userOutputs] : std::string();
    ++userOutputs;
    const json::Object *argument = user->getObject("arg");
    if (argument && !argument->getObject("as_tensor")) {
      // Python gives None and constants back as they are.
      if (argument->get("as_sym_int") || argument->get("as_sym_float"))
        fail(ImportStatus::unsupported, port,
             "is an output that is a number and not a tensor; return it as a "
             "tensor, or leave it out");
      signature.outputs.push_back({"", ""});
      return;
    }
    port = makeUnique(port.empty() ? name : port);
    signature.outputs.push_back({name, port});
    return;
  }
  for (auto [kind, field] : {std::pair("buffer_mutation", "buffer_name"),
                             std::pair("parameter_mutation", "parameter_name")})
    if (const json::Object *changed = spec.getObject(kind)) {
      signature.outputs.push_back(
          {getName(*changed).str(), "",
           changed->getString(field).value_or("").str()});
      return;
    }
  if (const json::Object *changed = spec.getObject("user_input_mutation")) {
    fail(ImportStatus::unsupported,
         changed->getString("user_input_name").value_or(""),
         "is an input that the program changes in place; return the new value "
         "as an output, or make it a buffer of the module");
    signature.outputs.push_back({"", ""});
    return;
  }
  if (spec.getObject("token")) {
    signature.outputs.push_back({"", ""});
    return;
  }
  fail(ImportStatus::unsupported, "",
       "has outputs of training, such as a loss or gradients; export the model "
       "for inference");
  signature.outputs.push_back({"", ""});
}

std::optional<Signature> Reader::run() {
  names = nameOutputs(program);
  const json::Object &object = program.getSignature();
  for (const json::Value &entry : getList(object, "input_specs"))
    readInput(toObject(entry));
  for (const json::Value &entry : getList(object, "output_specs"))
    readOutput(toObject(entry));
  if (!problems.none())
    return std::nullopt;
  std::set<std::string> changed = findChanged(program.getGraph()), states;
  for (GraphInput &input : signature.inputs) {
    bool isReturned =
        llvm::any_of(signature.outputs, [&](const GraphOutput &output) {
          return !output.target.empty() && output.target == input.target;
        });
    input.isState = input.kind == GraphInput::Kind::stored &&
                    (isReturned || changed.count(input.name));
    if (input.isState && !states.insert(input.target).second)
      fail(ImportStatus::broken, input.name,
           "is the buffer '" + input.target +
               "', which another input of the graph is, too");
    if (input.kind == GraphInput::Kind::user && changed.count(input.name))
      fail(ImportStatus::unsupported, input.name,
           "is an input that the program changes in place; change a copy of it "
           "(clone) in the model");
  }
  if (!problems.none())
    return std::nullopt;
  return std::move(signature);
}

std::optional<Signature> nnc::torch::readSignature(const Program &program,
                                                   Problems &problems) {
  return Reader(program, problems).run();
}

//===----------------------------------------------------------------------===//
// Shapes of inputs
//===----------------------------------------------------------------------===//

StringRef nnc::torch::getSizeExpression(const json::Value &size) {
  const json::Object *object = size.getAsObject();
  const json::Object *expression =
      object ? object->getObject("as_expr") : nullptr;
  return expression ? expression->getString("expr_str").value_or("") : "";
}

/// Returns the metadata of a tensor of the program's graph; null if it has
/// none.
static const json::Object *findMeta(const Program &program, StringRef name) {
  return program.getGraph().getObject("tensor_values")->getObject(name);
}

TensorInfo nnc::torch::describeInput(const Program &program, StringRef name,
                                     MLIRContext &context, Problems &problems) {
  TensorInfo info;
  info.name = name;
  const json::Object *meta = findMeta(program, name);
  auto dtype = meta ? meta->getInteger("dtype") : std::nullopt;
  if (dtype) {
    info.element = getStoredType(&context, *dtype);
    info.elementName = getTypeName(*dtype);
  }
  if (const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr) {
    info.dims.emplace();
    for (const json::Value &size : *sizes) {
      Dim dim;
      const json::Object *object = size.getAsObject();
      if (auto known = object ? object->getInteger("as_int") : std::nullopt;
          known && *known >= 0)
        dim.size = *known;
      else if (StringRef open = getSizeExpression(size);
               isExpression(open, [](StringRef) { return true; }))
        dim.symbol = describe(open);
      else if (!info.isReported) {
        problems.report(ImportStatus::broken, problems.getLoc(name))
            << "input '" << name << "' has no sound size along axis "
            << info.dims->size()
            << (open.empty() ? std::string()
                             : (": '" + open + "' is no expression").str());
        info.isReported = true;
      }
      info.dims->push_back(dim);
    }
  }
  return info;
}

/// Returns the values that a symbol, or a multiple of one, can have; nullopt if
/// the program states no largest one.
static std::optional<nnc::frontends::SizeBound>
getBounds(const Program &program, StringRef symbol) {
  const json::Object *ranges = program.getRoot().getObject("range_constraints");
  const json::Object *range = ranges ? ranges->getObject(symbol) : nullptr;
  auto low = range ? range->getInteger("min_val") : std::nullopt;
  auto high = range ? range->getInteger("max_val") : std::nullopt;
  if (!high || *high > INT32_MAX || low.value_or(1) > *high)
    return std::nullopt;
  nnc::frontends::SizeBound bound{std::max<int64_t>(low.value_or(1), 1), *high};
  // A multiple of another symbol, as in "2*s39".
  int64_t factor = 1;
  if (!symbol.consumeInteger(10, factor) && symbol.starts_with("*") &&
      factor > 0 && (bound.high - bound.low) % factor == 0)
    bound.step = factor;
  return bound;
}

nnc::frontends::GivenShapes nnc::torch::takeLargest(const Program &program,
                                                    ArrayRef<TensorInfo> inputs,
                                                    const GivenShapes &given,
                                                    SizeBounds &bounds) {
  Symbols bound;
  for (const TensorInfo &input : inputs)
    if (auto shape = given.find(input.name);
        shape != given.end() && input.dims &&
        shape->second.size() == input.dims->size())
      for (auto [dim, size] : llvm::zip_equal(*input.dims, shape->second))
        if (!dim.size)
          bound[dim.symbol] = size;
  GivenShapes shapes;
  SizeBounds found;
  for (const TensorInfo &input : inputs) {
    bool isOpen = input.dims && !given.count(input.name) &&
                  llvm::any_of(*input.dims, [&](const Dim &dim) {
                    return !dim.size && !bound.count(dim.symbol);
                  });
    if (!isOpen)
      continue;
    for (const Dim &dim : *input.dims) {
      auto known = bound.find(dim.symbol);
      std::optional<nnc::frontends::SizeBound> range;
      if (dim.size)
        range = {*dim.size, *dim.size, 1};
      else if (known != bound.end())
        range = {known->second, known->second, 1};
      else
        range = getBounds(program, dim.symbol);
      if (!range)
        return {};
      found[input.name].push_back(*range);
      shapes[input.name].push_back(range->high);
    }
  }
  bounds = std::move(found);
  return shapes;
}

bool nnc::torch::bindSymbols(const Program &program, StringRef input,
                             ArrayRef<int64_t> shape, Symbols &symbols,
                             bool passesBounds, Problems &problems) {
  const json::Object *meta = findMeta(program, input);
  const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr;
  if (!sizes || sizes->size() != shape.size())
    return true;
  bool isBound = true;
  for (auto [axis, size] : llvm::enumerate(*sizes)) {
    StringRef expression = getSizeExpression(size);
    if (expression.empty())
      continue;
    std::set<std::string> names = findSymbols(expression);
    std::string unknown;
    for (const std::string &name : names)
      if (!symbols.count(name))
        unknown = name;
    if (!unknown.empty())
      if (auto solved = solve(expression, shape[axis], symbols)) {
        symbols[unknown] = *solved;
        const json::Object *ranges =
            program.getRoot().getObject("range_constraints");
        const json::Object *range =
            ranges ? ranges->getObject(unknown) : nullptr;
        auto low = range ? range->getInteger("min_val") : std::nullopt;
        auto high = range ? range->getInteger("max_val") : std::nullopt;
        // PyTorch states 2 for sizes that it distinguishes from 0 and 1 alone
        // to decide what broadcasts, and accepts those, too.
        if (low && *low <= 2)
          low = 1;
        bool isWithin =
            (!low || *solved >= *low) && (!high || *solved <= *high);
        if (!isWithin && !passesBounds) {
          problems.report(ImportStatus::unbound, problems.getLoc(input))
              << "input '" << input << "' has size " << shape[axis]
              << " along axis " << axis << ", for which '" << unknown << "' is "
              << *solved << "; the program was exported for "
              << (low ? std::to_string(*low) : "0") << " to "
              << (high ? std::to_string(*high) : "any number");
          isBound = false;
        }
      }
    auto value = evaluate(expression, symbols);
    if (value && *value != shape[axis]) {
      problems.report(ImportStatus::unbound, problems.getLoc(input))
          << "input '" << input << "' has size " << shape[axis]
          << " along axis " << axis << "; by the sizes of other inputs '"
          << describe(expression) << "' is " << *value;
      isBound = false;
    }
  }
  return isBound;
}

bool nnc::torch::checkSizes(const Program &program, StringRef input,
                            ArrayRef<int64_t> shape, const Symbols &symbols,
                            Problems &problems) {
  const json::Object *meta = findMeta(program, input);
  const json::Array *sizes = meta ? meta->getArray("sizes") : nullptr;
  if (!sizes || sizes->size() != shape.size())
    return true;
  bool isKnown = true;
  for (auto [axis, size] : llvm::enumerate(*sizes)) {
    StringRef expression = getSizeExpression(size);
    if (expression.empty() || evaluate(expression, symbols))
      continue;
    problems.report(ImportStatus::broken, problems.getLoc(input))
        << "input '" << input << "' has size " << shape[axis] << " along axis "
        << axis << ", for which the program states '" << describe(expression)
        << "'; no value of its symbols gives that size";
    isKnown = false;
  }
  return isKnown;
}
