//===- portable.h - Attention on any machine ------------------------------===//
//
// y = softmax(scale * q . k + mask) . v, where shape.h says where each operand
// is. A unit is one query of one head. Its keys are processed a few at a time,
// because sums of short sums have smaller rounding errors than one long sum,
// and because no row of scores has to be stored. Sums over earlier keys are
// scaled to each new maximum (Milakov and Gimelshein, "Online normalizer
// calculation for softmax").
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_PORTABLE_H
#define NNC_ROUTINES_ATTENTION_PORTABLE_H

#include "runtime/counts.h"
#include "runtime/epilogue.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/simd/math.h"

namespace nnc {

template <class S, class Epi> struct attention_portable {
  NNC_FN static constexpr int units(const S &s) {
    return s.n * s.heads * s.queries;
  }

  /// T is float or double.
  template <class T>
  NNC_FN static void run(const S &s, const T *q, const T *k, const T *v, T *y,
                         const Epi &epi, int begin, int end) {
    run(s, q, k, v, static_cast<const T *>(nullptr), y, epi, begin, end);
  }
  template <class T>
  NNC_FN static void run(const S &s, const T *q, const T *k, const T *v,
                         const T *mask, T *y, const Epi &, int begin, int end) {
    for (int unit = begin; unit < end; ++unit) {
      const int i = unit % s.queries, head = unit / s.queries % s.heads,
                b = unit / s.queries / s.heads;
      const auto row = [&](const int *strides, int index) {
        return ptrdiff_t(b) * strides[0] + ptrdiff_t(head) * strides[1] +
               ptrdiff_t(index) * strides[2];
      };
      attend(s, q + s.q_start + row(s.q_strides, i),
             k + s.k_start + row(s.k_strides, 0),
             v + s.v_start + row(s.v_strides, 0),
             mask ? mask + row(s.mask_strides, i) : nullptr,
             y + ((ptrdiff_t(b) * s.queries + i) * s.heads + head) *
                     s.value_dim);
    }
  }

private:
  static constexpr int few = 16;

  template <class T>
  NNC_FN static void attend(const S &s, const T *q, const T *k, const T *v,
                            const T *mask, T *y) {
    T largest = numeric_limits<T>::lowest(), sum = 0;
    for (int c = 0; c < s.value_dim; ++c)
      y[c] = 0;
    for (int first = 0; first < s.keys; first += few) {
      const int count = smaller(few, s.keys - first);
      const T before = largest;
      T weight[few];
      for (int j = 0; j < count; ++j) {
        const T product =
            dot(q, k + ptrdiff_t(first + j) * s.k_strides[2], s.dim);
        weight[j] = T(s.scale) * product + (mask ? mask[first + j] : T(0));
        largest = weight[j] > largest ? weight[j] : largest;
      }
      const T shrink = nnc::exp(before - largest);
      T part = 0;
      for (int j = 0; j < count; ++j)
        part += weight[j] = nnc::exp(weight[j] - largest);
      sum = sum * shrink + part;
      for (int c = 0; c < s.value_dim; ++c) {
        T value = 0;
        for (int j = 0; j < count; ++j)
          value += weight[j] * v[ptrdiff_t(first + j) * s.v_strides[2] + c];
        y[c] = y[c] * shrink + value;
      }
    }
    for (int c = 0; c < s.value_dim; ++c)
      y[c] /= sum;
  }

  template <class T> NNC_FN static T dot(const T *a, const T *b, int size) {
    T partial[few] = {};
    for (int i = 0; i < size; ++i)
      partial[i % few] += a[i] * b[i];
    T sum = 0;
    for (T p : partial)
      sum += p;
    return sum;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_PORTABLE_H
