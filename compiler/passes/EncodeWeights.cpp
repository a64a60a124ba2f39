//===- EncodeWeights.cpp - The bytes of every weight ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "compiler/routines/Decode.h"
#include "dialects/nn/encodings/WeightEncoding.h"
#include "dialects/nn/tensors/Resource.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

namespace nnc {
#define GEN_PASS_DEF_ENCODEWEIGHTS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Returns the stored bytes of a weight of `type`, as elements of type `bytes`.
/// `data` holds the elements of `value`, the weight before encoding.
static ElementsAttr encode(ElementsAttr value, const TensorData &data,
                           RankedTensorType type, RankedTensorType bytes,
                           StringRef name) {
  if (nn::getLayout(type)) {
    TensorData stored = TensorData::allocate(bytes);
    nn::storeWeight(type, data, stored.getMutableBytes());
    return stored.toAttribute(name);
  }
  // The elements are stored unchanged, so that their owner keeps them.
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(bytes, resource.getRawHandle());
  return data.withType(bytes).toAttribute(name);
}

static constexpr StringLiteral kNotInMemory =
    "has a value whose data is not in memory; was it elided?";

namespace {
struct EncodeWeightsPass : nnc::impl::EncodeWeightsBase<EncodeWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<exec::WeightOp> weights;
    getOperation().walk([&](exec::WeightOp weight) {
      weights.push_back(weight);
      if (const void *memory = getMemory(weight.getValue()))
        ++users[memory];
    });
    WalkResult states = getOperation().walk([&](exec::StateOp state) {
      return checkInitial(state) ? WalkResult::advance()
                                 : WalkResult::interrupt();
    });
    if (states.wasInterrupted())
      return signalPassFailure();
    for (exec::WeightOp weight : weights)
      if (!weight.getEncoded() && failed(encodeWeight(weight)))
        return signalPassFailure();
    users.clear();
    WalkResult checked = getOperation().walk([](exec::CallOp call) {
      return failed(checkStored(call)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      signalPassFailure();
  }

private:
  /// Returns a key that identifies the memory of a value; null if that memory
  /// cannot be freed.
  static const void *getMemory(ElementsAttr value) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(value);
    return resource ? resource.getRawHandle().getResource() : nullptr;
  }

  /// Reports an error and returns false if the initial value of a state is not
  /// in memory. The memory that the printer reads is never freed.
  bool checkInitial(exec::StateOp state) {
    ElementsAttr value = state.getInitialAttr();
    if (!value)
      return true;
    if (const void *memory = getMemory(value))
      ++users[memory];
    if (TensorData::get(value))
      return true;
    state.emitOpError(kNotInMemory);
    return false;
  }

  LogicalResult encodeWeight(exec::WeightOp weight) {
    ElementsAttr value = weight.getValue();
    std::optional<TensorData> data = TensorData::get(value);
    if (!data)
      return weight.emitOpError(kNotInMemory);
    RankedTensorType type = weight.getTensor();
    if (nn::isEncoded(type)) {
      nn::EncodingAttr encoding = nn::getLayout(type).getEncoding();
      if (encoding->needsValues() &&
          std::isinf(encoding->getError(type, *data)))
        return weight.emitOpError("has values that the encoding '")
               << encoding->getSpelling()
               << "' cannot represent; its readers need another routine";
    }
    auto bytes = RankedTensorType::get({nn::getPhysicalBytes(type)},
                                       IntegerType::get(&getContext(), 8));
    ElementsAttr encoded = encode(value, *data, type, bytes, weight.getName());
    weight.setValueAttr(encoded);
    weight.setEncoded(true);
    const void *memory = getMemory(value);
    if (memory && memory != getMemory(encoded) && --users[memory] == 0 &&
        release)
      nn::freeResource(cast<DenseResourceElementsAttr>(value));
    return success();
  }

  /// The number of weights that are not encoded yet and need the memory of a
  /// value, by getMemory().
  DenseMap<const void *, int> users;
};
} // namespace
