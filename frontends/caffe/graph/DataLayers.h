//===- DataLayers.h - The inputs of a network -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_GRAPH_DATALAYERS_H
#define NNC_FRONTENDS_CAFFE_GRAPH_DATALAYERS_H

#include "frontends/caffe/caffe.pb.h"
#include "frontends/common/Import.h"
#include "frontends/common/TensorInfo.h"

namespace nnc::caffe {
using namespace nnc::frontends;

/// Returns the inputs of a network: the tops of its layers of data that layers
/// which run read. Those that feed losses alone, such as labels, are left out.
/// All sizes that the network states are open if the user gives the input a
/// shape, as Caffe reshapes networks, and so is the number of samples with
/// ImportOptions::batch.
std::vector<TensorInfo> findInputs(const schema::NetParameter &net,
                                   const ImportOptions &options,
                                   mlir::MLIRContext &context);

/// Returns what the caller has to do with pixels before they are given to the
/// network, as `transform_param` of the layer states it, or an empty text.
std::string describeTransform(const schema::LayerParameter &layer);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_GRAPH_DATALAYERS_H
