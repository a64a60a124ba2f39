//===- Lists.cpp - Lists of tensors ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A list whose length is known, with elements of one shape, is a tensor with
// its elements along the first axis. As long as nothing tells the shape of the
// elements, it has no value.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// The largest length of a list.
static constexpr int64_t kMaxLength = 1 << 24;

/// Returns input `i`, a list; null after an error.
static const Passed *getList(Layer &layer, size_t i) {
  const Passed &list = layer.getPassed(i);
  if (list.kind == Passed::list)
    return &list;
  layer.broken("needs a list of tensors as input " + Twine(i));
  return nullptr;
}

static void setList(Layer &layer, Value value, int64_t length) {
  layer.setPassed(0, {Passed::list, value, "", length});
}

/// Returns the shape of elements that input `i` states, if it states all sizes.
static std::optional<Sizes> readElementShape(Layer &layer, size_t i) {
  if (!layer.getPassed(i).isTensor())
    return std::nullopt;
  auto known = readElements(layer.getInput(i));
  if (!known || getRank(layer.getInput(i)) != 1)
    return std::nullopt;
  for (int64_t size : known->ints)
    if (size < 0 || size > kMaxDim)
      return std::nullopt;
  return Sizes(known->ints);
}

/// Returns zeros for a list of `length` elements of a shape.
static Value makeZeros(Layer &layer, int64_t length, ArrayRef<int64_t> shape) {
  Type element = layer.getType("element_dtype");
  Sizes sizes = {length};
  llvm::append_range(sizes, shape);
  return element ? layer.splat(0.0, element, sizes) : Value();
}

Value convertTensorListReserve(Layer &layer) {
  auto length = layer.readInts(layer.getInput(1), "a length");
  if (!length)
    return {};
  if (length->size() != 1 || (*length)[0] < 0 || (*length)[0] > kMaxLength)
    return layer.broken("makes a list of " + toString(*length) + " elements");
  auto shape = readElementShape(layer, 0);
  setList(layer, shape ? makeZeros(layer, (*length)[0], *shape) : Value(),
          (*length)[0]);
  return {};
}

Value convertEmptyTensorList(Layer &layer) {
  setList(layer, {}, 0);
  return {};
}

Value convertTensorListFromTensor(Layer &layer) {
  Value x = layer.getInput(0);
  if (!x)
    return {};
  if (getRank(x) < 1)
    return layer.broken("makes a list of a scalar");
  setList(layer, x, getShape(x)[0]);
  return {};
}

Value convertTensorListLength(Layer &layer) {
  const Passed *list = getList(layer, 0);
  return list ? layer.splat(double(list->length),
                            layer.getBuilder().getI32Type())
              : Value();
}

/// Returns the elements of a list as one tensor; zeros of the shape in input
/// `shapeInput` if no element has been set. Null after an error.
static Value getElements(Layer &layer, const Passed *list, size_t shapeInput) {
  if (!list)
    return {};
  if (list->hasValue())
    return list->value;
  auto shape = readElementShape(layer, shapeInput);
  return shape ? makeZeros(layer, list->length, *shape)
               : layer.unsupported("reads a list of tensors before an element "
                                   "or the model tells their shape");
}

Value convertTensorListGetItem(Layer &layer) {
  Value x = getElements(layer, getList(layer, 0), 2), index = layer.getInput(1);
  if (!x || !index || !areIndices(layer, index))
    return {};
  return layer.create<nn::GatherOp>(x, layer.reshape(index, {}), int64_t(0));
}

Value convertTensorListGather(Layer &layer) {
  Value x = getElements(layer, getList(layer, 0), 2),
        indices = layer.getInput(1);
  if (!x || !indices || !areIndices(layer, indices))
    return {};
  return layer.create<nn::GatherOp>(x, indices, int64_t(0));
}

Value convertTensorListStack(Layer &layer) {
  return getElements(layer, getList(layer, 0), 1);
}

Value convertTensorListSetItem(Layer &layer) {
  const Passed *list = getList(layer, 0);
  Value index = layer.getInput(1), item = layer.getInput(2);
  if (!list || !index || !item || !areIndices(layer, index))
    return {};
  Sizes one = {1}, whole = {list->length};
  llvm::append_range(one, getShape(item));
  llvm::append_range(whole, getShape(item));
  Value x = list->hasValue() ? list->value
                             : layer.splat(0.0, getElement(item), whole);
  if (x && getShape(x) != ArrayRef<int64_t>(whole))
    return layer.unsupported("puts an element of shape " +
                             toString(getShape(item)) +
                             " into a list with others of shape " +
                             toString(getShape(x).drop_front()));
  Value place =
      layer.castTo(layer.reshape(index, {1}), layer.getBuilder().getI64Type());
  Value y = layer.create<nn::ScatterOp>(nn::ScatterKind::replace, x, place,
                                        layer.reshape(item, one));
  if (y)
    setList(layer, y, list->length);
  return {};
}

Value convertTensorListPushBack(Layer &layer) {
  const Passed *list = getList(layer, 0);
  Value item = layer.getInput(1);
  if (!list || !item)
    return {};
  Sizes one = {1};
  llvm::append_range(one, getShape(item));
  Value part = layer.reshape(item, one);
  Value y = list->hasValue() ? join(layer, {list->value, part}, 0) : part;
  if (y)
    setList(layer, y, list->length + 1);
  return {};
}

/// Converts TensorListConcatV2: the elements joined along their first axis, and
/// the length of each.
Value convertTensorListConcat(Layer &layer) {
  const Passed *list = getList(layer, 0);
  Value x = getElements(layer, list, 1);
  if (!x)
    return {};
  if (getRank(x) < 2)
    return layer.broken("joins scalars");
  Sizes shape(getShape(x).drop_front());
  layer.setResult(1, layer.constant(Sizes(list->length, shape[0])));
  shape[0] *= list->length;
  return layer.reshape(x, shape);
}

} // namespace nnc::tensorflow
