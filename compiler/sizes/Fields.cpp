//===- Fields.cpp - Fields of shapes that depend on sizes -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/Fields.h"

using namespace mlir;
using namespace nnc;

/// Appends the integers of a field to `entries`, those of lists in order.
/// Returns false if the field is a real number.
static bool flatten(Attribute field, SmallVectorImpl<int64_t> &entries) {
  if (auto number = dyn_cast<IntegerAttr>(field)) {
    entries.push_back(number.getInt());
    return true;
  }
  if (auto list = dyn_cast<DenseI64ArrayAttr>(field)) {
    llvm::append_range(entries, list.asArrayRef());
    return true;
  }
  auto rows = dyn_cast<ArrayAttr>(field);
  return rows && llvm::all_of(rows, [&](Attribute row) {
           return flatten(row, entries);
         });
}

/// Returns a field of the form of `field` whose integers are the first ones of
/// `entries`, and removes these from `entries`.
static Attribute unflatten(Attribute field, ArrayRef<int64_t> &entries) {
  MLIRContext *context = field.getContext();
  auto take = [&](size_t count) {
    ArrayRef<int64_t> taken = entries.take_front(count);
    entries = entries.drop_front(count);
    return taken;
  };
  if (auto number = dyn_cast<IntegerAttr>(field))
    return IntegerAttr::get(number.getType(), take(1)[0]);
  if (auto list = dyn_cast<DenseI64ArrayAttr>(field))
    return DenseI64ArrayAttr::get(context, take(list.size()));
  SmallVector<Attribute> rows;
  for (Attribute row : cast<ArrayAttr>(field))
    rows.push_back(unflatten(row, entries));
  return ArrayAttr::get(context, rows);
}

FailureOr<DictionaryAttr> nnc::findVaryingFields(ArrayRef<nn::ShapeAttr> shapes,
                                                 ExpressionFinder &finder,
                                                 std::string &problem) {
  MLIRContext *context = shapes[0].getContext();
  SmallVector<NamedAttribute> varying;
  auto refuse = [&](StringRef field, const Twine &why) {
    problem = ("has '" + field + "', " + why).str();
    return failure();
  };
  constexpr int64_t kPoints = 512;
  const std::vector<SizePoint> checks =
      chooseChecks(finder.getRanges(), kPoints, /*withZeros=*/true);
  for (NamedAttribute field : shapes[0].getFields()) {
    StringRef name = field.getName();
    auto isSame = [&](nn::ShapeAttr shape) {
      return shape.get(name) == field.getValue();
    };
    if (llvm::all_of(shapes, isSame))
      continue;
    std::vector<SmallVector<int64_t>> entries;
    for (nn::ShapeAttr shape : shapes) {
      Attribute own = shape.get(name);
      if (!own || !flatten(own, entries.emplace_back()) ||
          entries.back().size() != entries[0].size())
        return refuse(name,
                      "which is no list of as many integers at each size");
    }
    SmallVector<AffineExpr> results;
    for (size_t i = 0; i < entries[0].size(); ++i) {
      SmallVector<int64_t> values;
      for (const auto &own : entries)
        values.push_back(own[i]);
      AffineExpr found = finder.find(values);
      bool isCallers = llvm::any_of(
          finder.getRanges(), [](const SizeRange &r) { return !r.isFound; });
      if (!found)
        return refuse(name, isCallers
                                ? "which is no sum of products of the sizes; "
                                  "where a stride divides a size, give it a "
                                  "step in --shape, as in 32..640:32"
                                : "which is no sum of products of the lengths "
                                  "that data decide");
      // Offsets that are not negative at the samples may be negative at other
      // sizes, for example where the number of elements found at run time is 0.
      // The layer would then read in front of a tensor.
      bool isOffset = name.contains("offset") &&
                      llvm::all_of(values, [](int64_t v) { return v >= 0; });
      for (const SizePoint &point : checks)
        if (int64_t value = isOffset ? evaluate(found, point) : 0; value < 0)
          return refuse(name, "which would be " + Twine(value) +
                                  " at some sizes, as where data find nothing");
      results.push_back(found);
    }
    varying.emplace_back(field.getName(),
                         AffineMapAttr::get(AffineMap::get(
                             0, finder.getRanges().size(), results, context)));
  }
  return varying.empty() ? DictionaryAttr()
                         : DictionaryAttr::get(context, varying);
}

nn::ShapeAttr nnc::evaluateFields(nn::ShapeAttr shape, DictionaryAttr varying,
                                  ArrayRef<int64_t> point) {
  SmallVector<NamedAttribute> fields;
  for (NamedAttribute field : shape.getFields()) {
    auto map = varying ? varying.getAs<AffineMapAttr>(field.getName())
                       : AffineMapAttr();
    if (map) {
      SmallVector<int64_t> values;
      for (AffineExpr result : map.getAffineMap().getResults())
        values.push_back(evaluate(result, point));
      ArrayRef<int64_t> rest = values;
      field.setValue(unflatten(field.getValue(), rest));
    }
    fields.push_back(field);
  }
  return nn::ShapeAttr::get(shape.getContext(), fields);
}
