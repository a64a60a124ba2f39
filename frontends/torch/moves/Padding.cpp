//===- Padding.cpp - Padding, and differences of neighbours ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

/// Returns true if numbers of the list `name` may be others at other sizes of
/// the program's inputs.
static bool isOfSizes(Node &node, StringRef name) {
  if (!node.getImporter().getOptions().isSample)
    return false;
  for (const json::Value &entry : getList(node.getJson(), "inputs")) {
    const json::Object *input = entry.getAsObject();
    const json::Object *argument = input ? input->getObject("arg") : nullptr;
    if (argument && input->getString("name") == name)
      return argument->getArray("as_sym_ints") != nullptr;
  }
  return false;
}

/// Returns `x` padded. The argument `pad` has two numbers for each axis, the
/// last axis first.
static Value pad(Node &node, Value x, nn::PadMode mode, StringRef name,
                 double value) {
  SmallVector<int64_t> given = node.getInts(name);
  int64_t rank = getRank(x);
  if (!x)
    return {};
  if (given.size() % 2 || int64_t(given.size()) > 2 * rank)
    return node.broken("has " + Twine(given.size()) + " pads for " +
                       Twine(rank) + " axes");
  SmallVector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < given.size() / 2; ++i) {
    int64_t axis = rank - 1 - int64_t(i);
    for (auto [place, amount] : {std::pair(axis, given[2 * i]),
                                 std::pair(rank + axis, given[2 * i + 1])}) {
      if (amount > INT32_MAX || amount < -getShape(x)[axis])
        return node.broken("has a pad of " + Twine(amount));
      pads[place] = amount;
    }
    int64_t size = getShape(x)[axis],
            most = std::max(given[2 * i], given[2 * i + 1]);
    if ((mode == nn::PadMode::reflect && most >= size) ||
        (mode == nn::PadMode::wrap && most > size))
      return node.broken("has a pad of " + Twine(most) + " for an axis of " +
                         Twine(size));
  }
  bool varies = isOfSizes(node, name);
  if (!varies && llvm::all_of(pads, [](int64_t amount) { return amount == 0; }))
    return x;
  Value y = node.create<nn::PadOp>(mode, x, ArrayRef<int64_t>(pads),
                                   llvm::APFloat(value));
  // The mark keeps passes from removing a pad that adds nothing at some sizes:
  // the network has to have the same ops at all sizes.
  if (auto op = y ? y.getDefiningOp<nn::PadOp>() : nullptr; op && varies)
    op->setAttr(nn::kVariesAttr, node.getBuilder().getUnitAttr());
  return y;
}

/// Returns how the elements `places` of an axis of `size` elements pad it: the
/// mode, and the numbers of elements in front and behind; nullopt if they do
/// not.
static std::optional<std::tuple<nn::PadMode, int64_t, int64_t>>
readPad(ArrayRef<int64_t> places, int64_t size) {
  const int64_t count = places.size(), all = count - size;
  if (size < 2 || all <= 0)
    return std::nullopt;
  int64_t front = 0;
  auto isWhole = [&] {
    return llvm::all_of(llvm::enumerate(places.slice(front, size)), [](auto i) {
      return i.value() == static_cast<int64_t>(i.index());
    });
  };
  while (front <= all && !isWhole())
    ++front;
  const int64_t most = std::max(front, all - front);
  for (nn::PadMode mode :
       {nn::PadMode::reflect, nn::PadMode::edge, nn::PadMode::wrap}) {
    // Two elements padded by their neighbours are also two elements twice each,
    // as an upsampling has them.
    if (mode == nn::PadMode::edge ? size == 2
                                  : most > size - (mode != nn::PadMode::wrap))
      continue;
    auto expect = [&](int64_t place) {
      return mode == nn::PadMode::edge ? std::clamp<int64_t>(place, 0, size - 1)
             : mode == nn::PadMode::wrap ? (place + size) % size
             : place < size              ? std::abs(place)
                                         : 2 * (size - 1) - place;
    };
    if (front <= all && llvm::all_of(llvm::enumerate(places), [&](auto i) {
          return i.value() == expect(static_cast<int64_t>(i.index()) - front);
        }))
      return std::tuple(mode, front, all - front);
  }
  return std::nullopt;
}

