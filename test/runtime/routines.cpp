// Tests every routine that a routines.inc has for the instruction set of this
// build, in some families, against the portable routine. Each runs with its
// first candidate on shapes that it supports. A new line is tested without
// further work. The tests of the headers check other tiles.
#include "runtime/parallel.h"
#include "runtime/routines/convolution/conv2d/portable.h"
#include "runtime/routines/convolution/conv_transpose2d/portable.h"
#include "runtime/routines/matrix/matmul/portable.h"
#include "runtime/routines/pooling/pool2d/portable.h"
#include "test/runtime/bounded_test.h"
#include "test/runtime/check.h"
#include "test/runtime/integers_test.h"
#include "test/runtime/layouts.h"
#include "test/runtime/random_shapes.h"
#include "test/runtime/routine_lines.h"
#include "test/runtime/signed_pairs_test.h"
#include "test/runtime/tiles.h"
#include "test/runtime/transformed_weights.h"

#include <cstdint>
#include <functional>
#include <sstream>
#include <type_traits>

using namespace nnc;
using namespace nnc_test;

namespace {

#define FAMILIES_avg_pool2d ~, ACTION
#define FAMILIES_conv2d ~, ACTION
#define FAMILIES_conv_transpose2d ~, ACTION
#define FAMILIES_matmul ~, ACTION
#define FAMILIES_max_pool2d ~, ACTION

#define ACTION NNC_LINE
#define NNC_ROUTINE NNC_OF_FAMILIES
#include "runtime/routines/catalogue/routines.inc"
#undef ACTION

template <class T>
using epilogue_of = fused<bias_residual_relu, channel_of<float>, full_of<T>>;
using epilogue = epilogue_of<float>;

//===----------------------------------------------------------------------===//
// What a family reads and writes. An element of the result is a sum of so many
// `terms`; `channels` of it have a bias each.
//===----------------------------------------------------------------------===//

struct conv2d_family {
  using shape = conv2d_shape;
  template <class E> using reference = conv2d_f32_portable<shape, E>;
  template <class E> using integers = conv2d_i32_portable<shape, E>;
  static shape random(random_source &r) { return random_conv2d_of_a_kind(r); }
  static std::vector<axes> inputs(const shape &s) {
    return {{"NCHW", {s.n, s.c, s.h, s.w}},
            {"KCRS", {s.k, s.c / s.groups, s.kh, s.kw}}};
  }
  static axes output(const shape &s) {
    return {"NCHW", {s.n, s.k, s.oh, s.ow}};
  }
  static int channels(const shape &s) { return s.k; }
  static int terms(const shape &s) { return s.c / s.groups * s.kh * s.kw; }
};

struct conv_transpose2d_family {
  using shape = conv_transpose2d_shape;
  template <class E> using reference = conv_transpose2d_f32_portable<shape, E>;
  static shape random(random_source &r) { return random_conv_transpose2d(r); }
  static std::vector<axes> inputs(const shape &s) {
    return {{"NCHW", {s.n, s.c, s.h, s.w}},
            {"KCRS", {s.c, s.k / s.groups, s.kh, s.kw}}};
  }
  static axes output(const shape &s) {
    return {"NCHW", {s.n, s.k, s.oh, s.ow}};
  }
  static int channels(const shape &s) { return s.k; }
  static int terms(const shape &s) { return s.c * s.kh * s.kw; }
};

struct matmul_family {
  using shape = matmul_shape;
  template <class E> using reference = matmul_portable<shape, E>;
  template <class E> using integers = matmul_i32_portable<shape, E>;
  static shape random(random_source &r) { return random_matmul(r); }
  static std::vector<axes> inputs(const shape &s) {
    const int lefts = s.a_batch_stride ? s.batch : 1;
    const int rights = s.b_batch_stride ? s.batch : 1;
    return {s.transpose_a ? axes{"BKM", {lefts, s.k, s.m}}
                          : axes{"BMK", {lefts, s.m, s.k}},
            s.transpose_b ? axes{"BNK", {rights, s.n, s.k}}
                          : axes{"BKN", {rights, s.k, s.n}}};
  }
  static axes output(const shape &s) { return {"BMN", {s.batch, s.m, s.n}}; }
  static int channels(const shape &s) { return s.n; }
  static int terms(const shape &s) { return s.k; }
};

template <template <class, class> class PORTABLE> struct pool2d_family {
  using shape = pool2d_shape;
  template <class E> using reference = PORTABLE<shape, E>;
  static shape random(random_source &r) { return random_pool2d(r); }
  static std::vector<axes> inputs(const shape &s) {
    return {{"NCHW", {s.n, s.c, s.h, s.w}}};
  }
  static axes output(const shape &s) {
    return {"NCHW", {s.n, s.c, s.oh, s.ow}};
  }
  static int channels(const shape &s) { return s.c; }
  static int terms(const shape &s) { return s.kh * s.kw; }
};
using avg_pool2d_family = pool2d_family<avg_pool2d_f32_portable>;
using max_pool2d_family = pool2d_family<max_pool2d_portable>;

//===----------------------------------------------------------------------===//
// One routine, one shape
//===----------------------------------------------------------------------===//

std::vector<std::string> split(const std::string &names) {
  std::vector<std::string> list;
  std::istringstream words(names);
  for (std::string name; std::getline(words >> std::ws, name, ',');)
    list.push_back(name);
  return list;
}

/// Returns true if the routine of this name computes with halves.
[[maybe_unused]] constexpr bool has_halves(const char *name) {
  return has_part(name, "_f16_");
}

/// The elements of the routine of this name.
template <class LINE>
using element_of_line =
    std::conditional_t<has_part(LINE::name, "_bf16_"), bf16,
                       std::conditional_t<has_halves(LINE::name), f16, float>>;

/// Returns an input in the layout of a routine; weights are transformed if the
/// layout has an encoding.
template <class S>
floats prepare(const S &s, const axes &tensor, const floats &x,
               const std::string &layout) {
  if constexpr (std::is_same<S, conv2d_shape>::value ||
                std::is_same<S, matmul_shape>::value) {
    if (layout.find('_') != std::string::npos)
      return transform_weights(s, x, layout);
  }
  return layout_map(tensor, layout).pack(x);
}

template <class R, class... A>
auto takes(A... a) -> decltype(R::run(a..., 0, 0), std::true_type());
template <class R> std::false_type takes(...);

/// Runs R in three parts, the middle one first.
template <class R, class S, class... A>
void run_in_parts(const S &s, A... arguments) {
  in_parts(R::units(s),
           [&](int begin, int end) { R::run(s, arguments..., begin, end); });
}

/// Runs R with scratch if it takes some. A routine that can run with or without
/// scratch gets it if `scratch` is not empty.
template <class R, class E, class S, class Y, class... X>
void run(const S &s, Y *y, floats &scratch, const E &epi, const X *...x) {
  auto *bytes = reinterpret_cast<unsigned char *>(scratch.data());
  if constexpr (has_finish<R>)
    if (scratch.empty())
      return run_in_parts<R>(s, x..., y, epi);
  if constexpr (decltype(takes<R>(s, x..., y, bytes, epi))::value) {
    run_in_parts<R>(s, x..., y, bytes, epi);
    finish<R>(s, x..., y, bytes, epi);
  } else {
    run_in_parts<R>(s, x..., y, epi);
  }
}

/// Runs R with all inputs of the family with shape S.
template <class R, class E, class S, class T>
void run_on(const std::vector<std::vector<T>> &x, const S &s, std::vector<T> &y,
            floats &scratch, const E &epi) {
  if constexpr (std::is_same<S, pool2d_shape>::value)
    run<R>(s, y.data(), scratch, epi, x[0].data());
  else
    run<R>(s, y.data(), scratch, epi, x[0].data(), x[1].data());
}

/// Returns the candidate of LINE that is quickest to compile. For a run-time
/// shape, each candidate contains tiles of all sizes up to its own.
template <class LINE> constexpr int smallest_candidate() {
  int best = 0, at = 0;
  for (const auto &line : LINE::lines) {
    if (line.loops() < LINE::lines[best].loops())
      best = at;
    ++at;
  }
  return best;
}

/// A line of the table for one shape, and its routine on elements of type T.
template <class T> struct line_on_shape {
  const char *name, *layouts;
  std::string parameters;
  std::size_t scratch; ///< scratch in bytes
  float method_bound;  ///< error that is allowed in addition to that of sums
  std::function<void(const std::vector<std::vector<T>> &, std::vector<T> &,
                     floats &, const epilogue_of<T> &)>
      run;
};

/// Checks a line on a random problem. The function is compiled once for each
/// family and T instead of once for each line.
template <class F, class T>
NNC_NOINLINE void check_line_on(random_source &random,
                                const typename F::shape &s,
                                const line_on_shape<T> &line) {
  INFO(line.name << " of " << line.parameters << describe(s));
  const std::vector<axes> tensors = F::inputs(s);
  const std::vector<std::string> layouts = split(line.layouts);
  std::vector<floats> inputs, sizes;
  std::vector<std::vector<T>> prepared;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    inputs.push_back(rounded<T>(random.values(tensors[i].count())));
    if (layouts[i].find("_codebook") != std::string::npos)
      share_values(inputs[i]);
    sizes.push_back(magnitudes(inputs[i]));
    prepared.push_back(
        store_all<T>(prepare(s, tensors[i], inputs[i], layouts[i])));
  }
  floats bias = random.values(F::channels(s));
  const floats residual = rounded<T>(random.values(F::output(s).count()));
  floats want(residual.size()), size(residual.size()), unused;
  run_on<typename F::template reference<epilogue>>(
      inputs, s, want, unused, epilogue{bias.data(), residual.data()});
  run_on<typename F::template reference<none>>(sizes, s, size, unused, none{});

