//===- ScaleGroups.h - Tensors that share a scale ---------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_SCALEGROUPS_H
#define NNC_COMPILER_QUANTIZE_SCALEGROUPS_H

#include "compiler/quantize/Range.h"

#include <algorithm>
#include <map>
#include <vector>

namespace nnc::quantize {

/// A partition of tensors into groups that have the same scale. `Key`
/// identifies a tensor.
template <class Key> class ScaleGroups {
public:
  void add(const Key &tensor, const Range &range) {
    groups[tensor] = {range, range.getExtent()};
  }
  /// Adds a tensor to the group of `other`, whose range does not change.
  void join(const Key &tensor, const Key &other) { parents[tensor] = other; }
  /// Returns the tensor that represents the group of `tensor`.
  Key find(Key tensor) const {
    for (auto it = parents.find(tensor); it != parents.end();
         it = parents.find(tensor))
      tensor = it->second;
    return tensor;
  }
  const Range &getRange(const Key &tensor) const {
    return groups.at(find(tensor)).range;
  }
  /// Unites the groups of the tensors if the common range is at most twice that
  /// of each member, so that none of them loses more than one bit.
  void unite(const std::vector<Key> &tensors) {
    Group all{{}, groups.at(find(tensors.front())).least};
    for (const Key &tensor : tensors) {
      const Group &group = groups.at(find(tensor));
      all.range.include(group.range);
      all.least = std::min(all.least, group.least);
    }
    if (all.range.getExtent() > 2 * all.least)
      return;
    Key first = find(tensors.front());
    for (const Key &tensor : tensors)
      if (Key own = find(tensor); own != first)
        parents[own] = first;
    groups[first] = all;
  }

private:
  struct Group {
    Range range;
    double least; ///< extent of the narrowest member
  };
  std::map<Key, Key> parents;
  std::map<Key, Group> groups;
};

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_SCALEGROUPS_H
