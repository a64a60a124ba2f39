//===- Einsum.cpp - Sums of products by Einstein's notation ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Operands are contracted from left to right, two at a time. Axes of both that
// are needed later are batch axes; axes of both that are not needed are summed.
// So each contraction is a batched matrix product, or an elementwise product if
// nothing is summed.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Einsum.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

namespace {

/// The labels of axes: a letter, or kEllipsis + i for axis i of an ellipsis,
/// counted from its last axis.
using Labels = SmallVector<int>;
constexpr int kEllipsis = 256;

/// A tensor with a distinct label for each axis.
struct Term {
  Value value;
  Labels labels;

  int64_t getSize(int label) const {
    return getShape(value)[llvm::find(labels, label) - labels.begin()];
  }
};

class Contraction {
public:
  Contraction(LayerBuilder &layer, ArrayRef<Value> values)
      : layer(layer), values(values) {}
  Value convert(StringRef text);

private:
  bool parse(StringRef text);
  /// Reads the labels of a term of `rank` axes, or of the result if there is no
  /// rank. The ellipsis of the result has as many axes as the longest ellipsis
  /// of an operand.
  std::optional<Labels> read(StringRef text, std::optional<int64_t> rank);
  /// Returns a term of `value` in which diagonals replace axes with the same
  /// label.
  Term takeDiagonals(Value value, Labels labels);
  Term contract(Term a, Term b, const Labels &kept);
  Term reduce(Term term, const Labels &kept);
  /// Returns the term's value with its axes in the order of `labels`, which has
  /// all labels of the term.
  Value order(const Term &term, ArrayRef<int> labels);

  LayerBuilder &layer;
  ArrayRef<Value> values;
  SmallVector<Labels> operands; ///< the labels of `values`
  Labels result;
  int64_t ellipsis = 0; ///< largest number of axes of an ellipsis
};

bool contains(ArrayRef<int> labels, int label) {
  return llvm::is_contained(labels, label);
}

} // namespace

std::optional<Labels> Contraction::read(StringRef text,
                                        std::optional<int64_t> rank) {
  auto [front, back] = text.split("...");
  bool hasEllipsis = text.contains("...");
  if (!llvm::all_of(front, llvm::isAlpha) ||
      !llvm::all_of(back, llvm::isAlpha)) {
    layer.broken("has a term '" + text +
                 "', which is not letters around at most one '...'");
    return std::nullopt;
  }
  auto letters = static_cast<int64_t>(front.size() + back.size());
  int64_t dots = !hasEllipsis ? 0 : rank ? *rank - letters : ellipsis;
  if (rank && (dots < 0 || letters + dots != *rank)) {
    layer.broken("has an operand of " + Twine(*rank) + " axes for '" + text +
                 "'");
    return std::nullopt;
  }
  if (rank)
    ellipsis = std::max(ellipsis, dots);
  Labels labels(front.begin(), front.end());
  for (int64_t i = dots; i > 0; --i)
    labels.push_back(kEllipsis + static_cast<int>(i) - 1);
  labels.append(back.begin(), back.end());
  return labels;
}

bool Contraction::parse(StringRef text) {
  std::string equation;
  for (char c : text)
    if (!llvm::isSpace(c))
      equation += c;
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != values.size()) {
    layer.broken("has " + Twine(values.size()) + " operands for '" + equation +
                 "'");
    return false;
  }
  for (auto [i, term] : llvm::enumerate(terms)) {
    auto labels = read(term, getRank(values[i]));
    if (!labels)
      return false;
    operands.push_back(*labels);
  }
  if (StringRef(equation).contains("->")) {
    auto labels = read(right, std::nullopt);
    if (!labels)
      return false;
    result = *labels;
  } else {
    // The axes of ellipses, then letters that occur once, sorted.
    for (int64_t i = ellipsis; i > 0; --i)
      result.push_back(kEllipsis + static_cast<int>(i) - 1);
    for (int letter = 0; letter < kEllipsis; ++letter)
      if (llvm::isAlpha(static_cast<char>(letter)) &&
          left.count(static_cast<char>(letter)) == 1)
        result.push_back(letter);
  }
  for (int label : result) {
    auto has = [label](const Labels &labels) {
      return contains(labels, label);
    };
    if (llvm::none_of(operands, has) || llvm::count(result, label) != 1) {
      layer.broken("has a result with a label that no operand has, or twice, "
                   "in '" +
                   equation + "'");
      return false;
    }
  }
  return true;
}

