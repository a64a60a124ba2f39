//===- shares.h - Which units a thread has --------------------------------===//
//
// A thread has neighbours in the order of units (parallel.h). Where units are
// ordered by where they lie in the map, from layer to layer a thread reads what
// it wrote, but for the rows at the edge: a line that another core has written,
// or only read since this one wrote it, comes and goes many times as slowly as
// one of the core's own. What is read whole by each thread then is weights, of
// which all caches may have copies. Where these are much larger than the map,
// channels come first, and each thread reads its part of them alone.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_SHARES_H
#define NNC_ROUTINES_SHARES_H

#include "runtime/routines/policy.h"

namespace nnc {

/// Whether threads should have places of the map of a layer with so many
/// weights, rather than channels: `map` is how many values it reads and writes.
constexpr bool shares_places(long long weights, long long map) {
  return weights <= 2 * map;
}
/// The same of a convolution, transposed or not.
template <class S> constexpr bool shares_places_of_convolution(const S &s) {
  using count = long long;
  const count map = count(s.c) * s.h * s.w + count(s.k) * s.oh * s.ow;
  return shares_places(count(s.k) * (s.c / s.groups) * s.kh * s.kw, map);
}
/// The same of a layer that computes each of c channels by itself: as the 1 x 1
/// convolutions beside it do, with a sixth as many channels on their far side.
constexpr bool shares_places_of_planes(int c, int pixels) {
  return shares_places(c / 6, pixels + pixels / 6);
}

/// Strips that a convolution cuts its map into, where places come first: all
/// `runs` of channel blocks read one, which stays in a second-level cache
/// meanwhile, before the next. One strip if such a cache holds the map, or to
/// read the weights again for each costs more: they come in order, for half of
/// what the map costs. An element has so many bytes.
template <class S>
constexpr int strips_of_convolution(const S &s, int runs, int bytes) {
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

/// Units are `places` of the map times `runs` of channels, for each of some
/// images, of which places come first if `by_place`. Calls
/// f(image, run, first, last) for the places [first, last) of a run that are
/// among the units [begin, end), in the order of runs.
template <class F>
inline void for_each_run(int begin, int end, int places, int runs,
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

/// The unit with which share `i` of `shares` begins, where the last places have
/// fewer points than others and the shares should have as many as each other:
/// before(p) is how many points lie before place p.
template <class F>
constexpr int first_of_share(int images, int places, int runs, bool by_place,
                             int i, int shares, const F &before) {
  const long long points = before(places), image = points * runs;
  const long long wanted = image * images * i / shares;
  const long long rest = wanted % image;
  // The last place that begins no later.
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

#endif // NNC_ROUTINES_SHARES_H
