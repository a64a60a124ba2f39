//===- Work.cpp - The amount of work of an op -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static int64_t getTypeBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? getPhysicalBytes(tensor) : 0;
}

Work nn::bytesOnly(Operation *op) {
  Work work;
  for (Type type : op->getOperandTypes())
    work.bytesRead += getTypeBytes(type);
  for (Type type : op->getResultTypes())
    work.bytesWritten += getTypeBytes(type);
  return work;
}

Work nn::elementwiseWork(Operation *op) {
  Work work = bytesOnly(op);
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      work.operations += tensor.getNumElements();
  return work;
}
