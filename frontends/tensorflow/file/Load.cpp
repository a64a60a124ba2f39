//===- Load.cpp - Reads TensorFlow's files --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/file/Load.h"

#include "frontends/common/Suggest.h"

#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <limits>
#include <map>

using namespace mlir;
using namespace nnc::tensorflow;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral kGraphFile = "saved_model.pb";

std::string nnc::tensorflow::findSavedModel(StringRef path, bool isFolder) {
  if (!isFolder)
    return path::filename(path) == kGraphFile ? path.str() : "";
  SmallString<256> file(path);
  path::append(file, kGraphFile);
  return llvm::sys::fs::is_regular_file(file) ? file.str().str() : "";
}

namespace {
/// A reader of one model.
class Loader {
public:
  Loader(StringRef path, StringRef wanted, Problems &problems)
      : path(path), wanted(wanted), problems(problems) {}

  std::shared_ptr<LoadedModel> load();

private:
  bool parse(StringRef file, google::protobuf::MessageLite &message);
  bool loadSavedModel(StringRef file);
  bool loadGraph();
  const pb::SignatureDef *choose(const pb::MetaGraphDef &meta);
  bool checkPorts(const pb::SignatureDef &signature, const pb::GraphDef &graph);
  bool fail(ImportStatus status, const Twine &why) {
    problems.report(status) << why;
    return false;
  }

  StringRef path, wanted;
  Problems &problems;
  std::shared_ptr<LoadedModel> model = std::make_shared<LoadedModel>();
};
} // namespace

bool Loader::parse(StringRef file, google::protobuf::MessageLite &message) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(ImportStatus::broken,
                "cannot be read: " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() > size_t(std::numeric_limits<int32_t>::max()))
    return fail(ImportStatus::limit,
                "is larger than 2 GB, the most that protobuf reads: save the "
                "model as a SavedModel, whose weights are in other files");
  // Protobuf would print what it finds wrong.
  google::protobuf::LogSilencer silencer;
  bool isParsed = false;
  try {
    isParsed =
        message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  } catch (const std::exception &) {
    isParsed = false;
  }
  if (!isParsed)
    return fail(ImportStatus::broken,
                "is not a model of TensorFlow, or is damaged or truncated: "
                "protobuf cannot parse it");
  model->sha256 =
      llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                  /*LowerCase=*/true);
  return true;
}

//===----------------------------------------------------------------------===//
// Frozen graphs
//===----------------------------------------------------------------------===//

/// Returns true if nodes of this operator compute nothing that a user reads.
static bool isAside(StringRef op) {
  return op == "Const" || op == "NoOp" || op == "Assert" || op == "Placeholder";
}

/// Returns the names of the nodes that compute something from placeholders.
static llvm::StringSet<> findFed(const pb::GraphDef &graph) {
  llvm::StringMap<std::vector<StringRef>> readers;
  std::vector<StringRef> found;
  llvm::StringSet<> fed;
  for (const pb::NodeDef &node : graph.node()) {
    for (const std::string &input : node.input())
      readers[StringRef(input).split(':').first].push_back(node.name());
    if (node.op() == "Placeholder")
      found.push_back(node.name());
  }
  while (!found.empty()) {
    StringRef name = found.back();
    found.pop_back();
    if (fed.insert(name).second)
      llvm::append_range(found, readers[name]);
  }
  return fed;
}

