//===- Load.cpp - Reads a network and its weights -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/file/Load.h"

#include "frontends/caffe/Ops.h"
#include "frontends/caffe/file/Recognize.h"
#include "frontends/caffe/file/Upgrade.h"
#include "frontends/common/Frontend.h"

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace nnc::caffe;
using google::protobuf::TextFormat;

/// The largest size of a network without its weights in bytes (16 MiB). Those
/// that people train have a few hundred KB, and protobuf needs up to a hundred
/// times the size of a text.
static constexpr size_t kMaxNetwork = size_t(1) << 24;
/// The deepest nesting of messages in a text; Caffe's format has five levels.
static constexpr int kMaxNesting = 32;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// A problem that protobuf found in a text. Lines and columns count from 0.
struct TextProblem {
  int line, column;
  std::string message;
};

class Collector : public google::protobuf::io::ErrorCollector {
public:
  void AddError(int line, int column, const std::string &message) override {
    errors.push_back({line, column, message});
  }
  void AddWarning(int line, int column, const std::string &message) override {
    if (warnings.size() < kMaxWarnings)
      warnings.push_back({line, column, message});
  }
  std::vector<TextProblem> errors, warnings;

private:
  static constexpr size_t kMaxWarnings = 1000;
};
} // namespace

/// Returns the first text between quotes, which is the name of an unknown field
/// in messages of protobuf that end with it.
static StringRef getUnknownField(StringRef message) {
  auto [before, name] = message.split("has no field named \"");
  return name.take_until([](char c) { return c == '"'; });
}

/// Warns of the fields that the schema lacks, by the layers in which they are.
/// Layers of types that nnc does not import are reported anyway.
static void warnOfUnknown(const schema::NetParameter &net,
                          const TextFormat::ParseInfoTree &places,
                          const Collector &found, Problems &problems) {
  const auto *type = net.GetDescriptor();
  // The first line of each layer and its name; "" for layers without a warning.
  std::vector<std::pair<int, std::string>> layers;
  auto add = [&](const char *field, int i, const std::string &name,
                 bool isShown) {
    int line = places.GetLocation(type->FindFieldByName(field), i).line;
    layers.emplace_back(line, isShown ? name : "");
  };
  for (int i = 0; i < net.layer_size(); ++i) {
    const OpInfo *op = findOp(net.layer(i).type());
    add("layer", i, net.layer(i).name(), op && op->convert);
  }
  for (int i = 0; i < net.layers_size(); ++i)
    add("layers", i,
        net.layers(i).has_layer() ? net.layers(i).layer().name()
                                  : net.layers(i).name(),
        true);
  llvm::sort(layers);
  for (const TextProblem &warning : found.warnings) {
    StringRef field = getUnknownField(warning.message);
    if (field.empty())
      continue;
    auto behind = llvm::upper_bound(
        layers, warning.line,
        [](int line, const auto &layer) { return line < layer.first; });
    bool isInLayer = behind != layers.begin();
    std::string name = isInLayer ? std::prev(behind)->second : "";
    if (isInLayer && name.empty())
      continue;
    emitWarning(problems.getLoc(name))
        << "has a field '" << field << "' in line " << warning.line + 1
        << " that is no part of Caffe's format as nnc knows it; it is ignored";
  }
}

static bool parseText(StringRef text, schema::NetParameter &net,
                      Problems &problems) {
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark
  Collector collector;
  TextFormat::ParseInfoTree places;
  TextFormat::Parser parser;
  parser.AllowUnknownField(true);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kMaxNesting);
  parser.RecordErrorsTo(&collector);
  parser.WriteLocationsTo(&places);
  bool isParsed = false;
  std::string thrown;
  try {
    isParsed = parser.ParseFromString(text.str(), &net);
  } catch (const std::exception &error) {
    thrown = error.what();
  }
  if (isParsed && net.layer_size() + net.layers_size() == 0) {
    auto isOfSolver = [](const TextProblem &warning) {
      StringRef field = getUnknownField(warning.message);
      return field == "net" || field == "train_net" || field == "base_lr";
    };
    problems.report(ImportStatus::broken)
        << "is no network of Caffe: it has no layers"
        << (llvm::any_of(collector.warnings, isOfSolver)
                ? "; it looks like the settings of a solver: give the network "
                  "for inference, which is often called deploy.prototxt"
                : "");
    return false;
  }
  if (isParsed) {
    warnOfUnknown(net, places, collector, problems);
    return true;
  }
  for (const TextProblem &error : collector.errors)
    problems.report(ImportStatus::broken)
        << "is no network in Caffe's text format: line " << error.line + 1
        << ", column " << error.column + 1 << ": "
        << llvm::json::fixUTF8(error.message);
  if (collector.errors.empty())
    problems.report(ImportStatus::broken)
        << "is no network in Caffe's text format: protobuf cannot parse it"
        << (thrown.empty() ? "" : ": ") << thrown;
  return false;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Parses the network of a .caffemodel that is given as the model.
