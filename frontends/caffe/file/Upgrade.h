//===- Upgrade.h - Old networks in Caffe's current form ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_FILE_UPGRADE_H
#define NNC_FRONTENDS_CAFFE_FILE_UPGRADE_H

#include "frontends/caffe/caffe.pb.h"
#include "frontends/common/Problems.h"

namespace nnc::caffe {
using namespace nnc::frontends;

/// Brings a network into Caffe's current form: layers of the formats V0 and V1
/// become those of today, and the network's inputs become layers of type Input
/// in front of the others. Reports what cannot be upgraded and returns false.
bool upgradeNet(schema::NetParameter &net, Problems &problems);

/// Removes the layers that Caffe leaves out of the network in the phase TEST,
/// by the rules that layers include or exclude. Reports rules that contradict
/// each other. Returns the blobs that removed layers compute, and the first
/// such layer of each.
llvm::StringMap<std::string> selectLayers(schema::NetParameter &net,
                                          Problems &problems);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_FILE_UPGRADE_H