  // The residual lies in the output's place. Its padding is zero, like any
  // tensor's; the bias's is not, so that what the epilogue leaves there shows.
  const layout_map output(F::output(s), layouts.back());
  auto stored = store_all<T>(output.pack(residual));
  bias.resize(bias.size() + 16, 1.0f);
  floats scratch = not_written(line.scratch / sizeof(float));
  line.run(prepared, stored, scratch,
           epilogue_of<T>{bias.data(), stored.data()});
  const floats got = output.unpack(load_all(stored));

  for (std::size_t i = 0; i < want.size(); ++i) {
    const float bound =
        error_bound<T>(float(F::terms(s)), size[i]) + line.method_bound;
    if (!(std::fabs(got[i] - want[i]) <= bound)) {
      INFO("at " << i << ": got " << got[i] << ", want " << want[i]);
      REQUIRE(std::fabs(got[i] - want[i]) <= bound);
    }
  }
}

template <class F, class LINE>
void check(random_source &random, const typename F::shape &s) {
  using S = typename F::shape;
  using T = element_of_line<LINE>;
  constexpr int chosen = smallest_candidate<LINE>();
  constexpr auto line = LINE::lines[chosen];
  // With halves Winograd's method is within the bound of plain sums.
  constexpr bool is_within =
      has_halves(LINE::name) && !has_part(LINE::name, "_strassen");
  // The last outputs of Winograd's tiles of 6 x 6 have the largest errors. In
  // 200000 sums the largest was 14 to 21 times the root mean square of all.
  constexpr float uneven = has_part(LINE::name, "_winograd") ? 2 : 1;
  const float terms = float(F::terms(s));
  using R = typename LINE::template routine<chosen, S, epilogue_of<T>>;
  check_line_on<F, T>(
      random, s,
      {LINE::name, LINE::layouts, line.text(), line.scratch(s, most_threads),
       is_within ? 0 : uneven * method_bound<T>(line.error(s), terms),
       [&](const std::vector<std::vector<T>> &x, std::vector<T> &y,
           floats &scratch,
           const epilogue_of<T> &epi) { run_on<R>(x, s, y, scratch, epi); }});
}

