// Layers of real networks as constant shapes, for the benchmark of routines.
#ifndef NNC_TEST_BENCH_LAYERS_H
#define NNC_TEST_BENCH_LAYERS_H

namespace nnc_bench {

template <int C, int H, int W, int K, int R, int STRIDE, int PAD,
          int GROUPS = 1>
struct conv {
  static constexpr int n = 1, c = C, h = H, w = W, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD, groups = GROUPS;
  static constexpr int oh = (H + 2 * PAD - R) / STRIDE + 1;
  static constexpr int ow = (W + 2 * PAD - R) / STRIDE + 1;
};
template <int C, int H, int R, int STRIDE>
using depthwise = conv<C, H, H, C, R, STRIDE, R / 2, C>;

/// A depthwise convolution with a ReLU6, followed by a 1 x 1 convolution.
template <int C, int H, int K, int R, int STRIDE> struct separable {
  static constexpr int n = 1, c = C, h = H, w = H, k = K, kh = R, kw = R;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = R / 2, pl = R / 2;
  static constexpr int oh = (H + 2 * pt - R) / STRIDE + 1, ow = oh;
  static constexpr int activation = 2;
  static constexpr float low = 0.0f, high = 6.0f;
};

/// A 1 x 1 convolution with a ReLU6, followed by a depthwise convolution.
template <int C, int H, int K, int R, int STRIDE>
struct expanded : separable<C, H, K, R, STRIDE> {};

/// A batch normalization with a ReLU, followed by a 1 x 1 convolution.
template <int C, int H, int K> struct scaled {
  static constexpr int n = 1, c = C, h = H, w = H, k = K, activation = 1;
  static constexpr float low = 0.0f, high = 0.0f;
};

template <int BATCH, int M, int N, int K, int TRANSPOSE_B = 0> struct product {
  static constexpr int batch = BATCH, m = M, n = N, k = K;
  static constexpr int a_batch_stride = BATCH > 1 ? M *K : 0;
  static constexpr int b_batch_stride = BATCH > 1 ? K *N : 0;
  static constexpr int transpose_a = 0, transpose_b = TRANSPOSE_B;
};

template <int C, int H, int K, int STRIDE, int PAD> struct pool {
  static constexpr int n = 1, c = C, h = H, w = H, kh = K, kw = K;
  static constexpr int sh = STRIDE, sw = STRIDE, dh = 1, dw = 1;
  static constexpr int pt = PAD, pl = PAD, pb = PAD, pr = PAD;
  static constexpr int oh = (H + 2 * PAD - K) / STRIDE + 1, ow = oh;
  static constexpr int count_include_pad = 0;
};

/// Attention whose heads are side by side in rows of COLUMNS elements.
template <int HEADS, int ROWS, int DIM, int COLUMNS> struct attention {
  static constexpr int n = 1, heads = HEADS, queries = ROWS, keys = ROWS;
  static constexpr int dim = DIM, value_dim = DIM;
  static constexpr float scale = 0.125f;
  static constexpr int q_start = 0, k_start = 0, v_start = 0;
  static constexpr int q_strides[3] = {ROWS * COLUMNS, DIM, COLUMNS};
  static constexpr int k_strides[3] = {ROWS * COLUMNS, DIM, COLUMNS};
  static constexpr int v_strides[3] = {ROWS * COLUMNS, DIM, COLUMNS};
  static constexpr int mask_strides[3] = {0, 0, 0};
};

/// Calls f(layer, name) for each layer of the family.
struct attention_layers {
  template <class F> static void each(F f) {
    f(attention<12, 128, 64, 768>{}, "bert 128");
    f(attention<12, 512, 64, 768>{}, "bert 512");
    f(attention<16, 512, 64, 1024>{}, "bert large 512");
    f(attention<8, 40, 15, 360>{}, "ppocr rec 40");
  }
};
struct conv2d_layers {
  template <class F> static void each(F f) {
    f(conv<3, 224, 224, 64, 7, 2, 3>{}, "resnet50 7x7/2 224");
    f(conv<64, 56, 56, 64, 3, 1, 1>{}, "resnet50 3x3 56");
    f(conv<128, 28, 28, 128, 3, 1, 1>{}, "resnet50 3x3 28");
    f(conv<256, 14, 14, 256, 3, 1, 1>{}, "resnet50 3x3 14");
    f(conv<512, 7, 7, 512, 3, 1, 1>{}, "resnet50 3x3 7");
    f(conv<256, 28, 28, 256, 3, 2, 1>{}, "resnet50 3x3/2 28");
    f(conv<64, 56, 56, 256, 1, 1, 0>{}, "resnet50 1x1 56");
    f(conv<1024, 14, 14, 256, 1, 1, 0>{}, "resnet50 1x1 14");
    f(conv<2048, 7, 7, 512, 1, 1, 0>{}, "resnet50 1x1 7");
    f(conv<1024, 14, 14, 2048, 1, 2, 0>{}, "resnet50 1x1/2 14");
    f(conv<64, 224, 224, 64, 3, 1, 1>{}, "vgg16 3x3 224");
    f(conv<128, 112, 112, 128, 3, 1, 1>{}, "vgg16 3x3 112");
    f(conv<256, 56, 56, 256, 3, 1, 1>{}, "vgg16 3x3 56");
    f(conv<512, 28, 28, 512, 3, 1, 1>{}, "vgg16 3x3 28");
    f(conv<512, 14, 14, 512, 3, 1, 1>{}, "vgg16 3x3 14");
    f(conv<3, 224, 224, 32, 3, 2, 1>{}, "mobilenetv2 3x3/2 224");
    f(conv<16, 112, 112, 96, 1, 1, 0>{}, "mobilenetv2 1x1 112");
    f(depthwise<32, 112, 3, 1>{}, "mobilenetv2 dw 3x3 112");
    f(depthwise<144, 56, 3, 2>{}, "mobilenetv2 dw 3x3/2 56");
    f(depthwise<384, 14, 3, 1>{}, "mobilenetv2 dw 3x3 14");
    f(depthwise<960, 7, 5, 1>{}, "mobilenetv3 dw 5x5 7");
    f(conv<960, 1, 1, 240, 1, 1, 0>{}, "mobilenetv3 squeeze");
    f(conv<480, 3, 80, 60, 3, 1, 1>{}, "ppocr rec 3x3 3x80");
  }
};
struct expanded_conv2d_layers {
  template <class F> static void each(F f) {
    f(expanded<32, 112, 64, 3, 2>{}, "mobilenetv1 3x3/2 112");
    f(expanded<16, 112, 96, 3, 2>{}, "mobilenetv2 3x3/2 112");
    f(expanded<24, 56, 144, 3, 1>{}, "mobilenetv2 3x3 56");
    f(expanded<24, 56, 144, 3, 2>{}, "mobilenetv2 3x3/2 56");
    f(expanded<24, 56, 144, 5, 2>{}, "efficientnet 5x5/2 56");
    f(expanded<32, 28, 192, 3, 1>{}, "mobilenetv2 3x3 28");
  }
};
struct scaled_conv2d_layers {
  template <class F> static void each(F f) {
    f(scaled<256, 56, 128>{}, "densenet121 56");
    f(scaled<256, 28, 128>{}, "densenet121 28");
    f(scaled<512, 28, 256>{}, "densenet121 28 transition");
    f(scaled<512, 14, 128>{}, "densenet121 14");
    f(scaled<1024, 7, 128>{}, "densenet121 7");
    f(scaled<32, 112, 16>{}, "efficientnet 112");
  }
};
struct separable_conv2d_layers {
  template <class F> static void each(F f) {
    f(separable<32, 112, 64, 3, 1>{}, "mobilenetv1 3x3 112");
    f(separable<64, 112, 128, 3, 2>{}, "mobilenetv1 3x3/2 112");
    f(separable<128, 56, 128, 3, 1>{}, "mobilenetv1 3x3 56");
    f(separable<512, 14, 512, 3, 1>{}, "mobilenetv1 3x3 14");
    f(separable<32, 112, 16, 3, 1>{}, "mobilenetv2 3x3 112");
    f(separable<96, 112, 24, 3, 2>{}, "mobilenetv2 3x3/2 112");
    f(separable<144, 56, 24, 3, 1>{}, "mobilenetv2 3x3 56");
  }
};
struct matmul_layers {
  template <class F> static void each(F f) {
    f(product<1, 128, 768, 768>{}, "bert projection");
    f(product<1, 128, 3072, 768>{}, "bert ffn up");
    f(product<1, 128, 768, 3072>{}, "bert ffn down");
    f(product<12, 128, 128, 64, 1>{}, "bert scores");
    f(product<12, 128, 64, 128>{}, "bert context");
    f(product<1, 1, 1000, 2048>{}, "resnet50 classifier");
    f(product<1, 40, 6625, 120>{}, "ppocr rec classifier");
  }
};
/// Layers for tile registers, in which the parts of their estimates differ:
/// few and many steps, operands within and beyond the first-level cache, copied
/// and gathered inputs, and many or few results.
struct tile_conv2d_layers {
  template <class F> static void each(F f) {
    f(conv<3, 224, 224, 64, 7, 2, 3>{});
    f(conv<16, 56, 56, 64, 3, 1, 1>{});
    f(conv<32, 28, 28, 96, 3, 2, 1>{});
    f(conv<64, 56, 56, 64, 3, 1, 1>{});
    f(conv<256, 14, 14, 256, 3, 1, 1>{});
    f(conv<512, 7, 7, 512, 3, 1, 1>{});
    f(conv<64, 56, 56, 256, 1, 1, 0>{});
    f(conv<1024, 14, 14, 256, 1, 1, 0>{});
    f(conv<2048, 7, 7, 512, 1, 1, 0>{});
  }
};
struct tile_matmul_layers {
  template <class F> static void each(F f) {
    f(product<1, 128, 768, 768>{});
    f(product<1, 128, 3072, 768>{});
    f(product<1, 128, 768, 3072>{});
    f(product<12, 128, 64, 128>{});
    f(product<1, 40, 6625, 120>{});
  }
};
struct max_pool2d_layers {
  template <class F> static void each(F f) {
    f(pool<64, 112, 3, 2, 1>{}, "resnet50 3x3/2 112");
    f(pool<64, 224, 2, 2, 0>{}, "vgg16 2x2/2 224");
  }
};
struct avg_pool2d_layers {
  template <class F> static void each(F f) {
    f(pool<2048, 7, 7, 1, 0>{}, "resnet50 global 7");
    f(pool<288, 35, 3, 1, 1>{}, "inceptionv3 3x3 35");
  }
};

} // namespace nnc_bench

#endif // NNC_TEST_BENCH_LAYERS_H
