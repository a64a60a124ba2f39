// Runs the kernels of kernels.inc on a GPU, checks their results, and times
// them on layers of ResNet-50.
//
//   on_device FOLDER     with kernels-<arch>.cubin of on_device.py
//
// It loads the driver's library by name, so that it builds without CUDA. It
// exits with 77 where there is no GPU.
#include "test/runtime/cuda/gemm_test.h"

#include <cstdio>
#include <dlfcn.h>
#include <map>
#include <tuple>

namespace {

using namespace nnc_test;

constexpr int skipped = 77;

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

using address = unsigned long long;
void *library;

/// Calls a function of the driver, which returns 0 or an error.
template <class... A> void call(const char *name, A... arguments) {
  void *const function = dlsym(library, name);
  const int error =
      function ? reinterpret_cast<int (*)(A...)>(function)(arguments...) : -1;
  if (error != 0) {
    std::printf("%s: error %d\n", name, error);
    std::exit(1);
  }
}

int attribute(int which, int device) {
  int value = 0;
  call("cuDeviceGetAttribute", &value, which, device);
  return value;
}

/// Memory of the device.
class buffer {
public:
  explicit buffer(std::size_t bytes) : size(bytes) {
    call("cuMemAlloc_v2", &at, bytes + 16);
    call("cuMemsetD8_v2", at, static_cast<unsigned char>(0xff), bytes + 16);
  }
  template <class T>
  explicit buffer(const device_memory<T> &m) : buffer(m.bytes()) {
    call("cuMemcpyHtoD_v2", at, static_cast<const void *>(m.data()), size);
  }
  buffer(const buffer &) = delete;
  ~buffer() { call("cuMemFree_v2", at); }
  template <class T> T *as() const { return reinterpret_cast<T *>(at); }
  void read(void *to) const { call("cuMemcpyDtoH_v2", to, at, size); }

private:
  address at = 0;
  std::size_t size;
};

void *module_of_kernels;

template <class... A>
void launch(const std::string &kernel, nnc::grid_size grid, int threads,
            int shared, A... arguments) {
  static std::map<std::string, void *> functions;
  void *&function = functions[kernel];
  if (!function) {
    constexpr int max_dynamic_shared = 8;
    call("cuModuleGetFunction", &function, module_of_kernels, kernel.c_str());
    call("cuFuncSetAttribute", function, max_dynamic_shared, shared);
  }
  void *pointers[] = {&arguments...};
  call("cuLaunchKernel", function, unsigned(grid.x), unsigned(grid.y),
       unsigned(grid.z), unsigned(threads), 1u, 1u, unsigned(shared),
       static_cast<void *>(nullptr), static_cast<void **>(pointers),
       static_cast<void **>(nullptr));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

struct entry {
  std::string shape, type;
  bool whole;
  int first_arch;
  std::string name;
  int threads, shared;
  int (*blocks)(const nnc::conv2d_shape &);
};

constexpr bool whole = true, parts = false;
const entry entries[] = {
#define NNC_GEMM(SHAPE, TYPE, CHUNKS, ROWS, COLUMNS, DEPTH, WARP_ROWS,         \
                 WARP_COLUMNS, STAGES, FROM)                                   \
  {#SHAPE,                                                                     \
   #TYPE,                                                                      \
   CHUNKS,                                                                     \
   FROM,                                                                       \
   #SHAPE "_" #TYPE "_" #CHUNKS "_" #ROWS "_" #COLUMNS "_" #DEPTH              \
          "_" #WARP_ROWS "_" #WARP_COLUMNS "_" #STAGES,                        \
   nnc::gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS,               \
                  STAGES>::threads,                                            \
   nnc::gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS,               \
                  STAGES>::shared_bytes,                                       \
   [](const nnc::conv2d_shape &s) {                                            \
     return nnc::gemm_blocks<nnc::gemm_tile<ROWS, COLUMNS, DEPTH, WARP_ROWS,   \
                                            WARP_COLUMNS, STAGES>>(s);         \
   }},
#include "test/runtime/cuda/kernels.inc"
#undef NNC_GEMM
};

template <class T> auto output_of(void *y, const float *bias) {
  using weight = typename gemm_case<T>::weight;
  auto *const to = static_cast<weight *>(y);
  if constexpr (gemm_case<T>::is_float) {
    using epilogue = nnc::fused<gemm_bias_residual_relu, nnc::channel_of<float>,
                                nnc::full_of<T>>;
    return nnc::finished_sums<weight, epilogue>{to, epilogue(bias, to)};
  } else {
    using epilogue = nnc::fused<gemm_requantize, nnc::channel_of<float>>;
    return nnc::finished_sums<weight, epilogue>{to, epilogue(bias)};
  }
}

/// So many counters of blocks, each zero. There are no more tiles than outputs.
device_memory<std::uint32_t> zeros(std::size_t count) {
  const device_memory<std::uint32_t> counters(count);
  std::memset(counters.data(), 0, counters.bytes());
  return counters;
}

/// The operands of a case on the device. The residual lies in the output.
template <class T> struct operands {
  buffer x, packed, bias, y, partial, counters;
  operands(const gemm_case<T> &c, int slices)
      : x(c.x), packed(c.packed), bias(c.bias), y(c.residual),
        partial(c.want.size() * 4 * slices), counters(zeros(c.want.size())) {}

  void run(const entry &e, const nnc::conv2d_shape &s, int slices) const {
    const nnc::grid_size grid{e.blocks(s), s.groups, slices};
    const auto *const from = x.template as<const T>();
    const auto *const w = packed.template as<const unsigned char>();
    const auto output =
        output_of<T>(y.template as<void>(), bias.template as<const float>());
    using sum = typename gemm_case<T>::sum;
    if (e.shape == "slice") {
      const nnc::sliced_sums<sum, std::decay_t<decltype(output)>> sliced{
          {partial.template as<sum>()},
          counters.template as<std::uint32_t>(),
          output};
      launch(e.name, grid, e.threads, e.shared, s, from, w, sliced, slices);
    } else if (e.shape == "matmul") {
      const nnc::matmul_as_conv2d m(s.w, s.k, s.c);
      launch(e.name, grid, e.threads, e.shared, m, from, w, output, slices);
    } else {
      launch(e.name, grid, e.threads, e.shared, s, from, w, output, slices);
    }
  }
};

template <class T> bool check(const entry &e) {
  random_source r;
  constexpr int elements = 16 / int(sizeof(T));
  double worst = 0;
  int done = 0;
  bool same_bits = true;
  for (unsigned seed = 0; done < 20; ++seed) {
    nnc::conv2d_shape s = random_shape(r, elements);
    const bool is_product = s.h * s.kh * s.kw * s.groups == 1 && s.w == s.ow &&
                            s.sw == 1 && s.n == 1;
    if ((s.c / s.groups % elements == 0) != e.whole ||
        (e.shape == "matmul" && !is_product))
      continue;
    if (!gemm_case<T>::is_float && e.shape != "matmul")
      s.fill = r.between(0, 127);
    ++done;
    const int slices = e.shape == "slice" ? r.between(1, 5) : 1;
    const gemm_case<T> c(s, seed);
    using result = typename gemm_case<T>::weight;
    std::vector<result> y(c.want.size()), again(c.want.size());
    for (auto *to : {&y, &again}) {
      const operands<T> on_device(c, slices);
      on_device.run(e, s, slices);
      call("cuCtxSynchronize");
      on_device.y.read(to->data());
    }
    same_bits &= std::memcmp(static_cast<const void *>(y.data()),
                             static_cast<const void *>(again.data()),
                             y.size() * sizeof(result)) == 0;
    double off = 0, size = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double got = static_cast<double>(static_cast<float>(y[i]));
      off += (got - c.want[i]) * (got - c.want[i]);
      size += c.want[i] * c.want[i];
    }
    const double relative = off == 0 ? 0 : std::sqrt(off / size);
    if (!(relative <= worst))
      worst = relative;
  }
  // Tensor cores round tf32 sums more coarsely than the CPU does.
  const double most = std::is_same<T, float>::value ? 1e-4 : bound<T>;
  const bool good = worst <= most && same_bits;
  std::printf("%-40s error %.2e%s%s\n", e.name.c_str(), worst,
              same_bits ? "" : ", bits differ from run to run",
              good ? "" : "  WRONG");
  return good;
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

void time_layer(const entry &e, const nnc::conv2d_shape &s) {
  if (e.type != "f16" || e.shape != "conv" || !e.whole)
    return;
  using T = nnc::f16;
  const gemm_case<T> c(s, 1, false);
  const operands<T> on_device(c, 1);
  void *begin = nullptr, *end = nullptr;
  call("cuEventCreate", &begin, 0u);
  call("cuEventCreate", &end, 0u);
  constexpr int times = 50;
  float milliseconds = 0;
  for (int round = 0; round < 2; ++round) { // the first one warms up
    call("cuEventRecord", begin, static_cast<void *>(nullptr));
    for (int i = 0; i < times; ++i)
      on_device.run(e, s, 1);
    call("cuEventRecord", end, static_cast<void *>(nullptr));
    call("cuEventSynchronize", end);
    call("cuEventElapsedTime", &milliseconds, begin, end);
  }
  const double seconds = milliseconds * 1e-3 / times;
  const double flops = 2.0 * nnc::gemm_rows(s) * s.k * nnc::gemm_terms(s);
  std::printf(
      "n=%-3d %4d -> %-4d %dx%d of %dx%d  %-36s %8.2f us %7.1f TFLOP/s\n", s.n,
      s.c, s.k, s.kh, s.kw, s.h, s.w, e.name.c_str(), seconds * 1e6,
      flops / seconds * 1e-12);
}

} // namespace

