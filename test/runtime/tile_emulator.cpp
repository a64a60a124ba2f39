//===- tile_emulator.cpp - AMX instructions on processors without them ----===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A library to be preloaded, or loaded before other libraries, on Linux with
// x86-64. It executes AMX instructions that the processor does not know, as
// volume 2 of Intel's Software Developer's Manual describes them: the processor
// raises SIGILL, and the handler decodes the instruction, computes what it does
// to the tiles of the thread or to memory, and steps over it. Code that is
// compiled for AMX runs unchanged, some microseconds an instruction.
//
// The library also answers the request for the permission to use tiles, by a
// filter of system calls, for the thread that loads it and those that it
// starts. The permission is granted, or refused where NNC_TILES=refused in the
// environment. Threads that have no permission may not execute AMX
// instructions.
//
// Errors that the processor would report, such as a product of tiles before
// they are configured, end the process with a message, and so does a thread
// or a process that ends with configured tiles.
// nnc_emulated_tile_instructions() returns how many instructions were executed,
// and nnc_configured_tile_threads() how many threads have configured tiles.
// NNC_TILES_LOG names a file to which the process appends the number of its
// instructions when it ends.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <immintrin.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

// Palette 1 of the processors that have AMX.
constexpr int tile_count = 8, max_rows = 16, max_row_bytes = 64;

std::atomic<long> instructions{0}, configured_threads{0};
std::atomic<bool> permitted{true};

/// Ends the process with a message. It runs in the handler of a signal, and
/// calls only functions that such a handler may call.
[[noreturn]] void fail(const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (write(2, "tile emulator: ", 15) < 0 ||
      write(2, text, std::size_t(length)) < 0 || write(2, "\n", 1) < 0)
    std::abort();
  std::abort();
}

/// The tiles of a thread and their configuration. Rows and bytes of a row are
/// zero for tiles that cannot be used.
struct thread_state {
  bool configured = false;
  std::uint8_t start_row = 0;
  int rows[tile_count] = {}, row_bytes[tile_count] = {};
  alignas(64) unsigned char tiles[tile_count][max_rows][max_row_bytes] = {};

  /// Checks threads but the main one, whose objects live longer than this.
  ~thread_state() {
    if (configured && getpid() != gettid())
      fail("a thread ended with configured tiles");
  }
};

thread_local thread_state state;

/// A tile register that an instruction names: its number, its rows and the
/// bytes of each row, as LDTILECFG has configured them.
struct tile {
  int number, rows, row_bytes;
  unsigned char *row(int r) const { return state.tiles[number][r]; }
  void clear_rows(int first) const {
    std::memset(row(first), 0, std::size_t(max_rows - first) * max_row_bytes);
  }
};