static bool parseBinary(const Weights &weights, schema::NetParameter &net,
                        Problems &problems) {
  bool isParsed = false;
  try {
    isParsed = net.ParsePartialFromString(weights.network);
  } catch (const std::exception &) {
  }
  if (!isParsed) {
    problems.report(ImportStatus::broken)
        << "holds weights and a network that nnc cannot read, perhaps of a "
           "fork of Caffe; give the network's text instead: nnc compile "
           "NET.prototxt --weights FILE.caffemodel";
    return false;
  }
  bool hasInput = net.input_size() > 0;
  for (const schema::LayerParameter &layer : net.layer())
    hasInput |= layer.type() == "Input";
  if (!hasInput)
    problems.report(ImportStatus::broken)
        << "holds weights, and a network for training that states no inputs; "
           "give the network's text, which is often called deploy.prototxt: "
           "nnc compile NET.prototxt --weights FILE.caffemodel";
  return hasInput;
}

/// Returns the file of weights beside a network, or an empty path.
static std::string findBeside(StringRef path) {
  SmallString<256> beside(path);
  llvm::sys::path::replace_extension(beside, ".caffemodel");
  return beside.str() != path && llvm::sys::fs::exists(beside)
             ? beside.str().str()
             : "";
}

/// Reports texts that are not UTF-8, which protobuf does not check, and names
/// that layers lack. Returns false if there are any.
static bool checkNames(const schema::NetParameter &net, Problems &problems) {
  auto isText = [](const std::string &text) {
    return llvm::json::isUTF8(text) && !StringRef(text).contains('\0');
  };
  for (const schema::LayerParameter &layer : net.layer()) {
    bool isSound = isText(layer.name()) && isText(layer.type());
    for (const auto *list : {&layer.bottom(), &layer.top()})
      isSound &= llvm::all_of(*list, isText);
    if (isSound)
      continue;
    problems.report(ImportStatus::broken)
        << "has a layer '" << llvm::json::fixUTF8(layer.name())
        << "' with a text that is not UTF-8";
    return false;
  }
  return true;
}

std::optional<LoadedModel>
nnc::caffe::loadModel(StringRef path, StringRef weights, Problems &problems) {
  LoadedModel model;
  auto start = readFileStart(path);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!start || !file) {
    problems.report(ImportStatus::broken) << "cannot be read";
    return std::nullopt;
  }
  llvm::SHA256 hash;
  auto add = [&](StringRef bytes) {
    hash.update(ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                         bytes.size()));
  };
  StringRef bytes = (*file)->getBuffer();
  add(bytes);
  bool isBinary = isCaffemodel(start->bytes);
  if (isBinary) {
    model.weights = loadWeights(path, problems);
    if (!model.weights)
      return std::nullopt;
    bytes = model.weights->network;
  }
  if (bytes.size() > kMaxNetwork) {
    problems.report(ImportStatus::limit)
        << "has a network of " << bytes.size() << " bytes without weights; nnc "
        << "reads at most " << kMaxNetwork;
    return std::nullopt;
  }
  if (!(isBinary ? parseBinary(*model.weights, model.net, problems)
                 : parseText(bytes, model.net, problems)))
    return std::nullopt;
  std::string beside = isBinary || !weights.empty() ? "" : findBeside(path);
  if (!weights.empty() || !beside.empty()) {
    model.weights = loadWeights(weights.empty() ? beside : weights, problems);
    if (model.weights)
      add(model.weights->file->getBuffer());
  } else if (!isBinary) {
    auto own = std::make_unique<Weights>();
    own->path = path.str();
    takeBlobs(model.net, *own);
    if (!own->layers.empty())
      model.weights = std::move(own);
  }
  model.sha256 = llvm::toHex(hash.final(), /*LowerCase=*/true);
  if (!upgradeNet(model.net, problems) || !checkNames(model.net, problems))
    return std::nullopt;
  model.leftOut = selectLayers(model.net, problems);
  return model;
}
