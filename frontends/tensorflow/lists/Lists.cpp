//===- Lists.cpp - Lists of tensors ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A list whose length is known, with elements of one shape, is a tensor with
// its elements along the first axis. As long as nothing tells the shape of the
// elements, it has no value.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/lists/Lists.h"
#include "frontends/tensorflow/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

const Passed *getList(Layer &layer, size_t i) {
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

Value makeZeroElements(Layer &layer, Type element, int64_t length,
                       ArrayRef<int64_t> shape) {
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
  setList(layer,
          shape ? makeZeroElements(layer, layer.getType("element_dtype"),
                                   (*length)[0], *shape)
                : Value(),
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

Value getElements(Layer &layer, const Passed *list,
                  const std::optional<Sizes> &shape) {
  if (!list)
    return {};
  if (list->hasValue())
    return list->value;
  return shape ? makeZeroElements(layer, layer.getType("element_dtype"),
                                  list->length, *shape)
               : layer.unsupported("reads a list of tensors before an element "
                                   "or the model tells their shape");
}

Value getListItem(Layer &layer, size_t i, Value indices,
                  const std::optional<Sizes> &shape) {
  Value x = getElements(layer, getList(layer, i), shape);
  if (!x || !indices || !areIndices(layer, indices))
    return {};
  return layer.create<nn::GatherOp>(x, indices, int64_t(0));
}

Value convertTensorListGetItem(Layer &layer) {
  return getListItem(layer, 0, layer.reshape(layer.getInput(1), {}),
                     readElementShape(layer, 2));
}

Value convertTensorListGather(Layer &layer) {
  return getListItem(layer, 0, layer.getInput(1), readElementShape(layer, 2));
}

Value convertTensorListStack(Layer &layer) {
  return getElements(layer, getList(layer, 0), readElementShape(layer, 1));
}

Value setListItem(Layer &layer, size_t i, Value index, Value item, bool grows) {
  const Passed *list = getList(layer, i);
  if (!list || !index || !item || !areIndices(layer, index))
    return {};
  Sizes one = {1};
  llvm::append_range(one, getShape(item));
  if (grows) {
    auto known = readElements(index);
    if (!known || known->ints.size() != 1)
      return layer.unsupported("puts an element into a list that may grow, at "
                               "a position that the network computes");
    int64_t position = known->ints[0];
    if (position > list->length)
      return layer.unsupported("leaves out elements of a list");
    if (position == list->length) {
      Value part = layer.reshape(item, one);
      Value y = list->hasValue() && list->length > 0
                    ? join(layer, {list->value, part}, 0)
                    : part;
      if (y)
        setList(layer, y, list->length + 1);
      return {};
    }
  }
  Sizes whole = {list->length};
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

Value convertTensorListSetItem(Layer &layer) {
  return setListItem(layer, 0, layer.getInput(1), layer.getInput(2),
                     layer.getBool("resize_if_index_out_of_bounds"));
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

Value joinListItems(Layer &layer, const Passed *list,
                    const std::optional<Sizes> &element) {
  Value x = getElements(layer, list, element);
  if (!x)
    return {};
  if (getRank(x) < 2)
    return layer.broken("joins scalars");
  Sizes shape(getShape(x).drop_front());
  layer.setResult(1, layer.constant(Sizes(list->length, shape[0])));
  shape[0] *= list->length;
  return layer.reshape(x, shape);
}

/// Converts TensorListConcatV2: the elements joined along their first axis, and
/// the length of each.
Value convertTensorListConcat(Layer &layer) {
  return joinListItems(layer, getList(layer, 0), readElementShape(layer, 1));
}

} // namespace nnc::tensorflow
