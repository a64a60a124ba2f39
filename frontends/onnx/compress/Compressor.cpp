//===- Compressor.cpp - An ONNX model becomes one with fewer weights ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/Compressor.h"

#include "frontends/onnx/compress/ErrorModel.h"
#include "frontends/onnx/compress/FoldViews.h"
#include "frontends/onnx/compress/LayerInputs.h"
#include "frontends/onnx/compress/LeftWeights.h"
#include "frontends/onnx/compress/Metadata.h"
#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/quantize/FoldAffine.h"
#include "frontends/onnx/quantize/Prepare.h"
#include "frontends/onnx/quantize/Serialize.h"

using namespace nnc::onnx;
using namespace nnc::compression;
namespace json = llvm::json;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

namespace {

class OnnxCompressor : public Compressor {
public:
  /// Takes a loaded model and folds its views and batch normalizations.
  /// `remarks` are the metadata of an earlier compression.
  OnnxCompressor(std::unique_ptr<ModelProto> loaded, const Options &options,
                 const std::vector<nnc::quantize::AffineFold> &folds,
                 json::Object remarks);

  int getNumOutputs() const override { return model->graph().output_size(); }
  bool isSoftmax(const std::string &output) const override {
    return nnc::onnx::isSoftmax(index, output);
  }
  std::string describeTensor(const std::string &tensor) const override {
    return tensor;
  }
  std::string describeReader(const std::string &tensor) const override;
  llvm::Expected<std::string> printOriginal() const override;
  llvm::Expected<std::string>
  printErrors(std::vector<ObservedError> &errors) const override;
  llvm::Expected<std::string> printCompressed(llvm::StringRef) const override;
  llvm::Expected<std::string> printToRun() const override;

private:
  std::vector<float> getOwn(size_t weight) const override {
    return weights[weight].getMatrix(*index.getConstant(weights[weight].name));
  }
  std::vector<float> getScales(size_t weight) const override {
    return weights[weight].getScaleMatrix();
  }
  int getElementBytes(size_t weight) const override {
    return weights[weight].getElementBytes();
  }
  std::vector<ObservedUse> findUses(const LayerWeights &own,
                                    std::string &reason) const;
  ModelProto makeCompressed() const;

  ModelProto &prepare(const std::vector<nnc::quantize::AffineFold> &folds);

  std::unique_ptr<ModelProto> model; ///< with its own weights
  GraphIndex index;
  std::vector<LayerWeights> weights; ///< in the order of the summaries
  json::Object remarks;
};

} // namespace

/// Records properties of the original model, then folds its views and batch
/// normalizations.
ModelProto &
OnnxCompressor::prepare(const std::vector<nnc::quantize::AffineFold> &folds) {
  for (const NodeProto &node : model->graph().node())
    nodeNames.push_back(getNodeName(node).str());
  fileBytes = static_cast<int64_t>(model->ByteSizeLong());
  foldViews(*model, options.exclude);
  folded = foldAffine(*model, folds);
  return *model;
}

OnnxCompressor::OnnxCompressor(
    std::unique_ptr<ModelProto> loaded, const Options &options,
    const std::vector<nnc::quantize::AffineFold> &folds, json::Object remarks)
    : Compressor(options), model(std::move(loaded)), index(prepare(folds)),
      remarks(std::move(remarks)) {
  weights = findWeights(index, options.exclude, left);
  findLeftWeights(index, options.exclude, left);
  for (const LayerWeights &each : weights) {
    WeightSummary summary;
    summary.name = each.name;
    summary.op = index.getNode(each.uses.front().layer).op_type();
    summary.shape = {each.form.getRows(), each.form.getColumns(), options.block,
                     each.form.getRunColumns()};
    for (const WeightUse &use : each.uses)
      summary.nodes.push_back(getNodeName(index.getNode(use.layer)).str());
    std::vector<ObservedUse> uses;
    if (options.isSecondOrder)
      uses = findUses(each, summary.unobserved);
    addWeight(std::move(summary), std::move(uses));
  }
}

/// Finds the inputs by which a weight is multiplied. If nothing is known about
/// them, sets `reason`.
std::vector<ObservedUse> OnnxCompressor::findUses(const LayerWeights &own,
                                                  std::string &reason) const {
  const TensorProto &tensor = *index.getConstant(own.name);
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::vector<ObservedUse> found;
  for (const WeightUse &use : own.uses) {
    auto inputs = findInputs(index, use, dims, reason);
    if (!inputs)
      return {};
    if (!(getMatrixForm(index.getNode(use.layer), use.operand, dims) ==
          own.form)) {
      reason = kDifferentForms;
      return {};
    }
    found.push_back(std::move(*inputs));
  }
  return found;
}

ModelProto OnnxCompressor::makeCompressed() const {
  ModelProto copy = *model;
  GraphIndex to(copy);
  json::Object all = remarks;
  bool isCompressed = false;
  for (size_t i = 0; i < weights.size(); ++i) {
    const WeightSummary &summary = summaries[i];
    if (summary.treatment == Treatment::none)
      continue;
    const std::vector<float> &matrix = getMatrix(i, summary.treatment);
    weights[i].store(matrix, *to.getConstant(summary.name));
    double zeros =
        static_cast<double>(std::count(matrix.begin(), matrix.end(), 0.f));
    json::Object remark{
        {"clusters", summary.treatment == Treatment::finer
                         ? nnc::stored::kMostValues
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

std::string OnnxCompressor::describeReader(const std::string &tensor) const {
  const NodeProto &node = index.getNode(index.getReaders(tensor).front());
  return "'" + getNodeName(node).str() + "' (" + node.op_type() + ")";
}

static llvm::Expected<std::string> print(const ModelProto &model) {
  return serialize(model, "the compressed model, or one that measures errors,");
}

llvm::Expected<std::string> OnnxCompressor::printOriginal() const {
  ModelProto copy = *model;
  forgetShapes(copy);
  for (const std::string &tensor : getObserved())
    if (!index.isInput(tensor))
      addOutput(*copy.mutable_graph(), tensor);
  return print(copy);
}

llvm::Expected<std::string>
OnnxCompressor::printErrors(std::vector<ObservedError> &errors) const {
  return print(makeErrorModel(
      *model, weights,
      [&](size_t weight) -> const std::vector<float> & {
        return getMatrix(weight, Treatment::asked);
      },
      errors));
}

llvm::Expected<std::string>
OnnxCompressor::printCompressed(llvm::StringRef) const {
  return print(makeCompressed());
}

/// Returns the compressed model without the shapes that the file states for
/// computed values.
llvm::Expected<std::string> OnnxCompressor::printToRun() const {
  ModelProto copy = makeCompressed();
  forgetShapes(copy);
  return print(copy);
}

std::unique_ptr<Compressor>
nnc::onnx::openCompressor(llvm::StringRef path, llvm::StringRef externalData,
                          const Options &options,
                          const std::vector<quantize::AffineFold> &folds,
                          mlir::MLIRContext &context, ImportStatus &status) {
  Problems problems(context, path);
  auto loaded = loadWhole(path, externalData, problems);
  status = problems.getStatus();
  if (!loaded)
    return nullptr;
  json::Object remarks = readCompression(*loaded, problems);
  return std::make_unique<OnnxCompressor>(
      std::make_unique<ModelProto>(std::move(*loaded)), options, folds,
      std::move(remarks));
}
