//===- Compressor.cpp - An ONNX model becomes one with fewer weights ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/Compressor.h"

#include "frontends/onnx/Check.h"
#include "frontends/onnx/compress/ErrorModel.h"
#include "frontends/onnx/compress/FoldViews.h"
#include "frontends/onnx/compress/LayerInputs.h"
#include "frontends/onnx/compress/LeftWeights.h"
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

namespace {

/// The statistics of the inputs of the layers that read a weight.
struct ObservedInputs {
  std::vector<LayerInputs> uses; ///< none if nothing is known
  nnc::compression::InputMoments moments;
};

/// A weight as it was compressed.
struct CompressedWeight {
  std::vector<float> matrix;
  std::optional<nnc::compression::OutputErrors> errors;
};

} // namespace

struct Compressor::Implementation {
  ModelProto model; ///< with its own weights
  CompressOptions options;
  std::vector<std::string> nodeNames;
  json::Object remarks; ///< of an earlier compression
  int folded = 0;
  int64_t fileBytes = 0;
  std::vector<WeightSummary> summaries;
  std::vector<LayerWeights> weights; ///< of the summaries
  std::vector<LeftSummary> left;
  std::vector<ObservedInputs> inputs; ///< of the weights
  /// Compressed weights, by the number of the weight.
  mutable std::map<std::pair<size_t, Treatment>, CompressedWeight> known;

  void findWeights();
  ObservedInputs findInputs(const GraphIndex &index, size_t weight,
                            std::string &reason) const;
  std::vector<float> getOwn(const GraphIndex &index, size_t weight) const {
    return weights[weight].getMatrix(*index.getConstant(weights[weight].name));
  }
  const CompressedWeight &compress(const GraphIndex &index, size_t weight,
                                   Treatment treatment) const;
  ModelProto makeCompressed();
};

void Compressor::Implementation::findWeights() {
  GraphIndex index(model);
  weights = nnc::onnx::findWeights(index, options.exclude, left);
  findLeftWeights(index, options.exclude, left);
  for (const LayerWeights &each : weights) {
    WeightSummary summary;
    summary.name = each.name;
    summary.op = index.getNode(each.uses.front().layer).op_type();
    summary.shape = {each.form.getRows(), each.form.getColumns(), options.block,
                     each.form.getRunColumns()};
    for (const WeightUse &use : each.uses)
      summary.nodes.push_back(getNodeName(index.getNode(use.layer)).str());
    summaries.push_back(std::move(summary));
  }
  for (size_t i = 0; i < weights.size() && options.isSecondOrder; ++i)
    inputs.push_back(findInputs(index, i, summaries[i].unobserved));
}

/// Finds what a weight multiplies; `reason` says why if nothing is known of it.
ObservedInputs
Compressor::Implementation::findInputs(const GraphIndex &index, size_t weight,
                                       std::string &reason) const {
  const LayerWeights &own = weights[weight];
  const TensorProto &tensor = *index.getConstant(own.name);
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  ObservedInputs found;
  for (const WeightUse &use : own.uses) {
    const NodeProto &layer = index.getNode(use.layer);
    auto layerInputs = LayerInputs::get(index, use, dims, reason);
    if (!layerInputs)
      return {};
    if (!(getMatrixForm(layer, use.operand, dims) == own.form) ||
        (!found.uses.empty() &&
         found.uses.front().getNumGroups() != layerInputs->getNumGroups())) {
      reason = "is read by nodes that sum over different axes or groups of it";
      return {};
    }
    found.uses.push_back(std::move(*layerInputs));
  }
  // Groups of a pattern do not cross the bounds of spans, which are those of
  // runs where the groups of a run do not fill it.
  int64_t multiple = 1, columns = own.form.getColumns();
  if (options.pattern) {
    int64_t run = own.form.getRunColumns();
    multiple = options.pattern->group;
    if (run != columns && run % multiple != 0)
      multiple = run;
  }
  found.moments = compression::InputMoments(found.uses.front().getNumGroups(),
                                            columns, multiple);
  return found;
}

const CompressedWeight &
Compressor::Implementation::compress(const GraphIndex &index, size_t weight,
                                     Treatment treatment) const {
  auto [entry, isNew] = known.try_emplace({weight, treatment});
  CompressedWeight &result = entry->second;
  if (!isNew)
    return result;
  result.matrix = getOwn(index, weight);
  bool isObserved = !inputs.empty() && !inputs[weight].uses.empty();
  if (treatment == Treatment::none) {
    if (isObserved)
      result.errors = compression::OutputErrors();
    return result;
  }
  compression::WeightGoal goal{options.sparsity, options.pattern,
                               options.clusters};
  if (treatment == Treatment::finer)
    goal.clusters = static_cast<int>(compression::kMostValues);
  std::vector<float> scales = weights[weight].getScaleMatrix();
  const compression::MatrixShape &shape = summaries[weight].shape;
  if (isObserved)
    result.errors = compression::compressBySecondOrder(
        result.matrix, shape, scales, inputs[weight].moments, goal);
  else
    compression::compressByMagnitude(result.matrix, shape, scales, goal);
  // A mask or a table may leave negative zeros, which would be stored as a
  // value of their own.
  for (float &value : result.matrix)
    if (value == 0)
      value = 0;
  return result;
}

