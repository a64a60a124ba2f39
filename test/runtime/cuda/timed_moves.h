// Layers of real networks that move or change elements, by which the routines
// on blocks of a GPU's threads are timed, as timed_layers.h has them for
// others.
#ifndef NNC_TEST_CUDA_TIMED_MOVES_H
#define NNC_TEST_CUDA_TIMED_MOVES_H

#include "runtime/routines/elementwise/shape.h"
#include "runtime/routines/moves/copy/shape.h"
#include "runtime/routines/moves/gather/shape.h"
#include "runtime/routines/moves/join/shape.h"
#include "runtime/routines/moves/pad/shape.h"
#include "runtime/routines/resampling/resize/shape.h"
#include "runtime/simd/elementwise.h"
#include "test/runtime/cuda/timed_layers.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// Shapes whose number of axes is constant, as in emitted modules.
template <class Shape, int RANK> struct with_axes : Shape {
  explicit with_axes(const Shape &s) : Shape(s) {}
  static constexpr int rank = RANK;
  static bool fits(const Shape &s) { return s.rank == RANK; }
};

/// The number of elements of a tensor with the sizes of a shape.
template <class S> double count_of(const S &s) {
  double count = 1;
  for (int d = 0; d < s.rank; ++d)
    count *= s.dims[d];
  return count;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// An axis of a copy: its size, and the steps in x and in y.
struct timed_axis {
  int size, from, to;
};

/// Copies that change the order of axes: from NCHW to NHWC and back for an
/// image and for a map, and the split of BERT-base's attention into heads. Also
/// the copy of a third of a matrix's columns, as of q in a product of q, k and
/// v.
template <class T> struct copy_layers : plain_layers<T, nnc::copy_shape> {
  using shape = nnc::copy_shape;
  using shapes =
      shape_list<with_axes<shape, 2>, with_axes<shape, 3>, with_axes<shape, 4>>;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](std::initializer_list<timed_axis> axes) {
      shape s{};
      for (const timed_axis &axis : axes) {
        s.dims[s.rank] = axis.size;
        s.src_strides[s.rank] = axis.from;
        s.dst_strides[s.rank++] = axis.to;
      }
      all.push_back(s);
    };
    for (const int n : timed_batches) {
      for (const int channels : {3, 64}) {
        const int side = (channels == 3 ? 224 : 56) / timed_part;
        const int pixels = side * side, image = pixels * channels;
        add({{n, image, image}, {channels, pixels, 1}, {pixels, 1, channels}});
        add({{n, image, image}, {pixels, channels, 1}, {channels, 1, pixels}});
      }
      const int tokens = 128 / timed_part, row = 12 * 64;
      add({{n, tokens * row, tokens * row},
           {12, 64, tokens * 64},
           {tokens, row, 64},
           {64, 1, 1}});
      add({{n * tokens, 3 * row, row}, {row, 1, 1}});
    }
    return all;
  }
  /// The cost model counts an operation for each element.
  static layer_size size(const shape &s) {
    const double count = count_of(s);
    return {count, count, 0, count};
  }
};

/// Words of BERT-base.
template <class T> struct gather_layers {
  using shape = nnc::gather_shape;
  using shapes = shape_list<shape>;
  using epilogue = nnc::none;

  static std::vector<shape> list() {
    std::vector<shape> all;
    for (const int n : timed_batches)
      for (const int tokens : {128, 512})
        all.push_back({1, timed_words, 768 / timed_part, n * tokens});
    return all;
  }
  /// The rows of the table that are read.
  static layer_size size(const shape &s) {
    const double count = double(s.outer) * s.count * s.inner;
    return {count, count, 0, count};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x),
                   reinterpret_cast<const std::int32_t *>(m.indices),
                   reinterpret_cast<T *>(m.y), nnc::none());
  }
};

/// Concatenations of two tensors: of SqueezeNet and of U-Net in NHWC, and of
/// ViT-B/16, whose tokens follow the one of the class.
template <class T> struct join_layers {
  using shape = nnc::join_shape;
  using shapes = shape_list<shape>;
  using epilogue = nnc::none;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int rows, int first, int second) {
      all.push_back({rows, first + second, {first, second}});
    };
    for (const int n : timed_batches) {
      add(n * 55 * 55 / timed_part, 64, 64);
      add(n * 13 * 13, 256, 256);
      add(n * 128 * 128 / timed_part, 128, 128);
      add(n, 768, 196 * 768 / timed_part);
    }
    return all;
  }
  static layer_size size(const shape &s) {
    const double count = double(s.rows) * s.pitch;
    return {count, count, 0, count};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x),
                   reinterpret_cast<const T *>(m.w), reinterpret_cast<T *>(m.y),
                   nnc::none());
  }
};

