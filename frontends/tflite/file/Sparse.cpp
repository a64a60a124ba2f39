//===- Sparse.cpp - Sparse tensors ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A sparse tensor is a tree. Each level is an axis of the tensor or, below all
// of these, an axis within blocks: an axis of `size` elements in blocks of
// `block` becomes a level with size / block positions and a level with `block`
// positions. In a dense level, each node of the level above has children at all
// positions. In a sparse level, `segments` gives the part of `indices` that
// holds the positions of a node's children. The leaves are the stored elements,
// in order.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/file/Sparse.h"

#include "frontends/common/Limits.h"
#include "frontends/tflite/file/Load.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

using namespace llvm;
using namespace nnc;
using namespace nnc::tflite;

namespace {
/// A level of the tree: the number of positions, and the distance of
/// neighbouring positions in elements of the dense tensor.
struct Level {
  int64_t size = 0, stride = 0;
};

class Densifier {
public:
  Densifier(const fb::Sparsity &sparsity, ArrayRef<int64_t> shape)
      : order(getList(sparsity.traversal_order())),
        blocks(getList(sparsity.block_map())),
        dimensions(sparsity.dimensions()), shape(shape) {}

  std::string run(uint64_t most, std::vector<int64_t> &places);

private:
  std::string findLevels();
  /// Replaces the current nodes, given by the positions of their first
  /// elements, by their children.
  std::string expand(const Level &level, const fb::SparseDimension &dimension,
                     uint64_t most);

  ArrayRef<int32_t> order, blocks;
  const flatbuffers::Vector<flatbuffers::Offset<fb::SparseDimension>>
      *dimensions;
  ArrayRef<int64_t> shape;
  SmallVector<Level> levels;
  std::vector<int64_t> nodes = {0};
};
} // namespace

/// Returns the numbers of a list of any type; nullopt for an unknown type.
static std::optional<std::vector<int64_t>> readNumbers(fb::SparseIndices type,
                                                       const void *list) {
  auto read = [](const auto *values) {
    auto numbers = getList(values);
    return std::vector<int64_t>(numbers.begin(), numbers.end());
  };
  if (!list)
    return std::nullopt;
  switch (type) {
  case fb::SparseIndices::Int32Vector:
    return read(static_cast<const fb::Int32Vector *>(list)->values());
  case fb::SparseIndices::Uint16Vector:
    return read(static_cast<const fb::Uint16Vector *>(list)->values());
  case fb::SparseIndices::Uint8Vector:
    return read(static_cast<const fb::Uint8Vector *>(list)->values());
  default:
    return std::nullopt;
  }
}

std::string Densifier::findLevels() {
  size_t rank = shape.size(), count = rank + blocks.size();
  if (order.size() != count || !dimensions || dimensions->size() != count)
    return "has " + std::to_string(order.size()) + " sparse levels in order, " +
           std::to_string(dimensions ? dimensions->size() : 0) +
           " that are described, and " + std::to_string(count) + " axes";
  // The level of each axis and, behind these, of each axis within blocks.
  SmallVector<int64_t> levelOf(count, -1);
  for (auto [level, axis] : enumerate(order)) {
    bool isBlock = level >= rank;
    if (axis < 0 || axis >= int64_t(count) ||
        isBlock != (axis >= int64_t(rank)) || levelOf[axis] >= 0)
      return "has a sparse order of axes that is none: " +
             std::to_string(axis) + " at place " + std::to_string(level);
    levelOf[axis] = static_cast<int64_t>(level);
  }
  SmallVector<int64_t> blockOf(rank, 1), strides(rank, 1);
  for (size_t i = rank; i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  levels.resize(count);
  for (auto [i, axis] : enumerate(blocks)) {
    int64_t level = levelOf[rank + i];
    const fb::SparseDimension *dimension = dimensions->Get(level);
    int64_t size = dimension->dense_size();
    if (axis < 0 || axis >= int64_t(rank) || blockOf[axis] != 1 ||
        dimension->format() != fb::DimensionFormat::DENSE || size < 1 ||
        shape[axis] % size != 0)
      return "has sparse blocks of " + std::to_string(size) + " along axis " +
             std::to_string(axis) + " of shape " + toString(shape);
    blockOf[axis] = size;
    levels[level] = {size, strides[axis]};
  }
  for (size_t axis = 0; axis < rank; ++axis)
    levels[levelOf[axis]] = {shape[axis] / blockOf[axis],
                             strides[axis] * blockOf[axis]};
  return "";
}

std::string Densifier::expand(const Level &level,
                              const fb::SparseDimension &dimension,
                              uint64_t most) {
  std::vector<int64_t> below;
  if (dimension.format() == fb::DimensionFormat::DENSE) {
    if (dimension.dense_size() != level.size)
      return "has a dense level of " + std::to_string(dimension.dense_size()) +
             " places for " + std::to_string(level.size);
    // Each node needs a stored element or an entry of a list.
    if (level.size > 0 && nodes.size() > most / uint64_t(level.size))
      return "describes more sparse elements than the file can hold";
    below.reserve(nodes.size() * level.size);
    for (int64_t node : nodes)
      for (int64_t i = 0; i < level.size; ++i)
        below.push_back(node + i * level.stride);
    nodes = std::move(below);
    return "";
  }
  auto segments = readNumbers(dimension.segments_type(), dimension.segments()),
       indices = readNumbers(dimension.indices_type(), dimension.indices());
  if (dimension.format() != fb::DimensionFormat::SPARSE_CSR || !segments ||
      !indices)
    return "has a sparse level of an unknown kind or without its lists";
  if (segments->size() != nodes.size() + 1 || segments->front() != 0 ||
      segments->back() != int64_t(indices->size()) || !is_sorted(*segments))
    return "has sparse segments that do not divide " +
           std::to_string(indices->size()) + " indices among " +
           std::to_string(nodes.size()) + " parts";
  below.reserve(indices->size());
  for (auto [i, node] : enumerate(nodes)) {
    int64_t before = -1;
    for (int64_t j = (*segments)[i]; j < (*segments)[i + 1]; ++j) {
      int64_t index = (*indices)[j];
      if (index <= before || index >= level.size)
        return "has a sparse index of " + std::to_string(index) + " after " +
               std::to_string(before) + "; indices ascend and are below " +
               std::to_string(level.size);
      below.push_back(node + index * level.stride);
      before = index;
    }
  }
  nodes = std::move(below);
  return "";
}

std::string Densifier::run(uint64_t most, std::vector<int64_t> &places) {
  std::string problem = findLevels();
  for (size_t i = 0; i < levels.size() && problem.empty(); ++i)
    problem = expand(levels[i], *dimensions->Get(i), most);
  places = std::move(nodes);
  return problem;
}

std::string nnc::tflite::findPlaces(const fb::Sparsity &sparsity,
                                    ArrayRef<int64_t> shape, uint64_t most,
                                    std::vector<int64_t> &places) {
  return Densifier(sparsity, shape).run(most, places);
}
