//===- portable.h - Non-maximum suppression -------------------------------===//
//
// Boxes whose score is above `least` form a heap, from which they are taken in
// order of descending score; boxes with equal scores are taken in order of
// their index. Only boxes that are taken from the heap cost logarithmic time. A
// box is left out if its intersection with one that was taken is more than
// `overlap` of their union. Boxes without an area do not overlap any box. At
// most `limit` are taken of each batch and class. The scratch holds an int for
// each box. There is one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_SUPPRESS_PORTABLE_H
#define NNC_ROUTINES_LENGTHS_SUPPRESS_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct suppress_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *boxes, const T *scores,
                         const int64_t *limit, const T *overlap, const T *least,
                         int64_t *y, unsigned char *scratch, const Epi &,
                         int begin, int end) {
    if (begin == end)
      return;
    const int most = *limit <= 0       ? 0
                     : *limit < s.most ? static_cast<int>(*limit)
                                       : s.most;
    int *heap = reinterpret_cast<int *>(scratch);
    int64_t *next = y + 1;
    for (int batch = 0; batch < s.batches; ++batch)
      for (int kind = 0; kind < s.classes; ++kind) {
        const ptrdiff_t line = ptrdiff_t(batch) * s.classes + kind;
        const line_of<T> all{boxes + ptrdiff_t(batch) * s.boxes * 4,
                             scores + line * s.boxes, heap, s.centered != 0};
        const int taken = take(all, s.boxes, most, *overlap, *least, next);
        for (int i = 0; i < taken; ++i, next += 3) {
          next[0] = batch;
          next[1] = kind;
        }
      }
    y[0] = (next - y - 1) / 3;
    const ptrdiff_t size = 1 + ptrdiff_t(3) * s.batches * s.classes * s.most;
    for (; next < y + size; ++next)
      *next = 0;
  }

private:
  template <class T> struct corners {
    T top, left, bottom, right;
    NNC_FN T area() const { return (bottom - top) * (right - left); }
  };

  /// The boxes of one batch, and their scores in one class.
  template <class T> struct line_of {
    const T *boxes, *scores;
    int *heap; ///< heap of indices; no score exceeds its parent's
    bool centered;

    NNC_FN corners<T> at(int64_t i) const {
      const T *box = boxes + i * 4;
      if (centered) {
        const T half_width = box[2] / 2, half_height = box[3] / 2;
        return {box[1] - half_height, box[0] - half_width, box[1] + half_height,
                box[0] + half_width};
      }
      const bool falls = box[0] > box[2], turns = box[1] > box[3];
      return {box[falls ? 2 : 0], box[turns ? 3 : 1], box[falls ? 0 : 2],
              box[turns ? 1 : 3]};
    }
    NNC_FN bool is_better(int a, int b) const {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    }
    /// Inserts `index` into the heap of `count` indices at `hole` or below it.
    NNC_FN void sink(int hole, int count, int index) const {
      for (int child; (child = 2 * hole + 1) < count; hole = child) {
        if (child + 1 < count && is_better(heap[child + 1], heap[child]))
          ++child;
        if (!is_better(heap[child], index))
          break;
        heap[hole] = heap[child];
      }
      heap[hole] = index;
    }
  };

  template <class T>
  NNC_FN static bool overlaps(const corners<T> &a, const corners<T> &b,
                              T most) {
    const T top = a.top > b.top ? a.top : b.top,
            left = a.left > b.left ? a.left : b.left,
            bottom = a.bottom < b.bottom ? a.bottom : b.bottom,
            right = a.right < b.right ? a.right : b.right;
    if (bottom <= top || right <= left)
      return false;
    const T both = (bottom - top) * (right - left);
    const T area_of_a = a.area(), area_of_b = b.area();
    const T either = area_of_a + area_of_b - both;
    if (area_of_a <= 0 || area_of_b <= 0 || either <= 0)
      return false;
    return both / either > most;
  }

  /// Writes the indices of at most `most` selected boxes to taken[2], taken[5],
  /// ..., and returns their number.
  template <class T>
  NNC_FN static int take(const line_of<T> &all, int boxes, int most, T overlap,
                         T least, int64_t *taken) {
    int left = 0;
    for (int i = 0; i < boxes; ++i)
      if (all.scores[i] > least)
        all.heap[left++] = i;
    for (int i = left / 2 - 1; i >= 0; --i)
      all.sink(i, left, all.heap[i]);
    int count = 0;
    while (left > 0 && count < most) {
      const int best = all.heap[0];
      if (--left > 0)
        all.sink(0, left, all.heap[left]);
      const corners<T> box = all.at(best);
      bool is_apart = true;
      for (int i = 0; i < count && is_apart; ++i)
        is_apart = !overlaps(box, all.at(taken[3 * i + 2]), overlap);
      if (is_apart)
        taken[3 * count++ + 2] = best;
    }
    return count;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_SUPPRESS_PORTABLE_H