/// Runs a line with integer sums on 8-bit integers, and compares the results
/// bit for bit.
template <class F, class LINE>
void check_integers(random_source &random, const typename F::shape &s) {
  constexpr int chosen = smallest_candidate<LINE>();
  constexpr auto line = LINE::lines[chosen];
  // Column TYPES: what smull, sdot and smmla multiply is signed.
  constexpr bool is_signed = has_part(LINE::name, "_neon64") ||
                             has_part(LINE::name, "_neondot") ||
                             has_part(LINE::name, "_neoni8mm");
  using X = std::conditional_t<is_signed, std::int8_t, std::uint8_t>;
  using T = std::uint8_t;
  using E = integers_epilogue<to<T>, T>;
  using PE = integers_epilogue<to_scalars<T>, T>;
  using R = typename LINE::template routine<chosen, typename F::shape, E>;
  INFO(LINE::name << " of " << line.text() << describe(s));
  const std::vector<axes> inputs = F::inputs(s);
  const std::vector<std::string> names = split(LINE::layouts);
  const axes tensors[] = {inputs[0], inputs[1], F::output(s)};
  const std::string layouts[] = {names[0], names[1], names[2]};
  constexpr bool ordered = has_part(LINE::name, "_ordered");
  if constexpr (ordered || has_part(LINE::name, "_bounded")) {
    // The name of the layout of the weights, KCRS8k8c_bounded2 or
    // NK8n8k_bounded2.
    const std::string &name = names[1];
    const std::size_t width = name.find_first_of("0123456789");
    compare_bounded<R, typename F::template integers<PE>, T, E, PE>(
        random, s, s, std::stoi(name.substr(width)), name.back() - '0', tensors,
        layouts, F::channels(s), std::ptrdiff_t(line.scratch(s, most_threads)),
        ordered);
  } else if constexpr (has_part(LINE::layouts, "_signed_pairs")) {
    compare_signed_pairs<R, typename F::template integers<PE>, T, E, PE>(
        random, s, s, tensors, layouts, F::channels(s),
        std::ptrdiff_t(line.scratch(s, most_threads)));
  } else {
    compare<R, typename F::template integers<PE>, T, E, PE>(
        random, s, s, tensors, layouts, F::channels(s),
        std::ptrdiff_t(line.scratch(s, most_threads)),
        numbers<X>(random, inputs[0].count()),
        numbers<std::int8_t>(random, inputs[1].count()));
  }
}

