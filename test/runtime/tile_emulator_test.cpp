// Tests instructions of AMX against results that were computed by hand from
// their descriptions in volume 2 of Intel's Software Developer's Manual: on the
// processor if it has them, else in the emulator (tile_emulator.cpp), which is
// preloaded.
#include "runtime/simd/amx.h"
#include "test/runtime/check.h"

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <xmmintrin.h>

extern "C" {
long nnc_emulated_tile_instructions() __attribute__((weak));
long nnc_configured_tile_threads() __attribute__((weak));
}

namespace {

const bool permitted = nnc::amx_permitted();

/// The operand of LDTILECFG.
struct alignas(64) configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  configuration &with(int tile, int height, int width) {
    rows[tile] = std::uint8_t(height);
    row_bytes[tile] = std::uint16_t(width);
    return *this;
  }
};

void configure(const configuration &c) {
  asm volatile("ldtilecfg %0" : : "m"(c));
}

configuration get_configuration() {
  configuration c;
  c.palette = c.start_row = 0xff;
  asm volatile("sttilecfg %0" : "=m"(c) : : "memory");
  return c;
}

/// Tiles 0 += 1 * 2: C has `m` rows of `n` sums, whose products have `k` groups
/// of four bytes. They are released at the end.
struct shape {
  shape(int m, int n, int k) {
    configure(
        configuration{}.with(0, m, 4 * n).with(1, m, 4 * k).with(2, k, 4 * n));
  }
  ~shape() { asm volatile("tilerelease"); }
};

template <int T> void load(const void *from, std::int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(from), "r"(stride), "i"(T)
               : "memory");
}
template <int T> void store(void *to, std::int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
               :
               : "r"(to), "r"(stride), "i"(T)
               : "memory");
}

#define PRODUCT(name) [] { asm volatile(name " %tmm2, %tmm1, %tmm0"); }

/// The sum of four products of bytes and c, by an instruction.
template <class F>
std::int32_t add(std::int32_t c, const std::uint8_t (&a)[4],
                 const std::uint8_t (&b)[4], F instruction) {
  const shape s(1, 1, 1);
  load<0>(&c, 4);
  load<1>(a, 4);
  load<2>(b, 4);
  instruction();
  store<0>(&c, 4);
  return c;
}

/// The number of type bf16 with these bits above zeros.
std::uint16_t bfloat(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return std::uint16_t(bits >> 16);
}

/// The sum of c and of products of pairs by TDPBF16PS.
float add_pairs(float c, const std::vector<float> &a,
                const std::vector<float> &b) {
  const int pairs = int(a.size()) / 2;
  std::vector<std::uint16_t> left, right;
  for (float x : a)
    left.push_back(bfloat(x));
  for (float x : b)
    right.push_back(bfloat(x));
  const shape s(1, 1, pairs);
  load<0>(&c, 4);
  load<1>(left.data(), 4 * pairs);
  load<2>(right.data(), 4);
  asm volatile("tdpbf16ps %tmm2, %tmm1, %tmm0");
  store<0>(&c, 4);
  return c;
}

/// True if a process that calls f dies of a signal.
template <class F> bool dies(F f) {
  const pid_t child = fork();
  if (child == 0) {
    close(2);
    f();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

} // namespace

TEST_CASE("the permission is granted") { REQUIRE(permitted); }

TEST_CASE("a configuration is stored, and gone when it is released") {
  const configuration wanted =
      configuration{}.with(0, 3, 20).with(5, 16, 64).with(7, 1, 4);
  configure(wanted);
  configuration got = get_configuration();
  CHECK(std::memcmp(&got, &wanted, sizeof got) == 0);
  asm volatile("tilerelease");
  got = get_configuration();
  const unsigned char zeros[64] = {};
  CHECK(std::memcmp(&got, zeros, sizeof got) == 0);
  // Palette 0 releases, too.
  configure(wanted);
  configure(*reinterpret_cast<const configuration *>(&got));
  got = get_configuration();
  CHECK(std::memcmp(&got, zeros, sizeof got) == 0);
}

TEST_CASE("a tile has the rows and the bytes of its configuration") {
  std::uint8_t from[16 * 128], to[16 * 64];
  for (int i = 0; i < int(sizeof from); ++i)
    from[i] = std::uint8_t(i * 7 + i / 128 + 1);
  std::memset(to, 0xaa, sizeof to);
  configure(configuration{}.with(3, 3, 20));
  load<3>(from, 100);
  store<3>(to, 64);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 64; ++j)
      CHECK(to[i * 64 + j] == (i < 3 && j < 20 ? from[i * 100 + j] : 0xaa));
  // A new configuration clears tiles. They are zero where nothing was loaded.
  configure(configuration{}.with(3, 16, 64));
  store<3>(to, 64);
  for (std::uint8_t byte : to)
    CHECK(byte == 0);
  load<3>(from, 128);
  asm volatile("tilezero %tmm3");
  std::memset(to, 0xaa, sizeof to);
  store<3>(to, 64);
  for (std::uint8_t byte : to)
    CHECK(byte == 0);
  asm volatile("tilerelease");
}