tile get_tile(int number, const char *instruction) {
  if (!state.configured)
    fail("%s before tiles are configured (#UD)", instruction);
  if (number >= tile_count)
    fail("%s of tile %d, which does not exist (#UD)", instruction, number);
  const tile t{number, state.rows[number], state.row_bytes[number]};
  if (t.rows == 0)
    fail("%s of tile %d, which has no rows (#UD)", instruction, number);
  return t;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void release() {
  if (state.configured)
    --configured_threads;
  state.configured = false;
  state.start_row = 0;
  std::memset(state.rows, 0, sizeof state.rows);
  std::memset(state.row_bytes, 0, sizeof state.row_bytes);
  std::memset(state.tiles, 0, sizeof state.tiles);
}

/// LDTILECFG
void load_configuration(const unsigned char *from) {
  unsigned char bytes[64];
  std::memcpy(bytes, from, sizeof bytes);
  const int palette = bytes[0];
  if (palette == 0)
    return release();
  bool right = palette == 1;
  for (int i = 2; i < 16; ++i)
    right &= bytes[i] == 0;
  int rows[tile_count], row_bytes[tile_count];
  for (int i = 0; i < 16; ++i) {
    const int width = bytes[16 + 2 * i] + 256 * bytes[17 + 2 * i];
    const int height = bytes[48 + i];
    if (i >= tile_count) {
      right &= width == 0 && height == 0;
      continue;
    }
    right &= width <= max_row_bytes && height <= max_rows &&
             (width == 0) == (height == 0);
    row_bytes[i] = width;
    rows[i] = height;
  }
  if (!right)
    fail("ldtilecfg of a wrong configuration (#GP)");
  release();
  ++configured_threads;
  state.configured = true;
  state.start_row = bytes[1];
  std::memcpy(state.rows, rows, sizeof rows);
  std::memcpy(state.row_bytes, row_bytes, sizeof row_bytes);
}

/// STTILECFG
void store_configuration(unsigned char *to) {
  unsigned char bytes[64] = {};
  if (state.configured) {
    bytes[0] = 1;
    bytes[1] = state.start_row;
    for (int i = 0; i < tile_count; ++i) {
      bytes[16 + 2 * i] = static_cast<unsigned char>(state.row_bytes[i]);
      bytes[48 + i] = static_cast<unsigned char>(state.rows[i]);
    }
  }
  std::memcpy(to, bytes, sizeof bytes);
}

/// TILELOADD and TILELOADDT1
void load_tile(const tile &t, const unsigned char *from, std::int64_t stride) {
  t.clear_rows(state.start_row);
  for (int r = state.start_row; r < t.rows; ++r)
    std::memcpy(t.row(r), from + r * stride, std::size_t(t.row_bytes));
  state.start_row = 0;
}

/// TILESTORED
void store_tile(const tile &t, unsigned char *to, std::int64_t stride) {
  for (int r = state.start_row; r < t.rows; ++r)
    std::memcpy(to + r * stride, t.row(r), std::size_t(t.row_bytes));
  state.start_row = 0;
}

/// The operands of a product: c += a * b.
struct factors {
  tile c, a, b;
};

factors get_factors(int c, int a, int b, const char *instruction) {
  if (c == a || c == b || a == b)
    fail("%s of tiles that are not three (#UD)", instruction);
  const factors f{get_tile(c, instruction), get_tile(a, instruction),
                  get_tile(b, instruction)};
  if (f.c.row_bytes % 4 || f.a.row_bytes % 4 || f.b.row_bytes % 4 ||
      f.c.rows != f.a.rows || f.a.row_bytes / 4 != f.b.rows ||
      f.c.row_bytes != f.b.row_bytes)
    fail("%s of tiles whose shapes do not fit (#UD)", instruction);
  return f;
}

/// TDPBSSD, TDPBSUD, TDPBUSD and TDPBUUD: factors of types A and B. Sums wrap
/// around.
template <class A, class B> void add_bytes(const factors &f) {
  for (int m = 0; m < f.c.rows; ++m) {
    for (int k = 0; k < f.a.row_bytes / 4; ++k)
      for (int n = 0; n < f.c.row_bytes / 4; ++n) {
        std::uint32_t sum;
        std::memcpy(&sum, f.c.row(m) + 4 * n, sizeof sum);
        for (int i = 0; i < 4; ++i)
          sum +=
              static_cast<std::uint32_t>(static_cast<A>(f.a.row(m)[4 * k + i]) *
                                         static_cast<B>(f.b.row(k)[4 * n + i]));
        std::memcpy(f.c.row(m) + 4 * n, &sum, sizeof sum);
      }
    std::memset(f.c.row(m) + f.c.row_bytes, 0,
                std::size_t(max_row_bytes - f.c.row_bytes));
  }
  f.c.clear_rows(f.c.rows);
  state.start_row = 0;
}

/// Eight numbers of type bf16 as floats.
__m256 load_bfloats(const unsigned char *from) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(
                            reinterpret_cast<const __m128i *>(from))),
                        16));
}

