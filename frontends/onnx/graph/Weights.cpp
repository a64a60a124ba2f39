//===- Weights.cpp - The model's tensors as attributes --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/graph/Weights.h"

#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/schema/Types.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::onnx;
using ::onnx::TensorProto;

/// Returns a blob over `bytes` that keeps `owner`, their owner, alive.
template <class Owner>
static AsmResourceBlob wrap(Owner owner, ArrayRef<char> bytes, size_t align) {
  return AsmResourceBlob(
      bytes, align, [owner = std::move(owner)](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
}

/// Returns the elements of a typed field unchanged.
template <class T>
static AsmResourceBlob take(google::protobuf::RepeatedField<T> *field) {
  auto owner = std::make_unique<google::protobuf::RepeatedField<T>>();
  owner->Swap(field);
  ArrayRef<char> bytes(reinterpret_cast<const char *>(owner->data()),
                       owner->size() * sizeof(T));
  return wrap(std::move(owner), bytes, alignof(T));
}

/// Returns the elements of a typed field, narrowed to the tensor's type.
template <class To, class From>
static AsmResourceBlob
narrow(const google::protobuf::RepeatedField<From> &field) {
  AsmResourceBlob blob =
      HeapAsmResourceBlob::allocate(field.size() * sizeof(To), alignof(To));
  auto *to = reinterpret_cast<To *>(blob.getMutableData().data());
  for (int i = 0; i < field.size(); ++i)
    to[i] = static_cast<To>(field.Get(i));
  return blob;
}

static AsmResourceBlob takeRaw(TensorProto &tensor, size_t align) {
  std::unique_ptr<std::string> owner(tensor.release_raw_data());
  ArrayRef<char> bytes(owner->data(), owner->size());
  // Only strings short enough to live inside std::string are not aligned.
  if (reinterpret_cast<uintptr_t>(bytes.data()) % align)
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, align);
  return wrap(std::move(owner), bytes, align);
}

/// Returns the 6-bit codes of a typed field, which has one code per entry,
/// packed like raw data.
static AsmResourceBlob
packSixBits(const google::protobuf::RepeatedField<int32_t> &field) {
  std::vector<char> packed(llvm::divideCeil(field.size() * int64_t(6), 8));
  for (int64_t i = 0; i < field.size(); ++i) {
    unsigned code = (field.Get(static_cast<int>(i)) & 63) << i * 6 % 8;
    int64_t byte = i * 6 / 8;
    packed[byte] = static_cast<char>(packed[byte] | (code & 255));
    if (code > 255)
      packed[byte + 1] = static_cast<char>(code >> 8);
  }
  return HeapAsmResourceBlob::allocateAndCopyWithAlign(packed, 1);
}

/// Moves the bytes out of the field that holds them: the raw data, or the typed
/// field that ONNX defines for the element type.
static AsmResourceBlob takeBytes(TensorProto &tensor, Type element) {
  unsigned bits = getBits(element);
  if (tensor.has_raw_data() && !tensor.raw_data().empty())
    return takeRaw(tensor, std::max(1u, bits / 8));
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return take(tensor.mutable_float_data());
  case TensorProto::DOUBLE:
    return take(tensor.mutable_double_data());
  case TensorProto::INT64:
    return take(tensor.mutable_int64_data());
  case TensorProto::UINT64:
    return take(tensor.mutable_uint64_data());
  case TensorProto::UINT32:
    return narrow<uint32_t>(tensor.uint64_data());
  case TensorProto::INT32:
    return take(tensor.mutable_int32_data());
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2:
    return packSixBits(tensor.int32_data());
  default:
    return bits == 16 ? narrow<uint16_t>(tensor.int32_data())
                      : narrow<uint8_t>(tensor.int32_data());
  }
}

std::optional<ExternalPlace> nnc::onnx::findExternal(const TensorProto &tensor,
                                                     uint64_t bytes,
                                                     Problems &problems,
                                                     Location loc) {
  ExternalPlace place;
  place.length = bytes;
  for (const auto &entry : tensor.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    bool isNumber = true;
    if (key == "location")
      place.location = value.str();
    else if (key == "offset")
      isNumber = llvm::to_integer(value, place.offset, 10);
    else if (key == "length")
      isNumber = llvm::to_integer(value, place.length, 10);
    if (!isNumber) {
      problems.reportLasting(ImportStatus::broken, loc)
          << "has external data whose " << key << " is '" << value
          << "', not a number";
      return std::nullopt;
    }
  }
  return place;
}

std::optional<AsmResourceBlob> Weights::mapExternal(const TensorProto &tensor,
                                                    int64_t bytes, size_t align,
                                                    Location loc) {
  auto place = findExternal(tensor, bytes, problems, loc);
  if (!place)
    return std::nullopt;
  return files.map(place->location, place->offset, place->length, align, loc);
}

ElementsAttr Weights::get(TensorProto &tensor, Location loc) {
  auto [entry, isNew] = known.try_emplace(&tensor);
  if (isNew)
    entry->second = convert(tensor, loc);
  return entry->second;
}

ElementsAttr Weights::convert(TensorProto &tensor, Location loc) {
  auto fail = [&](ImportStatus status, const Twine &why) -> ElementsAttr {
    auto diagnostic = problems.reportLasting(status, loc);
    diagnostic << "tensor ";
    if (!tensor.name().empty())
      diagnostic << "'" << tensor.name() << "' ";
    diagnostic << why;
    return {};
  };
  Type element = getElementType(loc.getContext(), tensor.data_type());
  // Sizes are checked before the elements are widened, too.
  Type carrier = element ? getCarrier(element) : Type();
  if (!element)
    return fail(ImportStatus::unsupported,
                "has elements of type " + getDataTypeName(tensor.data_type()) +
                    ", which nnc does not handle");
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return fail(ImportStatus::broken,
                "has a negative size: " + toString(shape));
  if (auto problem = findSizeProblem(shape, carrier, problems.getLimits()))
    return fail(ImportStatus::limit, "is one " + *problem);

  auto type = RankedTensorType::get(shape, carrier);
  size_t size = std::max(1u, getBits(element) / 8);
  int64_t bytes = getPackedBytes(element, type.getNumElements());
  if (bytes == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  std::optional<AsmResourceBlob> blob;
  bool isExternal = tensor.data_location() == TensorProto::EXTERNAL;
  if (isExternal && !tensor.raw_data().empty())
    return fail(ImportStatus::broken,
                "holds data and names a file with external data, too");
  if (isExternal)
    blob = mapExternal(tensor, bytes, size, loc);
  else
    blob = takeBytes(tensor, element);
  if (!blob)
    return {};
  if (static_cast<int64_t>(blob->getData().size()) != bytes)
    return fail(ImportStatus::broken,
                "holds " + Twine(blob->getData().size()) +
                    " bytes of data; its type and shape (" + toString(shape) +
                    ") need " + Twine(bytes));
  if (hasCarrier(element))
    blob = unpack(element, blob->getData(), type.getNumElements());
  return makeElements(type, tensor.name(), std::move(*blob));
}
