// Tests convolutions whose weights are decoded for a strip of filters at a
// time, of random shapes in every form and order. Integers are equal bit for
// bit, and floats are within the error bound of a sum of their products.
#include "runtime/routines/stored_weights/stored_conv2d/dsp.h"
#include "runtime/routines/stored_weights/stored_conv2d/fpu.h"
#include "runtime/routines/stored_weights/stored_conv2d/helium.h"
#include "runtime/routines/stored_weights/stored_conv2d/nhwc.h"
#include "runtime/routines/stored_weights/stored_conv2d/portable.h"
#include "test/runtime/check.h"
#include "test/runtime/layouts.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/stored_weights.h"

#include <cmath>

using namespace nnc;
using namespace nnc_test;

namespace {

/// A convolution, its row-major tensors, and its expected results.
template <class X, class T, class Sum> struct test_layer {
  conv2d_shape s;
  axes in, filters, out;
  std::vector<X> x;
  std::vector<T> w;
  std::vector<Sum> want, size;

  test_layer(random_source &r, bool sparse, int channels)
      : s(random_conv2d(r, 9)) {
    // A pixel of three channels alone is shorter than a word.
    if (s.h == 1 && s.w == 1)
      channels = 4;
    s.c = r.between(channels, 11), s.k = r.between(1, 40);
    if (is_same<Sum, std::int32_t>::value) {
      s.fill = r.between(0, 3) ? r.between(-128, 127) : 0;
      pad_randomly(r, s);
    }
    in = {"NCHW", {s.n, s.c, s.h, s.w}};
    filters = {"KCRS", {s.k, s.c, s.kh, s.kw}};
    out = {"NCHW", {s.n, s.k, s.oh, s.ow}};
    x.resize(in.count()), w.resize(filters.count());
    for (X &value : x)
      value = is_same<X, float>::value ? static_cast<X>(r.values(1)[0])
                                       : static_cast<X>(r.between(-128, 127));
    const int values = r.between(1, r.between(0, 1) ? 14 : 100);
    for (T &value : w)
      value = sparse && r.between(0, 3)
                  ? T(0)
                  : static_cast<T>(r.between(0, values) - values / 2);
    w.front() = T(7), w.back() = T(3);
    want.resize(out.count()), size.resize(out.count());
    using reference = conv2d_portable<Sum, conv2d_shape, none>;
    reference::run(s, x.data(), w.data(), want.data(), none{}, 0,
                   reference::units(s));
    std::vector<X> ax(x);
    std::vector<T> aw(w);
    for (X &value : ax)
      value = value < 0 ? static_cast<X>(-value) : value;
    for (T &value : aw)
      value = value < 0 ? static_cast<T>(-value) : value;
    reference::run(s, ax.data(), aw.data(), size.data(), none{}, 0,
                   reference::units(s));
  }

  /// Returns a tensor's elements moved from row-major order to a layout, or
  /// back.
  template <class E>
  static std::vector<E> move(const axes &tensor, const char *layout,
                             const std::vector<E> &from, bool packs) {
    const layout_map map(tensor, layout);
    std::vector<E> to(packs ? map.size() : tensor.count());
    map.each([&](std::size_t plain, std::size_t packed) {
      to[packs ? packed : plain] = from[packs ? plain : packed];
    });
    return to;
  }
};

template <template <class, class> class R, class X, class T, class Sum>
void check(random_source &r, int form, int order, const char *layout,
           int scratch) {
  const bool entries = form == decode_entries ||
                       form == decode_huffman_entries ||
                       form == decode_literals;
  const test_layer<X, T, Sum> layer(r, entries,
                                    order == stored_krsc2k4c ? 2 : 1);
  stored_conv2d_shape s{};
  static_cast<conv2d_shape &>(s) = layer.s;
  s.order = order;
  const std::vector<T> packed =
      layer.move(layer.filters, layout, layer.w, true);
  REQUIRE(std::size_t(stored_filters_elements(s)) == packed.size());
  for (int k = 0; k < s.k; ++k)
    for (int c = 0; c < s.c; ++c) {
      const int i = (k + c) % s.kh, j = (k * 3 + c) % s.kw;
      const std::size_t from =
          std::size_t(((k * s.c + c) * s.kh + i) * s.kw + j);
      REQUIRE(packed[std::size_t(stored_filter_place(s, k, i, j, c))] ==
              layer.w[from]);
    }
  // A strip of codes begins with a byte.
  s.strip = stored_filters_together(order) * r.between(1, 5);
  while (form == decode_codes && s.strip * stored_filter(s) % 8)
    s.strip *= 2;
  const int block =
      form == decode_codes ? int(packed.size()) : s.strip * stored_filter(s);
  const stored_weights stored = store_weights(form, packed, block);
  static_cast<decode_shape &>(s) = stored.shape;
  INFO(describe(layer.s) << " form " << form << " order " << order << " strip "
                         << s.strip);
  REQUIRE(stored_strips_apply(s, order));
  const std::vector<unsigned char> bytes(stored.bytes.begin(),
                                         stored.bytes.end());
  const auto size =
      std::size_t(scratch == 1   ? stored_strip_dsp_scratch(s)
                  : scratch == 2 ? stored_strip_helium_scratch(s)
                                 : stored_strip_scratch(s, int(sizeof(T))));
  const char *const images = order < stored_kcrs ? "NHWC" : "NCHW";
  const std::vector<X> x = layer.move(layer.in, images, layer.x, true);
  std::vector<Sum> y(layer.out.count(), Sum(77));
  using routine = R<stored_conv2d_shape, none>;
  in_parts(routine::units(s), [&](int begin, int end) {
    std::vector<std::uint64_t> memory(size / 8);
    routine::run(s, x.data(), bytes.data(), y.data(),
                 reinterpret_cast<unsigned char *>(memory.data()), none{},
                 begin, end);
  });
  const std::vector<Sum> got = layer.move(layer.out, images, y, false);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double bound =
        is_same<Sum, float>::value
            ? error_bound<float>(float(s.c * s.kh * s.kw), float(layer.size[i]))
            : 0;
    REQUIRE(std::fabs(double(got[i]) - double(layer.want[i])) <= bound);
  }
}

