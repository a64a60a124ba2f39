//===- DataLayers.cpp - The inputs of a network ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/DataLayers.h"

#include "frontends/caffe/Ops.h"
#include "frontends/common/Limits.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace nnc::caffe;

using Dims = SmallVector<Dim>;

static Dim makeDim(int64_t size, StringRef symbol = "") {
  return size > 0 ? Dim{size, ""} : Dim{std::nullopt, symbol.str()};
}

static Dims makeDims(const schema::BlobShape &shape) {
  Dims dims;
  for (int64_t size : shape.dim())
    dims.push_back({size, ""});
  return dims;
}

/// Returns the number of channels of images, or 0 if the layer does not tell.
static int64_t getChannels(const schema::LayerParameter &layer) {
  const schema::TransformationParameter &transform = layer.transform_param();
  if (transform.force_gray())
    return 1;
  if (transform.force_color() || transform.mean_value_size() == 3)
    return 3;
  if (layer.has_image_data_param())
    return layer.image_data_param().is_color() ? 3 : 1;
  return 0;
}

/// Returns the dimensions of top `i` of a layer of data; nullopt if not even
/// their number is known.
static std::optional<Dims> getDims(const schema::LayerParameter &layer, int i) {
  StringRef type = layer.type();
  auto pick = [&](const auto &list) {
    return makeDims(list.Get(std::min(i, list.size() - 1)));
  };
  if (type == "Input")
    return layer.input_param().shape_size()
               ? std::optional(pick(layer.input_param().shape()))
               : std::nullopt;
  if (type == "DummyData") {
    const schema::DummyDataParameter &data = layer.dummy_data_param();
    if (data.shape_size())
      return pick(data.shape());
    Dims dims;
    for (const auto *list :
         {&data.num(), &data.channels(), &data.height(), &data.width()})
      dims.push_back(makeDim(
          list->empty() ? 0 : list->Get(std::min(i, list->size() - 1))));
    return dims;
  }
  if (type == "HDF5Data")
    return std::nullopt;
  if (type == "MemoryData") {
    const schema::MemoryDataParameter &data = layer.memory_data_param();
    return Dims{makeDim(data.batch_size(), "batch"), makeDim(data.channels()),
                makeDim(data.height()), makeDim(data.width())};
  }
  // Batches are those of training and testing; the caller has others.
  const schema::TransformationParameter &transform = layer.transform_param();
  int64_t height = transform.crop_h(), width = transform.crop_w();
  if (transform.crop_size())
    height = width = transform.crop_size();
  if (!height && transform.resize_param_size() == 1) {
    height = transform.resize_param(0).height();
    width = transform.resize_param(0).width();
  }
  if (!height && layer.has_image_data_param()) {
    height = layer.image_data_param().new_height();
    width = layer.image_data_param().new_width();
  }
  return Dims{Dim{std::nullopt, "batch"}, makeDim(getChannels(layer)),
              makeDim(height), makeDim(width)};
}

std::vector<TensorInfo> nnc::caffe::findInputs(const schema::NetParameter &net,
                                               const ImportOptions &options,
                                               MLIRContext &context) {
  // The blobs that layers which run read, and those that others read.
  llvm::StringSet<> read, unused;
  for (const schema::LayerParameter &layer : net.layer()) {
    const OpInfo *op = findOp(layer.type());
    for (int i = 0; i < layer.bottom_size(); ++i) {
      bool runs = !op || op->role == Role::computes ||
                  (op->role == Role::loss && i == 0);
      (runs ? read : unused).insert(layer.bottom(i));
    }
  }
  std::vector<TensorInfo> inputs;
  llvm::StringSet<> names;
  for (const schema::LayerParameter &layer : net.layer()) {
    const OpInfo *op = findOp(layer.type());
    if (!op || op->role != Role::input)
      continue;
    for (int i = 0; i < layer.top_size(); ++i) {
      const std::string &top = layer.top(i);
      bool isNeeded = read.contains(top) ||
                      (layer.type() == "Input" && !unused.contains(top));
      if (!isNeeded || !names.insert(top).second)
        continue;
      TensorInfo info;
      info.name = top;
      info.element = Float32Type::get(&context);
      info.elementName = "float";
      info.dims = getDims(layer, i);
      auto given = options.shapes.find(top);
      if (info.dims && given != options.shapes.end() &&
          given->second.size() == info.dims->size())
        info.dims->assign(info.dims->size(), Dim());
      else if (info.dims && !info.dims->empty() && options.batch)
        info.dims->front() = Dim{std::nullopt, "batch"};
      inputs.push_back(std::move(info));
    }
  }
  return inputs;
}

std::string nnc::caffe::describeTransform(const schema::LayerParameter &layer) {
  const schema::TransformationParameter &transform = layer.transform_param();
  std::vector<std::string> steps;
  // Several are the sizes among which YOLO's training chooses.
  if (transform.resize_param_size() == 1 && transform.resize_param(0).height())
    steps.push_back("resized to " +
                    std::to_string(transform.resize_param(0).height()) + " x " +
                    std::to_string(transform.resize_param(0).width()));
  if (transform.crop_size())
    steps.push_back("cropped to " + std::to_string(transform.crop_size()) +
                    " x " + std::to_string(transform.crop_size()));
  if (transform.has_mean_file())
    steps.push_back("reduced by the mean in '" + transform.mean_file() + "'");
  if (transform.mean_value_size()) {
    std::string values;
    for (float value : transform.mean_value())
      values += (values.empty() ? "" : ", ") + toString(value);
    steps.push_back(
        "reduced by " + values +
        (transform.mean_value_size() > 1 ? " in their channels" : ""));
  }
  if (transform.has_scale() && transform.scale() != 1)
    steps.push_back("multiplied by " + toString(transform.scale()));
  std::string text;
  for (size_t i = 0; i < steps.size(); ++i)
    text += (i == 0 ? "" : i + 1 < steps.size() ? ", " : ", then ") + steps[i];
  return text;
}
