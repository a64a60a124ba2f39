//===- Check.cpp - Validation of ONNX models ------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/file/Check.h"

#include "frontends/onnx/custom/Custom.h"

#include "frontends/common/Suggest.h"
#include "frontends/onnx/schema/Schema.h"

#include "onnx/checker.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::onnx;
using google::protobuf::Message;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
namespace checker = ::onnx::checker;

namespace {

class Check {
public:
  Check(const ModelProto &model, const std::vector<CustomFunction> &customs,
        Problems &problems)
      : model(model), customs(customs), problems(problems) {
    // The importer reads a function's body by the function's own versions.
    context.set_skip_opset_compatibility_check(true);
  }
  bool run();

private:
  bool checkVersions();
  void checkGraph(const GraphProto &graph);
  void checkInputs(const GraphProto &graph);
  void checkNode(const NodeProto &node);
  void define(const std::string &name, const char *what, Location loc);

  InFlightDiagnostic broken(Location loc) {
    return problems.report(ImportStatus::broken, loc);
  }
  /// Runs a part of ONNX's checker, reporting at `loc` what it throws.
  template <class Function>
  bool guard(Location loc, StringRef subject, Function function);

  const ModelProto &model;
  const std::vector<CustomFunction> &customs;
  Problems &problems;
  checker::CheckerContext context;
  checker::LexicalScopeContext names;
  /// The names of all values that nodes of the graph compute.
  llvm::StringSet<> computed;
};

} // namespace

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

// ONNX's checker opens files with external data and rejects all links. The
// class `Weights` has its own rules for files, so that the checker gets empty
// tensors instead.

/// Calls `visit` on each message below `message`, with the field that holds it.
template <class Message, class Function>
static void forEachMessage(Message &message, Function visit) {
  const auto *reflection = message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const auto *field : fields) {
    if (field->type() != field->TYPE_MESSAGE)
      continue;
    int count =
        field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i)
      if constexpr (std::is_const_v<Message>)
        visit(field->is_repeated()
                  ? reflection->GetRepeatedMessage(message, field, i)
                  : reflection->GetMessage(message, field));
      else
        visit(*(field->is_repeated()
                    ? reflection->MutableRepeatedMessage(&message, field, i)
                    : reflection->MutableMessage(&message, field)));
  }
}

static bool hasExternal(const Message &message) {
  if (message.GetDescriptor() == TensorProto::descriptor())
    return static_cast<const TensorProto &>(message).data_location() ==
           TensorProto::EXTERNAL;
  bool found = false;
  forEachMessage(message, [&](const Message &inner) {
    found = found || hasExternal(inner);
  });
  return found;
}

static void dropExternal(Message &message) {
  if (message.GetDescriptor() != TensorProto::descriptor())
    return forEachMessage(message, dropExternal);
  auto &tensor = static_cast<TensorProto &>(message);
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return;
  tensor.clear_data_location();
  tensor.clear_external_data();
  tensor.clear_dims();
  tensor.add_dims(0);
}

/// Returns `proto` if it has no external data, otherwise a copy without it,
/// which is stored in `copy`.
template <class Proto>
static const Proto &withoutExternal(const Proto &proto, Proto &copy) {
  if (!hasExternal(proto))
    return proto;
  copy = proto;
  dropExternal(copy);
  return copy;
}

/// Returns the checker's message as one line, without the dumps that follow it.
static std::string shorten(StringRef text) {
  text = text.split("\n\n==> Context").first.trim();
  std::string line;
  for (char c : text)
    if (c != '\n')
      line += c;
    else if (!StringRef(line).ends_with(" "))
      line += ' ';
  return line;
}

template <class Function>
bool Check::guard(Location loc, StringRef subject, Function function) {
  try {
    function();
    return true;
  } catch (const std::exception &error) {
    broken(loc) << subject << shorten(error.what());
    return false;
  }
}

void Check::define(const std::string &name, const char *what, Location loc) {
  if (names.this_graph_has(name))
    broken(loc) << what << " '" << name << "' is defined twice";
  names.add(name);
}

/// Returns false if a version is so wrong that further checks are useless.
bool Check::checkVersions() {
  if (!model.has_ir_version() || model.ir_version() < 1) {
    broken(problems.getLoc()) << "has no IR version: is it an ONNX model?";
    return false;
  }
  if (!model.has_graph()) {
    broken(problems.getLoc()) << "has no graph";
    return false;
  }
  int newest = ::onnx::Version::IR_VERSION;
  if (model.ir_version() > newest) {
    auto diagnostic = problems.report(ImportStatus::unsupported);
    diagnostic << "is of ONNX IR version " << model.ir_version()
               << "; nnc knows versions up to " << newest;
    addExpectation(diagnostic, "IR version 1 to " + Twine(newest),
                   "IR version " + Twine(model.ir_version()));
  }
  std::unordered_map<std::string, int> imports;
  for (const auto &import : model.opset_import()) {
    if (import.version() < 1 || import.version() > INT32_MAX)
      broken(problems.getLoc())
          << "imports version " << import.version() << " of operator set '"
          << import.domain() << "', which cannot be";
    else if (import.domain().empty() && import.version() > getNewestOpset()) {
      auto diagnostic = problems.report(ImportStatus::unsupported);
      diagnostic << "uses ONNX operator set " << import.version()
                 << "; nnc knows sets up to " << getNewestOpset();
      addExpectation(diagnostic, "operator set 1 to " + Twine(getNewestOpset()),
                     "operator set " + Twine(import.version()));
    } else
      imports[import.domain()] = import.version();
  }
  context.set_ir_version(model.ir_version());
  context.set_opset_imports(imports);
  bool needsDefault =
      imports.empty() ||
      llvm::any_of(model.graph().node(),
                   [](const NodeProto &node) { return node.domain().empty(); });
  if (!needsDefault || imports.count(""))
    return true;
  if (problems.none())
    broken(problems.getLoc())
        << "does not say which version of ONNX's operator set it uses";
  return false;
}

