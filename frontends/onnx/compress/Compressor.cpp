//===- Compressor.cpp - An ONNX model becomes one with fewer weights ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/Compressor.h"

#include "dialects/nn/compression/Clusters.h"
#include "frontends/onnx/Check.h"
#include "frontends/onnx/compress/MatrixForm.h"
#include "frontends/onnx/compress/Metadata.h"
#include "frontends/onnx/quantize/FoldAffine.h"
#include "frontends/onnx/quantize/Prepare.h"
#include "frontends/onnx/quantize/Serialize.h"

#include <cmath>
#include <map>

using namespace nnc::onnx;
namespace json = llvm::json;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

struct Compressor::Implementation {
  struct Reader {
    int node, operand;
  };
  struct Weight {
    std::vector<Reader> readers;
    MatrixForm form;
  };

  ModelProto model; ///< with its own weights
  CompressOptions options;
  std::vector<std::string> nodeNames;
  int folded = 0;
  int64_t floatBytes = 0;
  std::vector<WeightSummary> summaries;
  std::vector<Weight> weights; ///< of the summaries
  std::vector<LeftSummary> left;
  /// Compressed weights as matrices, by the number of the weight.
  mutable std::map<std::pair<size_t, Treatment>, std::vector<float>> known;

  void findWeights();
  std::string findReason(const GraphIndex &index, const std::string &name,
                         std::vector<Reader> &readers, bool &isFinite) const;
  std::vector<float> getOwn(const GraphIndex &index, size_t weight) const {
    return weights[weight].form.toMatrix(
        *index.getFloats(summaries[weight].name));
  }
  const std::vector<float> &compress(const GraphIndex &index, size_t weight,
                                     Treatment treatment) const;
  ModelProto makeCompressed();
};

