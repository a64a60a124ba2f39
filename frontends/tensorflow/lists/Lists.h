//===- Lists.h - Elements of lists of tensors -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_LISTS_LISTS_H
#define NNC_FRONTENDS_TENSORFLOW_LISTS_LISTS_H

#include "frontends/tensorflow/graph/Layer.h"

namespace nnc::tensorflow {

/// The largest length of a list.
constexpr int64_t kMaxLength = 1 << 24;

/// Returns input `i`, a list; null after an error.
const Passed *getList(Layer &layer, size_t i);
/// Returns zeros for a list of `length` elements of a type and shape.
mlir::Value makeZeroElements(Layer &layer, mlir::Type element, int64_t length,
                             llvm::ArrayRef<int64_t> shape);
/// Returns the elements of `list`, an input that may be null; zeros of `shape`
/// if no element has been set. Null after an error.
mlir::Value getElements(Layer &layer, const Passed *list,
                        const std::optional<Sizes> &shape);
/// Returns the elements of input `i`, a list, at the positions `indices`.
mlir::Value getListItem(Layer &layer, size_t i, mlir::Value indices,
                        const std::optional<Sizes> &shape = {});
/// Makes the first result the list in input `i` with `item` at a position.
/// `grows` tells that the list is extended up to that position. Returns null.
mlir::Value setListItem(Layer &layer, size_t i, mlir::Value index,
                        mlir::Value item, bool grows);
/// Returns the elements joined along their first axis, and makes the second
/// result the length of each.
mlir::Value joinListItems(Layer &layer, const Passed *list,
                          const std::optional<Sizes> &shape);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_LISTS_LISTS_H
