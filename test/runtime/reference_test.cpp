// Tests that nnc_reference_call() finds families, functions and types by name,
// and reports which of them it lacks.
#include "runtime/reference.h"
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/simd/half.h"
#include "test/runtime/check.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

template <class T> nnc_tensor tensor(std::vector<T> &v, int dtype) {
  return {v.data(), dtype, static_cast<long long>(v.size())};
}

/// Returns a dense elementwise shape with one axis.
nnc::elementwise_shape line(long long n, int inputs) {
  nnc::elementwise_shape shape{};
  shape.rank = shape.planes = shape.pixels = 1;
  shape.dims[0] = static_cast<int>(n);
  for (int i = 0; i < inputs; ++i)
    shape.strides[i][0] = 1;
  return shape;
}

int call(const char *function, std::vector<nnc_tensor> in, nnc_tensor out,
         std::vector<double> scalars = {}) {
  const auto shape = line(out.elements, static_cast<int>(in.size()));
  return nnc_reference_call("elementwise", &shape, in.data(),
                            static_cast<int>(in.size()), &out, 1, function,
                            scalars.data(), static_cast<int>(scalars.size()));
}

} // namespace

TEST_CASE("functions are found by name and type", "[reference]") {
  std::vector<float> f = {-1.5f, 0.0f, 2.0f}, fy(3);
  REQUIRE(call("relu", {tensor(f, NNC_F32)}, tensor(fy, NNC_F32)) == 0);
  CHECK(fy == std::vector<float>{0.0f, 0.0f, 2.0f});
  std::vector<double> d = {1.0, 4.0, 9.0}, dy(3);
  REQUIRE(call("sqrt", {tensor(d, NNC_F64)}, tensor(dy, NNC_F64)) == 0);
  CHECK(dy == std::vector<double>{1.0, 2.0, 3.0});
  std::vector<std::int64_t> a = {7, -7, 5}, b = {2, 2, 0}, iy(3);
  REQUIRE(call("div", {tensor(a, NNC_I64), tensor(b, NNC_I64)},
               tensor(iy, NNC_I64)) == 0);
  CHECK(iy == std::vector<std::int64_t>{3, -3, 0});
  std::vector<std::uint8_t> flags(3);
  REQUIRE(call("less", {tensor(a, NNC_I64), tensor(b, NNC_I64)},
               tensor(flags, NNC_BOOL)) == 0);
  CHECK(flags == std::vector<std::uint8_t>{0, 1, 0});
  REQUIRE(
      call("select",
           {tensor(flags, NNC_BOOL), tensor(a, NNC_I64), tensor(b, NNC_I64)},
           tensor(iy, NNC_I64)) == 0);
  CHECK(iy == std::vector<std::int64_t>{2, -7, 0});
  REQUIRE(call("logical_not", {tensor(flags, NNC_BOOL)},
               tensor(flags, NNC_BOOL)) == 0);
  CHECK(flags == std::vector<std::uint8_t>{1, 0, 1});
}

TEST_CASE("attributes take the element type", "[reference]") {
  std::vector<float> f = {-1.0f, 0.5f, 9.0f}, fy(3);
  REQUIRE(call("clip", {tensor(f, NNC_F32)}, tensor(fy, NNC_F32), {0, 6}) == 0);
  CHECK(fy == std::vector<float>{0.0f, 0.5f, 6.0f});
  std::vector<std::int32_t> i = {-5, 0, 500}, iy(3);
  REQUIRE(call("clip", {tensor(i, NNC_I32)}, tensor(iy, NNC_I32),
               {-2, 1e300}) == 0);
  CHECK(iy == std::vector<std::int32_t>{-2, 0, 500});
}

TEST_CASE("cast goes between any two types", "[reference]") {
  std::vector<float> f = {-1.5f, 0.0f, 300.7f};
  std::vector<std::int64_t> i(3);
  REQUIRE(call("cast", {tensor(f, NNC_F32)}, tensor(i, NNC_I64)) == 0);
  CHECK(i == std::vector<std::int64_t>{-1, 0, 300});
  std::vector<std::uint8_t> flags(3);
  REQUIRE(call("cast", {tensor(f, NNC_F32)}, tensor(flags, NNC_BOOL)) == 0);
  CHECK(flags == std::vector<std::uint8_t>{1, 0, 1});
  std::vector<double> d(3);
  REQUIRE(call("cast", {tensor(flags, NNC_BOOL)}, tensor(d, NNC_F64)) == 0);
  CHECK(d == std::vector<double>{1.0, 0.0, 1.0});
}