Term Contraction::takeDiagonals(Value value, Labels labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = i + 1; value && j < labels.size(); ++j) {
      if (labels[i] != labels[j])
        continue;
      // Both axes become the last ones and are merged; every (size + 1)-th
      // element of the merged axis is on the diagonal.
      SmallVector<int64_t> permutation;
      Labels left;
      for (size_t axis = 0; axis < labels.size(); ++axis)
        if (axis != i && axis != j) {
          permutation.push_back(axis);
          left.push_back(labels[axis]);
        }
      int64_t size = getShape(value)[i];
      if (getShape(value)[j] != size)
        return {layer.broken("takes the diagonal of axes of " + Twine(size) +
                             " and " + Twine(getShape(value)[j]) + " elements"),
                {}};
      SmallVector<int64_t> shape;
      for (int64_t axis : permutation)
        shape.push_back(getShape(value)[axis]);
      llvm::append_range(permutation,
                         ArrayRef<int64_t>{int64_t(i), int64_t(j)});
      shape.push_back(size * size);
      value = layer.reshape(layer.transpose(value, permutation), shape);
      SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
      shape.back() = size;
      steps.back() = size + 1;
      if (size > 1)
        value = layer.create<nn::SliceOp>(value, starts, shape, steps);
      left.push_back(labels[i]);
      labels = left;
      i = 0;
      j = 0;
    }
  return {value, labels};
}

Value Contraction::order(const Term &term, ArrayRef<int> labels) {
  SmallVector<int64_t> permutation;
  for (int label : labels)
    permutation.push_back(llvm::find(term.labels, label) - term.labels.begin());
  if (llvm::equal(permutation, iota(permutation.size())))
    return term.value;
  return layer.transpose(term.value, permutation);
}

Term Contraction::reduce(Term term, const Labels &kept) {
  SmallVector<int64_t> axes;
  Labels left;
  for (auto [axis, label] : llvm::enumerate(term.labels))
    if (contains(kept, label))
      left.push_back(label);
    else
      axes.push_back(axis);
  if (axes.empty())
    return term;
  return {layer.create<nn::ReduceOp>(nn::ReduceKind::sum, term.value, axes,
                                     /*keepdims=*/false),
          left};
}

Term Contraction::contract(Term a, Term b, const Labels &kept) {
  // An axis of one element that the other operand also has is dropped, because
  // it is broadcast.
  auto dropOnes = [&](Term &term, const Term &other) {
    SmallVector<int64_t> shape;
    Labels left;
    for (auto [axis, label] : llvm::enumerate(term.labels)) {
      int64_t size = getShape(term.value)[axis];
      if (size == 1 && contains(other.labels, label))
        continue;
      shape.push_back(size);
      left.push_back(label);
    }
    term = {layer.reshape(term.value, shape), left};
  };
  dropOnes(a, b);
  dropOnes(b, a);
  auto sumRest = [&](Term &term, const Term &other) {
    Labels needed(kept);
    llvm::append_range(needed, other.labels);
    term = reduce(term, needed);
  };
  sumRest(a, b);
  sumRest(b, a);
  if (!a.value || !b.value)
    return {};

  Labels batch, rows, columns, summed;
  SmallVector<int64_t> shape;
  int64_t batches = 1, height = 1, width = 1, depth = 1;
  for (int label : a.labels) {
    int64_t size = a.getSize(label);
    bool isShared = contains(b.labels, label);
    if (isShared && b.getSize(label) != size)
      return {layer.broken("has axes of " + Twine(size) + " and " +
                           Twine(b.getSize(label)) +
                           " elements with one label"),
              {}};
    bool isBatch = isShared && contains(kept, label);
    (isBatch ? batch : isShared ? summed : rows).push_back(label);
    (isBatch ? batches : isShared ? depth : height) *= size;
  }
  for (int label : b.labels)
    if (!contains(a.labels, label)) {
      columns.push_back(label);
      width *= b.getSize(label);
    }
  Labels left(batch), right(batch), all(batch);
  llvm::append_range(left, rows);
  llvm::append_range(left, summed);
  llvm::append_range(right, summed);
  llvm::append_range(right, columns);
  llvm::append_range(all, rows);
  llvm::append_range(all, columns);
  for (int label : all)
    shape.push_back(contains(a.labels, label) ? a.getSize(label)
                                              : b.getSize(label));
  SmallVector<int64_t> leftShape = {height, depth}, rightShape = {depth, width};
  if (!batch.empty()) {
    leftShape.insert(leftShape.begin(), batches);
    rightShape.insert(rightShape.begin(), batches);
  }
  Value x = layer.reshape(order(a, left), leftShape),
        w = layer.reshape(order(b, right), rightShape);
  Value y = summed.empty()
                ? layer.createElementwise("mul", {x, w})
                : layer.create<nn::MatMulOp>(x, w, false, false, TypeAttr());
  return {layer.reshape(y, shape), all};
}

Value Contraction::convert(StringRef text) {
  if (!parse(text))
    return {};
  Term sum;
  for (size_t i = 0; i < operands.size(); ++i) {
    // These labels are needed by the result or by operands behind this one.
    Labels kept(result);
    for (const Labels &later : ArrayRef(operands).drop_front(i + 1))
      llvm::append_range(kept, later);
    Term term = takeDiagonals(values[i], operands[i]);
    sum = i == 0 ? term : contract(sum, term, kept);
    if (!sum.value)
      return {};
    sum = reduce(sum, kept);
  }
  return order(sum, result);
}

Value nnc::frontends::computeEinsum(LayerBuilder &layer, StringRef equation,
                                    ArrayRef<Value> operands) {
  return Contraction(layer, operands).convert(equation);
}
