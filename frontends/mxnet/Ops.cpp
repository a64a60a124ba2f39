//===- Ops.cpp - The MXNet operators that nnc knows -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/Ops.h"

#include "frontends/mxnet/elementwise/Elementwise.h"
#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc::mxnet;

namespace nnc::mxnet {
#define NNC_MXNET_OP(name, from, to, converter, limits)                        \
  Value converter(Layer &);
#define NNC_MXNET_LOSS(name, converter) Value converter(Layer &);
#include "frontends/mxnet/Ops.inc"
} // namespace nnc::mxnet

static constexpr OpInfo kOps[] = {
#define NNC_MXNET_OP(name, from, to, converter, limits)                        \
  {#name, limits, from, to, to, converter},
#define NNC_MXNET_LOSS(name, converter) {#name, "", 1, 3, 1, converter},
#define NNC_MXNET_UNARY(name, op)                                              \
  {#name, "", 1, 1, 1, [](Layer &layer) { return convertUnary(layer, #op); }},
#define NNC_MXNET_BINARY(name, op)                                             \
  {#name, "", 2, 2, 2, [](Layer &layer) { return convertBinary(layer, #op); }},
#define NNC_MXNET_SCALAR(name, op)                                             \
  {#name, "", 1, 1, 1, [](Layer &layer) {                                      \
     return convertScalar(layer, #op, /*isReversed=*/false);                   \
   }},
#define NNC_MXNET_REVERSED(name, op)                                           \
  {#name, "", 1, 1, 1, [](Layer &layer) {                                      \
     return convertScalar(layer, #op, /*isReversed=*/true);                    \
   }},
#include "frontends/mxnet/Ops.inc"
};

ArrayRef<OpInfo> nnc::mxnet::getOps() { return kOps; }

const OpInfo *nnc::mxnet::findOp(StringRef name) {
  const OpInfo *found = llvm::lower_bound(
      kOps, name, [](const OpInfo &op, StringRef n) { return op.name < n; });
  return found != std::end(kOps) && found->name == name ? found : nullptr;
}
