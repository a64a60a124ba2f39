//===- Weights.cpp - The weights, packed as the routines want them --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/Transformed.h"
#include "runtime/weights.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// The elements of `value`, row-major; `storage` holds them where they are not
/// in memory as such.
static FailureOr<const char *> getElements(exec::WeightOp weight,
                                           std::vector<char> &storage) {
  ElementsAttr value = weight.getValue();
  Type element = value.getElementType();
  size_t bytes = value.getNumElements() * nn::getElementBytes(element);
  if (auto blob = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *data = blob.getRawHandle().getBlob();
    if (!data || data->getData().size() != bytes)
      return weight.emitOpError()
             << "has a value whose data is not in memory; was it elided?";
    return data->getData().data();
  }
  auto dense = cast<DenseElementsAttr>(value);
  if (!dense.isSplat() && !element.isInteger(1))
    return dense.getRawData().data();
  storage.resize(bytes);
  if (element.isInteger(1)) {
    for (auto [i, bit] : llvm::enumerate(dense.getValues<bool>()))
      storage[i] = bit;
    return storage.data();
  }
  size_t size = nn::getElementBytes(element);
  for (size_t at = 0; at < bytes; at += size)
    std::copy_n(dense.getRawData().data(), size, storage.data() + at);
  return storage.data();
}

static float widenHalf(uint16_t bits) {
  return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits))
      .convertToFloat();
}

static uint16_t roundToHalf(float value) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.bitcastToAPInt().getZExtValue();
}

/// Writes the row-major `elements` of a weight of halves as transformWeight()
/// has them.
static void packTransformedHalves(RankedTensorType type, const char *elements,
                                  char *packed) {
  auto *halves = reinterpret_cast<const uint16_t *>(elements);
  std::vector<float> widened(type.getNumElements());
  std::transform(halves, halves + widened.size(), widened.begin(), widenHalf);
  std::vector<float> points = transformWeight(type, widened.data());
  std::vector<uint16_t> rounded(points.size());
  llvm::transform(points, rounded.begin(), roundToHalf);
  nn::packElements(nn::getTransformedType(type),
                   reinterpret_cast<const char *>(rounded.data()), packed);
}

/// Writes the row-major `elements` in the layout of `type`.
static void writePacked(RankedTensorType type, const char *elements,
                        llvm::raw_ostream &stream) {
  std::vector<char> packed(nn::getPhysicalBytes(type));
  if (!nn::isTransformed(type)) {
    nn::packElements(type, elements, packed.data());
  } else if (type.getElementType().isF16()) {
    packTransformedHalves(type, elements, packed.data());
  } else {
    auto filters = reinterpret_cast<const float *>(elements);
    std::vector<float> points = transformWeight(type, filters);
    nn::packElements(nn::getTransformedType(type),
                     reinterpret_cast<const char *>(points.data()),
                     packed.data());
  }
  stream.write(packed.data(), packed.size());
}

/// As above, block after block where the layout has the first axis outermost
/// and a block needs no other: weights are large, and what is packed needs
/// memory.
static void writeInLayout(RankedTensorType type, const char *elements,
                          llvm::raw_ostream &stream) {
  nn::LayoutAttr layout = nn::getLayout(type);
  int64_t rows = type.getDimSize(0), block = rows;
  if (layout.getOuterAxes().front() == 0 &&
      !nn::getStrassenLevels(layout.getName()))
    block = layout.getBlockSize(0);
  int64_t rowBytes = type.getNumElements() / std::max<int64_t>(rows, 1) *
                     nn::getElementBytes(type.getElementType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t row = 0; row < rows; row += block) {
    shape[0] = std::min(block, rows - row);
    writePacked(type.clone(shape), elements + row * rowBytes, stream);
  }
}

