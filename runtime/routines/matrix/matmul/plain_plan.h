//===- plain_plan.h - How a product of plain matrices reads b -------------===//
#ifndef NNC_ROUTINES_MATRIX_MATMUL_PLAIN_PLAN_H
#define NNC_ROUTINES_MATRIX_MATMUL_PLAIN_PLAN_H

namespace nnc {

/// Returns true if tiles of M rows and vectors of W columns read b in place,
/// because a copy of b does not pay for at most two tiles of rows.
template <class S> constexpr bool reads_b_in_place(const S &s, int W, int M) {
  return !s.transpose_b && s.n % W == 0 && s.m <= 2 * M;
}

} // namespace nnc

#endif // NNC_ROUTINES_MATRIX_MATMUL_PLAIN_PLAN_H
