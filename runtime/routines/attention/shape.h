//===- shape.h - The shape of attention routines --------------------------===//
#ifndef NNC_ROUTINES_ATTENTION_SHAPE_H
#define NNC_ROUTINES_ATTENTION_SHAPE_H

namespace nnc {

/// Attention, for each of n elements of the batch, `heads` heads and `queries`
/// rows:
///   y = softmax(scale * q . k + mask) . v
/// over `keys` rows of k and v. Rows of q and k have `dim` elements, those of v
/// and y `value_dim`. q, k, v and mask are read in place: row (b, h, i) of q
/// begins at q_start + b * q_strides[0] + h * q_strides[1] + i * q_strides[2].
/// Elements of a row are contiguous; a row of the mask, which is optional, runs
/// along the keys. y is [n][queries][heads][value_dim].
struct attention_shape {
  int n, heads, queries, keys, dim, value_dim;
  float scale;
  int q_start, k_start, v_start;
  int q_strides[3], k_strides[3], v_strides[3], mask_strides[3];

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("n", n);
    f("heads", heads);
    f("queries", queries);
    f("keys", keys);
    f("dim", dim);
    f("value_dim", value_dim);
    f("scale", scale);
    f("q_start", q_start);
    f("k_start", k_start);
    f("v_start", v_start);
    f("q_strides", q_strides);
    f("k_strides", k_strides);
    f("v_strides", v_strides);
    f("mask_strides", mask_strides);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_ATTENTION_SHAPE_H
