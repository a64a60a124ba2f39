// Layers of real networks, by which the routines on blocks of a GPU's threads
// are timed, and how a routine of each family is launched for one.
#ifndef NNC_TEST_CUDA_TIMED_LAYERS_H
#define NNC_TEST_CUDA_TIMED_LAYERS_H

#include "runtime/cuda/kernels.h"
#include "runtime/epilogue.h"
#include "runtime/routines/attention/shape.h"
#include "runtime/routines/convolution/conv2d/shape.h"
#include "runtime/routines/convolution/conv_transpose2d/shape.h"
#include "runtime/routines/matrix/matmul/shape.h"
#include "runtime/routines/normalization/layer_norm/shape.h"
#include "runtime/routines/normalization/softmax/shape.h"
#include "runtime/routines/pooling/pool2d/shape.h"
#include "runtime/routines/reduction/reduce/shape.h"
#include "runtime/simd/arithmetic.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace nnc_test {

/// Elements of inputs by their names in the tables of routines.
namespace timed_types {
using byte = std::int8_t;
using f16 = nnc::f16;
using f32 = float;
} // namespace timed_types

/// The GPU's memory that all timed layers share: an input and the weights, of
/// random numbers, an output, and scratch memory, each of `bytes` bytes; a bias
/// for each channel; zeros with which blocks count each other; and random
/// indices below timed_words, of type std::int32_t.
struct timed_memory {
  unsigned char *x, *w, *y, *scratch, *bias, *counters, *indices;
  std::size_t bytes;
};

/// Bias and ReLU, or a scale and rounding of sums of bytes.
struct timed_function {
  template <class V> NNC_INLINE V operator()(V v, V bias) const {
    return nnc::max_fast(v + bias, V(0.0f));
  }
  NNC_INLINE std::int8_t operator()(std::int32_t v, float scale) const {
    const float x = static_cast<float>(v) * scale;
    return static_cast<std::int8_t>(x < -128 ? -128 : x > 127 ? 127 : x);
  }
};
using timed_epilogue = nnc::fused<timed_function, nnc::channel_of<float>>;

/// The work of a layer.
struct layer_size {
  double multiply_adds;
  double x, w, y; ///< elements
};

/// The layers with these numbers of images, rows or sentences; small ones where
/// the kernels run on a CPU.
#if defined(__CUDACC__)
constexpr int timed_batches[] = {1, 32};
constexpr int timed_part = 1; ///< by which sizes of layers are divided
#else
constexpr int timed_batches[] = {1};
constexpr int timed_part = 8;
#endif
/// The rows of the table that layers gather from: the vocabulary of BERT-base.
constexpr int timed_words = 30522 / timed_part;

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Shapes whose windows are constant, as in emitted modules.
template <int TAPS> struct grouped_window : nnc::conv2d_shape {
  explicit grouped_window(const nnc::conv2d_shape &s) : nnc::conv2d_shape(s) {}
  static constexpr int kh = TAPS, kw = TAPS, dh = 1, dw = 1;
  static bool fits(const nnc::conv2d_shape &s) { return s.kh == TAPS; }
};
template <int TAPS> struct conv2d_window : grouped_window<TAPS> {
  using grouped_window<TAPS>::grouped_window;
  static constexpr int groups = 1;
};
template <int TAPS, int STRIDE> struct depthwise_window : nnc::conv2d_shape {
  explicit depthwise_window(const nnc::conv2d_shape &s)
      : nnc::conv2d_shape(s) {}
  static constexpr int kh = TAPS, kw = TAPS, sh = STRIDE, sw = STRIDE, dh = 1,
                       dw = 1;
  static bool fits(const nnc::conv2d_shape &s) {
    return s.kh == TAPS && s.sh == STRIDE;
  }
};

inline nnc::conv2d_shape square_conv2d(int n, int c, int k, int side, int taps,
                                       int stride, int groups) {
  nnc::conv2d_shape s{};
  s.n = n;
  s.c = c;
  s.k = k;
  s.h = s.w = side;
  s.kh = s.kw = taps;
  s.sh = s.sw = stride;
  s.dh = s.dw = 1;
  s.pt = s.pl = taps / 2;
  s.oh = s.ow = (side + 2 * (taps / 2) - taps) / stride + 1;
  s.groups = groups;
  return s;
}

/// The types of shapes for which routines are compiled.
template <class... Shapes> struct shape_list {};

/// True for kernels that divide sums into slices, whose blocks count each
/// other.
template <class S, class Kernels> constexpr bool has_slices = false;
template <class S, class Kernel>
constexpr bool has_slices<S, nnc::kernel_list<Kernel>> =
    nnc::counts_blocks<Kernel, S>;

