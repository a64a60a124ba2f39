//===- portable.h - Distinct rows of a matrix -----------------------------===//
//
// Sorts the indices of the rows with a heap in the memory of the result. Equal
// rows are then neighbours, in order of their indices. NaN is equal to NaN and
// larger than all numbers. There is one unit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_DISTINCT_PORTABLE_H
#define NNC_ROUTINES_LENGTHS_DISTINCT_PORTABLE_H

#include "runtime/epilogue.h"
#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

template <class S, class Epi> struct distinct_portable {
  NNC_FN static constexpr int units(const S &) { return 1; }

  template <class T>
  NNC_FN static void run(const S &s, const T *x, int64_t *y, const Epi &,
                         int begin, int end) {
    if (begin == end)
      return;
    int64_t *firsts = y + 1, *groups = firsts + s.rows,
            *counts = groups + s.rows;
    sort(s, x, counts);
    // Groups are numbered by rising rows first; firsts[group] is the lowest
    // index, since equal rows are in order.
    int64_t found = 0;
    for (int i = 0; i < s.rows; ++i) {
      const int64_t row = counts[i];
      if (i == 0 || compare(s, x, counts[i - 1], row) != 0)
        firsts[found++] = row;
      groups[row] = found - 1;
    }
    if (!s.sorted)
      number_by_occurrence(s, firsts, groups, counts, found);
    for (int i = 0; i < s.rows; ++i)
      counts[i] = 0;
    for (int i = 0; i < s.rows; ++i)
      ++counts[groups[i]];
    for (int64_t i = found; i < s.rows; ++i)
      firsts[i] = 0;
    y[0] = found;
  }

private:
  /// Returns a number below, equal to or above 0 if row `a` is less than, equal
  /// to or greater than row `b`.
  template <class T>
  NNC_FN static int compare(const S &s, const T *x, int64_t a, int64_t b) {
    const T *of_a = x + a * s.columns, *of_b = x + b * s.columns;
    for (int i = 0; i < s.columns; ++i) {
      const T p = of_a[i], q = of_b[i];
      const bool p_is_number = p == p, q_is_number = q == q;
      if (p_is_number != q_is_number)
        return p_is_number ? -1 : 1;
      if (p_is_number && p != q)
        return p < q ? -1 : 1;
    }
    return 0;
  }
  template <class T>
  NNC_FN static bool is_before(const S &s, const T *x, int64_t a, int64_t b) {
    const int order = compare(s, x, a, b);
    return order != 0 ? order < 0 : a < b;
  }

  /// Writes the indices of all rows to `order`, in ascending order of the rows.
  template <class T>
  NNC_FN static void sort(const S &s, const T *x, int64_t *order) {
    for (int i = 0; i < s.rows; ++i)
      order[i] = i;
    for (int i = s.rows / 2 - 1; i >= 0; --i)
      sink(s, x, order, i, s.rows, order[i]);
    for (int i = s.rows - 1; i > 0; --i) {
      const int64_t last = order[i];
      order[i] = order[0];
      sink(s, x, order, 0, i, last);
    }
  }
  /// Inserts `row` into the heap of `count` rows at `hole` or below it, so that
  /// no row precedes its parent.
  template <class T>
  NNC_FN static void sink(const S &s, const T *x, int64_t *heap, int hole,
                          int count, int64_t row) {
    for (int child; (child = 2 * hole + 1) < count; hole = child) {
      if (child + 1 < count && is_before(s, x, heap[child], heap[child + 1]))
        ++child;
      if (!is_before(s, x, row, heap[child]))
        break;
      heap[hole] = heap[child];
    }
    heap[hole] = row;
  }

  /// Renumbers groups in the order of their first rows. `spare` is memory that
  /// may be overwritten.
  NNC_FN static void number_by_occurrence(const S &s, int64_t *firsts,
                                          int64_t *groups, int64_t *spare,
                                          int64_t found) {
    for (int64_t i = 0; i < found; ++i)
      spare[i] = firsts[i];
    int64_t next = 0;
    for (int row = 0; row < s.rows; ++row) {
      const int64_t group = groups[row];
      if (spare[group] == row) {
        firsts[next] = row;
        groups[row] = next++;
      } else {
        // The first row of the group has its new number.
        groups[row] = groups[spare[group]];
      }
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_DISTINCT_PORTABLE_H
