//===- strips.h - Convolution with a strip of decoded filters at a time ---===//
//
// A convolution of conv2d/ with compressed weights (decode/plan.h). A strip of
// filters is decoded into scratch, and its channels of all pixels are computed;
// then the next strip follows. The units are those of the convolution in
// conv2d/, and results are bitwise equal to its results. Each thread decodes
// all strips.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_STRIPS_H
#define NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_STRIPS_H

#include "runtime/functions.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/stored_weights/decode/parts.h"
#include "runtime/routines/stored_weights/stored_conv2d/plan.h"

namespace nnc {

/// `Conv` is the routine that computes with weights of type T.
template <class Conv, class T, class S, class Epi> struct stored_conv2d_strips {
  NNC_FN static constexpr int units(const S &s) { return Conv::units(s); }

  template <class X, class Y>
  NNC_FN static void run(const S &s, const X *x, const unsigned char *w, Y *y,
                         unsigned char *scratch, const Epi &epi, int begin,
                         int end) {
    // A layer's form is a constant, which leaves one of these calls.
    if (s.form == decode_codes)
      run_strips<stored_codes<S, T, 1>>(s, x, w, y, scratch, epi, begin, end);
    else if (s.form == decode_huffman)
      run_strips<stored_huffman<S, T, 1>>(s, x, w, y, scratch, epi, begin, end);
    else if (s.form == decode_entries)
      run_strips<stored_entries<S, T, next_plain_entry<T>>>(s, x, w, y, scratch,
                                                            epi, begin, end);
    else if (s.form == decode_literals)
      run_strips<stored_literals<S, T>>(s, x, w, y, scratch, epi, begin, end);
    else
      run_strips<stored_entries<S, T, next_huffman_entry<T>>>(
          s, x, w, y, scratch, epi, begin, end);
  }

private:
  template <class Decoder, class X, class Y>
  NNC_FN static void run_strips(const S &s, const X *x, const unsigned char *w,
                                Y *y, unsigned char *scratch, const Epi &epi,
                                int begin, int end) {
    constexpr int size = static_cast<int>(sizeof(T));
    T *const strip = static_cast<T *>(static_cast<void *>(scratch));
    const Decoder decoder(s, w, scratch + stored_strip_bytes(s, size));
    const int filter = static_cast<int>(stored_filter(s));
    NNC_KEEP_LOOP for (int first = 0; first < s.k; first += s.strip) {
      const int from = first * filter;
      decoder.decode(from, smaller(s.strip * filter, s.elements - from), strip);
      const filter_range filters = {first, smaller(s.strip, s.k - first)};
      Conv::run_filters(s, x, strip, y, scratch + stored_strip_scratch(s, size),
                        epi, begin, end, filters);
    }
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_STORED_CONV2D_STRIPS_H
