//===- Layer.cpp - What a converter sees of a node ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Layer.h"

#include "dialects/nn/elementwise/Broadcast.h"
#include "frontends/common/Fold.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::tensorflow;

Layer::Layer(GraphImporter &importer, const pb::NodeDef &node,
             ArrayRef<Passed> inputs, Location loc, StringRef op)
    : LayerBuilder(importer.getBuilder(), importer.getProblems(), loc, op),
      importer(importer), node(node), inputs(inputs) {
  keepsEmpty = importer.keepsEmpty();
}

//===----------------------------------------------------------------------===//
// Inputs and results
//===----------------------------------------------------------------------===//

Value Layer::getInput(size_t i) {
  static constexpr StringLiteral kKinds[] = {"nothing",
                                             "a tensor",
                                             "complex numbers",
                                             "a list of tensors",
                                             "a variable",
                                             "a lookup table",
                                             "the bits of floats",
                                             "strings",
                                             "a branch not taken"};
  if (i >= inputs.size())
    return broken("lacks input " + Twine(i));
  const Passed &input = inputs[i];
  if (input.isTensor())
    return input.value;
  if (input.kind == Passed::text)
    return unsupported("reads " + input.name +
                       ", which is made of strings, with which nnc does not "
                       "compute; save a signature that takes this tensor of "
                       "numbers in place of the strings");
  return unsupported("reads " + kKinds[input.kind] + " as input " + Twine(i) +
                     ", where nnc handles a tensor of numbers");
}

SmallVector<Value> Layer::getTensors(size_t first, size_t count) {
  SmallVector<Value> values;
  for (size_t i = first; i < first + count; ++i) {
    values.push_back(getInput(i));
    if (!values.back())
      return {};
  }
  return values;
}

Value Layer::foldKnown(Value x) {
  constexpr size_t mostOps = 256;
  constexpr int64_t mostElements = 1024;
  SmallVector<Operation *> ops;
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> open = {x};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next ? next.getDefiningOp() : nullptr;
    if (!op || op->getNumResults() != 1 || ops.size() > mostOps ||
        getNumElements(next) > mostElements || op->getNumRegions() > 0)
      return x;
    if (isa<nn::ConstantOp>(op) || !seen.insert(op).second)
      continue;
    ops.push_back(op);
    llvm::append_range(open, op->getOperands());
  }
  // Operands stand in front of their readers in the block.
  llvm::sort(ops, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
  });
  OpBuilder &builder = importer.getBuilder();
  for (Operation *op : ops) {
    ElementsAttr value = foldConstants(op, "");
    if (!value)
      return x;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(op);
    Value known = builder.create<nn::ConstantOp>(op->getLoc(), value);
    bool isLast = op == x.getDefiningOp();
    op->getResult(0).replaceAllUsesWith(known);
    if (isLast)
      return known;
  }
  return x;
}

std::optional<int64_t> Layer::readAxis(size_t i, int64_t rank) {
  auto axes = readInts(getInput(i), "an axis");
  if (!axes)
    return std::nullopt;
  if (axes->size() == 1)
    return normalizeAxis((*axes)[0], rank);
  broken("needs one axis, not " + Twine(axes->size()));
  return std::nullopt;
}

void Layer::setPassed(size_t i, const Passed &passed) {
  if (results.size() <= i)
    results.resize(i + 1);
  results[i] = passed;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const pb::AttrValue *Layer::findAttribute(StringRef name) const {
  auto found = node.attr().find(name.str());
  return found == node.attr().end() ? nullptr : &found->second;
}

int64_t Layer::getInt(StringRef name, int64_t otherwise) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute ? attribute->i() : otherwise;
}

double Layer::getReal(StringRef name, double otherwise) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute ? attribute->f() : otherwise;
}

bool Layer::getBool(StringRef name, bool otherwise) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute ? attribute->b() : otherwise;
}

StringRef Layer::getText(StringRef name, StringRef otherwise) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute ? StringRef(attribute->s()) : otherwise;
}

SmallVector<StringRef> Layer::getTexts(StringRef name) const {
  SmallVector<StringRef> texts;
  if (const pb::AttrValue *attribute = findAttribute(name))
    for (const std::string &text : attribute->list().s())
      texts.push_back(text);
  return texts;
}

Sizes Layer::getInts(StringRef name) const {
  const pb::AttrValue *attribute = findAttribute(name);
  if (!attribute)
    return {};
  return {attribute->list().i().begin(), attribute->list().i().end()};
}

SmallVector<double> Layer::getReals(StringRef name) const {
  const pb::AttrValue *attribute = findAttribute(name);
  if (!attribute)
    return {};
  return {attribute->list().f().begin(), attribute->list().f().end()};
}

