//===- units_kernel.h - A kernel that computes units of a routine ---------===//
//
// A kernel in the form in which a CUDA module calls a portable routine: each
// thread of the GPU computes one unit. The shape is an argument, because the
// lists of its fields are members, while its whole numbers may be constants.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_TEST_CUDA_UNITS_KERNEL_H
#define NNC_TEST_CUDA_UNITS_KERNEL_H

/// Computes the units [0, units) of the routine R.
template <class R, class S, class... A>
__global__ void units_kernel(S shape, int units, A... arguments) {
  const int unit = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (unit < units)
    R::run(shape, arguments..., unit, unit + 1);
}

/// Compiles the kernel, and a launch of it, for an epilogue after arguments of
/// the types A.
template <class R, class S, class... A, class Epi>
void compile_units(const Epi &epi) {
  const S shape{};
  const int units = R::units(shape);
  units_kernel<R><<<(units + 127) / 128, 128>>>(shape, units, A{}..., epi);
}

/// A list of types of elements.
template <class... Types> struct element_types {
  /// Compiles K's kernels for each type.
  template <class K> static void compile() {
    (K::template compile<Types>(), ...);
  }
};

#endif // NNC_TEST_CUDA_UNITS_KERNEL_H