/// Margins of an image, and of a map in NHWC.
template <class T> struct pad_layers : plain_layers<T, nnc::pad_shape> {
  using shape = nnc::pad_shape;
  using shapes = shape_list<with_axes<shape, 4>>;

  static std::vector<shape> list() {
    std::vector<shape> all;
    for (const int n : timed_batches) {
      const int side = 224 / timed_part, quarter = 56 / timed_part;
      all.push_back({4,
                     {n, 3, side + 6, side + 6},
                     {n, 3, side, side},
                     {0, 0, 3, 3},
                     0,
                     0});
      all.push_back({4,
                     {n, quarter + 2, quarter + 2, 64},
                     {n, quarter, quarter, 64},
                     {0, 1, 1, 0},
                     0,
                     0});
    }
    return all;
  }
  static layer_size size(const shape &s) {
    double in = 1;
    for (int d = 0; d < s.rank; ++d)
      in *= s.in_dims[d];
    return {count_of(s), in, 0, count_of(s)};
  }
};

/// Maps of twice the size: nearest pixels as in YOLO, linear as in U-Net.
template <class T> struct resize_layers : plain_layers<T, nnc::resize_shape> {
  using shape = nnc::resize_shape;

  static std::vector<shape> list() {
    std::vector<shape> all;
    for (const int n : timed_batches)
      for (const int mode : {0, 1})
        for (const int side : {20, 64}) {
          shape s{};
          s.n = n;
          s.c = side == 20 ? 256 : 128;
          s.h = s.w = side / timed_part;
          s.oh = s.ow = 2 * s.h;
          s.mode = mode;
          s.coord = mode == 0 ? 1 : 0;
          s.nearest = 2;
          s.scale_h = s.scale_w = 2;
          s.cubic_a = -0.75f;
          all.push_back(s);
        }
    return all;
  }
  static layer_size size(const shape &s) {
    const double planes = double(s.n) * s.c;
    return {0, planes * s.h * s.w, 0, planes * s.oh * s.ow};
  }
};

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

/// The sum of two elements.
struct timed_sum {
  template <class V> NNC_FN V operator()(V x, V y) const {
    return nnc::add(x, y);
  }
};

/// Residuals of ResNet-50, and a number for each channel in NHWC.
template <class T> struct elementwise_layers {
  using shape = nnc::elementwise_shape;
  using shapes = shape_list<with_axes<shape, 1>, with_axes<shape, 2>>;
  using epilogue = timed_sum;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int pixels, int channels) {
      shape s{};
      s.planes = s.pixels = 1;
      s.rank = 1;
      s.dims[0] = pixels * channels;
      s.strides[0][0] = s.strides[1][0] = 1;
      all.push_back(s);
      s.rank = 2;
      s.dims[0] = pixels;
      s.dims[1] = channels;
      s.strides[0][0] = channels;
      s.strides[1][0] = 0;
      s.strides[0][1] = s.strides[1][1] = 1;
      all.push_back(s);
    };
    for (const int n : timed_batches) {
      add(n * 56 * 56 / timed_part, 256);
      add(n * 14 * 14, 1024);
      add(n * 7 * 7, 2048);
    }
    return all;
  }
  static layer_size size(const shape &s) {
    const double count = count_of(s);
    return {0, s.rank == 1 ? 2 * count : count + s.dims[1], 0, count};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x),
                   reinterpret_cast<const T *>(m.w), reinterpret_cast<T *>(m.y),
                   timed_sum());
  }
};

/// A change of type.
struct timed_change {
  template <class V> NNC_FN V operator()(V x) const { return x; }
};

/// Images and maps between NCHW and NHWC, and between floats and halves.
template <class T> struct changed_layers {
  using shape = nnc::elementwise_shape;
  using shapes = shape_list<with_axes<shape, 3>>;
  using epilogue = timed_change;
  using result =
      std::conditional_t<std::is_same<T, float>::value, nnc::f16, float>;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int n, int outer, int outer_step, int inner,
                         int inner_step) {
      shape s{};
      s.planes = s.pixels = 1;
      s.rank = 3;
      s.dims[0] = n;
      s.dims[1] = outer;
      s.dims[2] = inner;
      s.strides[0][0] = outer * inner;
      s.strides[0][1] = outer_step;
      s.strides[0][2] = inner_step;
      all.push_back(s);
    };
    for (const int n : timed_batches)
      for (const int channels : {3, 64}) {
        const int side = (channels == 3 ? 224 : 56) / timed_part;
        const int pixels = side * side;
        add(n, pixels, 1, channels, pixels); // NCHW to NHWC
        add(n, channels, 1, pixels, channels);
      }
    return all;
  }
  /// Elements of the input's size.
  static layer_size size(const shape &s) {
    const double count = count_of(s);
    return {0, count, 0, count * sizeof(result) / sizeof(T)};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x),
                   reinterpret_cast<result *>(m.y), timed_change());
  }
};

} // namespace nnc_test

#endif // NNC_TEST_CUDA_TIMED_MOVES_H
