//===- GivenValues.cpp - Inputs that the user makes constants -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/GivenValues.h"

#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::frontends;

static SmallVector<StringRef> splitWords(const GivenValue &given) {
  SmallVector<StringRef> words;
  StringRef(given.text).split(words, ',');
  for (StringRef &word : words)
    word = word.trim();
  return words;
}

GivenShapes nnc::frontends::addShapesOfValues(GivenShapes shapes,
                                              ArrayRef<TensorInfo> inputs,
                                              const GivenValues &values) {
  for (const TensorInfo &input : inputs) {
    auto found = values.find(input.name);
    if (found == values.end() || shapes.count(input.name))
      continue;
    const GivenValue &given = found->second;
    auto isOpen = [](const Dim &dim) { return dim.size.value_or(0) == 0; };
    if (input.dims && !llvm::any_of(*input.dims, isOpen))
      continue;
    if (!given.dtype.empty())
      shapes[input.name] = given.shape;
    else if (input.dims && input.dims->size() == 1)
      shapes[input.name] = {static_cast<int64_t>(splitWords(given).size())};
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Returns the name that element types have for users, as in `nnc check`.
static std::string getDtype(Type element) {
  if (element.isInteger(1))
    return "bool";
  if (element.isBF16())
    return "bf16";
  if (auto integer = dyn_cast<IntegerType>(element))
    return (integer.isUnsigned() ? "u" : "i") +
           std::to_string(integer.getWidth());
  return "f" + std::to_string(element.getIntOrFloatBitWidth());
}

static std::optional<llvm::APInt> parseInteger(StringRef word,
                                               IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 1) {
    bool isTrue = word == "true" || word == "1";
    bool isBool = isTrue || word == "false" || word == "0";
    return isBool ? std::optional(llvm::APInt(8, isTrue)) : std::nullopt;
  }
  bool isNegative = word.consume_front("-");
  llvm::APInt value;
  if (word.getAsInteger(10, value))
    return std::nullopt;
  // An additional bit holds the sign, so that no value is lost.
  value = value.zext(std::max(value.getBitWidth(), width) + 1);
  if (isNegative)
    value.negate();
  bool fits = type.isUnsigned() ? !value.isNegative() && value.isIntN(width)
                                : value.isSignedIntN(width);
  return fits ? std::optional(value.trunc(width)) : std::nullopt;
}

static std::optional<llvm::APInt> parseFloat(StringRef word, FloatType type) {
  llvm::APFloat value(type.getFloatSemantics());
  auto status =
      value.convertFromString(word, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return std::nullopt;
  }
  if (*status & (llvm::APFloat::opOverflow | llvm::APFloat::opInvalidOp))
    return std::nullopt;
  return value.bitcastToAPInt();
}

/// Appends the bytes of a number, in the order of the machine's memory.
static void append(const llvm::APInt &bits, std::vector<char> &bytes) {
  uint64_t word = bits.getZExtValue();
  const char *first = reinterpret_cast<const char *>(&word);
  bytes.insert(bytes.end(), first, first + bits.getBitWidth() / 8);
}

ElementsAttr nnc::frontends::makeGivenValue(const TensorInfo &input,
                                            RankedTensorType type,
                                            const GivenValue &given,
                                            Problems &problems) {
  Location loc = problems.getLoc(input.name);
  Type element = type.getElementType();
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::unbound, loc)
        << "input '" << input.name << "' " << why;
    return ElementsAttr();
  };
  bool isFile = !given.dtype.empty();
  bool isCode = isa<IntegerType>(element) &&
                StringRef(input.elementName).starts_with("float");
  if (!element.isIntOrFloat() || (isCode && !isFile))
    return fail("has elements of type " + input.elementName +
                ", which --value cannot give as text");
  std::string wanted =
      getDtype(element) + " of shape " + toString(type.getShape());
  std::vector<char> bytes = given.bytes;
  if (isFile) {
    if (given.dtype != getDtype(element) ||
        ArrayRef(given.shape) != type.getShape())
      return fail("takes " + wanted + ", but " + given.text + " holds " +
                  given.dtype + " of shape " + toString(given.shape));
  } else {
    SmallVector<StringRef> words = splitWords(given);
    if (static_cast<int64_t>(words.size()) != type.getNumElements())
      return fail("takes " + wanted + ", so that --value has to give " +
                  Twine(type.getNumElements()) + " numbers, not " +
                  Twine(words.size()));
    for (StringRef word : words) {
      auto integer = dyn_cast<IntegerType>(element);
      auto bits = integer ? parseInteger(word, integer)
                          : parseFloat(word, cast<FloatType>(element));
      if (!bits)
        return fail("takes " + wanted + "; '" + word.str() +
                    "' is no number of that type");
      append(*bits, bytes);
    }
  }
  return makeElements(type, input.name,
                      HeapAsmResourceBlob::allocateAndCopyWithAlign(
                          ArrayRef<char>(bytes), alignof(std::max_align_t)));
}
