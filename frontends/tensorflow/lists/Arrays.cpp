//===- Arrays.cpp - TensorArrays of TensorFlow 1 --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A TensorArray is a handle and a flow, which orders the operators that read
// and write it. Here the flow is the list of its elements, as in Lists.cpp, and
// the handle is a list without any.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lists/Lists.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Converts TensorArrayV3: a handle and an empty flow.
Value convertTensorArray(Layer &layer) {
  auto length = layer.readInts(layer.getInput(0), "a length");
  if (!length)
    return {};
  if (length->size() != 1 || (*length)[0] < 0 || (*length)[0] > kMaxLength)
    return layer.broken("makes an array of " + toString(*length) + " elements");
  Passed flow{Passed::list, {}, "", (*length)[0]};
  auto shape = layer.getSizes("element_shape");
  if (shape && llvm::all_of(*shape, [](int64_t size) { return size >= 0; }))
    flow.value =
        makeZeroElements(layer, layer.getType("dtype"), flow.length, *shape);
  layer.setPassed(
      0, {Passed::list, {}, "", 0, /*grows=*/layer.getBool("dynamic_size")});
  layer.setPassed(1, flow);
  return {};
}

Value convertTensorArrayRead(Layer &layer) {
  return getListItem(layer, 2, layer.getInput(1));
}

Value convertTensorArrayGather(Layer &layer) {
  const Passed *list = getList(layer, 2);
  Value indices = layer.getInput(1);
  if (!list || !indices)
    return {};
  auto known = readElements(indices);
  if (known && list->hasValue() &&
      ArrayRef<int64_t>(known->ints) == ArrayRef<int64_t>(iota(list->length)))
    return list->value;
  return getListItem(layer, 2, indices);
}

Value convertTensorArrayWrite(Layer &layer) {
  return setListItem(layer, 3, layer.getInput(1), layer.getInput(2),
                     layer.getPassed(0).grows);
}

/// Converts TensorArrayScatterV3: puts the slices of a tensor at positions.
Value convertTensorArrayScatter(Layer &layer) {
  const Passed *list = getList(layer, 3);
  Value indices = layer.getInput(1), x = layer.getInput(2);
  if (!list || !indices || !x)
    return {};
  if (getRank(x) < 1 || getRank(indices) != 1 ||
      getShape(indices)[0] != getShape(x)[0])
    return layer.broken("puts the slices of a tensor of shape " +
                        toString(getShape(x)) + " to " +
                        Twine(getNumElements(indices)) + " positions");
  auto known = readElements(indices);
  int64_t length = std::max(list->length, getShape(x)[0]);
  if (known && length == getShape(x)[0] &&
      ArrayRef<int64_t>(known->ints) == ArrayRef<int64_t>(iota(length))) {
    layer.setPassed(0, {Passed::list, x, "", length});
    return {};
  }
  return layer.unsupported("puts slices to positions other than 0, 1, ...");
}

Value convertTensorArraySize(Layer &layer) {
  const Passed *list = getList(layer, 1);
  return list ? layer.splat(double(list->length),
                            layer.getBuilder().getI32Type())
              : Value();
}

/// Converts TensorArrayConcatV3: the elements joined along their first axis,
/// and the length of each.
Value convertTensorArrayConcat(Layer &layer) {
  return joinListItems(layer, getList(layer, 1), {});
}

} // namespace nnc::tensorflow
