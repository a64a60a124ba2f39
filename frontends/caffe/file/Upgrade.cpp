//===- Upgrade.cpp - Old networks in Caffe's current form -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/file/Upgrade.h"

#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace nnc::caffe;
using namespace nnc::caffe::schema;

namespace {
/// A line of TypeNames.inc.
struct TypeName {
  V1LayerParameter::LayerType v1;
  StringLiteral v0, name;
};
} // namespace

static constexpr TypeName kTypeNames[] = {
#define NNC_CAFFE_TYPE(v1, v0, name) {V1LayerParameter::v1, v0, name},
#include "frontends/caffe/file/TypeNames.inc"
};

//===----------------------------------------------------------------------===//
// V0
//===----------------------------------------------------------------------===//

/// Sets the parameters of `to` to those of a V0 layer, which has all of them in
/// one message.
static void upgradeParameters(const V0LayerParameter &from,
                              LayerParameter &to) {
  StringRef type = to.type();
  if (type == "Convolution") {
    ConvolutionParameter &conv = *to.mutable_convolution_param();
    conv.set_num_output(from.num_output());
    if (from.has_biasterm())
      conv.set_bias_term(from.biasterm());
    if (from.has_pad())
      conv.add_pad(from.pad());
    if (from.has_kernelsize())
      conv.add_kernel_size(from.kernelsize());
    if (from.has_group())
      conv.set_group(from.group());
    if (from.has_stride())
      conv.add_stride(from.stride());
  } else if (type == "InnerProduct") {
    to.mutable_inner_product_param()->set_num_output(from.num_output());
    if (from.has_biasterm())
      to.mutable_inner_product_param()->set_bias_term(from.biasterm());
  } else if (type == "Pooling") {
    PoolingParameter &pool = *to.mutable_pooling_param();
    pool.set_pool(static_cast<PoolingParameter::PoolMethod>(from.pool()));
    if (from.has_pad())
      pool.set_pad(from.pad());
    if (from.has_kernelsize())
      pool.set_kernel_size(from.kernelsize());
    if (from.has_stride())
      pool.set_stride(from.stride());
  } else if (type == "LRN") {
    LRNParameter &lrn = *to.mutable_lrn_param();
    if (from.has_local_size())
      lrn.set_local_size(from.local_size());
    if (from.has_alpha())
      lrn.set_alpha(from.alpha());
    if (from.has_beta())
      lrn.set_beta(from.beta());
    if (from.has_k())
      lrn.set_k(from.k());
  } else if (type == "Concat") {
    to.mutable_concat_param()->set_concat_dim(from.concat_dim());
  } else if (type.ends_with("Data")) {
    TransformationParameter &transform = *to.mutable_transform_param();
    if (from.has_scale())
      transform.set_scale(from.scale());
    if (from.has_meanfile())
      transform.set_mean_file(from.meanfile());
    if (from.has_cropsize())
      transform.set_crop_size(from.cropsize());
  }
}

/// Merges layers of the V0 type "padding", which pad a convolution or a pool,
/// into the layers that read them.
static bool mergePadding(NetParameter &net, Problems &problems) {
  StringMap<const V1LayerParameter *> paddings; // by their top
  google::protobuf::RepeatedPtrField<V1LayerParameter> kept;
  for (V1LayerParameter &layer : *net.mutable_layers()) {
    const V0LayerParameter &own = layer.layer();
    if (own.type() == "padding" && layer.bottom_size() == 1 &&
        layer.top_size() == 1) {
      paddings[layer.top(0)] = &layer;
      continue;
    }
    V1LayerParameter copy = layer;
    for (std::string &bottom : *copy.mutable_bottom()) {
      auto padding = paddings.find(bottom);
      if (padding == paddings.end())
        continue;
      if (own.type() != "conv" && own.type() != "pool") {
        problems.report(ImportStatus::broken, problems.getLoc(own.name()))
            << "reads '" << bottom
            << "', the result of a layer of type padding, which is for "
               "convolutions and pools alone";
        return false;
      }
      copy.mutable_layer()->set_pad(padding->second->layer().pad());
      bottom = padding->second->bottom(0);
    }
    *kept.Add() = std::move(copy);
  }
  net.mutable_layers()->Swap(&kept);
  return true;
}

//===----------------------------------------------------------------------===//
// V1
//===----------------------------------------------------------------------===//

/// Copies the fields that V1 and today's layers have under one name and with
/// one type.
static void copyCommonFields(const V1LayerParameter &from, LayerParameter &to) {
  const auto *source = from.GetReflection();
  const auto *target = to.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  source->ListFields(from, &fields);
  for (const auto *field : fields) {
    const auto *same = to.GetDescriptor()->FindFieldByName(field->name());
    if (!same || same->message_type() != field->message_type() ||
        same->cpp_type() != field->cpp_type() ||
        same->is_repeated() != field->is_repeated())
      continue;
    if (field->cpp_type() == field->CPPTYPE_MESSAGE && !field->is_repeated())
      target->MutableMessage(&to, same)->CopyFrom(
          source->GetMessage(from, field));
    else if (field->cpp_type() == field->CPPTYPE_MESSAGE)
      for (int i = 0; i < source->FieldSize(from, field); ++i)
        target->AddMessage(&to, same)->CopyFrom(
            source->GetRepeatedMessage(from, field, i));
    else if (field->cpp_type() == field->CPPTYPE_STRING && field->is_repeated())
      for (int i = 0; i < source->FieldSize(from, field); ++i)
        target->AddString(&to, same, source->GetRepeatedString(from, field, i));
    else if (field->cpp_type() == field->CPPTYPE_STRING)
      target->SetString(&to, same, source->GetString(from, field));
  }
}

