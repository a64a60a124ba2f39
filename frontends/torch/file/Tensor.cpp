//===- Tensor.cpp - Reads the tensors of an archive -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"
#include "frontends/torch/file/Program.h"
#include "frontends/torch/graph/Types.h"

#include <cstring>
#include <limits>

using namespace mlir;
using namespace nnc;
using namespace nnc::torch;

/// Returns a list of sizes or strides that are all known, or nullopt.
static std::optional<SmallVector<int64_t>> readKnown(const json::Array *list) {
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const json::Value &value : *list) {
    const json::Object *object = value.getAsObject();
    auto number = object ? object->getInteger("as_int") : std::nullopt;
    if (!number || *number < 0)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

namespace {
/// The positions of the elements of a tensor in its file.
struct Place {
  SmallVector<int64_t> shape, strides; ///< strides in elements
  int64_t offset = 0;                  ///< in elements

  /// Returns true if the elements follow each other in row-major order.
  bool isContiguous() const {
    int64_t expected = 1;
    for (int64_t i = shape.size(); i-- > 0;) {
      if (shape[i] != 1 && strides[i] != expected)
        return false;
      expected *= shape[i];
    }
    return true;
  }
  /// Returns the number of elements that the file must have, or nullopt if
  /// that is more than `most`.
  std::optional<int64_t> getNeeded(int64_t most) const {
    int64_t last = offset;
    for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
      if (size == 0)
        return 0;
      // Neither product nor sum overflows if both are checked in turn.
      if (size > 1 && stride > (most - std::min(last, most)) / (size - 1))
        return std::nullopt;
      last += (size - 1) * stride;
    }
    if (last >= most)
      return std::nullopt;
    return last + 1;
  }
};
} // namespace

/// Copies the elements of `from` at `place`, of `width` bytes each, to `to` in
/// row-major order.
static void copyStrided(const char *from, const Place &place, size_t width,
                        char *to) {
  int64_t rank = place.shape.size(),
          count = ShapedType::getNumElements(place.shape);
  SmallVector<int64_t> index(rank, 0);
  int64_t at = place.offset;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * width, from + at * width, width);
    for (int64_t axis = rank; axis-- > 0;) {
      at += place.strides[axis];
      if (++index[axis] < place.shape[axis])
        break;
      at -= index[axis] * place.strides[axis];
      index[axis] = 0;
    }
  }
}

ElementsAttr Program::readTensor(StringRef tensor, Problems &problems,
                                 MLIRContext &context) {
  Location loc = problems.getLoc(tensor);
  auto fail = [&](ImportStatus status, const Twine &why) -> ElementsAttr {
    problems.reportLasting(status, loc) << why;
    return {};
  };
  auto [entry, folder] = find(tensor);
  if (!entry)
    return fail(ImportStatus::broken,
                "has no elements: the archive's lists of weights and constants "
                "do not name it");
  if (entry->getBoolean("use_pickle").value_or(false))
    return fail(ImportStatus::unsupported,
                "is a pickle of a tensor subclass or of an object, which nnc "
                "does not read; use plain tensors, for example by "
                "program.run_decompositions() or "
                "torchao.utils.unwrap_tensor_subclass");
  const json::Object *meta = entry->getObject("tensor_meta");
  auto path = entry->getString("path_name");
  auto dtype = meta ? meta->getInteger("dtype") : std::nullopt;
  auto shape = readKnown(meta ? meta->getArray("sizes") : nullptr);
  auto strides = readKnown(meta ? meta->getArray("strides") : nullptr);
  const json::Object *start =
      meta ? meta->getObject("storage_offset") : nullptr;
  auto offset = start ? start->getInteger("as_int") : std::nullopt;
  if (!path || !dtype || !shape || !strides || !offset || *offset < 0 ||
      shape->size() != strides->size())
    return fail(ImportStatus::broken,
                "has no sound type, shape, strides or offset in the archive's "
                "list of tensors");
  if (meta->getInteger("layout").value_or(kStrided) != kStrided)
    return fail(ImportStatus::unsupported,
                "is a sparse tensor; nnc reads dense ones");
  // The parts of complex numbers follow each other, as on a last axis.
  bool isComplex = *dtype == kComplex64 || *dtype == kComplex128;
  Type stored = getStoredType(&context, isComplex ? *dtype - 3 : *dtype);
  if (!stored)
    return fail(ImportStatus::unsupported, "has elements of type " +
                                               getTypeName(*dtype) +
                                               ", which nnc does not handle");
  Place place{*shape, *strides, *offset};
  if (isComplex) {
    constexpr int64_t most = std::numeric_limits<int64_t>::max() / 2;
    if (*offset > most ||
        llvm::any_of(*strides, [](int64_t stride) { return stride > most; }))
      return fail(ImportStatus::broken, "has an offset or a stride that is too "
                                        "large");
    place.offset *= 2;
    for (int64_t &stride : place.strides)
      stride *= 2;
    place.shape.push_back(2);
    place.strides.push_back(1);
  }
  std::string key =
      (folder + *path + ":" + Twine(*dtype) + ":" + Twine(*offset) + ":" +
       toString(ArrayRef(*shape)) + ":" + toString(ArrayRef(*strides)))
          .str();
  if (auto same = known.find(key); same != known.end())
    return same->second;
  Type element = getComputedType(stored);
  auto type = RankedTensorType::get(place.shape, element);
  const Archive::Entry *file = archive->find(folder + path->str());
  if (!file)
    return fail(ImportStatus::broken, "has its elements in the file '" +
                                          folder + *path +
                                          "', which the archive lacks");
  llvm::Expected<StringRef> bytes = archive->read(*file);
  if (!bytes)
    return fail(file->isReadable() ? ImportStatus::broken
                                   : ImportStatus::unsupported,
                "is in an archive that " + llvm::toString(bytes.takeError()));
  size_t width = std::max(1U, stored.getIntOrFloatBitWidth() / 8);
  int64_t held = bytes->size() / width;
  // Strides of 0 repeat elements, so that a short file makes a large tensor.
  bool isMade = llvm::is_contained(*strides, 0);
  if (auto problem =
          findSizeProblem(place.shape, element, problems.getLimits(), isMade))
    return fail(ImportStatus::limit, "is one " + *problem);
  if (!place.getNeeded(held))
    return fail(ImportStatus::broken,
                "reaches beyond the " + Twine(held) +
                    " elements of its file: its shape is " +
                    toString(ArrayRef(*shape)) + ", its strides are " +
                    toString(ArrayRef(*strides)) + " and its offset is " +
                    Twine(*offset));
  int64_t count = type.getNumElements();
  if (count == 0)
    return known[key] = DenseElementsAttr::get(type, ArrayRef<Attribute>());
  std::optional<AsmResourceBlob> blob;
  if (place.isContiguous()) {
    StringRef part = bytes->substr(place.offset * width, count * width);
    blob = archive->share(part, width);
  } else {
    blob = HeapAsmResourceBlob::allocate(count * width, width);
    copyStrided(bytes->data(), place, width, blob->getMutableData().data());
  }
  if (stored != element)
    blob = widenHalves(blob->getData(), stored.isBF16());
  return known[key] = makeElements(type, tensor, std::move(*blob));
}
