//===- shape.h - The shape of max_pool_index routines ---------------------===//
#ifndef NNC_ROUTINES_POOLING_MAX_POOL_INDEX_SHAPE_H
#define NNC_ROUTINES_POOLING_MAX_POOL_INDEX_SHAPE_H

namespace nnc {

/// The positions y[planes][od][oh][ow] of the largest elements of windows in
/// x[planes][d][h][w]. The window has kd x kh x kw elements, dd, dh and dw
/// apart, moves by sd, sh and sw, and begins pf, pt and pl before the first
/// element. A position is the index of the element in x, counted row by row or,
/// with column_major, along d first, then along h.
struct max_pool_index_shape {
  int planes, d, h, w, kd, kh, kw, sd, sh, sw, dd, dh, dw, pf, pt, pl, od, oh,
      ow, column_major;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("planes", planes);
    f("d", d);
    f("h", h);
    f("w", w);
    f("kd", kd);
    f("kh", kh);
    f("kw", kw);
    f("sd", sd);
    f("sh", sh);
    f("sw", sw);
    f("dd", dd);
    f("dh", dh);
    f("dw", dw);
    f("pf", pf);
    f("pt", pt);
    f("pl", pl);
    f("od", od);
    f("oh", oh);
    f("ow", ow);
    f("column_major", column_major);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_POOLING_MAX_POOL_INDEX_SHAPE_H