/// The common part of all kinds of convolutions.
template <class T> struct any_conv2d {
  using shape = nnc::conv2d_shape;
  using epilogue = timed_epilogue;

  static layer_size size(const shape &s) {
    const double out = double(s.n) * s.oh * s.ow * s.k;
    const double terms = double(s.kh) * s.kw * (s.c / s.groups);
    return {out * terms, double(s.n) * s.h * s.w * s.c, s.k * terms, out};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t scratch) {
    const auto *x = reinterpret_cast<const T *>(m.x);
    const auto *w = reinterpret_cast<const T *>(m.w);
    auto *y = reinterpret_cast<T *>(m.y);
    const timed_epilogue epi(reinterpret_cast<const float *>(m.bias));
    if constexpr (has_slices<S, typename R::kernels>)
      nnc::launch<R>(stream, s, x, w, y,
                     nnc::scratch_memory{m.scratch, scratch}, epi);
    else
      nnc::launch<R>(stream, s, x, w, y, epi);
  }
};

/// Convolutions of 3 x 3, of ResNet-50 and VGG-16.
template <class T> struct conv2d_layers : any_conv2d<T> {
  using shapes = shape_list<conv2d_window<3>>;
  static std::vector<nnc::conv2d_shape> list() {
    std::vector<nnc::conv2d_shape> all;
    for (const int n : timed_batches) {
      all.push_back(square_conv2d(n, 64, 64, 56 / timed_part, 3, 1, 1));
      all.push_back(square_conv2d(n, 128, 128, 28 / timed_part, 3, 1, 1));
      all.push_back(square_conv2d(n, 256, 256, 14 / timed_part, 3, 1, 1));
      all.push_back(square_conv2d(n, 512, 512, 14 / timed_part, 3, 2, 1));
      all.push_back(square_conv2d(n, 512, 512, 7 / timed_part + 1, 3, 1, 1));
    }
    return all;
  }
};

/// The first layers of ResNet-50 and VGG-16.
template <class T> struct first_layers : any_conv2d<T> {
  using shapes = shape_list<conv2d_window<3>, conv2d_window<7>>;
  static std::vector<nnc::conv2d_shape> list() {
    std::vector<nnc::conv2d_shape> all;
    for (const int n : timed_batches) {
      all.push_back(square_conv2d(n, 3, 64, 224 / timed_part, 7, 2, 1));
      all.push_back(square_conv2d(n, 3, 64, 224 / timed_part, 3, 1, 1));
    }
    return all;
  }
};

/// First layers of networks, for kernels that load pixels of four channels: the
/// image takes 4 / c times the memory.
template <class T> struct pixels_layers : first_layers<T> {
  static layer_size size(const nnc::conv2d_shape &s) {
    layer_size size = first_layers<T>::size(s);
    size.x *= 4.0 / s.c;
    return size;
  }
};

/// Convolutions in groups, of ResNeXt-50 and RegNetX-1.6GF.
template <class T> struct grouped_layers : any_conv2d<T> {
  using shapes = shape_list<grouped_window<3>>;
  static std::vector<nnc::conv2d_shape> list() {
    std::vector<nnc::conv2d_shape> all;
    for (const int n : timed_batches) {
      all.push_back(square_conv2d(n, 128, 128, 56 / timed_part, 3, 1, 32));
      all.push_back(square_conv2d(n, 256, 256, 28 / timed_part, 3, 1, 32));
      all.push_back(square_conv2d(n, 512, 512, 14, 3, 1, 32));
      all.push_back(square_conv2d(n, 1024, 1024, 14, 3, 2, 32));
      all.push_back(square_conv2d(n, 168, 168, 28 / timed_part, 3, 1, 7));
      all.push_back(square_conv2d(n, 408, 408, 14, 3, 1, 17));
    }
    return all;
  }
};

/// Layers of MobileNet v2 and EfficientNet-B0.
template <class T> struct depthwise_layers : any_conv2d<T> {
  using shapes = shape_list<depthwise_window<3, 1>, depthwise_window<3, 2>,
                            depthwise_window<5, 1>, depthwise_window<5, 2>>;
  static std::vector<nnc::conv2d_shape> list() {
    std::vector<nnc::conv2d_shape> all;
    for (const int n : timed_batches) {
      all.push_back(square_conv2d(n, 96, 96, 112 / timed_part, 3, 2, 96));
      all.push_back(square_conv2d(n, 144, 144, 56 / timed_part, 3, 1, 144));
      all.push_back(square_conv2d(n, 576, 576, 14, 3, 1, 576));
      all.push_back(square_conv2d(n, 960, 960, 7, 3, 1, 960));
      all.push_back(square_conv2d(n, 240, 240, 28 / timed_part, 5, 1, 240));
      all.push_back(square_conv2d(n, 672, 672, 14, 5, 2, 672));
    }
    return all;
  }
};

