//===- Layout.cpp - The layout attribute and physical shapes --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/Transformed.h"

#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace mlir;
using namespace nnc::nn;

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

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name) {
  StringRef outer = getOuterLetters(name);
  auto order = getLogicalOrder(outer);
  if (outer.empty() || !order)
    return emitError() << "'" << name << "' does not name the axes of a layout";
  StringRef rest = dropTransform(name).drop_front(outer.size());
  if (getWinogradOutputs(name) && !llvm::is_contained(*order, 'S'))
    return emitError() << "'" << name
                       << "' transforms taps, which only a weight has";
  if ((isFolded(name) || getWinogradStride(name) > 1) && outer.size() != 4)
    return emitError() << "'" << name
                       << "' parts rows and columns, which only a weight of "
                          "four axes has";
  int blocks = 0;
  for (; !rest.empty(); ++blocks) {
    uint64_t size = 0;
    if (rest.consumeInteger(10, size) || size < 2 || size > 1024 ||
        rest.empty() || rest[0] < 'a' || rest[0] > 'z' ||
        getAxis(*order, rest[0]) == order->size())
      return emitError() << "'" << name
                         << "' has a block that is not a number from 2 to 1024 "
                            "and the letter of one of its axes";
    rest = rest.drop_front();
  }
  if ((getStrassenLevels(name) || getIntegerBits(name)) && blocks != 1)
    return emitError() << "'" << name << "' has not one block, of filters";
  if (getIntegerBits(name) && outer.size() != 2)
    return emitError() << "'" << name
                       << "' holds integers, which only a matrix may be";
  return success();
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
  if (shape.size() != getRank())
    return emitError() << "layout '" << getName() << "' has " << getRank()
                       << " axes, the tensor " << shape.size();
  if (getWinogradOutputs(getName())) {
    int64_t stride = getWinogradStride(getName());
    for (auto [taps, points] : llvm::drop_begin(
             llvm::zip(shape, getTransformedShape(shape, *this)), 2)) {
      int64_t most = llvm::divideCeil(points, stride);
      if (taps < stride || most > 8)
        return emitError() << "layout '" << getName() << "' has " << most
                           << " points along an axis of " << taps
                           << " taps; there can be up to 8";
    }
  }
  if (getIntegerBits(getName()) &&
      (!element.isF32() || getBlocks().front().size % 4 != 0))
    return emitError() << "layout '" << getName()
                       << "' holds floats as integers, in blocks of a multiple "
                          "of 4";
  int64_t parts = int64_t(1) << getStrassenLevels(getName());
  if (parts > 1 && (shape[0] % parts || shape[1] % parts ||
                    llvm::any_of(shape.drop_front(2),
                                 [](int64_t taps) { return taps > 1; })))
    return emitError() << "layout '" << getName() << "' cuts channels into "
                       << parts << " parts, of a weight of one tap";
  return success();
}

SmallVector<unsigned> LayoutAttr::getOuterAxes() const {
  StringRef outer = getOuterLetters(getName());
  SmallVector<char> order = *getLogicalOrder(outer);
  SmallVector<unsigned> axes;
  for (char letter : outer)
    axes.push_back(getAxis(order, letter));
  return axes;
}

SmallVector<LayoutAttr::Block> LayoutAttr::getBlocks() const {
  StringRef outer = getOuterLetters(getName());
  SmallVector<char> order = *getLogicalOrder(outer);
  SmallVector<Block> blocks;
  StringRef rest = dropTransform(getName()).drop_front(outer.size());
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
  return llvm::is_sorted(axes) && getBlocks().empty() &&
         !isTransformed(getName());
}

SmallVector<int64_t>
LayoutAttr::getPhysicalShape(ArrayRef<int64_t> shape) const {
  if (isTransformed(getName()))
    return getTransformedLayout(*this).getPhysicalShape(
        getTransformedShape(shape, *this));
  SmallVector<int64_t> physical;
  for (unsigned axis : getOuterAxes())
    physical.push_back(llvm::divideCeil(shape[axis], getBlockSize(axis)));
  for (Block block : getBlocks())
    physical.push_back(block.size);
  return physical;
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

StringRef nnc::nn::getLayoutName(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout ? layout.getName() : "plain";
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
  if (LayoutAttr layout = getLayout(type))
    return layout.getPhysicalShape(type.getShape());
  return llvm::to_vector(type.getShape());
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
  if (isTransformed(to) || isTransformed(from))
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
  StringRef outer = getOuterLetters(layout);
  auto order = getLogicalOrder(outer);
  if (tensor.getRank() != 3 || outer.size() != 4 || !order)
    return layout.str();
  std::string name;
  for (char letter : layout)
    if (letter != (*order)[2])
      name += letter;
  return name;
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
  return name + layout.drop_front(dropTransform(layout).size()).str();
}
