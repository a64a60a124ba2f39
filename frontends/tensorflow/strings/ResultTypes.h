//===- ResultTypes.h - Element types of nodes' results ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_STRINGS_RESULTTYPES_H
#define NNC_FRONTENDS_TENSORFLOW_STRINGS_RESULTTYPES_H

#include "frontends/tensorflow/graph/Graph.h"

namespace nnc::tensorflow {

/// A result of a node, as far as the node's attributes tell.
struct ResultInfo {
  std::string name;  ///< as functions call it; empty if it is not known
  int64_t index = 0; ///< number among the results of this name
  pb::DataType type = pb::DT_INVALID;
  pb::TensorShapeProto shape = {};
};

/// Returns the results of a node, in the order in which graphs count them. An
/// operator that works on no strings may have further results of the last type.
std::vector<ResultInfo> getResultInfos(const pb::NodeDef &node);

/// Returns the result of `node` to which `reference` refers.
ResultInfo getResultInfo(const pb::NodeDef &node, const Reference &reference);

/// Returns true if the operator of a node works on strings, on lookup tables of
/// strings, or on ragged tensors, whose rows have different lengths, such as
/// the ids of the words of each sentence.
bool isTextOperator(const pb::NodeDef &node);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_STRINGS_RESULTTYPES_H