TEST_CASE("operands in memory have all forms of addresses") {
  std::uint8_t from[4096], to[4096], want[128];
  for (int i = 0; i < int(sizeof from); ++i)
    from[i] = std::uint8_t(i * 11 + i / 256);
  configure(configuration{}.with(1, 2, 64).with(7, 2, 64));
  const auto check = [&](int start, int stride) {
    std::memcpy(want, from + start, 64);
    std::memcpy(want + 64, from + start + stride, 64);
    CHECK(std::memcmp(to, want, 128) == 0);
    std::memset(to, 0, sizeof to);
  };
  store<1>(to, 64);
  asm volatile("mov %0, %%r13\n mov $100, %%r12d\n"
               "tileloadd (%%r13,%%r12,1), %%tmm7"
               :
               : "r"(from)
               : "r12", "r13", "memory");
  store<7>(to, 64);
  check(0, 100);
  asm volatile("mov %0, %%r12\n mov $50, %%r13d\n"
               "tileloaddt1 -64(%%r12,%%r13,2), %%tmm1"
               :
               : "r"(from + 164)
               : "r12", "r13", "memory");
  store<1>(to, 64);
  check(100, 100);
  asm volatile("tileloadd 1000(%0,%1,8), %%tmm1"
               :
               : "r"(from), "r"(std::int64_t(-16))
               : "memory");
  store<1>(to, 64);
  check(1000, -128);
  // No index: each row is the same. No base: an address of 32 bits.
  asm volatile("tileloadd (%0), %%tmm1" : : "r"(from + 9) : "memory");
  asm volatile("tilestored %%tmm1, 256(%0,%1,4)"
               :
               : "r"(to - 256), "r"(std::int64_t(16))
               : "memory");
  check(9, 0);
  asm volatile("tilerelease");
}

TEST_CASE("products of bytes by hand") {
  // -128, 127, -1 and 2 by -1, -1, 1 and 3 where they are signed, and 128, 127,
  // 255 and 2 by 255, 255, 1 and 3 where they are not.
  const std::uint8_t a[] = {0x80, 0x7f, 0xff, 0x02};
  const std::uint8_t b[] = {0xff, 0xff, 0x01, 0x03};
  CHECK(add(0, a, b, PRODUCT("tdpbssd")) == 128 - 127 - 1 + 6);
  CHECK(add(0, a, b, PRODUCT("tdpbsud")) == -32640 + 32385 - 1 + 6);
  CHECK(add(0, a, b, PRODUCT("tdpbusd")) == -128 - 127 + 255 + 6);
  CHECK(add(0, a, b, PRODUCT("tdpbuud")) == 32640 + 32385 + 255 + 6);
  CHECK(add(100, a, b, PRODUCT("tdpbssd")) == 106);
  // Sums wrap around.
  CHECK(add(INT32_MAX, a, b, PRODUCT("tdpbssd")) == INT32_MIN + 5);
  CHECK(add(INT32_MIN, a, b, PRODUCT("tdpbsud")) == INT32_MAX - 249);
}

TEST_CASE("a product of tiles that are not whole") {
  // 2 x 3 sums of 2 groups. Row 0 of a is 1 to 8, row 1 ones; the groups of
  // column n of b are n + 1 and 10 * (n + 1), four times each.
  std::uint8_t a[2 * 8], b[2 * 12];
  std::int32_t c[16 * 16];
  for (int i = 0; i < 8; ++i) {
    a[i] = std::uint8_t(i + 1);
    a[8 + i] = 1;
  }
  for (int n = 0; n < 12; ++n) {
    b[n] = std::uint8_t(n / 4 + 1);
    b[12 + n] = std::uint8_t(10 * (n / 4 + 1));
  }
  for (int i = 0; i < 256; ++i)
    c[i] = 7;
  const shape s(2, 3, 2);
  load<0>(c, 64);
  load<1>(a, 8);
  load<2>(b, 12);
  PRODUCT("tdpbssd")();
  store<0>(c, 64);
  for (int n = 0; n < 16; ++n) {
    CHECK(c[n] == (n < 3 ? 7 + (10 + 260) * (n + 1) : 7));
    CHECK(c[16 + n] == (n < 3 ? 7 + 44 * (n + 1) : 7));
    CHECK(c[32 + n] == 7);
  }
}

