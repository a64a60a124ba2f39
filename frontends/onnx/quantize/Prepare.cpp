//===- Prepare.cpp - Makes a loaded model fit to be quantized -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/quantize/Prepare.h"

#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/file/Load.h"
#include "frontends/onnx/graph/Sort.h"
#include "frontends/onnx/graph/Weights.h"
#include "frontends/onnx/schema/Types.h"

#include "onnx/shape_inference/implementation.h"
#include "onnx/version_converter/convert.h"
#include "llvm/ADT/StringSet.h"

using namespace nnc::onnx;
using ::onnx::GraphProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

static void inlineTensor(TensorProto &tensor, Problems &problems,
                         WeightFiles &files) {
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return;
  mlir::Location loc = problems.getLoc(tensor.name());
  mlir::Type element = getElementType(loc.getContext(), tensor.data_type());
  uint64_t bytes =
      element ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 0;
  for (int64_t dim : tensor.dims())
    bytes *= static_cast<uint64_t>(dim);
  auto place = findExternal(tensor, bytes, problems, loc);
  if (!place)
    return;
  auto blob = files.map(place->location, place->offset, place->length,
                        /*align=*/1, loc);
  if (!blob)
    return;
  tensor.set_raw_data(blob->getData().data(), blob->getData().size());
  tensor.clear_data_location();
  tensor.clear_external_data();
}

static void inlineGraph(GraphProto &graph, Problems &problems,
                        WeightFiles &files) {
  for (TensorProto &tensor : *graph.mutable_initializer())
    inlineTensor(tensor, problems, files);
  for (NodeProto &node : *graph.mutable_node())
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_t())
        inlineTensor(*attribute.mutable_t(), problems, files);
      if (attribute.has_g())
        inlineGraph(*attribute.mutable_g(), problems, files);
      for (GraphProto &inner : *attribute.mutable_graphs())
        inlineGraph(inner, problems, files);
    }
}

std::optional<ModelProto> nnc::onnx::loadWhole(llvm::StringRef path,
                                               llvm::StringRef externalData,
                                               Problems &problems) {
  auto loaded = loadModel(path, problems);
  if (!loaded || !sortNodes(loaded->proto, problems))
    return std::nullopt;
  WeightFiles files(problems, path, externalData);
  inlineGraph(*loaded->proto.mutable_graph(), problems, files);
  if (!problems.none())
    return std::nullopt;
  return std::move(loaded->proto);
}

/// Copies the parts of a model that the converter leaves out to the converted
/// model.
static void restore(const ModelProto &from, ModelProto &to) {
  *to.mutable_metadata_props() = from.metadata_props();
  *to.mutable_functions() = from.functions();
  to.set_producer_name(from.producer_name());
  to.set_producer_version(from.producer_version());
  to.set_domain(from.domain());
  to.set_model_version(from.model_version());
  to.set_doc_string(from.doc_string());
  to.mutable_graph()->set_name(from.graph().name());
  to.mutable_graph()->set_doc_string(from.graph().doc_string());
  *to.mutable_graph()->mutable_input() = from.graph().input();
  *to.mutable_graph()->mutable_output() = from.graph().output();
  *to.mutable_graph()->mutable_value_info() = from.graph().value_info();
}

void nnc::onnx::raiseOpset(ModelProto &model, bool perChannel,
                           Problems &problems) {
  int64_t opset = findOpset(model.opset_import(), "");
  if (opset == 0 || opset >= (perChannel ? 13 : 10))
    return;
  constexpr int target = 13;
  try {
    // The converter needs shapes for operators whose changes depend on them.
    ModelProto inferred = model;
    ::onnx::shape_inference::InferShapes(inferred);
    ModelProto converted =
        ::onnx::version_conversion::ConvertVersion(inferred, target);
    restore(model, converted);
    // This IR version was introduced with the operator set.
    converted.set_ir_version(std::max<int64_t>(model.ir_version(), 7));
    model = std::move(converted);
  } catch (const std::exception &error) {
    problems.report(ImportStatus::unsupported)
        << "uses ONNX operator set " << opset << "; a quantized model needs "
        << "set " << (perChannel ? 13 : 10)
        << " at least, to which ONNX's converter cannot raise it: "
        << error.what();
  }
}