static std::vector<int64_t> getDims(const TensorProto &tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

/// Returns why a constant that a layer multiplies by is left alone, or "".
/// `readers` are those of its uses that multiply by it.
std::string Compressor::Implementation::findReason(const GraphIndex &index,
                                                   const std::string &name,
                                                   std::vector<Reader> &readers,
                                                   bool &isFinite) const {
  const TensorProto &tensor = *index.getConstant(name);
  for (int number : index.getReaders(name)) {
    const NodeProto &node = index.getNode(number);
    for (int i = 0; i < node.input_size(); ++i) {
      if (node.input(i) != name)
        continue;
      if (!MatrixForm::get(node, i, getDims(tensor)))
        return "node '" + getNodeName(node).str() + "' (" + node.op_type() +
               ") reads it, too, as something else than weights";
      readers.push_back({number, i});
    }
    if (options.exclude.count(getNodeName(node).str()))
      return "excluded by the command line";
  }
  if (index.isOutput(name) || index.isCaptured(name))
    return "an output or a branch of the model reads it, too";
  auto values = index.getFloats(name);
  if (!values)
    return "has elements of type " +
           TensorProto::DataType_Name(
               static_cast<TensorProto::DataType>(tensor.data_type())) +
           ", not 32-bit floats";
  isFinite = compression::areFinite(*values);
  return isFinite ? "" : "holds values that are not finite";
}

void Compressor::Implementation::findWeights() {
  GraphIndex index(model);
  llvm::StringSet<> seen;
  for (int number = 0; number < index.getNumNodes(); ++number) {
    const NodeProto &node = index.getNode(number);
    for (int i = 0; i < node.input_size(); ++i) {
      const std::string &name = node.input(i);
      const TensorProto *tensor = index.getConstant(name);
      if (!tensor)
        continue;
      auto form = MatrixForm::get(node, i, getDims(*tensor));
      if (!form || !seen.insert(name).second)
        continue;
      std::vector<Reader> readers;
      bool isFinite = true;
      std::string reason = findReason(index, name, readers, isFinite);
      if (!reason.empty()) {
        left.push_back(
            {name, getNodeName(node).str(), node.op_type(), reason, isFinite});
        continue;
      }
      WeightSummary summary;
      summary.name = name;
      summary.op = node.op_type();
      summary.shape = {form->getRows(), form->getColumns(), options.block};
      for (Reader reader : readers)
        summary.nodes.push_back(getNodeName(index.getNode(reader.node)).str());
      summaries.push_back(std::move(summary));
      weights.push_back({std::move(readers), *form});
    }
  }
}

const std::vector<float> &
Compressor::Implementation::compress(const GraphIndex &index, size_t weight,
                                     Treatment treatment) const {
  auto [entry, isNew] = known.try_emplace({weight, treatment});
  if (!isNew)
    return entry->second;
  std::vector<float> matrix = getOwn(index, weight);
  const compression::MatrixShape &shape = summaries[weight].shape;
  if (treatment != Treatment::none) {
    if (options.sparsity)
      compression::pruneToSparsity(matrix, *options.sparsity);
    if (options.pattern)
      compression::pruneToPattern(matrix, shape.columns, *options.pattern);
  }
  int clusters = treatment == Treatment::finer
                     ? static_cast<int>(compression::kMostValues)
                     : options.clusters;
  if (treatment != Treatment::none && clusters != 0)
    for (int64_t row = 0; row < shape.rows; row += shape.getBlockRows()) {
      int64_t count = std::min(shape.getBlockRows(), shape.rows - row);
      compression::shareValues(llvm::MutableArrayRef(matrix).slice(
                                   row * shape.columns, count * shape.columns),
                               clusters);
    }
  return entry->second = std::move(matrix);
}

ModelProto Compressor::Implementation::makeCompressed() {
  ModelProto copy = model;
  GraphIndex from(model), to(copy);
  json::Object remarks;
  for (size_t i = 0; i < weights.size(); ++i) {
    const WeightSummary &summary = summaries[i];
    if (summary.treatment == Treatment::none)
      continue;
    const std::vector<float> &matrix = compress(from, i, summary.treatment);
    setFloats(*to.getConstant(summary.name),
              weights[i].form.fromMatrix(matrix));
    double zeros =
        static_cast<double>(std::count(matrix.begin(), matrix.end(), 0.f));
    json::Object remark{
        {"clusters", summary.treatment == Treatment::finer
                         ? compression::kMostValues
                         : options.clusters},
        {"block", options.block},
        {"sparsity", zeros / static_cast<double>(matrix.size())}};
    if (options.pattern)
      remark["pattern"] = std::to_string(options.pattern->kept) + ":" +
                          std::to_string(options.pattern->group);
    remarks[json::fixUTF8(summary.name)] = std::move(remark);
  }
  if (!remarks.empty())
    addCompression(copy, std::move(remarks));
  return copy;
}

Compressor::Compressor(std::unique_ptr<Implementation> implementation)
    : own(std::move(implementation)) {}

Compressor::~Compressor() = default;

std::unique_ptr<Compressor> Compressor::open(llvm::StringRef path,
                                             llvm::StringRef externalData,
                                             const CompressOptions &options,
                                             mlir::MLIRContext &context,
                                             ImportStatus &status) {
  Problems problems(context, path);
  auto loaded = loadWhole(path, externalData, problems);
  status = problems.getStatus();
  if (!loaded)
    return nullptr;
  auto own = std::make_unique<Implementation>();
  own->options = options;
  own->model = std::move(*loaded);
  for (const NodeProto &node : own->model.graph().node())
    own->nodeNames.push_back(getNodeName(node).str());
  own->floatBytes = static_cast<int64_t>(own->model.ByteSizeLong());
  own->folded = foldAffine(own->model);
  own->findWeights();
  return std::unique_ptr<Compressor>(new Compressor(std::move(own)));
}

const std::vector<std::string> &Compressor::getNodeNames() const {
  return own->nodeNames;
}
int Compressor::getNumFolded() const { return own->folded; }
int64_t Compressor::getFloatBytes() const { return own->floatBytes; }
int Compressor::getNumOutputs() const {
  return own->model.graph().output_size();
}
bool Compressor::isSoftmax(const std::string &tensor) const {
  return nnc::onnx::isSoftmax(GraphIndex(own->model), tensor);
}
const std::vector<WeightSummary> &Compressor::getWeights() const {
  return own->summaries;
}
const std::vector<LeftSummary> &Compressor::getLeft() const {
  return own->left;
}
bool Compressor::canBeFiner() const {
  return own->options.clusters != 0 &&
         own->options.clusters < compression::kMostValues;
}
void Compressor::setTreatment(size_t weight, Treatment treatment) {
  own->summaries[weight].treatment = treatment;
}

CompressedSizes Compressor::measure(size_t weight) const {
  GraphIndex index(own->model);
  const WeightSummary &summary = own->summaries[weight];
  std::vector<float> before = own->getOwn(index, weight);
  const std::vector<float> &after =
      own->compress(index, weight, summary.treatment);
  CompressedSizes sizes;
  sizes.stored = compression::StoredSizes::get(after, summary.shape, 4);
  double signal = 0, noise = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    double value = static_cast<double>(before[i]);
    double difference = static_cast<double>(after[i]) - value;
    signal += value * value;
    noise += difference * difference;
  }
  sizes.error = noise > 0 ? std::sqrt(noise / signal) : 0;
  return sizes;
}