/// Checks the smallest candidate of LINE on random shapes to which it applies.
/// There must be some.
template <class F, class LINE> void check_line_of_isa() {
  random_source random;
  int checked = 0;
  for (int tries = 0; tries < 2000 && checked < 20; ++tries) {
    const typename F::shape s = F::random(random);
    if (!LINE::lines[smallest_candidate<LINE>()].applies(s))
      continue;
    // test/runtime/integers.cpp pools bytes and transforms their weights.
    constexpr bool is_pool = std::is_same<typename F::shape, pool2d_shape>();
    constexpr bool has_integers =
        has_part(LINE::name, "_i32_") || has_part(LINE::name, "_bytes_");
    if constexpr (has_integers) {
      if constexpr (!is_pool && !has_part(LINE::name, "_winograd_"))
        check_integers<F, LINE>(random, s);
    } else
      check<F, LINE>(random, s);
    ++checked;
  }
  INFO(LINE::name << " applies to no shape of test/runtime/random_shapes.h");
  CHECK(checked > 0);
}

#define TEXT(ISA) #ISA
#define TEXT_OF(ISA) TEXT(ISA)
template <class F, class LINE> void check_line() {
  if constexpr (same(LINE::isa, TEXT_OF(NNC_TEST_ISA)))
    check_line_of_isa<F, LINE>();
}

} // namespace

#define CHECK_LINE(FAMILY, NAME, ...)                                          \
  TEST_CASE(#NAME, "[" #FAMILY "]") {                                          \
    check_line<FAMILY##_family, NAME##_line>();                                \
  }
#define ACTION CHECK_LINE
#define NNC_ROUTINE NNC_OF_FAMILIES
#include "runtime/routines/catalogue/routines.inc"
