//===- shape.h - The shape of dft routines --------------------------------===//
#ifndef NNC_ROUTINES_SIGNAL_DFT_SHAPE_H
#define NNC_ROUTINES_SIGNAL_DFT_SHAPE_H

namespace nnc {

/// Fourier transforms of lines of x[outer][size][inner][in_parts], each of
/// `length` elements along the second axis; line i begins at element i * step.
/// The result is y[outer][lines][count][inner][out_parts]. Parts: 1 real
/// numbers, 2 complex ones. With `windowed` elements are multiplied by those of
/// a window. With `hermitian` x holds the first length / 2 + 1 elements, of
/// which the others are the mirrored conjugates.
struct dft_shape {
  int outer, size, inner, lines, step, length, count, in_parts, out_parts,
      inverse, windowed, hermitian;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("outer", outer);
    f("size", size);
    f("inner", inner);
    f("lines", lines);
    f("step", step);
    f("length", length);
    f("count", count);
    f("in_parts", in_parts);
    f("out_parts", out_parts);
    f("inverse", inverse);
    f("windowed", windowed);
    f("hermitian", hermitian);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_SIGNAL_DFT_SHAPE_H
