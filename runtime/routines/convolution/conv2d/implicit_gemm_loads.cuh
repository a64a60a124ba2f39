//===- implicit_gemm_loads.cuh - What a thread of implicit_gemm.cuh loads -===//
//
// gemm_input and gemm_weights hold which chunks of 16 bytes of x and of the
// weights a thread brings to shared memory in a step, and move from step to
// step. Both either copy asynchronously, or load into registers and store.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_LOADS_CUH
#define NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_LOADS_CUH

#include "runtime/counts.h"
#include "runtime/cuda/block.h"
#include "runtime/functions.h"
#include "runtime/meta.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/convolution/conv2d/pixels_plan.h"
#include "runtime/simd/bfloat.h"
#include "runtime/simd/half.h"
#include "runtime/simd/unroll.h"

namespace nnc {

/// Operands that `mma` reads as they are.
struct exact_operands {
  template <class B>
  static NNC_INLINE words4 operand(B &, const words4 &from_memory) {
    return from_memory;
  }
};

/// The product of elements of type T: the type of sums, what an operand in
/// memory becomes, and the instruction. Floats are rounded to tf32.
template <class T> struct gemm_product;
template <> struct gemm_product<f16> : exact_operands {
  using sum = float;
  using bits = uint16_t;
  template <class B>
  static NNC_INLINE void add(B &b, sum (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    b.mma_f16(d, a, b0, b1);
  }
};
template <> struct gemm_product<bf16> : exact_operands {
  using sum = float;
  using bits = uint16_t;
  template <class B>
  static NNC_INLINE void add(B &b, sum (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    b.mma_bf16(d, a, b0, b1);
  }
};
template <> struct gemm_product<float> {
  using sum = float;
  using bits = uint32_t;
  template <class B>
  static NNC_INLINE words4 operand(B &b, const words4 &from_memory) {
    words4 rounded;
    NNC_UNROLL
    for (int i = 0; i < 4; ++i)
      rounded.word[i] = b.tf32(from_memory.word[i]);
    return rounded;
  }
  template <class B>
  static NNC_INLINE void add(B &b, sum (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    b.mma_tf32(d, a, b0, b1);
  }
};
template <> struct gemm_product<int8_t> : exact_operands {
  using sum = int32_t;
  using bits = uint8_t;
  template <class B>
  static NNC_INLINE void add(B &b, sum (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    b.mma_i8(d, a, b0, b1);
  }
};
template <> struct gemm_product<uint8_t> : exact_operands {
  using sum = int32_t;
  using bits = uint8_t;
  template <class B>
  static NNC_INLINE void add(B &b, sum (&d)[4], const words4 &a, uint32_t b0,
                             uint32_t b1) {
    b.mma_u8(d, a, b0, b1);
  }
};

/// The number that is XORed to that of a chunk in a row of x in shared memory.
/// Eight rows that follow each other at a multiple of 8 get 8 different banks.
template <class Tile> NNC_INLINE int gemm_swizzle(int row) {
  constexpr int rows_a_line = 8 / Tile::chunks;
  return row / rows_a_line % Tile::chunks;
}

/// The chunks of x that one thread copies: one column of chunks of the step, in
/// every few rows of the tile. Consecutive steps are loaded in turn.
template <class T, class Tile, bool WHOLE_CHUNKS, class S> struct gemm_input {
  static constexpr int elements = 16 / int(sizeof(T)); ///< of a chunk
  static constexpr int row_step = Tile::threads / Tile::chunks;
  static constexpr int count = Tile::rows / row_step;
  using element = T;    ///< in global memory
  using chunk = words4; ///< as it is loaded
  using product = gemm_product<T>;
  using bits = typename product::bits;

  const T *x; ///< of the first channel of the group
  int top[count], left[count], pixel[count];
  int tap_row, tap_column, channel; ///< of the chunk's first element
  int place; ///< of the first chunk in the stage, in bytes

  NNC_INLINE gemm_input(const S &s, const T *x, int first_row, int thread,
                        int step)
      : x(x) {
    const int row = thread / Tile::chunks, chunk = thread % Tile::chunks;
    NNC_UNROLL
    for (int i = 0; i < count; ++i) {
      const int out = first_row + row + i * row_step;
      const int line = out / s.ow, image = line / s.oh;
      const int first_line = line % s.oh * s.sh - s.pt;
      left[i] = out % s.ow * s.sw - s.pl;
      pixel[i] = (image * s.h + first_line) * s.w + left[i];
      // Rows beyond the last one lie above the image at every tap.
      top[i] = out < gemm_rows(s) ? first_line : -(1 << 30);
    }
    const int channels = s.c / s.groups;
    const int term = (step * Tile::chunks + chunk) * elements;
    channel = term % channels;
    tap_column = term / channels % s.kw;
    tap_row = term / channels / s.kw;
    place = row * Tile::depth_bytes + (chunk ^ gemm_swizzle<Tile>(row)) * 16;
  }

  /// Moves to the next step.
  NNC_INLINE void advance(const S &s) {
    constexpr int step = Tile::chunks * elements;
    const int channels = s.c / s.groups;
    if constexpr (has_pixels<S>) {
      tap_column += step / pixel_channels;
      NNC_KEEP_LOOP
      while (tap_column >= s.kw) {
        tap_column -= s.kw;
        ++tap_row;
      }
      return;
    }
    channel += step;
    if (channels >= step) {
      if (channel >= channels) {
        channel -= channels;
        next_tap(s, tap_row, tap_column);
      }
      return;
    }
    NNC_KEEP_LOOP
    while (channel >= channels) {
      channel -= channels;
      next_tap(s, tap_row, tap_column);
    }
  }

  /// Starts to copy the chunks to `stage`.
  template <class B>
  NNC_INLINE void copy(B &b, const S &s, shared_address stage) const {
    static_assert(WHOLE_CHUNKS, "copies are of whole chunks");
    NNC_UNROLL
    for (int i = 0; i < count; ++i) {
      const shared_address to =
          stage + place + i * row_step * Tile::depth_bytes;
      const bool valid = inside(s, i, tap_row, tap_column);
      if (fills && !valid)
        b.store_shared(to, padding(s));
      else
        b.copy_async(to, at(s, i, tap_row, tap_column, channel), valid);
    }
  }
  /// Loads the chunks.
  template <class B>
  NNC_INLINE void load(B &b, const S &s, words4 (&chunks)[count]) const {
    if constexpr (WHOLE_CHUNKS) {
      NNC_UNROLL
      for (int i = 0; i < count; ++i)
        chunks[i] = inside(s, i, tap_row, tap_column)
                        ? b.load_global(reinterpret_cast<const words4 *>(
                              at(s, i, tap_row, tap_column, channel)))
                        : padding(s);
    } else if constexpr (has_pixels<S>) {
      load_pixels(b, s, chunks);
    } else {
      NNC_UNROLL
      for (int i = 0; i < count; ++i)
        chunks[i] = words4{};
      int r = tap_row, t = tap_column, c = channel;
      NNC_UNROLL
      for (int e = 0; e < elements; ++e) {
        constexpr int per_word = 4 / int(sizeof(T));
        NNC_UNROLL
        for (int i = 0; i < count; ++i)
          if (fills || inside(s, i, r, t)) {
            const bits value =
                inside(s, i, r, t)
                    ? b.load_global(
                          reinterpret_cast<const bits *>(at(s, i, r, t, c)))
                    : bits(padding(s).word[0]);
            chunks[i].word[e / per_word] |=
                uint32_t(value) << e % per_word * int(sizeof(T)) * 8 % 32;
          }
        if (++c == s.c / s.groups) {
          c = 0;
          next_tap(s, r, t);
        }
      }
    }
  }
  /// Stores loaded chunks to `stage`.
  template <class B>
  NNC_INLINE void store(B &b, shared_address stage,
                        const words4 (&chunks)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      b.store_shared(stage + place + i * row_step * Tile::depth_bytes,
                     chunks[i]);
  }

protected:
  /// Loads chunks of pixels of four channels, a pixel at a time.
  template <class B>
  NNC_INLINE void load_pixels(B &b, const S &s, words4 (&chunks)[count]) const {
    constexpr int pixels = elements / pixel_channels, words = 4 / pixels;
    struct alignas(words * 4) pixel_words {
      uint32_t word[words];
    };
    const pixel_words used = [&] {
      bits mask[pixel_channels];
      NNC_UNROLL
      for (int c = 0; c < pixel_channels; ++c)
        mask[c] = c < s.channels() ? bits(~bits(0)) : bits(0);
      pixel_words result;
      memcpy(&result, mask, sizeof(result));
      return result;
    }();
    int r = tap_row, t = tap_column;
    NNC_UNROLL
    for (int p = 0; p < pixels; ++p) {
      NNC_UNROLL
      for (int i = 0; i < count; ++i) {
        pixel_words found;
        memcpy(&found, padding(s).word, sizeof(found));
        if (inside(s, i, r, t))
          found = b.load_global(
              reinterpret_cast<const pixel_words *>(at(s, i, r, t, 0)));
        NNC_UNROLL
        for (int w = 0; w < words; ++w)
          chunks[i].word[p * words + w] = found.word[w] & used.word[w];
      }
      next_tap(s, r, t);
    }
  }
  /// True if padding may be another value than zero, s.fill.
  static constexpr bool fills = is_integral<typename product::sum>::value;
  static NNC_INLINE words4 padding(const S &s) {
    uint32_t word = 0;
    if constexpr (fills)
      word = (s.fill & 0xff) * 0x01010101u;
    else
      static_cast<void>(s);
    return {{word, word, word, word}};
  }
  static NNC_INLINE void next_tap(const S &s, int &r, int &t) {
    if (++t == s.kw) {
      t = 0;
      ++r;
    }
  }
  NNC_INLINE bool inside(const S &s, int i, int r, int t) const {
    return r < s.kh && unsigned(top[i] + r * s.dh) < unsigned(s.h) &&
           unsigned(left[i] + t * s.dw) < unsigned(s.w);
  }
  NNC_INLINE const T *at(const S &s, int i, int r, int t, int c) const {
    return x + (ptrdiff_t(pixel[i] + r * s.dh * s.w + t * s.dw) * s.c + c);
  }
};

/// The chunks of packed weights that one thread copies. A panel is a list of
/// blocks of BLOCK_BYTES, of which a step has `step_blocks`.
template <class Tile, int BLOCK_BYTES = gemm_block_bytes> struct gemm_weights {
  static constexpr int step_blocks =
      Tile::depth_bytes * gemm_panel / BLOCK_BYTES;
  static constexpr int block_chunks = BLOCK_BYTES / 16;
  static constexpr int total = Tile::columns * Tile::chunks; ///< of a step
  static constexpr int count = ceil_div(total, Tile::threads);

  const unsigned char *from; ///< the step's first block of the first panel
  int panels, blocks;        ///< that are left from there on
  int panel_bytes;
  int thread;

  /// `w` is the group's first panel, of `all_panels` with `all_blocks` each.
  NNC_INLINE gemm_weights(const unsigned char *w, int all_panels,
                          int all_blocks, int first_panel, int thread, int step)
      : from(w + (ptrdiff_t(first_panel) * all_blocks + step * step_blocks) *
                     BLOCK_BYTES),
        panels(all_panels - first_panel),
        blocks(all_blocks - step * step_blocks),
        panel_bytes(all_blocks * BLOCK_BYTES), thread(thread) {}

  NNC_INLINE void advance() {
    from += step_blocks * BLOCK_BYTES;
    blocks -= step_blocks;
  }
  template <class B> NNC_INLINE void copy(B &b, shared_address stage) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      if (exists(i))
        b.copy_async(stage + place(i), at(i), inside(i));
  }
  template <class B> NNC_INLINE void load(B &b, words4 (&chunks)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      chunks[i] = exists(i) && inside(i)
                      ? b.load_global(reinterpret_cast<const words4 *>(at(i)))
                      : words4{};
  }
  template <class B>
  NNC_INLINE void store(B &b, shared_address stage,
                        const words4 (&chunks)[count]) const {
    NNC_UNROLL
    for (int i = 0; i < count; ++i)
      if (exists(i))
        b.store_shared(stage + place(i), chunks[i]);
  }

private:
  NNC_INLINE int index(int i) const { return thread + i * Tile::threads; }
  NNC_INLINE bool exists(int i) const {
    return total % Tile::threads == 0 || index(i) < total;
  }
  NNC_INLINE int panel(int i) const {
    return index(i) / (step_blocks * block_chunks);
  }
  NNC_INLINE int chunk(int i) const {
    return index(i) % (step_blocks * block_chunks);
  }
  NNC_INLINE bool inside(int i) const {
    return panel(i) < panels && chunk(i) / block_chunks < blocks;
  }
  NNC_INLINE const unsigned char *at(int i) const {
    return from + (ptrdiff_t(panel(i)) * panel_bytes + chunk(i) * 16);
  }
  NNC_INLINE int place(int i) const {
    return Tile::input_bytes + index(i) * 16;
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_CONVOLUTION_CONV2D_IMPLICIT_GEMM_LOADS_CUH