int main(int count, char **arguments) {
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library || count < 2) {
    std::printf("skipped: found no libcuda.so.1, or no folder was given\n");
    return skipped;
  }
  call("cuInit", 0u);
  void *context = nullptr;
  call("cuDevicePrimaryCtxRetain", &context, 0);
  call("cuCtxSetCurrent", context);
  constexpr int major = 75, minor = 76;
  const int arch = attribute(major, 0) * 10 + attribute(minor, 0);
  const int built = arch >= 90 ? 90 : arch >= 80 ? 80 : 75;
  const std::string file = std::string(arguments[1]) + "/kernels-" +
                           std::to_string(built) + ".cubin";
  call("cuModuleLoad", &module_of_kernels, file.c_str());
  bool good = true;
  for (const entry &e : entries) {
    if (built < e.first_arch || e.shape == "conv56")
      continue;
    good &= e.type == "f16"    ? check<nnc::f16>(e)
            : e.type == "bf16" ? check<nnc::bf16>(e)
            : e.type == "tf32" ? check<float>(e)
            : e.type == "i8"   ? check<std::int8_t>(e)
                               : check<std::uint8_t>(e);
  }
  for (const int n : {1, 32})
    for (const auto &[c, k, side, taps] :
         {std::tuple(64, 64, 56, 3), std::tuple(256, 64, 56, 1),
          std::tuple(256, 256, 14, 3), std::tuple(512, 2048, 7, 1)}) {
      nnc::conv2d_shape s{};
      s.n = n;
      s.c = c;
      s.k = k;
      s.h = s.w = s.oh = s.ow = side;
      s.kh = s.kw = taps;
      s.pt = s.pl = taps / 2;
      s.sh = s.sw = s.dh = s.dw = s.groups = 1;
      for (const entry &e : entries)
        if (built >= e.first_arch)
          time_layer(e, s);
    }
  std::printf(good ? "all results are right\n" : "some results are wrong\n");
  return !good;
}
