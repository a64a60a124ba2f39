//===- LinearWeights.cpp - Weights of a layer and their channels ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/LinearWeights.h"

#include <cstddef>
#include <utility>

using namespace nnc::quantize;

bool LinearWeights::setShape(Kind ofLayer, std::vector<int64_t> shape,
                             int64_t count) {
  kind = ofLayer;
  dims = std::move(shape);
  groups = count;
  if (!isConvolution()) {
    if (dims.size() != 2)
      return false;
    outputs = dims[kind == Kind::outputsFirst ? 0 : 1];
    inputs = dims[kind == Kind::outputsFirst ? 1 : 0];
    return true;
  }
  if (dims.size() < 3 || groups < 1 || dims[0] % groups != 0)
    return false;
  bool isConv = kind == Kind::conv;
  outputs = isConv ? dims[0] : dims[1] * groups;
  inputs = isConv ? dims[1] * groups : dims[0];
  return true;
}

/// Returns the indices of an element along the first two axes of the weights.
static std::pair<int64_t, int64_t> getPlace(const std::vector<int64_t> &dims,
                                            int64_t element) {
  int64_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i)
    inner *= dims[i];
  return {element / inner / dims[1], element / inner % dims[1]};
}

int64_t LinearWeights::getOutput(int64_t element) const {
  auto [first, second] = getPlace(dims, element);
  switch (kind) {
  case Kind::conv:
  case Kind::outputsFirst:
    return first;
  case Kind::convTranspose:
    return first / (dims[0] / groups) * dims[1] + second;
  case Kind::inputsFirst:
    return second;
  }
  return 0;
}

int64_t LinearWeights::getInput(int64_t element) const {
  auto [first, second] = getPlace(dims, element);
  switch (kind) {
  case Kind::conv:
    return first / (dims[0] / groups) * dims[1] + second;
  case Kind::outputsFirst:
    return second;
  case Kind::convTranspose:
  case Kind::inputsFirst:
    return first;
  }
  return 0;
}
