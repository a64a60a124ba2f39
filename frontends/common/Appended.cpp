//===- Appended.cpp - Tensors that grow from run to run of a loop ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Appended.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

RankedTensorType nnc::frontends::getAppendedType(RankedTensorType init,
                                                 int64_t axis) {
  SmallVector<int64_t> shape(init.getShape());
  shape[axis] = 1;
  return init.clone(shape);
}

Value nnc::frontends::takeAppended(LayerBuilder &builder, Value argument,
                                   Value next, int64_t axis) {
  auto concat = next.getDefiningOp<nn::ConcatOp>();
  if (!concat || int64_t(concat.getAxis()) != axis ||
      concat.getXs().size() < 2 || concat.getXs().front() != argument ||
      llvm::is_contained(concat.getXs().drop_front(), argument))
    return {};
  // Casts to types that exist only during the import do not count as readers.
  for (Operation *reader : argument.getUsers())
    if (reader != concat && !isa<UnrealizedConversionCastOp>(reader))
      return {};
  ValueRange rest = concat.getXs().drop_front();
  Value appended = rest.size() == 1 ? rest.front()
                                    : builder.create<nn::ConcatOp>(rest, axis);
  // From here on the concat has no users and must not read the argument.
  OpBuilder front = OpBuilder::atBlockBegin(argument.getParentBlock());
  if (appended)
    argument.replaceAllUsesWith(front.create<nn::ConstantOp>(
        argument.getLoc(),
        cast<ElementsAttr>(front.getZeroAttr(argument.getType()))));
  return appended;
}

Value nnc::frontends::joinRuns(LayerBuilder &builder, Value parts,
                               int64_t axis) {
  SmallVector<int64_t> order = iota(getRank(parts)), shape(getShape(parts));
  std::rotate(order.begin(), order.begin() + 1, order.begin() + axis + 1);
  shape[axis + 1] *= shape[0];
  shape.erase(shape.begin());
  return builder.reshape(builder.transpose(parts, order), shape);
}

Value nnc::frontends::joinAppended(LayerBuilder &builder, Value init,
                                   Value parts, int64_t axis) {
  Value joined = joinRuns(builder, parts, axis);
  return getShape(init)[axis] == 0
             ? joined
             : builder.create<nn::ConcatOp>(ValueRange{init, joined}, axis);
}