bool Loader::loadGraph() {
  if (!parse(path, model->graph))
    return false;
  if (!wanted.empty())
    return fail(ImportStatus::unbound,
                "is a graph without signatures; --signature names one of a "
                "SavedModel");
  // Nodes that nobody reads, and that do not depend on the inputs, are left
  // over from functions. An Identity of a Switch that nobody reads tells which
  // branch nodes are in.
  llvm::StringSet<> read, switches, placeholders, fed = findFed(model->graph);
  auto isPivot = [&](const pb::NodeDef &node) {
    return node.op() == "Identity" && !node.input().empty() &&
           switches.contains(StringRef(node.input(0)).split(':').first);
  };
  for (const pb::NodeDef &node : model->graph.node()) {
    if (node.op() == "Switch")
      switches.insert(node.name());
    if (node.op().find("Placeholder") == 0)
      placeholders.insert(node.name());
  }
  for (const pb::NodeDef &node : model->graph.node())
    for (const std::string &input : node.input())
      if (StringRef name = StringRef(input).split(':').first;
          !name.starts_with("^"))
        read.insert(name);
  // Exporters and users name an output by an Identity outside of all scopes. It
  // is one even if another node reads it, unless that is such an Identity.
  llvm::StringSet<> named, renamed;
  for (const pb::NodeDef &node : model->graph.node()) {
    if (node.op() != "Identity" || node.input_size() == 0 ||
        StringRef(node.name()).contains('/'))
      continue;
    StringRef source = StringRef(node.input(0)).split(':').first;
    renamed.insert(source);
    if (!placeholders.contains(source))
      named.insert(node.name());
  }
  auto isNamed = [&](const pb::NodeDef &node) {
    return named.contains(node.name()) && !renamed.contains(node.name());
  };
  for (const pb::NodeDef &node : model->graph.node()) {
    if (node.op() == "Placeholder") {
      // convert_variables_to_constants_v2 leaves these where it lowers loops.
      if (!read.contains(node.name()) &&
          StringRef(node.name()).contains("unused_control_flow_input"))
        continue;
      Port port{node.name(), node.name(), pb::DT_INVALID, {}};
      const auto &attributes = node.attr();
      if (auto type = attributes.find("dtype"); type != attributes.end())
        port.type = type->second.type();
      auto shape = attributes.find("shape");
      if (shape != attributes.end() && shape->second.has_shape())
        port.shape = shape->second.shape();
      else
        port.shape.set_unknown_rank(true);
      model->inputs.push_back(std::move(port));
    } else if (!isAside(node.op()) &&
               (!read.contains(node.name()) || isNamed(node)) &&
               !isPivot(node) && (fed.empty() || fed.contains(node.name()))) {
      model->outputs.push_back({node.name(), node.name(), pb::DT_INVALID, {}});
    }
  }
  // Lowered loops have exits that nobody reads, of counters for example. They
  // are outputs only where there are no others.
  llvm::StringSet<> exits;
  for (const pb::NodeDef &node : model->graph.node())
    if (node.op() == "Exit" && StringRef(node.name()).contains("/exit/_"))
      exits.insert(node.name());
  auto isExit = [&](const Port &port) { return exits.contains(port.tensor); };
  if (!llvm::all_of(model->outputs, isExit))
    llvm::erase_if(model->outputs, isExit);
  if (model->graph.node().empty())
    return fail(ImportStatus::broken,
                "is a graph of TensorFlow without nodes: freeze the graph in "
                "which the network was built");
  return !model->outputs.empty() ||
         fail(ImportStatus::broken,
              "is a graph in which no node computes an output");
}

//===----------------------------------------------------------------------===//
// SavedModels
//===----------------------------------------------------------------------===//

/// Signatures that SavedModels have for TensorFlow's own use.
static bool isInternal(StringRef name) { return name.starts_with("__"); }

const pb::SignatureDef *Loader::choose(const pb::MetaGraphDef &meta) {
  std::vector<std::string> names;
  for (const auto &[name, signature] : meta.signature_def())
    if (!isInternal(name) && !signature.outputs().empty())
      names.push_back(name);
  llvm::sort(names);
  auto find = [&](StringRef name) -> const pb::SignatureDef * {
    auto found = meta.signature_def().find(name.str());
    return found == meta.signature_def().end() ? nullptr : &found->second;
  };
  auto report = [&](ImportStatus status, const Twine &why) {
    problems.report(status) << why;
    return nullptr;
  };
  std::string list = llvm::join(names, ", ");
  if (names.empty())
    return report(ImportStatus::unsupported,
                  "has no signature, so that nothing says what its inputs and "
                  "outputs are; save it with tf.saved_model.save(model, dir, "
                  "signatures=function), or by model.export(dir) of Keras");
  if (!wanted.empty()) {
    if (llvm::is_contained(names, wanted))
      return find(wanted);
    return report(ImportStatus::unbound, "has no signature '" + wanted +
                                             "'; it has " + list +
                                             didYouMean(wanted, names));
  }
  for (StringRef usual : {"serving_default", "serve", "predict"})
    if (llvm::is_contained(names, usual))
      return find(usual);
  if (names.size() == 1)
    return find(names[0]);
  return report(
      ImportStatus::unbound,
      "has several signatures: " + list +
          "; --signature=NAME chooses one, as in --signature=" + names[0]);
}

