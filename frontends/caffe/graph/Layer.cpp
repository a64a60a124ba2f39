//===- Layer.cpp - A layer of a network while it is imported --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Layer.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::caffe;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

size_t Layer::getNumBlobs() const { return weights.count(param); }

/// Returns the sizes that are not 1. Old files have four sizes for all blobs.
static SmallVector<int64_t> dropOnes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  llvm::erase(sizes, 1);
  return sizes;
}

/// Returns blob `i`; null if there is no file of weights, or after an error if
/// the blob is missing or has another shape.
const Blob *Layer::findBlob(size_t i, ArrayRef<int64_t> shape, StringRef what) {
  const Weights *file = weights.getFile();
  if (!weights.hasAny()) {
    weights.noteMissing();
    return nullptr;
  }
  std::string name = llvm::sys::path::filename(file->path).str();
  const Blob *blob = weights.find(param, i);
  if (!blob) {
    if (problems.isReported(getLoc()))
      return nullptr;
    if (file->find(param.name()))
      broken("has " + Twine(getNumBlobs()) + " blobs in '" + name +
             "'; it needs its " + what + " as blob " + Twine(i));
    else
      broken("has no weights: no layer in '" + name +
             "' has its name; give the weights that belong to this network");
    return nullptr;
  }
  if (dropOnes(blob->shape) == dropOnes(shape) &&
      blob->getNumElements() == product(shape))
    return blob;
  fail(ImportStatus::broken,
       "has " + what + " of shape " + toString(blob->shape) + " with " +
           Twine(blob->getNumElements()) + " elements in '" + name +
           "'; this network needs " + toString(shape),
       toString(shape), toString(blob->shape));
  return nullptr;
}

Value Layer::getBlob(size_t i) {
  ArrayRef<int64_t> shape = weights.find(param, i)->shape;
  return getBlob(i, SmallVector<int64_t>(shape), "blob");
}

Value Layer::getBlob(size_t i, ArrayRef<int64_t> shape, StringRef what) {
  auto type = RankedTensorType::get(shape, getBuilder().getF32Type());
  if (!checkSize(type))
    return {};
  const Blob *blob = findBlob(i, shape, what);
  if (!blob || type.getNumElements() == 0)
    return constant(DenseElementsAttr::get(type, 0.0f));
  ArrayRef<char> data(blob->bytes.data(), blob->bytes.size());
  std::string name = param.name() + "/" + what.str();
  if (reinterpret_cast<uintptr_t>(data.data()) % alignof(float))
    return constant(makeElements(
        type, name,
        HeapAsmResourceBlob::allocateAndCopyWithAlign(data, alignof(float))));
  // The owner of the bytes lives for as long as a constant reads them.
  auto keep = [file = weights.getFile()->file,
               copied = blob->copied](void *, size_t, size_t) {};
  return constant(makeElements(type, name,
                               AsmResourceBlob(data, alignof(float), keep,
                                               /*dataIsMutable=*/false)));
}

std::vector<float> Layer::readBlob(size_t i, int64_t count, StringRef what) {
  auto type = RankedTensorType::get(count, getBuilder().getF32Type());
  if (!checkSize(type))
    return {};
  const Blob *blob = findBlob(i, count, what);
  std::vector<float> values(count);
  for (int64_t k = 0; blob && k < count; ++k)
    values[k] = blob->get(k);
  return values;
}

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

Value Layer::constantOf(ArrayRef<float> values, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, getBuilder().getF32Type());
  ArrayRef<char> data(reinterpret_cast<const char *>(values.data()),
                      values.size() * sizeof(float));
  if (type.getNumElements() == 0)
    return constant(DenseElementsAttr::get(type, 0.0f));
  return constant(makeElements(
      type, param.name(),
      HeapAsmResourceBlob::allocateAndCopyWithAlign(data, alignof(float))));
}

Value Layer::withNumber(StringRef op, Value x, double number) {
  if (!x)
    return {};
  return createElementwise(op, {x, splat(number, getElement(x))});
}

Value Layer::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> steps(starts.size(), 1);
  return create<nn::SliceOp>(x, starts, sizes, ArrayRef<int64_t>(steps));
}

Value Layer::take(Value x, int64_t axis, int64_t i) {
  if (!x)
    return {};
  SmallVector<int64_t> starts(getRank(x), 0), sizes(getShape(x));
  starts[axis] = i;
  sizes[axis] = 1;
  Value part = slice(x, starts, sizes);
  sizes.erase(sizes.begin() + axis);
  return reshape(part, sizes);
}
