//===- device_block.h - The block policy on a GPU -------------------------===//
//
// See README.md in this folder for what each function does. ARCH is the
// architecture that the kernel is compiled for; instructions of later ones
// are not used. The header includes nothing of the CUDA toolkit.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_CUDA_DEVICE_BLOCK_H
#define NNC_CUDA_DEVICE_BLOCK_H

#include "runtime/cuda/block.h"

#if defined(__CUDACC__)

#include <stdint.h>
#include <string.h>

namespace nnc {

template <int ARCH> struct device_block {
  static_assert(ARCH >= 75, "older tensor cores have no mma of 16 x 8");
  static constexpr int arch = ARCH;
  static constexpr bool copies_are_async = ARCH >= 80;

  static __device__ __forceinline__ int thread() { return threadIdx.x; }
  static __device__ __forceinline__ int block_x() { return blockIdx.x; }
  static __device__ __forceinline__ int block_y() { return blockIdx.y; }
  static __device__ __forceinline__ int block_z() { return blockIdx.z; }

  static __device__ __forceinline__ void wait_for_inputs() {
    if constexpr (ARCH >= 90)
      asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  static __device__ __forceinline__ void let_next_launch_begin() {
    if constexpr (ARCH >= 90)
      asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }

  // Shared memory.

  static __device__ __forceinline__ shared_address shared_base() {
    extern __shared__ __align__(128) unsigned char nnc_shared_memory[];
    return address_of(nnc_shared_memory);
  }
  template <class T>
  static __device__ __forceinline__ T load_shared(shared_address at) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "whole words");
    words4 v;
    if constexpr (sizeof(T) == 16)
      asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]),
                     "=r"(v.word[3])
                   : "r"(at));
    else if constexpr (sizeof(T) == 8)
      asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                   : "=r"(v.word[0]), "=r"(v.word[1])
                   : "r"(at));
    else
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(v.word[0]) : "r"(at));
    T value;
    memcpy(&value, &v, sizeof(T));
    return value;
  }
  template <class T>
  static __device__ __forceinline__ void store_shared(shared_address at,
                                                      const T &value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "whole words");
    words4 v;
    memcpy(&v, &value, sizeof(T));
    if constexpr (sizeof(T) == 16)
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at),
                   "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]),
                   "r"(v.word[3])
                   : "memory");
    else if constexpr (sizeof(T) == 8)
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at), "r"(v.word[0]),
                   "r"(v.word[1])
                   : "memory");
    else
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(v.word[0])
                   : "memory");
  }
  static __device__ __forceinline__ words4 ldmatrix_x4(shared_address row) {
    words4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]),
                   "=r"(v.word[3])
                 : "r"(row));
    return v;
  }
  static __device__ __forceinline__ words4
  ldmatrix_x4_trans(shared_address row) {
    words4 v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]),
                   "=r"(v.word[3])
                 : "r"(row));
    return v;
  }
  static __device__ __forceinline__ void barrier() {
    asm volatile("bar.sync 0;" ::: "memory");
  }

  static __device__ __forceinline__ bool arrives_last(uint32_t *counter,
                                                      int count) {
    // The barrier makes the stores of all threads part of what the atomic
    // operation releases, and bar.red passes on what it acquires.
    barrier();
    uint32_t before = 0;
    if (thread() == 0)
      asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %1; "
                   "atom.acq_rel.gpu.global.inc.u32 %0, [p], %2; }"
                   : "=r"(before)
                   : "l"(counter), "r"(count - 1)
                   : "memory");
    uint32_t is_last;
    asm volatile("{ .reg .pred own, any; setp.eq.u32 own, %1, %2; "
                 "bar.red.or.pred any, 0, own; selp.b32 %0, 1, 0, any; }"
                 : "=r"(is_last)
                 : "r"(before), "r"(count - 1)
                 : "memory");
    return is_last != 0;
  }

  // Asynchronous copies.

  static __device__ __forceinline__ void
  copy_async(shared_address to, const void *from, bool valid) {
    if constexpr (copies_are_async)
      asm volatile(
          "{ .reg .u64 from; cvta.to.global.u64 from, %1; "
          "cp.async.cg.shared.global [%0], [from], 16, %2; }" ::"r"(to),
          "l"(from), "r"(valid ? 16 : 0)
          : "memory");
    else
      store_shared(to, valid ? load_global(static_cast<const words4 *>(from))
                             : words4{});
  }
  static __device__ __forceinline__ void commit_copies() {
    if constexpr (copies_are_async)
      asm volatile("cp.async.commit_group;" ::: "memory");
  }
  template <int N> static __device__ __forceinline__ void wait_copies() {
    if constexpr (copies_are_async)
      asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
  }

  // Global memory.

  template <class T>
  static __device__ __forceinline__ T load_global(const T *p) {
    if constexpr (sizeof(T) == 16) {
      words4 v;
      asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %4; "
                   "ld.global.v4.b32 {%0, %1, %2, %3}, [p]; }"
                   : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]),
                     "=r"(v.word[3])
                   : "l"(p));
      T value;
      memcpy(&value, &v, sizeof(T));
      return value;
    } else {
      return *p;
    }
  }
  template <class T>
  static __device__ __forceinline__ void store_global(T *p, const T &value) {
    if constexpr (sizeof(T) == 16) {
      words4 v;
      memcpy(&v, &value, sizeof(T));
      asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %0; "
                   "st.global.v4.b32 [p], {%1, %2, %3, %4}; }" ::"l"(p),
                   "r"(v.word[0]), "r"(v.word[1]), "r"(v.word[2]),
                   "r"(v.word[3])
                   : "memory");
    } else if constexpr (sizeof(T) == 8) {
      words4 v;
      memcpy(&v, &value, sizeof(T));
      asm volatile("{ .reg .u64 p; cvta.to.global.u64 p, %0; "
                   "st.global.v2.b32 [p], {%1, %2}; }" ::"l"(p),
                   "r"(v.word[0]), "r"(v.word[1])
                   : "memory");
    } else {
      *p = value;
    }
  }

  // Warps.

  static __device__ __forceinline__ uint32_t shuffle_xor(uint32_t value,
                                                         int mask) {
    uint32_t result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(result)
                 : "r"(value), "r"(mask));
    return result;
  }
  static __device__ __forceinline__ float shuffle_xor(float value, int mask) {
    float result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=f"(result)
                 : "f"(value), "r"(mask));
    return result;
  }
  static __device__ __forceinline__ void mma_f16(float (&d)[4], const words4 &a,
                                                 uint32_t b0, uint32_t b1) {
    if constexpr (ARCH >= 80) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
            "r"(b0), "r"(b1));
    } else {
      mma_f16_half_depth(d, a.word[0], a.word[1], b0);
      mma_f16_half_depth(d, a.word[2], a.word[3], b1);
    }
  }
  static __device__ __forceinline__ void
  mma_bf16(float (&d)[4], const words4 &a, uint32_t b0, uint32_t b1) {
    static_assert(ARCH >= 80, "bf16 needs sm_80");
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
          "r"(b0), "r"(b1));
  }
  static __device__ __forceinline__ void
  mma_tf32(float (&d)[4], const words4 &a, uint32_t b0, uint32_t b1) {
    static_assert(ARCH >= 80, "tf32 needs sm_80");
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
          "r"(b0), "r"(b1));
  }
  static __device__ __forceinline__ void
  mma_i8(int32_t (&d)[4], const words4 &a, uint32_t b0, uint32_t b1) {
    if constexpr (ARCH >= 80) {
      asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
          : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
            "r"(b0), "r"(b1));
    } else {
      mma_i8_quarter(d[0], d[1], a.word[0], b0);
      mma_i8_quarter(d[0], d[1], a.word[2], b1);
      mma_i8_quarter(d[2], d[3], a.word[1], b0);
      mma_i8_quarter(d[2], d[3], a.word[3], b1);
    }
  }
  static __device__ __forceinline__ void
  mma_u8(int32_t (&d)[4], const words4 &a, uint32_t b0, uint32_t b1) {
    if constexpr (ARCH >= 80) {
      asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
          : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]),
            "r"(b0), "r"(b1));
    } else {
      mma_u8_quarter(d[0], d[1], a.word[0], b0);
      mma_u8_quarter(d[0], d[1], a.word[2], b1);
      mma_u8_quarter(d[2], d[3], a.word[1], b0);
      mma_u8_quarter(d[2], d[3], a.word[3], b1);
    }
  }

  // Conversions.

  static __device__ __forceinline__ uint32_t halves(float low, float high) {
    uint32_t both;
    if constexpr (ARCH >= 80)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    else
      asm("{ .reg .b16 low, high; cvt.rn.f16.f32 low, %1; "
          "cvt.rn.f16.f32 high, %2; mov.b32 %0, {low, high}; }"
          : "=r"(both)
          : "f"(low), "f"(high));
    return both;
  }
  static __device__ __forceinline__ uint32_t bfloats(float low, float high) {
    static_assert(ARCH >= 80, "bf16 needs sm_80");
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }

  static __device__ __forceinline__ uint32_t tf32(uint32_t x) {
    static_assert(ARCH >= 80, "tf32 needs sm_80");
    uint32_t rounded;
    asm("{ .reg .f32 x; mov.b32 x, %1; cvt.rna.tf32.f32 %0, x; }"
        : "=r"(rounded)
        : "r"(x));
    return rounded;
  }

  // Functions of floats.

  static __device__ __forceinline__ float larger(float x, float y) {
    float result;
    asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
    return result;
  }
  static __device__ __forceinline__ float exp2(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
  }

private:
  static __device__ __forceinline__ shared_address address_of(const void *p) {
    shared_address at;
    asm("{ .reg .u64 p; cvta.to.shared.u64 p, %1; cvt.u32.u64 %0, p; }"
        : "=r"(at)
        : "l"(p));
    return at;
  }
  static __device__ __forceinline__ void
  mma_f16_half_depth(float (&d)[4], uint32_t a0, uint32_t a1, uint32_t b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a0), "r"(a1), "r"(b));
  }
  static __device__ __forceinline__ void
  mma_i8_quarter(int32_t &d0, int32_t &d1, uint32_t a, uint32_t b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a), "r"(b));
  }
  static __device__ __forceinline__ void
  mma_u8_quarter(int32_t &d0, int32_t &d1, uint32_t a, uint32_t b) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(d0), "+r"(d1)
        : "r"(a), "r"(b));
  }
};

} // namespace nnc

#endif // __CUDACC__

#endif // NNC_CUDA_DEVICE_BLOCK_H