template <class S, class Epi>
using fpu_inline = stored_conv2d_f32_nhwc_fpu<S, 1, Epi>;
template <class S, class Epi>
using fpu_shared = stored_conv2d_f32_nhwc_fpu<S, 0, Epi>;
template <class S, class Epi>
using planes_inline = stored_conv2d_f32_nchw_fpu<S, 1, Epi>;
template <class S, class Epi>
using planes_few_shared = stored_conv2d_f32_nchw_few_fpu<S, 0, Epi>;
template <class S, class Epi>
using few_inline = stored_conv2d_f32_nhwc_few_fpu<S, 1, Epi>;
template <class S, class Epi>
using few_shared = stored_conv2d_f32_nhwc_few_fpu<S, 0, Epi>;

} // namespace

TEST_CASE("convolutions with strips of decoded filters", "[stored]") {
  random_source r;
  using i8 = std::int8_t;
  using i32 = std::int32_t;
  for (int i = 0; i < 240; ++i) {
    const decode_form forms[] = {decode_codes, decode_huffman, decode_entries,
                                 decode_huffman_entries, decode_literals};
    const int form = forms[i % 5];
    check<stored_conv2d_i32_nhwc_portable, i8, i8, i32>(r, form, stored_krsc,
                                                        "KRSC", 0);
    check<stored_conv2d_i32_nhwc_armdsp, i8, i8, i32>(r, form, stored_krsc2k4c,
                                                      "KRSC2k4c", 1);
    check<stored_conv2d_i32_nhwc_helium, i8, i8, i32>(r, form, stored_krsc,
                                                      "KRSC", 2);
    check<stored_conv2d_f32_nhwc_portable, float, float, float>(
        r, form, stored_krsc, "KRSC", 0);
    check<fpu_inline, float, float, float>(r, form, stored_krsc8k, "KRSC8k", 0);
    check<fpu_shared, float, float, float>(r, form, stored_krsc8k, "KRSC8k", 0);
    check<few_inline, float, float, float>(r, form, stored_krsc4k, "KRSC4k", 0);
    check<planes_inline, float, float, float>(r, form, stored_kcrs8k, "KCRS8k",
                                              0);
    check<planes_few_shared, float, float, float>(r, form, stored_kcrs4k,
                                                  "KCRS4k", 0);
    check<stored_conv2d_f32_portable, float, float, float>(r, form, stored_kcrs,
                                                           "KCRS", 0);
    check<stored_conv2d_i32_portable, i8, i8, i32>(r, form, stored_kcrs, "KCRS",
                                                   0);
    check<few_shared, float, float, float>(r, form, stored_krsc4k, "KRSC4k", 0);
  }
}
