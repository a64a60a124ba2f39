//===- WeightEncoding.cpp - Encodings of weights --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// Encodings by their spelling
//===----------------------------------------------------------------------===//

static std::unique_ptr<WeightEncoding> makeEncoding(StringRef spelling) {
#define NNC_WEIGHT_ENCODING(NAME, SPELLINGS)                                   \
  if (auto made = make##NAME##Encoding(spelling))                              \
    return made;
#include "dialects/nn/encodings/encodings.inc"
#undef NNC_WEIGHT_ENCODING
  return nullptr;
}

const WeightEncoding *WeightEncoding::get(StringRef spelling) {
  static std::mutex guard;
  static llvm::StringMap<std::unique_ptr<WeightEncoding>> known;
  std::lock_guard<std::mutex> lock(guard);
  auto entry = known.find(spelling);
  if (entry != known.end())
    return entry->second.get();
  std::unique_ptr<WeightEncoding> made = makeEncoding(spelling);
  if (!made)
    return nullptr;
  return known.try_emplace(spelling, std::move(made)).first->second.get();
}

StringRef WeightEncoding::listSpellings() {
  return StringRef(""
#define NNC_WEIGHT_ENCODING(NAME, SPELLINGS) ", " SPELLINGS
#include "dialects/nn/encodings/encodings.inc"
#undef NNC_WEIGHT_ENCODING
                   )
      .drop_front(2);
}

std::pair<StringRef, const WeightEncoding *>
nn::splitLayoutName(StringRef name) {
  auto [blocks, spelling] = name.split('_');
  if (const WeightEncoding *encoding = WeightEncoding::get(spelling))
    return {blocks, encoding};
  return {name, nullptr};
}

//===----------------------------------------------------------------------===//
// #nn.encoding
//===----------------------------------------------------------------------===//

Attribute EncodingAttr::parse(AsmParser &parser, Type) {
  std::string spelling;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeywordOrString(&spelling) ||
      parser.parseGreater())
    return {};
  const WeightEncoding *encoding = WeightEncoding::get(spelling);
  if (!encoding) {
    parser.emitError(location, "'")
        << spelling << "' is not an encoding of weights; there are "
        << WeightEncoding::listSpellings();
    return {};
  }
  return get(parser.getContext(), encoding);
}

void EncodingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getWeightEncoding()->getSpelling() << ">";
}

//===----------------------------------------------------------------------===//
// Storing weights
//===----------------------------------------------------------------------===//

int64_t WeightEncoding::getIndependentRows(RankedTensorType type) const {
  LayoutAttr layout = getLayout(type);
  bool standTogether = layout.getOuterAxes().front() == 0;
  return standTogether ? layout.getBlockSize(0) : type.getDimSize(0);
}

/// Returns the number that `bits` is in a format of 16 bits.
static float widenHalf(const llvm::fltSemantics &format, uint16_t bits) {
  llvm::APFloat value(format, llvm::APInt(16, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToFloat();
}

/// Returns the bits of `value` rounded to a format of 16 bits.
static uint16_t roundToHalf(const llvm::fltSemantics &format, float value) {
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(format, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.bitcastToAPInt().getZExtValue();
}

template <class T>
static void storeBytes(RankedTensorType type, const char *elements,
                       char *stored) {
  EncodingAttr encoding = getLayout(type).getEncoding();
  RankedTensorType storedType = encoding->getStoredType(type);
  auto *bytes = reinterpret_cast<const T *>(elements);
  std::vector<float> weight(bytes, bytes + type.getNumElements()),
      values(storedType.getNumElements());
  encoding->encode(type, weight, values);
  std::vector<T> narrowed(values.begin(), values.end());
  packElements(storedType, reinterpret_cast<const char *>(narrowed.data()),
               stored);
}

/// Encodes the row-major `elements` of a weight, or of a part of one.
static void storePart(RankedTensorType type, const char *elements,
                      char *stored) {
  EncodingAttr encoding = getLayout(type).getEncoding();
  RankedTensorType storedType = encoding->getStoredType(type);
  if (type.getElementType().isUnsignedInteger(8))
    return storeBytes<uint8_t>(type, elements, stored);
  if (type.getElementType().isSignlessInteger(8))
    return storeBytes<int8_t>(type, elements, stored);
  const bool areHalves = isHalf(type.getElementType());
  const llvm::fltSemantics &format =
      cast<FloatType>(type.getElementType()).getFloatSemantics();
  std::vector<float> widened;
  if (areHalves) {
    auto *halves = reinterpret_cast<const uint16_t *>(elements);
    widened.resize(type.getNumElements());
    std::transform(halves, halves + widened.size(), widened.begin(),
                   [&](uint16_t bits) { return widenHalf(format, bits); });
  }
  ArrayRef<float> weight =
      areHalves ? ArrayRef<float>(widened)
                : ArrayRef<float>(reinterpret_cast<const float *>(elements),
                                  type.getNumElements());
  size_t count = storedType.getNumElements();
  if (!areHalves && !getLayout(storedType)) {
    encoding->encode(
        type, weight,
        MutableArrayRef<float>(reinterpret_cast<float *>(stored), count));
    return;
  }
  std::vector<float> values(count);
  encoding->encode(type, weight, values);
  auto *source = reinterpret_cast<const char *>(values.data());
  std::vector<uint16_t> rounded;
  if (areHalves) {
    rounded.resize(count);
    llvm::transform(values, rounded.begin(),
                    [&](float value) { return roundToHalf(format, value); });
    source = reinterpret_cast<const char *>(rounded.data());
  }
  packElements(storedType, source, stored);
}

void nn::storeWeight(RankedTensorType type, const TensorData &weight,
                     char *stored) {
  const char *elements = weight.getBytes().data();
  if (!isEncoded(type))
    return packElements(type, elements, stored);
  int64_t rows = type.getDimSize(0);
  int64_t step = getLayout(type).getEncoding()->getIndependentRows(type);
  int64_t rowBytes = weight.getBytes().size() / std::max<int64_t>(rows, 1);
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t row = 0; row < rows; row += step) {
    shape[0] = std::min(step, rows - row);
    RankedTensorType part = type.clone(shape);
    storePart(part, elements + row * rowBytes, stored);
    stored += getPhysicalBytes(part);
  }
}
