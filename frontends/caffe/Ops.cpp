//===- Ops.cpp - The layers of Caffe that nnc knows -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/Ops.h"

#include "frontends/caffe/graph/Layer.h"

#include <string_view>

using namespace mlir;
using namespace nnc::caffe;

namespace nnc::caffe {
#define NNC_CAFFE_OP(name, from, to, converter, limits)                        \
  Value converter(Layer &);
#define NNC_CAFFE_ELEMENTWISE(name, op)
#define NNC_CAFFE_INPUT(name, limits)
#define NNC_CAFFE_LOSS(name, converter, limits) Value converter(Layer &);
#define NNC_CAFFE_DROPPED(name, limits)
#include "frontends/caffe/Ops.inc"
} // namespace nnc::caffe

static constexpr OpInfo kOps[] = {
#define NNC_CAFFE_OP(name, from, to, converter, limits)                        \
  {#name, Role::computes, limits, from, to, converter},
#define NNC_CAFFE_ELEMENTWISE(name, op)                                        \
  {#name, Role::computes, "", 1, 1, [](Layer &layer) {                         \
     return layer.createElementwise(#op, layer.getBottom(0));                  \
   }},
#define NNC_CAFFE_INPUT(name, limits)                                          \
  {#name, Role::input, limits, 0, 0, nullptr},
#define NNC_CAFFE_LOSS(name, converter, limits)                                \
  {#name, Role::loss, limits, 1, 4096, converter},
#define NNC_CAFFE_DROPPED(name, limits)                                        \
  {#name, Role::dropped, limits, 0, 4096, nullptr},
#include "frontends/caffe/Ops.inc"
};

/// Returns true if the names ascend, which findOp needs.
static constexpr bool ascends() {
  for (size_t i = 1; i < std::size(kOps); ++i)
    if (std::string_view(kOps[i - 1].name) >= std::string_view(kOps[i].name))
      return false;
  return true;
}
static_assert(ascends(), "the lines of Ops.inc are sorted by name");

ArrayRef<OpInfo> nnc::caffe::getOps() { return kOps; }

const OpInfo *nnc::caffe::findOp(StringRef type) {
  const OpInfo *found =
      llvm::lower_bound(kOps, type, [](const OpInfo &op, StringRef wanted) {
        return op.name < wanted;
      });
  return found != std::end(kOps) && found->name == type ? found : nullptr;
}