static llvm::Expected<std::string> print(const ModelProto &model) {
  return serialize(model, "the compressed model, or one that measures errors,");
}

llvm::Expected<std::string> Compressor::printFloat() const {
  ModelProto copy = own->model;
  forgetShapes(copy);
  return print(copy);
}

llvm::Expected<std::string>
Compressor::printErrors(std::vector<ObservedError> &errors) const {
  ModelProto copy = own->model;
  forgetShapes(copy);
  FreshNames names(copy);
  GraphIndex index(own->model);
  auto &graph = *copy.mutable_graph();
  auto addNode = [&](const char *op, llvm::ArrayRef<std::string> inputs,
                     const std::string &output) {
    NodeProto &node = *graph.add_node();
    node.set_op_type(op);
    node.set_name(output);
    for (const std::string &input : inputs)
      node.add_input(input);
    node.add_output(output);
    return &node;
  };
  auto addNorm = [&](const std::string &value, const std::string &wanted) {
    std::string name = names.make(wanted);
    NodeProto &node = *addNode("ReduceSumSquare", {value}, name);
    auto &keep = *node.add_attribute();
    keep.set_name("keepdims");
    keep.set_type(::onnx::AttributeProto::INT);
    keep.set_i(0);
    addOutput(graph, name);
    return name;
  };
  for (size_t i = 0; i < own->weights.size(); ++i) {
    const Implementation::Weight &weight = own->weights[i];
    const std::string &name = own->summaries[i].name;
    std::string changed = names.make(name + "_compressed");
    addInitializer<float>(
        graph, changed, TensorProto::FLOAT, getDims(*index.getConstant(name)),
        weight.form.fromMatrix(own->compress(index, i, Treatment::asked)));
    for (Implementation::Reader reader : weight.readers) {
      NodeProto node = index.getNode(reader.node);
      node.set_input(reader.operand, changed);
      std::string base = getNodeName(node).str(), before, after;
      for (std::string &output : *node.mutable_output()) {
        if (output.empty())
          continue;
        std::string fresh = names.make(output + "_compressed");
        if (before.empty()) {
          before = output;
          after = fresh;
        }
        output = fresh;
      }
      node.set_name(names.make(base + "_compressed"));
      *graph.add_node() = std::move(node);
      std::string difference = names.make(base + "_difference");
      addNode("Sub", {after, before}, difference);
      errors.push_back({i, addNorm(before, base + "_signal"),
                        addNorm(difference, base + "_noise")});
    }
  }
  return print(copy);
}

llvm::Expected<std::string> Compressor::printCompressed() const {
  return print(own->makeCompressed());
}

llvm::Expected<std::string> Compressor::printWithoutShapes() const {
  ModelProto copy = own->makeCompressed();
  forgetShapes(copy);
  return print(copy);
}
