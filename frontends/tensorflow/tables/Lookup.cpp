//===- Lookup.cpp - Lookups in tables of numbers --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Elements.h"
#include "frontends/tensorflow/graph/Layer.h"
#include "frontends/tensorflow/tables/Contents.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

/// Passes on that a result is made of strings; the node that reads it as a
/// tensor of numbers reports it.
static Value passText(Layer &layer) {
  layer.setPassed(
      0, {Passed::text,
          {},
          "'" + layer.getNode().name() + "' of " + layer.getNode().op()});
  return {};
}

Value convertTable(Layer &layer) {
  if (!isNumberTable(layer.getNode()))
    return passText(layer);
  layer.setPassed(0, {Passed::table, {}, layer.getNode().name()});
  return {};
}

namespace {
/// The entries of a table, in the ascending order of its keys.
struct SortedTable {
  Elements keys, values;
};
} // namespace

/// Returns `elements` in the order `order`, as a vector.
static Elements reorder(const Elements &elements, ArrayRef<int64_t> order) {
  Elements sorted = elements;
  sorted.type = RankedTensorType::get({int64_t(order.size())},
                                      elements.type.getElementType());
  sorted.ints.clear();
  sorted.reals.clear();
  for (int64_t i : order) {
    if (elements.isReal())
      sorted.reals.push_back(elements.reals[i]);
    else
      sorted.ints.push_back(elements.ints[i]);
  }
  return sorted;
}

/// Returns the entries of the table that is input 0; nullopt after an error.
static std::optional<SortedTable> readTable(Layer &layer) {
  constexpr int64_t mostEntries = 1 << 24;
  if (layer.getPassed(0).kind != Passed::table) {
    layer.broken("needs a lookup table as input 0");
    return std::nullopt;
  }
  StringRef name = layer.getPassed(0).name;
  GraphImporter &importer = layer.getImporter();
  TableContents contents = importer.getTable(name);
  if (!contents.keys) {
    layer.unsupported("looks up numbers in the table '" + name +
                      "', which the model does not fill with constants");
    return std::nullopt;
  }
  auto read = [&](const pb::NodeDef &node) -> std::optional<Elements> {
    auto value = node.attr().find("value");
    ElementsAttr attribute =
        value == node.attr().end()
            ? ElementsAttr()
            : importer.getConstant(value->second.tensor(), node.name(),
                                   layer.getLoc());
    return attribute ? readElements(attribute, mostEntries) : std::nullopt;
  };
  std::optional<Elements> keys = read(*contents.keys),
                          values = read(*contents.values);
  int64_t count = keys ? keys->type.getNumElements() : 0;
  if (!keys || !values || keys->isReal() || count == 0 ||
      keys->type.getRank() != 1 || values->type.getRank() != 1 ||
      values->type.getNumElements() != count) {
    layer.unsupported("looks up numbers in the table '" + name +
                      "'; nnc handles tables of 1 to " + Twine(mostEntries) +
                      " integers that each have one number");
    return std::nullopt;
  }
  SmallVector<int64_t> order = iota(count);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return keys->ints[a] < keys->ints[b];
  });
  // The binary search halves the entries in each step, so that their number
  // has to be a power of two: the last entry is repeated.
  order.resize(llvm::PowerOf2Ceil(uint64_t(count)), order.back());
  return SortedTable{reorder(*keys, order), reorder(*values, order)};
}

/// Converts LookupTableFindV2: a binary search for each key, in steps that are
/// elementwise ops and gathers.
Value convertTableFind(Layer &layer) {
  if (layer.getPassed(0).kind == Passed::text ||
      layer.getPassed(1).kind == Passed::text)
    return passText(layer);
  Value x = layer.getInput(1), otherwise = layer.getInput(2);
  auto table = x && otherwise ? readTable(layer) : std::nullopt;
  if (!table)
    return {};
  Value keys = layer.constant(makeAttribute(table->keys)),
        values = layer.constant(makeAttribute(table->values));
  if (getElement(keys) != getElement(x) ||
      getElement(values) != getElement(otherwise) ||
      getNumElements(otherwise) != 1)
    return layer.broken("has keys or a default of other types than those of "
                        "its table");
  Type element = layer.getBuilder().getI32Type();
  Value place = layer.splat(0, element, getShape(x));
  for (int64_t step = getShape(keys)[0] / 2; step > 0; step /= 2) {
    Value further = layer.createElementwise(
        "add", {place, layer.splat(double(step), element)});
    Value key = layer.create<nn::GatherOp>(keys, further, int64_t(0));
    place = layer.createElementwise(
        "select",
        {layer.createElementwise("less_equal", {key, x}), further, place});
  }
  Value key = layer.create<nn::GatherOp>(keys, place, int64_t(0));
  return layer.createElementwise(
      "select", {layer.createElementwise("equal", {key, x}),
                 layer.create<nn::GatherOp>(values, place, int64_t(0)),
                 layer.reshape(otherwise, {})});
}

} // namespace nnc::tensorflow
