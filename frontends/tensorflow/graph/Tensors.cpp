//===- Tensors.cpp - Constants of a graph ---------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Tensors.h"

#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"
#include "frontends/tensorflow/graph/Types.h"

#include "mlir/IR/AsmState.h"

#include <cstring>

using namespace mlir;
using namespace nnc::tensorflow;

/// Writes the numbers of a list as elements of type T to `to`. The last one
/// stands for all elements that follow it, and no number for zeros.
template <class T, class List>
static void spread(const List &list, MutableArrayRef<char> to) {
  size_t count = to.size() / sizeof(T);
  for (size_t i = 0; i < count && !list.empty(); ++i) {
    T value = static_cast<T>(list[static_cast<int>(
        std::min<size_t>(i, static_cast<size_t>(list.size()) - 1))]);
    std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
  }
}

/// Writes the elements that `tensor` has in the list of its type to `to`, and
/// returns their number in the list.
static int64_t readList(const pb::TensorProto &tensor,
                        MutableArrayRef<char> to) {
  switch (static_cast<int>(tensor.dtype())) {
  case pb::DT_FLOAT:
    spread<float>(tensor.float_val(), to);
    return tensor.float_val_size();
  case pb::DT_DOUBLE:
    spread<double>(tensor.double_val(), to);
    return tensor.double_val_size();
  case pb::DT_INT64:
    spread<int64_t>(tensor.int64_val(), to);
    return tensor.int64_val_size();
  case pb::DT_UINT64:
    spread<uint64_t>(tensor.uint64_val(), to);
    return tensor.uint64_val_size();
  case pb::DT_UINT32:
    spread<uint32_t>(tensor.uint32_val(), to);
    return tensor.uint32_val_size();
  case pb::DT_BOOL:
    spread<uint8_t>(tensor.bool_val(), to);
    return tensor.bool_val_size();
  case pb::DT_HALF:
  case pb::DT_BFLOAT16:
    spread<uint16_t>(tensor.half_val(), to);
    return tensor.half_val_size();
  case pb::DT_INT32:
    spread<int32_t>(tensor.int_val(), to);
    return tensor.int_val_size();
  case pb::DT_INT16:
  case pb::DT_UINT16:
    spread<uint16_t>(tensor.int_val(), to);
    return tensor.int_val_size();
  default: // of 8 bits
    spread<uint8_t>(tensor.int_val(), to);
    return tensor.int_val_size();
  }
}

ElementsAttr
nnc::tensorflow::readTensor(std::shared_ptr<const LoadedModel> model,
                            const pb::TensorProto &tensor, StringRef name,
                            Problems &problems, Location loc) {
  auto fail = [&](ImportStatus status, const Twine &why) -> ElementsAttr {
    problems.reportLasting(status, loc) << "is a constant " << why;
    return {};
  };
  Type element = getElementType(loc.getContext(), tensor.dtype());
  if (!element)
    return fail(ImportStatus::unsupported, "of type " +
                                               getTypeName(tensor.dtype()) +
                                               ", which nnc does not handle");
  auto shape = readShape(tensor.tensor_shape());
  if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return fail(ImportStatus::broken, "whose shape is not stated");
  bool isInFile = !tensor.tensor_content().empty();
  if (auto problem = findSizeProblem(*shape, getComputedType(element),
                                     problems.getLimits(),
                                     /*isMade=*/!isInFile))
    return fail(ImportStatus::limit, "that is one " + *problem);
  auto type = RankedTensorType::get(*shape, element);
  int64_t count = type.getNumElements();
  size_t width = std::max(1U, element.getIntOrFloatBitWidth() / 8);
  size_t size = static_cast<size_t>(count) * width;
  if (isInFile && tensor.tensor_content().size() != size)
    return fail(ImportStatus::broken,
                "that holds " + Twine(tensor.tensor_content().size()) +
                    " bytes of data; its type and shape (" + toString(*shape) +
                    ") need " + Twine(size));
  if (count == 0)
    return DenseElementsAttr::get(type.clone(getComputedType(element)),
                                  ArrayRef<Attribute>());
  if (isInFile) {
    ArrayRef<char> data(tensor.tensor_content().data(), size);
    if (reinterpret_cast<uintptr_t>(data.data()) % width)
      return makeComputed(
          type, name,
          HeapAsmResourceBlob::allocateAndCopyWithAlign(data, width));
    return makeComputed(type, name,
                        AsmResourceBlob(
                            data, width, [model](void *, size_t, size_t) {},
                            /*dataIsMutable=*/false));
  }
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(size, width);
  std::memset(blob.getMutableData().data(), 0, size);
  int64_t listed = readList(tensor, blob.getMutableData());
  if (listed > count)
    return fail(ImportStatus::broken,
                "that lists " + Twine(listed) + " elements; its shape (" +
                    toString(*shape) + ") has " + Twine(count));
  return makeComputed(type, name, std::move(blob));
}
