//===- thread_ranges.h - Division of units among threads ------------------===//
//
// A thread's share is a range of consecutive units (parallel.h). Where units
// are ordered by their place in the feature map, a thread reads in each layer
// what it wrote itself in the layer before, except for rows at the edge of its
// range. This matters because a cache line that another core has written, or
// has read since this core wrote it, takes many times as long to access as one
// of the core's own. Each thread then reads all weights, of which every cache
// may have a copy. Where weights are much larger than the map, units are
// ordered by channels instead, and each thread reads only its part of the
// weights.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_UNITS_THREAD_RANGES_H
#define NNC_ROUTINES_UNITS_THREAD_RANGES_H

#include "runtime/counts.h"
#include "runtime/functions.h"
#include "runtime/routines/units/caches.h"

namespace nnc {

/// Returns true if threads should divide a layer by positions in the feature
/// map instead of channels. `weights` is the number of weights, `map` the
/// number of values that the layer reads and writes.
NNC_FN constexpr bool shares_places(long long weights, long long map) {
  return weights <= 2 * map;
}
/// shares_places() for a convolution, transposed or not.
template <class S>
NNC_FN constexpr bool shares_places_of_convolution(const S &s) {
  using count = long long;
  const count map = count(s.c) * s.h * s.w + count(s.k) * s.oh * s.ow;
  return shares_places(count(s.k) * (s.c / s.groups) * s.kh * s.kw, map);
}
/// shares_places() for a layer that computes each of c channels by itself. It
/// decides as the 1 x 1 convolutions beside such a layer do, which are assumed
/// to have a sixth as many channels on their other side.
NNC_FN constexpr bool shares_places_of_planes(int c, int pixels) {
  return shares_places(c / 6, pixels + pixels / 6);
}

/// Number of strips that a convolution cuts its map into if it is divided by
/// places. All `runs` of channel blocks read one strip, which stays in the
/// second-level cache meanwhile, before the next strip. There is one strip if
/// that cache holds the map, or if reading all weights again for each strip
/// costs more; weights are read in order, at half the cost of the map. `bytes`
/// is the size of an element.
template <class S>
NNC_FN constexpr int strips_of_convolution(const S &s, int runs, int bytes) {
  using count = long long;
  constexpr count strip = 256 * 1024;
  const count weights = count(s.k) * (s.c / s.groups) * s.kh * s.kw;
  const count input =
      count(s.c) * smaller(s.h, s.oh * s.kh) * smaller(s.w, s.ow * s.kw);
  const count strips = input * bytes / strip;
  const bool pays = runs > 1 && shares_places_of_convolution(s) &&
                    input * bytes > level2_map &&
                    strips * weights < 2 * runs * input;
  return pays ? int(strips) : 1;
}

/// Calls f(image, run, first, last) for the places [first, last) of each run of
/// channels that are among units [begin, end), in the order of images and runs.
/// The units of an image are its `places` places of the map times its `runs`
/// runs of channels; if `by_place`, all runs of a place are consecutive units,
/// otherwise all places of a run.
template <class F>
NNC_FN inline void for_each_run(int begin, int end, int places, int runs,
                                bool by_place, const F &f) {
  while (begin < end) {
    const int image = begin / (places * runs), from = begin % (places * runs);
    const int to = smaller(places * runs, from + end - begin);
    if (by_place)
      for (int run = 0; run < runs; ++run) {
        const int first = from / runs + (run < from % runs);
        const int last = to / runs + (run < to % runs);
        if (first < last)
          f(image, run, first, last);
      }
    else
      for (int at = from; at < to;) {
        const int run = at / places, first = at % places;
        const int last = smaller(places, first + to - at);
        f(image, run, first, last);
        at += last - first;
      }
    begin += to - from;
  }
}

/// First unit of share `i` of `shares`, where shares should have equally many
/// points rather than units because the last places have fewer points than
/// others. before(p) is the number of points before place p; the other
/// parameters are those of for_each_run().
template <class F>
NNC_FN constexpr int first_of_share(int images, int places, int runs,
                                    bool by_place, int i, int shares,
                                    const F &before) {
  const long long points = before(places), image = points * runs;
  const long long wanted = image * images * i / shares;
  const long long rest = wanted % image;
  // The last place that begins at or before the share's first point.
  const long long in_order = by_place ? rest / runs : rest % points;
  int place = 0, beyond = places;
  while (beyond - place > 1) {
    const int middle = (place + beyond) / 2;
    (before(middle) <= in_order ? place : beyond) = middle;
  }
  const long long begun = before(place), size = before(place + 1) - begun;
  const int unit =
      by_place ? place * runs + int((rest - begun * runs + size / 2) / size)
               : int(rest / points) * places + place +
                     (2 * (in_order - begun) >= size ? 1 : 0);
  return int(wanted / image) * places * runs + unit;
}

} // namespace nnc

#endif // NNC_ROUTINES_UNITS_THREAD_RANGES_H