namespace {
/// Writes values of type T to `memory`, which can hold any type, and returns
/// the tensor.
template <class T>
nnc_tensor hold(std::vector<double> &memory, int dtype,
                const std::vector<double> &values) {
  auto *at = reinterpret_cast<unsigned char *>(memory.data());
  for (double value : values) {
    const T x = static_cast<T>(value);
    std::memcpy(at, &x, sizeof x);
    at += sizeof x;
  }
  return {memory.data(), dtype, static_cast<long long>(values.size())};
}
template <class T> std::vector<double> read(const nnc_tensor &tensor) {
  std::vector<double> values;
  auto *at = static_cast<const unsigned char *>(tensor.data);
  for (long long i = 0; i < tensor.elements; ++i, at += sizeof(T)) {
    T x;
    std::memcpy(&x, at, sizeof x);
    values.push_back(static_cast<double>(x));
  }
  return values;
}

struct element_type {
  int dtype;
  nnc_tensor (*hold)(std::vector<double> &, int, const std::vector<double> &);
  std::vector<double> (*read)(const nnc_tensor &);
};
template <class T> element_type type(int dtype) {
  return {dtype, hold<T>, read<T>};
}
} // namespace

TEST_CASE("all pairs of types are cast", "[reference]") {
  const element_type types[] = {
      type<float>(NNC_F32),         type<double>(NNC_F64),
      type<bool>(NNC_BOOL),         type<std::int8_t>(NNC_I8),
      type<std::int16_t>(NNC_I16),  type<std::int32_t>(NNC_I32),
      type<std::int64_t>(NNC_I64),  type<std::uint8_t>(NNC_U8),
      type<std::uint16_t>(NNC_U16), type<std::uint32_t>(NNC_U32),
      type<std::uint64_t>(NNC_U64)};
  for (const element_type &from : types)
    for (const element_type &to : types) {
      INFO("from " << from.dtype << " to " << to.dtype);
      // All types but bool hold these values.
      const std::vector<double> values = {0, 1, 100, 0, 127};
      std::vector<double> in(8), out(8, -1.0);
      const nnc_tensor x = from.hold(in, from.dtype, values);
      const nnc_tensor y{out.data(), to.dtype, x.elements};
      REQUIRE(call("cast", {x}, y) == 0);
      const bool flags = from.dtype == NNC_BOOL || to.dtype == NNC_BOOL;
      CHECK(to.read(y) ==
            (flags ? std::vector<double>{0, 1, 1, 0, 1} : values));
      CHECK(out[5] == -1.0); // behind the last
    }
}

TEST_CASE("halves are computed with as floats, and rounded", "[reference]") {
  std::vector<float> f = {0.1f, -2.0f, 70000.0f};
  std::vector<nnc::f16> h(3), y(3);
  REQUIRE(call("cast", {tensor(f, NNC_F32)}, tensor(h, NNC_F16)) == 0);
  CHECK(float(h[0]) == 0.0999755859375f);
  CHECK(float(h[2]) == INFINITY);
  REQUIRE(call("add", {tensor(h, NNC_F16), tensor(h, NNC_F16)},
               tensor(y, NNC_F16)) == 0);
  CHECK(float(y[0]) == 0.199951171875f);
  CHECK(float(y[1]) == -4.0f);
}

TEST_CASE("what is lacking has a status", "[reference]") {
  std::vector<float> f(3);
  std::vector<std::int32_t> i(3);
  nnc_tensor x = tensor(f, NNC_F32), y = tensor(i, NNC_I32);
  CHECK(call("no_such_function", {x}, x) == NNC_REFERENCE_NO_FAMILY);
  CHECK(call("exp", {y}, y) == NNC_REFERENCE_NO_TYPE);
  CHECK(call("relu", {x}, y) == NNC_REFERENCE_NO_TYPE);
  CHECK(call("add", {x, y}, x) == NNC_REFERENCE_NO_TYPE);
  CHECK(call("add", {x}, x) == NNC_REFERENCE_BAD_COUNT);
  CHECK(call("clip", {x}, x) == NNC_REFERENCE_BAD_COUNT);
  const nnc::softmax_shape shape{1, 3, 1, 0};
  CHECK(nnc_reference_call("no_such_family", &shape, &x, 1, &x, 1, nullptr,
                           nullptr, 0) == NNC_REFERENCE_NO_FAMILY);
  CHECK(nnc_reference_call("softmax", &shape, &y, 1, &y, 1, nullptr, nullptr,
                           0) == NNC_REFERENCE_NO_TYPE);
}