Type Layer::getType(StringRef name, pb::DataType otherwise) {
  const pb::AttrValue *attribute = findAttribute(name);
  pb::DataType type = attribute ? attribute->type() : otherwise;
  Type element = getElementType(getLoc().getContext(), type);
  if (!element)
    unsupported("has the type " + getTypeName(type) +
                ", which nnc does not handle");
  return getComputedType(element);
}

Type Layer::getHalf(StringRef name) const {
  const pb::AttrValue *attribute = findAttribute(name);
  Type element = attribute
                     ? getElementType(getLoc().getContext(), attribute->type())
                     : Type();
  return element && nn::isHalf(element) ? element : Type();
}

std::optional<Sizes> Layer::getSizes(StringRef name) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute && attribute->has_shape() ? readShape(attribute->shape())
                                             : std::nullopt;
}

const pb::TensorProto *Layer::getTensor(StringRef name) const {
  const pb::AttrValue *attribute = findAttribute(name);
  return attribute && attribute->has_tensor() ? &attribute->tensor() : nullptr;
}

StringRef Layer::getFunction(StringRef name) const {
  return tensorflow::getFunction(node, name);
}

SmallVector<StringRef> Layer::getFunctions(StringRef name) const {
  SmallVector<StringRef> names;
  if (const pb::AttrValue *attribute = findAttribute(name))
    for (const pb::NameAttrList &function : attribute->list().func())
      names.push_back(function.name());
  return names;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

NamedAttribute Layer::real(StringRef name, double value) {
  return getBuilder().getNamedAttr(name, getBuilder().getF64FloatAttr(value));
}

Value Layer::slice(Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> steps) {
  SmallVector<int64_t> ones(starts.size(), 1);
  if (x && steps.empty() && getShape(x) == sizes)
    return x;
  return create<nn::SliceOp>(x, starts, sizes,
                             steps.empty() ? ArrayRef<int64_t>(ones) : steps);
}

Value Layer::vectorOf(ArrayRef<int64_t> values, Type element) {
  return castTo(constant(values), element);
}

/// Returns the order of axes that moves the last of `rank` axes to the second
/// place.
static Sizes getOrder(int64_t rank) {
  Sizes order = iota(rank);
  order.insert(order.begin() + 1, order.back());
  order.pop_back();
  return order;
}

static Sizes invert(ArrayRef<int64_t> order) {
  Sizes inverse(order.size());
  for (auto [i, axis] : llvm::enumerate(order))
    inverse[axis] = int64_t(i);
  return inverse;
}

Value Layer::getChannelsFirst(Value x) {
  auto transpose = x ? x.getDefiningOp<nn::TransposeOp>() : nn::TransposeOp();
  int64_t rank = getRank(x);
  if (!transpose || rank < 3 ||
      transpose.getPermutation() != ArrayRef<int64_t>(invert(getOrder(rank))))
    return {};
  return transpose.getX();
}

Value Layer::toChannelsFirst(Value x) {
  if (!x)
    return {};
  if (Value image = getChannelsFirst(x))
    return image;
  return transpose(x, getOrder(getRank(x)));
}

Value Layer::toChannelsLast(Value x) {
  return x ? transpose(x, invert(getOrder(getRank(x)))) : Value();
}

/// Returns `x`, which broadcasts to an image of `rank` axes with the channels
/// last, in the order with the channels second; null if that takes a transpose
/// of more than a constant.
static Value reorder(Layer &layer, Value x, int64_t rank) {
  if (Value image = Layer::getChannelsFirst(x); image && getRank(x) == rank)
    return image;
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.empty())
    return x;
  bool isVector =
      llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; });
  if (isVector && getRank(x) <= rank) {
    Sizes sizes(rank - 1, 1);
    sizes[0] = shape.back();
    return layer.reshape(x, sizes);
  }
  // A factor for each sample and channel, as of squeeze and excite.
  bool isChannels = getRank(x) == rank &&
                    llvm::all_of(shape.drop_front().drop_back(),
                                 [](int64_t size) { return size == 1; });
  if (isChannels) {
    Sizes sizes(rank, 1);
    sizes[0] = shape.front();
    sizes[1] = shape.back();
    return layer.reshape(x, sizes);
  }
  return x.getDefiningOp<nn::ConstantOp>() && getRank(x) == rank
             ? layer.transpose(x, getOrder(rank))
             : Value();
}

Value Layer::elementwise(StringRef name, ArrayRef<Value> operands,
                         ArrayRef<NamedAttribute> attributes) {
  if (operands.empty() || llvm::is_contained(operands, Value()))
    return {};
  int64_t rank = 0;
  bool isImage = false;
  for (Value x : operands) {
    rank = std::max(rank, getRank(x));
    isImage |= bool(getChannelsFirst(x));
  }
  if (isImage) {
    SmallVector<Value> images;
    for (Value x : operands)
      images.push_back(reorder(*this, x, rank));
    if (!llvm::is_contained(images, Value()))
      return toChannelsLast(createElementwise(name, images, attributes));
  }
  return createElementwise(name, operands, attributes);
}
