//===- StridedSlice.cpp - Strided slices with masks -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/StridedSlice.h"

using namespace mlir;

namespace nnc::frontends {

bool SlicePlaces::areAll(ArrayRef<int64_t> from) const {
  return ArrayRef<int64_t>(sizes) == from &&
         llvm::all_of(steps, [](int64_t step) { return step == 1; });
}

namespace {
/// The elements that a strided slice takes along one axis.
struct AxisPlaces {
  int64_t start, count, step;
};
} // namespace

/// Returns the elements that begin, end and step select on an axis of `size`
/// elements.
static AxisPlaces resolveAxis(int64_t size, std::optional<int64_t> begin,
                              std::optional<int64_t> end, int64_t step) {
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  auto clamp = [&](int64_t place) {
    return std::clamp(place < 0 ? place + size : place, low, high);
  };
  int64_t first = begin ? clamp(*begin) : step > 0 ? 0 : size - 1;
  int64_t last = end ? clamp(*end) : step > 0 ? size : -1;
  int64_t span = step > 0 ? last - first : first - last;
  return {first, span > 0 ? int64_t(llvm::divideCeil(span, std::abs(step))) : 0,
          step};
}

std::optional<SlicePlaces> resolveSlice(LayerBuilder &layer,
                                        ArrayRef<int64_t> from,
                                        const StridedSlice &slice) {
  size_t entries = slice.begins.size(), rank = from.size();
  if (slice.ends.size() != entries || slice.strides.size() != entries ||
      entries > 32) {
    layer.broken("has begins, ends and strides of different lengths");
    return std::nullopt;
  }
  SlicePlaces places;
  auto take = [&](AxisPlaces part, bool isKept) {
    places.starts.push_back(part.start);
    places.sizes.push_back(part.count);
    places.steps.push_back(part.step);
    if (isKept)
      places.shape.push_back(part.count);
  };
  auto takeWhole = [&] { take({0, from[places.starts.size()], 1}, true); };
  int64_t added = 0;
  for (size_t i = 0; i < entries; ++i)
    added +=
        slice.has(slice.newAxisMask, i) && !slice.has(slice.ellipsisMask, i);
  int64_t hidden = int64_t(rank) - (int64_t(entries) - added);
  for (size_t i = 0; i < entries; ++i) {
    if (slice.has(slice.ellipsisMask, i)) {
      for (int64_t n = hidden + 1; n > 0 && places.starts.size() < rank; --n)
        takeWhole();
      continue;
    }
    if (slice.has(slice.newAxisMask, i)) {
      places.shape.push_back(1);
      continue;
    }
    int64_t begin = slice.begins[i], end = slice.ends[i],
            step = slice.strides[i];
    if (places.starts.size() == rank || step == 0 || std::abs(step) > kMaxDim) {
      layer.broken("slices axes that are not there, or with a stride of " +
                   Twine(step));
      return std::nullopt;
    }
    int64_t size = from[places.starts.size()];
    if (slice.endsAreSizes)
      end += begin;
    if (slice.has(slice.shrinkMask, i)) {
      if (slice.masksIndices && slice.has(slice.beginMask, i))
        begin = 0;
      int64_t place = begin < 0 ? begin + size : begin;
      if (place < 0 || place >= size) {
        layer.broken("takes element " + Twine(begin) + " of an axis of " +
                     Twine(size));
        return std::nullopt;
      }
      take({place, 1, 1}, false);
      continue;
    }
    auto unless = [&](int64_t mask, int64_t place) {
      return slice.has(mask, i) ? std::nullopt : std::optional<int64_t>(place);
    };
    take(resolveAxis(size, unless(slice.beginMask, begin),
                     unless(slice.endMask, end), step),
         true);
  }
  while (places.starts.size() < rank)
    takeWhole();
  return places;
}

} // namespace nnc::frontends