/// TDPBF16PS. The processor's own vectors round to the nearest float and take
/// denormal numbers for zeros (FTZ and DAZ of MXCSR).
void add_bfloats(const factors &f) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(0x9fc0);
  alignas(32) unsigned char wide[max_row_bytes + 16];
  for (int m = 0; m < f.c.rows; ++m) {
    // Sums of the products of even and of odd columns of a.
    __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(),
                      _mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int k = 0; k < f.a.row_bytes / 4; ++k) {
      std::uint32_t pair;
      std::memcpy(&pair, f.a.row(m) + 4 * k, sizeof pair);
      const __m256i both = _mm256_set1_epi32(static_cast<int>(pair));
      const __m256 left = _mm256_castsi256_ps(_mm256_blend_epi32(
          _mm256_slli_epi32(both, 16),
          _mm256_and_si256(both, _mm256_set1_epi32(-65536)), 0xaa));
      for (int i = 0; i < 4; ++i)
        sums[i] =
            _mm256_fmadd_ps(left, load_bfloats(f.b.row(k) + 16 * i), sums[i]);
    }
    for (int n = 0; n < f.c.row_bytes / 4; ++n) {
      float pair[2], sum;
      std::memcpy(pair, reinterpret_cast<float *>(sums) + 2 * n, sizeof pair);
      std::memcpy(&sum, f.c.row(m) + 4 * n, sizeof sum);
      const __m128 product =
          _mm_add_ss(_mm_set_ss(pair[0]), _mm_set_ss(pair[1]));
      _mm_store_ss(&sum, _mm_add_ss(_mm_set_ss(sum), product));
      std::memcpy(wide + 4 * n, &sum, sizeof sum);
    }
    std::memset(f.c.row(m), 0, max_row_bytes);
    std::memcpy(f.c.row(m), wide, std::size_t(f.c.row_bytes));
  }
  f.c.clear_rows(f.c.rows);
  state.start_row = 0;
  _mm_setcsr(before);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The general registers in the order of their numbers in instructions.
constexpr int register_places[] = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

/// An instruction with a VEX prefix of three bytes.
struct instruction {
  greg_t *registers;
  const unsigned char *next; ///< the byte to read next
  int prefix;                ///< pp: nothing, 66, F3 or F2
  int opcode, mod, reg, rm;  ///< numbers of registers with their high bits
  int third;                 ///< vvvv
  unsigned char *address;    ///< of the operand in memory, without the index
  bool has_index_byte;
  std::int64_t stride; ///< index times scale

  std::int64_t value_of(int number) const {
    return registers[register_places[number]];
  }

  /// Reads the bytes after the prefix. Returns false for other instructions
  /// than those with the prefix of AMX.
  bool decode(greg_t *all) {
    registers = all;
    next = reinterpret_cast<const unsigned char *>(all[REG_RIP]);
    if (next[0] != 0xc4)
      return false;
    const int high = ~next[1], flags = next[2];
    // Map 0F 38, W = 0, L = 0.
    if ((next[1] & 31) != 2 || (flags & 0x84) != 0)
      return false;
    third = ~(flags >> 3) & 15;
    prefix = flags & 3;
    opcode = next[3];
    if (opcode != 0x49 && opcode != 0x4b && opcode != 0x5c && opcode != 0x5e)
      return false;
    const int modrm = next[4];
    next += 5;
    mod = modrm >> 6;
    reg = (modrm >> 3 & 7) | (high >> 7 & 1) << 3;
    rm = modrm & 7;
    if (mod == 3)
      rm |= (high >> 5 & 1) << 3;
    else
      decode_address(high >> 6 & 1, high >> 5 & 1);
    return true;
  }

  void decode_address(int high_index, int high_base) {
    std::int64_t base = 0, displacement = 0;
    stride = 0;
    has_index_byte = rm == 4;
    int number = rm;
    bool in_code = mod == 0 && rm == 5;
    bool wide = mod == 2 || in_code;
    if (has_index_byte) {
      const int sib = *next++;
      const int index = (sib >> 3 & 7) | high_index << 3;
      if (index != 4)
        stride = std::int64_t(std::uint64_t(value_of(index)) << (sib >> 6));
      number = sib & 7;
      if (number == 5 && mod == 0) {
        wide = true;
        number = -1;
      }
    }
    if (wide) {
      std::int32_t bytes;
      std::memcpy(&bytes, next, sizeof bytes);
      displacement = bytes;
      next += 4;
    } else if (mod == 1) {
      displacement = static_cast<std::int8_t>(*next++);
    }
    if (in_code)
      base = std::int64_t(next);
    else if (number >= 0)
      base = value_of(number | high_base << 3);
    address = reinterpret_cast<unsigned char *>(base + displacement);
  }

