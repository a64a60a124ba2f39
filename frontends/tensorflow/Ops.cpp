//===- Ops.cpp - The TensorFlow operators that nnc knows ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/Ops.h"

#include "frontends/tensorflow/graph/Layer.h"
#include "frontends/tensorflow/signal/Complex.h"

using namespace mlir;
using namespace nnc::tensorflow;

namespace nnc::tensorflow {
#define NNC_TENSORFLOW_OP(name, from, to, kind, results, converter, limits)    \
  Value converter(Layer &);
#define NNC_TENSORFLOW_ELEMENTWISE(name, operands, op)
#include "frontends/tensorflow/Ops.inc"
} // namespace nnc::tensorflow

/// Converts an operator that is the elementwise nn op `op`.
static Value convertElementwise(Layer &layer, StringRef op, size_t operands) {
  for (size_t i = 0; i < operands; ++i)
    if (layer.getPassed(i).kind == Passed::complex)
      return convertComplex(layer, op);
  SmallVector<Value> values = layer.getTensors(0, operands);
  for (Value value : values)
    if (getElement(value) != getElement(values[0]))
      return layer.broken("has operands of different types, " +
                          getTypeName(getElement(values[0])) + " and " +
                          getTypeName(getElement(value)));
  return layer.elementwise(op, values);
}

static constexpr OpInfo kOps[] = {
#define NNC_TENSORFLOW_OP(name, from, to, kind, results, converter, limits)    \
  {#name, from, to, OpKind::kind, results, limits, converter},
#define NNC_TENSORFLOW_ELEMENTWISE(name, operands, op)                         \
  {#name, operands, operands, OpKind::pure, "", "", [](Layer &layer) {         \
     return convertElementwise(layer, #op, operands);                          \
   }},
#include "frontends/tensorflow/Ops.inc"
};

ArrayRef<OpInfo> nnc::tensorflow::getOps() { return kOps; }

const OpInfo *nnc::tensorflow::findOp(StringRef name) {
  const OpInfo *found =
      llvm::lower_bound(kOps, name, [](const OpInfo &op, StringRef wanted) {
        return StringRef(op.name) < wanted;
      });
  return found != std::end(kOps) && found->name == name ? found : nullptr;
}
