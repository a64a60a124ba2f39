//===- Layout.cpp - The layout attribute and physical shapes --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/WeightEncoding.h"

#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace mlir;
using namespace nnc::nn;

int64_t nnc::nn::product(ArrayRef<int64_t> dims) {
  int64_t result = 1;
  for (int64_t dim : dims)
    result *= dim;
  return result;
}

/// The orders in which layout letters name logical axes.
static constexpr llvm::StringLiteral kLogicalOrders[] = {"NCHW", "KCRS", "NCW",
                                                         "KCS", "KN"};

/// The logical order of the letters in `outer`, or nullopt: one of the table's
/// orders with just these letters, else consecutive letters from A.
static std::optional<SmallVector<char>> getLogicalOrder(StringRef outer) {
  auto hasLetters = [&](auto &order) {
    return std::is_permutation(outer.begin(), outer.end(), order.begin(),
                               order.end());
  };
  for (StringRef order : kLogicalOrders)
    if (hasLetters(order))
      return SmallVector<char>(order.begin(), order.end());
  SmallVector<char> letters(outer.size());
  std::iota(letters.begin(), letters.end(), 'A');
  if (!hasLetters(letters))
    return std::nullopt;
  return letters;
}

static StringRef getOuterLetters(StringRef name) {
  return name.take_while([](char c) { return c >= 'A' && c <= 'Z'; });
}

static unsigned getAxis(ArrayRef<char> order, char letter) {
  return llvm::find(order, llvm::toUpper(letter)) - order.begin();
}

/// Checks the part of a layout's name in front of an encoding.
static LogicalResult
verifyBlocked(StringRef name, function_ref<InFlightDiagnostic()> emitError) {
  if (name.contains('_'))
    return emitError() << "'" << name << "' ends in '" << name.split('_').second
                       << "', which is not an encoding of weights; there are "
                       << WeightEncoding::listSpellings();
  StringRef outer = getOuterLetters(name);
  auto order = getLogicalOrder(outer);
  if (outer.empty() || !order)
    return emitError() << "'" << name << "' does not name the axes of a layout";
  StringRef rest = name.drop_front(outer.size());
  while (!rest.empty()) {
    uint64_t size = 0;
    if (rest.consumeInteger(10, size) || size < 2 || size > 1024 ||
        rest.empty() || rest[0] < 'a' || rest[0] > 'z' ||
        getAxis(*order, rest[0]) == order->size())
      return emitError() << "'" << name
                         << "' has a block that is not a number from 2 to 1024 "
                            "and the letter of one of its axes";
    rest = rest.drop_front();
  }
  return success();
}

static std::string joinName(StringRef blocked, EncodingAttr encoding) {
  std::string name = blocked.str();
  if (encoding)
    name += "_" + encoding->getSpelling().str();
  return name;
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef blocked, EncodingAttr encoding) {
  if (failed(verifyBlocked(blocked, emitError)))
    return failure();
  if (!encoding)
    return success();
  auto layout = get(encoding.getContext(), blocked, EncodingAttr());
  return encoding->verifyBlocks(layout, [&]() -> InFlightDiagnostic {
    return emitError() << "'" << joinName(blocked, encoding) << "' ";
  });
}

std::pair<StringRef, EncodingAttr> LayoutAttr::split(MLIRContext *context,
                                                     StringRef name) {
  auto [blocked, encoding] = splitLayoutName(name);
  return {blocked,
          encoding ? EncodingAttr::get(context, encoding) : EncodingAttr()};
}