ModelProto Compressor::Implementation::makeCompressed() {
  ModelProto copy = model;
  GraphIndex from(model), to(copy);
  json::Object all = remarks;
  bool isCompressed = false;
  for (size_t i = 0; i < weights.size(); ++i) {
    const WeightSummary &summary = summaries[i];
    if (summary.treatment == Treatment::none)
      continue;
    const std::vector<float> &matrix =
        compress(from, i, summary.treatment).matrix;
    weights[i].store(matrix, *to.getConstant(summary.name));
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
    all[json::fixUTF8(summary.name)] = std::move(remark);
    isCompressed = true;
  }
  if (isCompressed)
    setCompression(copy, std::move(all));
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
  own->remarks = readCompression(own->model, problems);
  for (const NodeProto &node : own->model.graph().node())
    own->nodeNames.push_back(getNodeName(node).str());
  own->fileBytes = static_cast<int64_t>(own->model.ByteSizeLong());
  foldViews(own->model, options.exclude);
  own->folded = foldAffine(own->model);
  own->findWeights();
  return std::unique_ptr<Compressor>(new Compressor(std::move(own)));
}

const std::vector<std::string> &Compressor::getNodeNames() const {
  return own->nodeNames;
}
int Compressor::getNumFolded() const { return own->folded; }
int64_t Compressor::getFileBytes() const { return own->fileBytes; }
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

std::vector<std::string> Compressor::getObserved() const {
  std::vector<std::string> tensors;
  for (const ObservedInputs &each : own->inputs)
    for (const LayerInputs &use : each.uses)
      if (!llvm::is_contained(tensors, use.getTensor()))
        tensors.push_back(use.getTensor());
  return tensors;
}

std::string Compressor::describeReader(const std::string &tensor) const {
  GraphIndex index(own->model);
  const NodeProto &node = index.getNode(index.getReaders(tensor).front());
  return "'" + getNodeName(node).str() + "' (" + node.op_type() + ")";
}

void Compressor::observe(const std::string &tensor,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<float> values, size_t samples) {
  for (ObservedInputs &each : own->inputs)
    for (const LayerInputs &use : each.uses)
      if (use.getTensor() == tensor)
        use.add(shape, values,
                each.moments.getMostVectors() / static_cast<int64_t>(samples) +
                    1,
                each.moments);
}

void Compressor::compress(size_t weight) const {
  own->compress(GraphIndex(own->model), weight,
                own->summaries[weight].treatment);
}

CompressedSizes Compressor::measure(size_t weight) const {
  GraphIndex index(own->model);
  const WeightSummary &summary = own->summaries[weight];
  std::vector<float> before = own->getOwn(index, weight);
  const CompressedWeight &compressed =
      own->compress(index, weight, summary.treatment);
  const std::vector<float> &after = compressed.matrix;
  CompressedSizes sizes;
  sizes.outputErrors = compressed.errors;
  sizes.isDense = !compressed.errors || own->inputs[weight].moments.isDense();
  sizes.stored = compression::StoredSizes::get(
      after, summary.shape, own->weights[weight].getElementBytes());
  std::vector<float> scales = own->weights[weight].getScaleMatrix();
  double signal = 0, noise = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    double scale = scales.empty() ? 1 : static_cast<double>(scales[i]);
    double value = static_cast<double>(before[i]);
    double difference = static_cast<double>(after[i]) - value;
    signal += value * value * scale * scale;
    noise += difference * difference * scale * scale;
  }
  sizes.error = noise > 0 ? std::sqrt(noise / signal) : 0;
  return sizes;
}

static llvm::Expected<std::string> print(const ModelProto &model) {
  return serialize(model, "the compressed model, or one that measures errors,");
}

llvm::Expected<std::string> Compressor::printOriginal() const {
  ModelProto copy = own->model;
  forgetShapes(copy);
  GraphIndex index(copy);
  for (const std::string &tensor : getObserved())
    if (!index.isInput(tensor))
      addOutput(*copy.mutable_graph(), tensor);
  return print(copy);
}

llvm::Expected<std::string>
Compressor::printErrors(std::vector<ObservedError> &errors) const {
  GraphIndex index(own->model);
  return print(makeErrorModel(
      own->model, own->weights,
      [&](size_t weight) -> const std::vector<float> & {
        return own->compress(index, weight, Treatment::asked).matrix;
      },
      errors));
}

llvm::Expected<std::string> Compressor::printCompressed() const {
  return print(own->makeCompressed());
}

llvm::Expected<std::string> Compressor::printWithoutShapes() const {
  ModelProto copy = own->makeCompressed();
  forgetShapes(copy);
  return print(copy);
}