/// Transposed convolutions of U-Net and DCGAN.
template <class T> struct conv_transpose2d_layers {
  using shape = nnc::conv_transpose2d_shape;
  using shapes = shape_list<shape>;
  using epilogue = timed_epilogue;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int n, int c, int k, int side, int taps, int pad) {
      shape s{};
      s.n = n;
      s.c = c;
      s.k = k;
      s.h = s.w = side;
      s.kh = s.kw = taps;
      s.sh = s.sw = 2;
      s.dh = s.dw = s.groups = 1;
      s.pt = s.pl = pad;
      s.oh = s.ow = 2 * (side - 1) + taps - 2 * pad;
      all.push_back(s);
    };
    for (const int n : timed_batches) {
      add(n, 1024 / timed_part, 512, 32 / timed_part, 2, 0);
      add(n, 256, 128, 128 / timed_part, 2, 0);
      add(n, 512, 256, 8 / timed_part + 1, 4, 1);
      add(n, 256, 128, 16 / timed_part, 4, 1);
      add(n, 128, 64, 32 / timed_part, 4, 1);
    }
    return all;
  }
  static layer_size size(const shape &s) {
    const double in = double(s.n) * s.h * s.w * s.c;
    const double taps = double(s.kh) * s.kw;
    return {in * taps * s.k, in, s.c * taps * s.k,
            double(s.n) * s.oh * s.ow * s.k};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t scratch) {
    any_conv2d<T>::template run<R>(stream, s, m, scratch);
  }
};

//===----------------------------------------------------------------------===//
// Products and attention
//===----------------------------------------------------------------------===//

template <class T> struct matmul_layers {
  using shape = nnc::matmul_shape;
  using shapes = shape_list<shape>;
  using epilogue = timed_epilogue;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int m, int n, int k) {
      shape s{};
      s.batch = 1;
      s.m = m;
      s.n = n / timed_part;
      s.k = k / timed_part;
      all.push_back(s);
    };
    for (const int n : timed_batches) {
      // BERT-base with 128 tokens, ViT-B/16, and the last layer of ResNet-50.
      add(128 * n, 768, 768);
      add(128 * n, 3072, 768);
      add(128 * n, 768, 3072);
      add(197 * n, 2304, 768);
      add(n, 1000, 2048);
      // Convolutions of 1 x 1 of ResNet-50 and MobileNet v2.
      add(56 * 56 * n / timed_part, 256, 64);
      add(28 * 28 * n / timed_part, 128, 512);
      add(14 * 14 * n, 1024, 256);
      add(7 * 7 * n, 2048, 512);
      add(7 * 7 * n, 160, 960);
    }
    return all;
  }
  static layer_size size(const shape &s) {
    const double out = double(s.m) * s.n;
    return {out * s.k, double(s.m) * s.k, double(s.n) * s.k, out};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t scratch) {
    any_conv2d<T>::template run<R>(stream, s, m, scratch);
  }
};

/// Products of two computed matrices: those of an attention whose scores are a
/// tensor, and square ones in each order of rows and columns.
template <class T> struct matrices_layers : matmul_layers<T> {
  using shape = nnc::matmul_shape;

  static std::vector<shape> list() {
    std::vector<shape> all;
    const auto add = [&](int batch, int m, int n, int k, int transpose_a,
                         int transpose_b) {
      all.push_back({batch, m / timed_part, n / timed_part, k, 0, 0,
                     transpose_a, transpose_b});
      shape &s = all.back();
      s.a_batch_stride = s.m * s.k;
      s.b_batch_stride = s.n * s.k;
    };
    for (const int n : timed_batches) {
      for (const int tokens : {128, 197}) {
        add(12 * n, tokens, tokens, 64, 0, 1);
        add(12 * n, tokens, 64, tokens, 0, 0);
      }
      for (const int order : {0, 1, 2, 3})
        add(n, 1024, 1024, 1024, order / 2, order % 2);
    }
    return all;
  }
  static layer_size size(const shape &s) {
    const layer_size one = matmul_layers<T>::size(s);
    const double count = s.batch;
    return {one.multiply_adds * count, one.x * count, one.w * count,
            one.y * count};
  }
};