void Check::checkInputs(const GraphProto &graph) {
  for (const auto &input : graph.input()) {
    if (input.name().empty())
      broken(problems.getLoc()) << "has an input without a name";
    define(input.name(), "input", problems.getLoc(input.name()));
  }
  llvm::StringSet<> initializers;
  for (const auto &tensor : graph.initializer()) {
    Location loc = problems.getLoc(tensor.name());
    if (tensor.name().empty())
      broken(loc) << "has an initializer without a name";
    if (!initializers.insert(tensor.name()).second)
      broken(loc) << "initializer '" << tensor.name() << "' is defined twice";
    names.add(tensor.name());
    guard(loc, "", [&] {
      TensorProto copy;
      checker::check_tensor(withoutExternal(tensor, copy), context);
    });
  }
  for (const auto &sparse : graph.sparse_initializer())
    names.add(sparse.values().name());
}

void Check::checkNode(const NodeProto &node) {
  Location loc = problems.getLoc(getNodeName(node));
  std::string subject = node.op_type() + ": ";
  for (const std::string &input : node.input()) {
    // A value that is computed only later is part of a cycle or depends on one,
    // because all other nodes have been sorted. The cycle has been reported.
    if (!input.empty() && !names.this_graph_has(input) &&
        !computed.contains(input))
      broken(loc) << subject << "reads '" << input
                  << "', which nothing computes";
  }
  // The message of the checker for this error would be less clear.
  int opset = findOpset(model.opset_import(), node.domain());
  bool isKnown = findSchema(node.domain(), node.op_type(), opset) != nullptr;
  if (!isKnown && node.domain().empty() && opset != 0 &&
      !isCustom(node, customs) && !checker::check_is_experimental_op(node)) {
    int first = getOpsetRange(node.domain(), node.op_type()).first;
    if (first != 0)
      broken(loc) << "operator '" << node.op_type() << "' came with opset "
                  << first << "; the model says that it uses opset " << opset;
    else
      broken(loc) << "ONNX has no operator '" << node.op_type() << "'"
                  << nnc::frontends::didYouMean(node.op_type(),
                                                getOpNames(node.domain()));
  } else if (isKnown || !node.domain().empty() || !isCustom(node, customs)) {
    guard(loc, subject, [&] {
      NodeProto copy;
      checker::check_node(withoutExternal(node, copy), context, names);
    });
  }
  for (const std::string &output : node.output())
    if (!output.empty())
      define(output, "value", loc);
}

void Check::checkGraph(const GraphProto &graph) {
  int64_t most = problems.getLimits().nodes;
  if (graph.node_size() > most) {
    auto diagnostic = problems.report(ImportStatus::limit);
    diagnostic << "has " << graph.node_size() << " nodes; nnc handles up to "
               << most << "; --limit nodes=N allows more";
    addExpectation(diagnostic, "at most " + Twine(most) + " nodes",
                   Twine(graph.node_size()) + " nodes");
    return;
  }
  checkInputs(graph);
  for (const NodeProto &node : graph.node())
    computed.insert(node.output().begin(), node.output().end());
  for (const NodeProto &node : graph.node())
    checkNode(node);
  if (graph.output().empty())
    broken(problems.getLoc()) << "has no outputs";
  // An output may be listed twice, or be an input: the caller gets a copy.
  for (const auto &output : graph.output())
    if (!names.this_graph_has(output.name()))
      broken(problems.getLoc(output.name()))
          << "output '" << output.name() << "' is computed by nothing";
}

bool Check::run() {
  if (!checkVersions())
    return false;
  // Functions are checked first because expanding cyclic ones would never end.
  bool sound = guard(problems.getLoc(), "", [&] {
    // Nothing but the functions is looked at.
    ModelProto functions;
    functions.set_ir_version(model.ir_version());
    *functions.mutable_opset_import() = model.opset_import();
    *functions.mutable_functions() = model.functions();
    dropExternal(functions);
    checker::check_model_local_functions(functions, context,
                                         checker::LexicalScopeContext());
  });
  checkGraph(model.graph());
  return sound && model.graph().node_size() <= problems.getLimits().nodes;
}

bool nnc::onnx::checkModel(const ModelProto &model,
                           const std::vector<CustomFunction> &customs,
                           Problems &problems) {
  return Check(model, customs, problems).run();
}