/// Returns the ports of a signature, sorted by name as protobuf's maps are not.
static std::vector<Port>
takePorts(const google::protobuf::Map<std::string, pb::TensorInfo> &infos) {
  std::vector<Port> ports;
  for (const auto &[name, info] : infos)
    ports.push_back({name, info.name(), info.dtype(), info.tensor_shape()});
  llvm::sort(ports,
             [](const Port &a, const Port &b) { return a.name < b.name; });
  return ports;
}

/// Reports the inputs and outputs of a signature whose nodes the graph does not
/// have.
bool Loader::checkPorts(const pb::SignatureDef &signature,
                        const pb::GraphDef &graph) {
  llvm::StringSet<> nodes;
  for (const pb::NodeDef &node : graph.node())
    nodes.insert(node.name());
  bool isSound = true;
  auto check = [&](StringRef kind, const std::vector<Port> &ports) {
    for (const Port &port : ports) {
      StringRef node = StringRef(port.tensor).split(':').first;
      if (nodes.contains(node))
        continue;
      problems.report(ImportStatus::broken, problems.getLoc(port.name))
          << "is an " << kind << " of the signature that is '" << port.tensor
          << "', and the graph has no node of this name; save the model again";
      isSound = false;
    }
  };
  check("input", takePorts(signature.inputs()));
  check("output", takePorts(signature.outputs()));
  return isSound;
}

bool Loader::loadSavedModel(StringRef file) {
  pb::SavedModel saved;
  if (!parse(file, saved))
    return false;
  if (saved.meta_graphs().empty())
    return fail(ImportStatus::broken, "is a SavedModel without a graph");
  // Models for training may hold another graph with the tag "train".
  pb::MetaGraphDef *meta = saved.mutable_meta_graphs(0);
  for (pb::MetaGraphDef &each : *saved.mutable_meta_graphs()) {
    const auto &tags = each.meta_info_def().tags();
    if (tags.size() == 1 && tags[0] == "serve")
      meta = &each;
  }
  const pb::SignatureDef *signature = choose(*meta);
  if (!signature || !checkPorts(*signature, meta->graph_def()))
    return false;
  model->inputs = takePorts(signature->inputs());
  model->outputs = takePorts(signature->outputs());
  for (Port &port : model->outputs)
    port.shape.Clear();
  model->version = meta->meta_info_def().tensorflow_version();
  model->savedModel = file.str();
  model->graph = std::move(*meta->mutable_graph_def());
  return true;
}

std::shared_ptr<LoadedModel> Loader::load() {
  bool isFolder = llvm::sys::fs::is_directory(path);
  std::string file = findSavedModel(path, isFolder);
  bool isLoaded = !file.empty() ? loadSavedModel(file)
                  : !isFolder   ? loadGraph()
                                : fail(ImportStatus::broken,
                                       "is a folder without " + kGraphFile);
  if (!isLoaded)
    return nullptr;
  auto isText = [](const Port &port) { return port.type == pb::DT_STRING; };
  llvm::copy_if(model->inputs, std::back_inserter(model->texts), isText);
  llvm::erase_if(model->inputs, isText);
  return model;
}

std::shared_ptr<LoadedModel> nnc::tensorflow::loadModel(StringRef path,
                                                        StringRef signature,
                                                        Problems &problems) {
  return Loader(path, signature, problems).load();
}