  /// Executes the instruction. Returns false if it is not one of AMX.
  bool execute() const {
    enum { none, with_66, with_f3, with_f2 };
    const bool memory = mod != 3;
    if (opcode == 0x49)
      return execute_configuration(memory);
    if (opcode == 0x4b) {
      if (!memory || prefix == none || third != 0)
        return false;
      const char *name = prefix == with_f3 ? "tilestored" : "tileloadd";
      if (!has_index_byte)
        fail("%s without a byte of an index (#UD)", name);
      const tile t = get_tile(reg, name);
      // An operand that has no index has a stride of zero.
      unsigned char *const from = address;
      if (prefix == with_f3)
        store_tile(t, from, stride);
      else
        load_tile(t, from, stride);
      return true;
    }
    if (memory)
      return false;
    if (opcode == 0x5c) {
      if (prefix != with_f3)
        return false;
      add_bfloats(get_factors(reg, rm, third, "tdpbf16ps"));
      return true;
    }
    using s8 = std::int8_t;
    using u8 = std::uint8_t;
    const char *const names[] = {"tdpbuud", "tdpbusd", "tdpbsud", "tdpbssd"};
    const factors f = get_factors(reg, rm, third, names[prefix]);
    if (prefix == none)
      add_bytes<u8, u8>(f);
    else if (prefix == with_66)
      add_bytes<u8, s8>(f);
    else if (prefix == with_f3)
      add_bytes<s8, u8>(f);
    else
      add_bytes<s8, s8>(f);
    return true;
  }

  /// Instructions that configure, release and clear tiles.
  bool execute_configuration(bool memory) const {
    if (third != 0)
      return false;
    if (prefix == 3 && !memory && rm == 0) {
      const tile t = get_tile(reg, "tilezero");
      t.clear_rows(0);
      state.start_row = 0;
      return true;
    }
    if (reg != 0)
      return false;
    if (memory && prefix == 0)
      load_configuration(address);
    else if (memory && prefix == 1)
      store_configuration(address);
    else if (!memory && prefix == 0 && rm == 0)
      release();
    else
      return false;
    return true;
  }
};

void handle(int, siginfo_t *, void *context) {
  const int error = errno;
  greg_t *registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  instruction i{};
  if (!i.decode(registers)) {
    std::signal(SIGILL, SIG_DFL);
    return;
  }
  if (!permitted)
    fail("an AMX instruction without the permission to use tiles (#NM)");
  if (!i.execute()) {
    std::signal(SIGILL, SIG_DFL);
    return;
  }
  ++instructions;
  registers[REG_RIP] = greg_t(i.next);
  errno = error;
}

//===----------------------------------------------------------------------===//
// The permission
//===----------------------------------------------------------------------===//

/// Answers arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) with `error`, 0
/// for success, in this thread and in those that it starts.
void answer_requests(unsigned error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1023, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 18, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
    fail("the system takes no filter of system calls");
}

__attribute__((constructor)) void begin() {
  const char *answer = std::getenv("NNC_TILES");
  permitted = answer == nullptr || std::strcmp(answer, "refused") != 0;
  answer_requests(permitted ? 0 : EPERM);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGILL, &action, nullptr);
}

__attribute__((destructor)) void end() {
  if (configured_threads != 0)
    fail("the process ended with configured tiles");
  const char *path = std::getenv("NNC_TILES_LOG");
  if (path == nullptr)
    return;
  char line[64];
  const int length =
      std::snprintf(line, sizeof line, "%ld\n", instructions.load());
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0 || write(file, line, std::size_t(length)) != length)
    fail("cannot write to %s", path);
  close(file);
}

} // namespace

extern "C" {
/// The number of AMX instructions that this process has executed.
long nnc_emulated_tile_instructions() { return instructions; }
/// The number of threads of this process whose tiles are configured.
long nnc_configured_tile_threads() { return configured_threads; }
}