TEST_CASE("every function of the table is there for some type", "[reference]") {
  std::vector<double> buffer(3, 0.5);
  int found = 0;
#define NNC_ELEMENTWISE(NAME, TENSORS, SCALARS, HEADER)                        \
  {                                                                            \
    INFO(#NAME);                                                               \
    bool any = false;                                                          \
    for (int type : {NNC_F64, NNC_F32, NNC_I32, NNC_BOOL})                     \
      for (int result : {type, int(NNC_BOOL), int(NNC_I64)}) {                 \
        std::memset(buffer.data(), 0, 24);                                     \
        std::vector<nnc_tensor> in(TENSORS, {buffer.data(), type, 3});         \
        if (std::strcmp(#NAME, "select") == 0)                                 \
          in[0].dtype = NNC_BOOL;                                              \
        any |= call(#NAME, in, {buffer.data(), result, 3},                     \
                    std::vector<double>(SCALARS, 1.0)) == 0;                   \
      }                                                                        \
    CHECK(any);                                                                \
    found += any;                                                              \
  }
#include "runtime/routines/elementwise/functions.inc"
  CHECK(found > 60);
}

namespace {
/// A visitor of a struct's fields that checks that each field begins where the
/// one before it ends.
struct in_a_row {
  const char *end;
  template <class T> void operator()(const char *name, T &field) {
    INFO(name);
    CHECK(reinterpret_cast<const char *>(&field) == end);
    end = reinterpret_cast<const char *>(&field) + sizeof(field);
  }
};
} // namespace

TEST_CASE("narrow integers are summed in i32, which wraps", "[reference]") {
  // 300 products of the largest numbers do not fit in 16 bits.
  std::vector<std::uint8_t> a(2 * 300, 255);
  std::vector<std::int8_t> b(300 * 3, -128);
  a[299] = 1, b[0] = 127;
  std::vector<std::int32_t> y(6);
  nnc::matmul_shape product{};
  product.batch = 1, product.m = 2, product.k = 300, product.n = 3;
  nnc_tensor in[] = {tensor(a, NNC_U8), tensor(b, NNC_I8)};
  nnc_tensor out = tensor(y, NNC_I32);
  REQUIRE(nnc_reference_call("matmul", &product, in, 2, &out, 1, nullptr,
                             nullptr, 0) == 0);
  const std::int32_t all = 300 * 255 * -128, first = 255 * (127 + 128),
                     last = (1 - 255) * -128;
  CHECK(y == std::vector<std::int32_t>{all + first + last, all + last,
                                       all + last, all + first, all, all});

  // The middle of a padded 3 x 3 convolution, and a sum that wraps.
  std::vector<std::int32_t> x = {1 << 30, 5, 1 << 30}, w = {2, 1, 2};
  std::vector<std::int32_t> z(3);
  nnc::conv2d_shape line{};
  line.n = line.c = line.h = line.k = line.kh = line.groups = 1;
  line.sh = line.sw = line.dh = line.dw = line.oh = 1;
  line.w = line.kw = line.ow = 3, line.pl = 1;
  nnc_tensor images[] = {tensor(x, NNC_I32), tensor(w, NNC_I32)};
  out = tensor(z, NNC_I32);
  REQUIRE(nnc_reference_call("conv2d", &line, images, 2, &out, 1, nullptr,
                             nullptr, 0) == 0);
  CHECK(z == std::vector<std::int32_t>{(1 << 30) + 10, 5, 10 + (1 << 30)});

  // Floats have no sums in i32.
  std::vector<float> f(600);
  in[0] = tensor(f, NNC_F32);
  out = tensor(y, NNC_I32);
  CHECK(nnc_reference_call("matmul", &product, in, 2, &out, 1, nullptr, nullptr,
                           0) == NNC_REFERENCE_NO_TYPE);
}

TEST_CASE("visit names every field of a shape, in order", "[reference]") {
#define NNC_FAMILY(NAME, INPUTS, OUTPUTS, CHANNEL_AXIS)                        \
  {                                                                            \
    INFO(#NAME);                                                               \
    nnc::NAME##_shape shape{};                                                 \
    const char *begin = reinterpret_cast<const char *>(&shape);                \
    in_a_row row{begin};                                                       \
    shape.visit([&](const char *name, auto &field) { row(name, field); });     \
    CHECK(row.end == begin + sizeof(shape));                                   \
  }
#include "runtime/routines/catalogue/routines.inc"
}