/// Writes the weights without a header, as many bytes as the program says.
static LogicalResult writeAll(exec::ProgramOp program,
                              llvm::raw_ostream &stream) {
  SmallVector<exec::WeightOp> weights(
      program.getBody().getOps<exec::WeightOp>());
  llvm::sort(weights, [](exec::WeightOp a, exec::WeightOp b) {
    return a.getOffset() < b.getOffset();
  });
  uint64_t at = 0;
  auto fillTo = [&](uint64_t offset) {
    if (offset > at)
      stream.write_zeros(offset - at);
    at = std::max(at, offset);
  };
  for (exec::WeightOp weight : weights) {
    if (weight.getOffset() < at)
      return weight.emitOpError("overlaps another weight");
    fillTo(weight.getOffset());
    std::vector<char> storage;
    FailureOr<const char *> elements = getElements(weight, storage);
    if (failed(elements))
      return failure();
    RankedTensorType type = weight.getTensor();
    uint64_t bytes = nn::getPhysicalBytes(type);
    if (nn::getLayout(type))
      writeInLayout(type, *elements, stream);
    else
      stream.write(*elements, bytes);
    at += bytes;
  }
  fillTo(program.getWeights());
  return success();
}

namespace {
/// Passes bytes on, and computes nnc::hash_words() of them.
class HashingStream final : public llvm::raw_ostream {
public:
  explicit HashingStream(llvm::raw_ostream &next)
      : raw_ostream(/*unbuffered=*/true), next(next) {}
  uint64_t getHash() const {
    assert(pending.empty() && "the bytes are whole words");
    return hash;
  }
  uint64_t current_pos() const override { return count; }

private:
  void write_impl(const char *bytes, size_t size) override {
    next.write(bytes, size);
    count += size;
    if (!pending.empty()) {
      size_t missing = std::min(kWord - pending.size(), size);
      pending.append(bytes, bytes + missing);
      bytes += missing;
      size -= missing;
      if (pending.size() == kWord) {
        fold(pending.data(), kWord);
        pending.clear();
      }
    }
    size_t whole = size / kWord * kWord;
    fold(bytes, whole);
    pending.append(bytes + whole, bytes + size);
  }
  void fold(const char *bytes, size_t size) {
    hash =
        hash_words(reinterpret_cast<const unsigned char *>(bytes), size, hash);
  }

  static constexpr size_t kWord = 8;
  llvm::raw_ostream &next;
  SmallVector<char, kWord> pending;
  uint64_t hash = hash_words(nullptr, 0), count = 0;
};
} // namespace

uint64_t codegen::getWeightsHeaderBytes(exec::ProgramOp program) {
  if (program.getWeights() == 0)
    return 0;
  return llvm::alignTo(sizeof(weights_header), program.getAlign());
}

uint64_t codegen::getWeightsBytes(exec::ProgramOp program) {
  return llvm::alignTo(getWeightsHeaderBytes(program) + program.getWeights(),
                       sizeof(weights_header));
}

bool codegen::takesWeights(exec::ProgramOp program,
                           const EmitOptions &options) {
  return options.weights == "file" && program.getWeights() != 0;
}

FailureOr<WeightsStamp> codegen::writeWeights(exec::ProgramOp program,
                                              llvm::raw_pwrite_stream &stream) {
  WeightsStamp stamp;
  stamp.headerBytes = getWeightsHeaderBytes(program);
  stamp.bytes = getWeightsBytes(program);
  stream.write_zeros(stamp.headerBytes);
  HashingStream hashing(stream);
  if (failed(writeAll(program, hashing)))
    return failure();
  hashing.write_zeros(stamp.bytes - stamp.headerBytes - hashing.tell());
  stamp.hash = hashing.getHash();
  weights_header header = {weights_header::word,
                           weights_header::current,
                           stamp.bytes,
                           stamp.hash,
                           {}};
  StringRef name = program.getSymName().take_front(sizeof header.model - 1);
  llvm::copy(name, header.model);
  stream.pwrite(reinterpret_cast<const char *>(&header), sizeof header, 0);
  return stamp;
}
