//===- policy.h - Constant or run-time shapes -----------------------------===//
#ifndef NNC_ROUTINES_SHAPES_POLICY_H
#define NNC_ROUTINES_SHAPES_POLICY_H

namespace nnc {

/// Tells whether the fields of shape S are constants (static constexpr members)
/// or run-time values (plain members). `S::n` may be used as a constant only in
/// the first case.
template <class T> constexpr bool is_member_pointer = false;
template <class T, class S> constexpr bool is_member_pointer<T S::*> = true;
template <class S>
constexpr bool is_constant = !is_member_pointer<decltype(&S::n)>;

} // namespace nnc

#endif // NNC_ROUTINES_SHAPES_POLICY_H