static bool upgradeLayer(const V1LayerParameter &from, LayerParameter &to,
                         Problems &problems) {
  copyCommonFields(from, to);
  for (const std::string &name : from.param())
    to.add_param()->set_name(name);
  if (!from.has_layer()) {
    for (const TypeName &type : kTypeNames)
      if (from.has_type() && type.v1 == from.type())
        to.set_type(type.name.str());
    return true;
  }
  to.set_name(from.layer().name());
  for (const TypeName &type : kTypeNames)
    if (!type.v0.empty() && type.v0 == from.layer().type())
      to.set_type(type.name.str());
  if (to.type().empty()) {
    problems.report(ImportStatus::broken, problems.getLoc(to.name()))
        << "has the type '" << from.layer().type()
        << "', which Caffe's format V0 does not know";
    return false;
  }
  upgradeParameters(from.layer(), to);
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Inserts the network's inputs as layers in front of the others.
static bool upgradeInputs(NetParameter &net, Problems &problems) {
  if (net.input_size() == 0)
    return true;
  int shapes = net.input_shape_size(), dims = net.input_dim_size();
  if (shapes ? shapes != net.input_size() || dims
             : dims && dims != 4 * net.input_size()) {
    problems.report(ImportStatus::broken)
        << "has " << net.input_size() << " inputs, " << shapes
        << " entries of input_shape and " << dims
        << " of input_dim; it needs one input_shape or four entries of "
           "input_dim for each input";
    return false;
  }
  google::protobuf::RepeatedPtrField<LayerParameter> layers;
  for (int i = 0; i < net.input_size(); ++i) {
    LayerParameter &layer = *layers.Add();
    layer.set_name(net.input(i));
    layer.set_type("Input");
    layer.add_top(net.input(i));
    if (shapes)
      *layer.mutable_input_param()->add_shape() = net.input_shape(i);
    else if (dims)
      for (int axis = 0; axis < 4; ++axis) {
        InputParameter &param = *layer.mutable_input_param();
        if (axis == 0)
          param.add_shape();
        param.mutable_shape(0)->add_dim(net.input_dim(4 * i + axis));
      }
  }
  for (LayerParameter &layer : *net.mutable_layer())
    layers.Add()->Swap(&layer);
  net.mutable_layer()->Swap(&layers);
  net.clear_input();
  net.clear_input_shape();
  net.clear_input_dim();
  return true;
}

/// Moves what old layers of data do with pixels to `transform_param`.
template <class T>
static void upgradeTransform(const T &data, LayerParameter &layer) {
  if (layer.has_transform_param() ||
      !(data.has_scale() || data.has_mean_file() || data.has_crop_size()))
    return;
  TransformationParameter &transform = *layer.mutable_transform_param();
  if (data.has_scale())
    transform.set_scale(data.scale());
  if (data.has_mean_file())
    transform.set_mean_file(data.mean_file());
  if (data.has_crop_size())
    transform.set_crop_size(data.crop_size());
}

bool nnc::caffe::upgradeNet(NetParameter &net, Problems &problems) {
  if (net.layers_size() && net.layer_size()) {
    problems.report(ImportStatus::broken)
        << "has layers of the format V1 ('layers') and of today's ('layer'); "
           "Caffe reads only files that have one of them";
    return false;
  }
  bool hasV0 = false;
  for (const V1LayerParameter &layer : net.layers())
    hasV0 |= layer.has_layer();
  if (hasV0 && !mergePadding(net, problems))
    return false;
  bool isSound = true;
  for (const V1LayerParameter &layer : net.layers())
    isSound &= upgradeLayer(layer, *net.add_layer(), problems);
  net.clear_layers();
  for (LayerParameter &layer : *net.mutable_layer()) {
    if (layer.has_data_param())
      upgradeTransform(layer.data_param(), layer);
    if (layer.has_image_data_param())
      upgradeTransform(layer.image_data_param(), layer);
  }
  return isSound && upgradeInputs(net, problems);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static bool isMet(const NetStateRule &rule, const NetState &state) {
  auto hasStage = [&](const std::string &stage) {
    return is_contained(state.stage(), stage);
  };
  return (!rule.has_phase() || rule.phase() == TEST) &&
         (!rule.has_min_level() || state.level() >= rule.min_level()) &&
         (!rule.has_max_level() || state.level() <= rule.max_level()) &&
         all_of(rule.stage(), hasStage) && none_of(rule.not_stage(), hasStage);
}

StringMap<std::string> nnc::caffe::selectLayers(NetParameter &net,
                                                Problems &problems) {
  StringMap<std::string> leftOut;
  google::protobuf::RepeatedPtrField<LayerParameter> kept;
  auto meets = [&](const NetStateRule &rule) {
    return isMet(rule, net.state());
  };
  for (LayerParameter &layer : *net.mutable_layer()) {
    if (layer.include_size() && layer.exclude_size())
      problems.report(ImportStatus::broken, problems.getLoc(layer.name()))
          << "has rules 'include' and 'exclude'; Caffe takes one of the two";
    if (layer.include_size() ? any_of(layer.include(), meets)
                             : none_of(layer.exclude(), meets)) {
      kept.Add()->Swap(&layer);
      continue;
    }
    for (const std::string &top : layer.top())
      leftOut.try_emplace(top, layer.name());
  }
  net.mutable_layer()->Swap(&kept);
  return leftOut;
}
