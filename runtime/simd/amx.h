//===- amx.h - The right to use the tiles of AMX, and their configuration -===//
//
// Linux gives a process the tile registers of AMX when it asks for them. A
// thread can use them between the instruction that configures them and the one
// that releases them. A run of a module with routines that multiply tiles asks
// first, and has an amx_scope: no state is left behind it.
//
// The functions do nothing where tiles are arrays: without these instructions,
// with NNC_PLAIN_TILES and with NNC_PORTABLE_SIMD; see matrix_tiles.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_AMX_H
#define NNC_SIMD_AMX_H

#include "runtime/functions.h"

#include <stdint.h>

namespace nnc {

#if defined(__AMX_TILE__) && defined(__x86_64__) &&                            \
    !defined(NNC_PLAIN_TILES) && !defined(NNC_PORTABLE_SIMD)

/// Asks Linux for the tile registers. Returns true if all threads of this
/// process may use them. The answer is no on processors without them, on
/// kernels before 5.16, where the stack of a signal handler is too small for
/// them, and in processes that may not ask; with other systems, too.
inline bool amx_permitted() {
#if defined(__linux__)
  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), without the C library,
  // which might store an error in errno.
  long result = 158;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(0x1023L), "S"(18L)
               : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}

/// The configuration of the calling thread's tiles: all eight have 16 rows of
/// 64 bytes. The destructor releases the tiles.
struct amx_scope {
  NNC_INLINE amx_scope() { configure(); }
  NNC_INLINE ~amx_scope() { asm volatile("tilerelease"); }
  amx_scope(const amx_scope &) = delete;
  amx_scope &operator=(const amx_scope &) = delete;

  /// Configures the tiles, which become zero. Functions of others may have
  /// released them: by the calling convention, no function preserves tiles.
  static NNC_INLINE void configure() {
    // The operand of LDTILECFG: palette 1, and for each of 16 tiles, of which
    // the processor has eight, the bytes of a row and the number of rows.
    struct configuration {
      uint8_t palette, start_row, reserved[14];
      uint16_t row_bytes[16];
      uint8_t rows[16];
    };
    static_assert(sizeof(configuration) == 64, "as the processor reads it");
    alignas(64) static constexpr configuration all = {
        1,
        0,
        {},
        {64, 64, 64, 64, 64, 64, 64, 64},
        {16, 16, 16, 16, 16, 16, 16, 16}};
    asm volatile("ldtilecfg %0" : : "m"(all));
  }
};

#else

/// Returns true: arrays need no permission.
inline bool amx_permitted() { return true; }

/// Nothing: arrays need no configuration. It has a constructor so that
/// compilers do not call an object of this type unused.
struct amx_scope {
  NNC_INLINE amx_scope() {}
  static NNC_INLINE void configure() {}
};

#endif

template <bool UsesTiles> struct thread_tiles;

/// The tiles of a thread while it runs units of a routine that multiplies them;
/// see parallel.h.
template <> struct thread_tiles<true> : amx_scope {};

} // namespace nnc

#endif // NNC_SIMD_AMX_H