TEST_CASE("sums of products of bf16 by hand") {
  const auto two_to = [](int n) { return std::ldexp(1.0f, n); };
  CHECK(add_pairs(0.5f, {1, 2}, {3, -4}) == 0.5f + 3 - 8);
  // Even places give 2^24 + 1, which is rounded to the even 2^24, and odd ones
  // 2. One after the other, or with one rounding, all would be 2^24 + 4.
  CHECK(add_pairs(0, {two_to(24), 1, 1, 1}, {1, 1, 1, 1}) == two_to(24) + 2);
  // The sum of both is rounded before c is added.
  CHECK(add_pairs(-two_to(24), {two_to(24), 1}, {1, 1}) == 0);
  // A product below the normal range counts in a fused multiply-add.
  CHECK(add_pairs(0, {1.5f, 0, two_to(-70), 0},
                  {two_to(-126), 0, two_to(-70), 0}) ==
        1.5f * two_to(-126) + two_to(-140));
  // Factors, c and results below the normal range are zeros, with their sign.
  CHECK(add_pairs(0, {two_to(-130), 0}, {two_to(100), 0}) == 0);
  CHECK(add_pairs(two_to(-130), {0, 0}, {0, 0}) == 0);
  CHECK(add_pairs(0, {1.5f, -1}, {two_to(-126), two_to(-126)}) == 0);
  CHECK(add_pairs(-1.5f * two_to(-126), {1, 0}, {two_to(-126), 0}) == 0);
  CHECK(std::isnan(add_pairs(0, {INFINITY, 0}, {0, 0})));
  CHECK(add_pairs(0, {INFINITY, 0}, {1, 0}) == INFINITY);
}

TEST_CASE("products of bf16 leave the state of other floats alone") {
  const unsigned before = _mm_getcsr();
  // The control word of SSE that rounds up, masks all exceptions and has no
  // exception flag set.
  const unsigned up = 0x5f80;
  _mm_setcsr(up);
  const float sum = add_pairs(0, {std::ldexp(1.0f, 24), 0, 1, 0}, {1, 0, 1, 0});
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(after == up);
  CHECK(sum == std::ldexp(1.0f, 24));
}

TEST_CASE("wrong instructions end the process") {
  CHECK(!dies([] {}));
  CHECK(dies([] { asm volatile("tilezero %tmm0"); }));
  CHECK(dies(PRODUCT("tdpbssd")));
  CHECK(dies([] { configure(configuration{}.with(0, 17, 64)); }));
  CHECK(dies([] { configure(configuration{}.with(0, 16, 68)); }));
  CHECK(dies([] { configure(configuration{}.with(0, 16, 0)); }));
  CHECK(dies([] { configure(configuration{}.with(8, 16, 64)); }));
  CHECK(dies([] {
    configuration c;
    c.palette = 2;
    configure(c);
  }));
  CHECK(dies([] {
    configuration c;
    c.reserved[5] = 1;
    configure(c);
  }));
  CHECK(dies([] {
    const shape s(2, 3, 4);
    asm volatile("tilezero %tmm3");
  }));
  CHECK(dies([] {
    const shape s(16, 16, 16);
    // tdpbssd %tmm1, %tmm1, %tmm0, which assemblers refuse.
    asm volatile(".byte 0xc4, 0xe2, 0x73, 0x5e, 0xc1");
  }));
  CHECK(dies([] {
    const shape s(2, 3, 4);
    asm volatile("tdpbssd %tmm1, %tmm2, %tmm0");
  }));
  CHECK(dies([] { asm volatile("ud2"); }));
}

TEST_CASE("the emulator notices tiles that nobody releases") {
  if (!nnc_emulated_tile_instructions)
    return;
  CHECK(nnc_emulated_tile_instructions() > 100);
  CHECK(nnc_configured_tile_threads() == 0);
  {
    const shape s(1, 1, 1);
    CHECK(nnc_configured_tile_threads() == 1);
  }
  const auto in_thread = [](bool releases) {
    return [releases] {
      pthread_t thread;
      void *(*start)(void *) = [](void *given) -> void * {
        configure(configuration{}.with(0, 1, 4));
        if (*static_cast<const bool *>(given))
          asm volatile("tilerelease");
        return nullptr;
      };
      bool given = releases;
      if (pthread_create(&thread, nullptr, start, &given) == 0)
        pthread_join(thread, nullptr);
    };
  };
  CHECK(!dies(in_thread(true)));
  CHECK(dies(in_thread(false)));
  CHECK(dies([] { configure(configuration{}.with(0, 1, 4)); }));
}