std::string LayoutAttr::getName() const {
  return joinName(getBlocked(), getEncoding());
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string name;
  if (parser.parseLess() || parser.parseKeywordOrString(&name) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<LayoutAttr>(parser.getContext(), StringRef(name));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName() << ">";
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                           function_ref<InFlightDiagnostic()> emitError) const {
  auto emitNamed = [&]() -> InFlightDiagnostic {
    return emitError() << "layout '" << getName() << "' ";
  };
  if (shape.size() != getRank())
    return emitNamed() << "has " << getRank() << " axes, the tensor "
                       << shape.size();
  if (!getEncoding())
    return success();
  if (!getEncoding()->takes(element))
    return emitNamed() << "does not encode elements of type " << element;
  return getEncoding()->verify(*this, shape, element, emitNamed);
}

std::string LayoutAttr::getAxisLetters() const {
  SmallVector<char> order = *getLogicalOrder(getOuterLetters(getBlocked()));
  return std::string(order.begin(), order.end());
}

SmallVector<unsigned> LayoutAttr::getOuterAxes() const {
  StringRef outer = getOuterLetters(getBlocked());
  SmallVector<char> order = *getLogicalOrder(outer);
  SmallVector<unsigned> axes;
  for (char letter : outer)
    axes.push_back(getAxis(order, letter));
  return axes;
}

SmallVector<LayoutAttr::Block> LayoutAttr::getBlocks() const {
  StringRef outer = getOuterLetters(getBlocked());
  SmallVector<char> order = *getLogicalOrder(outer);
  SmallVector<Block> blocks;
  StringRef rest = getBlocked().drop_front(outer.size());
  while (!rest.empty()) {
    Block block;
    rest.consumeInteger(10, block.size);
    block.axis = getAxis(order, rest[0]);
    rest = rest.drop_front();
    blocks.push_back(block);
  }
  return blocks;
}

int64_t LayoutAttr::getBlockSize(unsigned axis) const {
  int64_t size = 1;
  for (Block block : getBlocks())
    if (block.axis == axis)
      size *= block.size;
  return size;
}

bool LayoutAttr::isPlain() const {
  SmallVector<unsigned> axes = getOuterAxes();
  return llvm::is_sorted(axes) && getBlocks().empty() && !getEncoding();
}

SmallVector<std::pair<unsigned, int64_t>> LayoutAttr::getPhysicalSteps() const {
  SmallVector<std::pair<unsigned, int64_t>> steps;
  for (unsigned axis : getOuterAxes())
    steps.push_back({axis, getBlockSize(axis)});
  SmallVector<Block> blocks = getBlocks();
  for (size_t i = 0; i < blocks.size(); ++i) {
    int64_t inner = 1;
    for (size_t j = i + 1; j < blocks.size(); ++j)
      if (blocks[j].axis == blocks[i].axis)
        inner *= blocks[j].size;
    steps.push_back({blocks[i].axis, inner});
  }
  return steps;
}

LayoutAttr nnc::nn::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

std::string nnc::nn::getLayoutName(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout ? layout.getName() : "plain";
}

bool nnc::nn::isEncoded(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout && layout.getEncoding();
}

RankedTensorType nnc::nn::withLayout(RankedTensorType type, LayoutAttr layout) {
  if (layout && layout.isPlain())
    layout = {};
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

RankedTensorType nnc::nn::withLayout(RankedTensorType type, StringRef layout) {
  if (layout.empty() || layout == "plain" || layout == "any")
    return getLogicalType(type);
  return withLayout(type, LayoutAttr::get(type.getContext(), layout));
}

RankedTensorType nnc::nn::getLogicalType(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

SmallVector<int64_t> nnc::nn::getPhysicalShape(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return llvm::to_vector(type.getShape());
  if (EncodingAttr encoding = layout.getEncoding())
    return getPhysicalShape(encoding->getStoredType(type));
  SmallVector<int64_t> physical;
  for (unsigned axis : layout.getOuterAxes())
    physical.push_back(
        llvm::divideCeil(type.getDimSize(axis), layout.getBlockSize(axis)));
  for (LayoutAttr::Block block : layout.getBlocks())
    physical.push_back(block.size);
  return physical;
}

int64_t nnc::nn::getPhysicalElements(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t dim : getPhysicalShape(type))
    elements *= dim;
  return elements;
}

int64_t nnc::nn::getElementBytes(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

int64_t nnc::nn::getPhysicalBytes(RankedTensorType type) {
  return getPhysicalElements(type) * getElementBytes(type.getElementType());
}

bool nnc::nn::areRowMajor(ArrayRef<RankedTensorType> types,
                          RankedTensorType andThis) {
  return !getLayout(andThis) &&
         llvm::none_of(types, [](Type type) { return getLayout(type); });
}

namespace {
/// A physical dimension of more than one step; neighbours that walk one axis
/// evenly are one.
struct Walk {
  unsigned axis;
  int64_t step, size;
};
} // namespace

static SmallVector<Walk> getWalks(RankedTensorType type) {
  SmallVector<std::pair<unsigned, int64_t>> steps;
  if (LayoutAttr layout = getLayout(type))
    steps = layout.getPhysicalSteps();
  else
    for (unsigned axis = 0; axis < type.getRank(); ++axis)
      steps.push_back({axis, 1});
  SmallVector<Walk> walks;
  for (auto [entry, size] : llvm::zip(steps, getPhysicalShape(type))) {
    auto [axis, step] = entry;
    if (size == 1)
      continue;
    if (!walks.empty() && walks.back().axis == axis &&
        walks.back().step == step * size)
      walks.back() = {axis, step, walks.back().size * size};
    else
      walks.push_back({axis, step, size});
  }
  return walks;
}

bool nnc::nn::isViewOf(RankedTensorType to, RankedTensorType from) {
  if (isEncoded(to) || isEncoded(from))
    return false;
  SmallVector<Walk> target = getWalks(to), source = getWalks(from);
  if (target.size() != source.size())
    return false;
  for (size_t i = 0; i < target.size(); ++i) {
    bool fits = i == 0 ? target[i].size <= source[i].size
                       : target[i].size == source[i].size;
    if (target[i].axis != source[i].axis || target[i].step != source[i].step ||
        !fits)
      return false;
  }
  return true;
}

unsigned nnc::nn::getOuterDim(RankedTensorType type, unsigned axis) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return axis;
  SmallVector<unsigned> axes = layout.getOuterAxes();
  return llvm::find(axes, axis) - axes.begin();
}

int64_t nnc::nn::getBlockSize(RankedTensorType type, unsigned axis) {
  LayoutAttr layout = getLayout(type);
  return layout ? layout.getBlockSize(axis) : 1;
}

bool nnc::nn::isPadded(RankedTensorType type) {
  return getPhysicalElements(type) != type.getNumElements();
}

std::string nnc::nn::spellImageLayout(StringRef layout, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto [blocked, encoding] = splitLayoutName(layout);
  StringRef outer = getOuterLetters(blocked);
  auto order = getLogicalOrder(outer);
  if (tensor.getRank() != 3 || outer.size() != 4 || !order)
    return layout.str();
  // A layout with blocks of rows, or an encoding of them, fits no tensor
  // without rows.
  if (blocked.contains(llvm::toLower((*order)[2])) ||
      (encoding && encoding->needsRows()))
    return layout.str();
  std::string name;
  for (char letter : blocked)
    if (letter != (*order)[2])
      name += letter;
  return name + layout.drop_front(blocked.size()).str();
}

std::string nnc::nn::renameAxes(StringRef layout, ArrayRef<unsigned> axes,
                                unsigned rank, MLIRContext *context) {
  auto source = LayoutAttr::get(context, layout);
  std::string name;
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      name += static_cast<char>('A' + axis);
  for (unsigned axis : source.getOuterAxes())
    name += static_cast<char>('A' + axes[axis]);
  for (LayoutAttr::Block block : source.getBlocks())
    name +=
        std::to_string(block.size) + static_cast<char>('a' + axes[block.axis]);
  return joinName(name, source.getEncoding());
}
