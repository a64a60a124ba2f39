//===- Layout.cpp - The layout attribute and physical shapes --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"
#include "dialects/nn/encodings/WeightEncoding.h"

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

/// The orders of logical axes, each as the letters that name the axes in a
/// layout.
static constexpr llvm::StringLiteral kLogicalOrders[] = {"NCHW", "KCRS", "NCW",
                                                         "KCS", "KN"};

/// Returns the logical order of the letters in `outer`: the order of the table
/// that has exactly these letters, or consecutive letters from A. Returns
/// nullopt if there is none.
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

/// Checks the part of a layout's name in front of an encoding. It may be empty
/// (rank 0) only for a tensor on a device.
static LogicalResult
verifyBlocked(StringRef name, bool mayBeEmpty,
              function_ref<InFlightDiagnostic()> emitError) {
  if (name.contains('_'))
    return emitError() << "'" << name << "' ends in '" << name.split('_').second
                       << "', which is not an encoding of weights; there are "
                       << WeightEncoding::listSpellings();
  StringRef outer = getOuterLetters(name);
  auto order = getLogicalOrder(outer);
  if ((outer.empty() && !mayBeEmpty) || !order)
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
                                 StringRef blocked, EncodingAttr encoding,
                                 StringRef device) {
  if (failed(verifyBlocked(blocked, !device.empty(), emitError)))
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

/// Returns the spelling of row-major order for a tensor of this rank on a
/// device.
static std::string spellRowMajor(unsigned rank) {
  if (rank == 3 || rank == 4)
    return rank == 3 ? "NCW" : "NCHW";
  std::string letters(rank, 'A');
  std::iota(letters.begin(), letters.end(), 'A');
  return letters;
}

LayoutAttr LayoutAttr::onDevice(StringRef device) const {
  if (device.empty() || !isPlain())
    return get(getContext(), getBlocked(), getEncoding(), device);
  return get(getContext(), spellRowMajor(getRank()), EncodingAttr(), device);
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string name, device;
  if (parser.parseLess() || parser.parseKeywordOrString(&name))
    return {};
  bool isOnDevice = succeeded(parser.parseOptionalKeyword("on"));
  if ((isOnDevice && parser.parseKeywordOrString(&device)) ||
      parser.parseGreater())
    return {};
  auto [blocked, encoding] = split(parser.getContext(), name);
  auto layout = parser.getChecked<LayoutAttr>(parser.getContext(), blocked,
                                              encoding, StringRef(device));
  return layout ? layout.onDevice(device) : layout;
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printKeywordOrString(getName());
  if (!getDevice().empty()) {
    printer << " on ";
    printer.printKeywordOrString(getDevice());
  }
  printer << ">";
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

/// Returns the layout attribute of a type, including its device, or null.
static LayoutAttr getAttr(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

LayoutAttr nnc::nn::getLayout(Type type) {
  LayoutAttr layout = getAttr(type);
  if (!layout || layout.getDevice().empty())
    return layout;
  return layout.isPlain() ? LayoutAttr() : layout.onDevice("");
}

StringRef nnc::nn::getDevice(Type type) {
  LayoutAttr layout = getAttr(type);
  return layout ? layout.getDevice() : StringRef();
}

std::string nnc::nn::getLayoutName(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout ? layout.getName() : "plain";
}

bool nnc::nn::isEncoded(Type type) {
  LayoutAttr layout = getLayout(type);
  return layout && layout.getEncoding();
}

/// Returns the logical type of `type` with the layout `order`, or row-major if
/// that is null, on `device`.
static RankedTensorType makeType(RankedTensorType type, LayoutAttr order,
                                 StringRef device) {
  if (order && order.isPlain())
    order = {};
  if (!device.empty() && !order)
    order = LayoutAttr::get(type.getContext(), spellRowMajor(type.getRank()),
                            EncodingAttr(), device);
  if (order)
    order = order.onDevice(device);
  return RankedTensorType::get(type.getShape(), type.getElementType(), order);
}

RankedTensorType nnc::nn::withLayout(RankedTensorType type, LayoutAttr layout) {
  bool moves = layout && !layout.getDevice().empty();
  return makeType(type, layout, moves ? layout.getDevice() : getDevice(type));
}

RankedTensorType nnc::nn::withLayout(RankedTensorType type, StringRef layout) {
  if (layout.empty() || layout == "plain" || layout == "any")
    return inRowMajor(type);
  return withLayout(type, LayoutAttr::get(type.getContext(), layout));
}

RankedTensorType nnc::nn::inRowMajor(RankedTensorType type) {
  return withLayout(type, LayoutAttr());
}

RankedTensorType nnc::nn::onDevice(RankedTensorType type, StringRef device) {
  return makeType(type, getLayout(type), device);
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
/// A physical dimension with more than one step. Neighbouring dimensions that
/// step through the same axis with a common stride are merged.
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
  if (isEncoded(to) || isEncoded(from) || getDevice(to) != getDevice(from))
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
  // A layout with blocks of rows, or an encoding that needs rows, does not fit
  // a tensor with one spatial axis.
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