template <class T> struct attention_layers {
  using shape = nnc::attention_shape;
  using shapes = shape_list<shape>;
  using epilogue = nnc::none;

  static std::vector<shape> list() {
    std::vector<shape> all;
    for (const int n : timed_batches)
      for (const int tokens : {128, 197, 512}) {
        shape s{};
        s.n = n;
        s.heads = 12 / timed_part;
        s.queries = s.keys = tokens / timed_part;
        s.dim = s.value_dim = 64;
        s.scale = 0.125f;
        const int row = s.heads * s.dim;
        for (auto *strides : {&s.q_strides, &s.k_strides, &s.v_strides}) {
          (*strides)[0] = s.keys * row;
          (*strides)[1] = s.dim;
          (*strides)[2] = row;
        }
        all.push_back(s);
      }
    return all;
  }
  static layer_size size(const shape &s) {
    const double heads = double(s.n) * s.heads;
    return {heads * s.queries * s.keys * (s.dim + s.value_dim),
            heads * s.queries * s.dim, heads * s.keys * (s.dim + s.value_dim),
            heads * s.queries * s.value_dim};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    const auto *q = reinterpret_cast<const T *>(m.x);
    const auto *k = reinterpret_cast<const T *>(m.w);
    const T *v = k + std::ptrdiff_t(s.n) * s.k_strides[0];
    nnc::launch<R>(stream, s, q, k, v, reinterpret_cast<T *>(m.y), nnc::none());
  }
};

//===----------------------------------------------------------------------===//
// Rows and windows
//===----------------------------------------------------------------------===//

/// The common part of families whose routines take x and y alone.
template <class T, class Shape> struct plain_layers {
  using shape = Shape;
  using shapes = shape_list<Shape>;
  using epilogue = nnc::none;

  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x),
                   reinterpret_cast<T *>(m.y), nnc::none());
  }
};

template <class T> struct softmax_layers : plain_layers<T, nnc::softmax_shape> {
  static std::vector<nnc::softmax_shape> list() {
    std::vector<nnc::softmax_shape> all;
    for (const int n : timed_batches) {
      all.push_back({n, 1000, 1, 0});
      all.push_back({n * 12 * 128 / timed_part, 128, 1, 0});
      all.push_back({n * 12 * 197 / timed_part, 197, 1, 0});
    }
    return all;
  }
  static layer_size size(const nnc::softmax_shape &s) {
    const double all = double(s.outer) * s.size * s.inner;
    return {0, all, 0, all};
  }
};

template <class T>
struct reduce_mean_layers : plain_layers<T, nnc::reduce_shape> {
  static std::vector<nnc::reduce_shape> list() {
    std::vector<nnc::reduce_shape> all;
    for (const int n : timed_batches) {
      all.push_back({n * 1280, 49, 1});
      all.push_back({n * 128, 768, 1});
      all.push_back({n, 1 << 16, 1});
    }
    return all;
  }
  static layer_size size(const nnc::reduce_shape &s) {
    return {0, double(s.outer) * s.size, 0, double(s.outer)};
  }
};

/// Max pooling of ResNet-50 and SqueezeNet, and a mean of whole images.
template <class T> struct pool2d_layers : plain_layers<T, nnc::pool2d_shape> {
  static std::vector<nnc::pool2d_shape> list() {
    std::vector<nnc::pool2d_shape> all;
    const auto add = [&](int n, int c, int side, int taps, int stride,
                         int pad) {
      nnc::pool2d_shape s{};
      s.n = n;
      s.c = c;
      s.h = s.w = side;
      s.kh = s.kw = taps;
      s.sh = s.sw = stride;
      s.dh = s.dw = 1;
      s.pt = s.pl = s.pb = s.pr = pad;
      s.oh = s.ow = (side + 2 * pad - taps) / stride + 1;
      all.push_back(s);
    };
    for (const int n : timed_batches) {
      add(n, 64, 112 / timed_part, 3, 2, 1);
      add(n, 128, 55 / timed_part, 3, 2, 0);
      add(n, 2048, 7, 7, 1, 0);
    }
    return all;
  }
  static layer_size size(const nnc::pool2d_shape &s) {
    return {0, double(s.n) * s.h * s.w * s.c, 0,
            double(s.n) * s.oh * s.ow * s.c};
  }
};
template <class T> using avg_pool2d_layers = pool2d_layers<T>;
template <class T> using max_pool2d_layers = pool2d_layers<T>;

template <class T> struct layer_norm_layers {
  using shape = nnc::layer_norm_shape;
  using shapes = shape_list<shape>;
  using epilogue = nnc::none;

  static std::vector<shape> list() {
    std::vector<shape> all;
    for (const int n : timed_batches)
      for (const int rows : {128, 197})
        all.push_back({n * rows / timed_part, 768, 1e-5f});
    return all;
  }
  static layer_size size(const shape &s) {
    const double all = double(s.outer) * s.size;
    return {0, all, 2.0 * s.size, all};
  }
  template <class R, class S>
  static void run(nnc::stream &stream, const S &s, const timed_memory &m,
                  std::ptrdiff_t) {
    const auto *scale = reinterpret_cast<const T *>(m.w);
    nnc::launch<R>(stream, s, reinterpret_cast<const T *>(m.x), scale,
                   scale + s.size, reinterpret_cast<T *>(m.y), nnc::none());
  }
};

} // namespace nnc_test

#endif // NNC_TEST_CUDA_TIMED_LAYERS_H