Value takeIndices(Node &node, Value x, Value indices, int64_t axis) {
  if (!x || !indices)
    return {};
  auto known = getRank(indices) == 1 ? readElements(indices) : std::nullopt;
  auto found = known ? readPad(known->ints, getShape(x)[axis]) : std::nullopt;
  if (!found)
    return node.create<nn::GatherOp>(x, indices, axis);
  auto [mode, front, behind] = *found;
  SmallVector<int64_t> pads(2 * getRank(x), 0);
  pads[axis] = front;
  pads[getRank(x) + axis] = behind;
  return node.create<nn::PadOp>(mode, x, ArrayRef<int64_t>(pads),
                                llvm::APFloat(0.0));
}

Value convertConstantPad(Node &node) {
  return pad(node, node.getTensor("self"), nn::PadMode::constant, "pad",
             node.getFloat("value", 0));
}

Value convertPad(Node &node) {
  Value x = node.getTensor("self");
  StringRef mode = node.getString("mode", "constant");
  nn::PadMode kind = nn::PadMode::constant;
  if (mode == "reflect")
    kind = nn::PadMode::reflect;
  else if (mode == "replicate")
    kind = nn::PadMode::edge;
  else if (mode == "circular")
    kind = nn::PadMode::wrap;
  else if (mode != "constant")
    return node.broken("has the mode '" + mode + "'");
  return pad(node, x, kind, "pad", node.getFloat("value", 0));
}

Value convertReflectionPad(Node &node) {
  return pad(node, node.getTensor("self"), nn::PadMode::reflect, "padding", 0);
}
Value convertReplicationPad(Node &node) {
  return pad(node, node.getTensor("self"), nn::PadMode::edge, "padding", 0);
}

/// Converts diff: the differences of neighbours along an axis, n times.
Value convertDiff(Node &node) {
  Value x = node.getTensor("self");
  auto axis = node.getAxis("dim", getRank(x), -1);
  int64_t times = node.getInt("n", 1);
  if (!x || !axis || getRank(x) == 0)
    return {};
  SmallVector<Value> parts;
  if (Value before = node.getOptionalTensor("prepend"))
    parts.push_back(before);
  parts.push_back(x);
  if (Value behind = node.getOptionalTensor("append"))
    parts.push_back(behind);
  if (parts.size() > 1)
    x = node.create<nn::ConcatOp>(ValueRange(parts), *axis);
  for (int64_t i = 0; x && i < times; ++i) {
    int64_t size = getShape(x)[*axis];
    if (size == 0)
      return x;
    bool isBool = getElement(x).isInteger(1);
    x = node.createElementwise(
        isBool ? "logical_xor" : "sub",
        {node.slice(x, *axis, 1, size - 1), node.slice(x, *axis, 0, size - 1)});
  }
  return x;
}

/// Converts pad_sequence: tensors of different lengths as one, the shorter ones
/// padded at the end or in front.
Value convertPadSequence(Node &node) {
  SmallVector<Value> tensors = node.getTensors("sequences");
  if (tensors.empty() || llvm::is_contained(tensors, Value()))
    return node.hasFailed() ? Value() : node.broken("has no tensors");
  int64_t longest = 0;
  for (Value tensor : tensors) {
    if (getRank(tensor) == 0)
      return node.broken("has a scalar among its sequences");
    longest = std::max(longest, getShape(tensor)[0]);
  }
  int64_t axis = node.getBool("batch_first") ? 0 : 1;
  bool isInFront = node.getString("padding_side", "right") == "left";
  for (Value &tensor : tensors) {
    SmallVector<int64_t> rest(getShape(tensor));
    rest[0] = longest - rest[0];
    Value padding =
        node.splat(node.getFloat("padding_value", 0), getElement(tensor), rest);
    if (rest[0] > 0)
      tensor = node.create<nn::ConcatOp>(
          isInFront ? ValueRange{padding, tensor} : ValueRange{tensor, padding},
          int64_t(0));
    tensor = tensor ? node.unsqueeze(tensor, axis) : tensor;
    if (!tensor)
      return {};
  }
  return tensors.size() == 1
             ? tensors[0]
             : node.create<nn::ConcatOp>(ValueRange(tensors), axis);
}

} // namespace nnc::torch
