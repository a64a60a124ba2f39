// Adds the routines of a table that timed_routines.py writes to those that are
// timed: NNC_TIMED_ROUTINES is its name.
#include "test/runtime/cuda/timings.h"
#include "test/runtime/cuda/timed_moves.h"

#include "runtime/routines/attention/flash.cuh"
#include "runtime/routines/attention/flash_floats.cuh"
#include "runtime/routines/catalogue/applies.h"
#include "runtime/routines/catalogue/moves.h"
#include "runtime/routines/convolution/conv2d/depthwise_nhwc.cuh"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/grouped.cuh"
#include "runtime/routines/convolution/conv2d/pixels.cuh"
#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"
#include "runtime/routines/convolution/conv_transpose2d/phases.cuh"
#include "runtime/routines/elementwise/blocks.cuh"
#include "runtime/routines/elementwise/transposes.cuh"
#include "runtime/routines/matrix/matmul/float_gemm.cuh"
#include "runtime/routines/matrix/matmul/plain_gemm.cuh"
#include "runtime/routines/matrix/matmul/tensor_cores.cuh"
#include "runtime/routines/moves/copy/blocks.cuh"
#include "runtime/routines/moves/gather/blocks.cuh"
#include "runtime/routines/moves/join/blocks.cuh"
#include "runtime/routines/moves/pad/blocks.cuh"
#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/reduction/reduce/rows.cuh"
#include "runtime/routines/resampling/resize/nhwc.cuh"

using namespace nnc_test;

namespace {

/// A field of a shape as JSON.
template <class V> std::string json_of(const V &value) {
  if constexpr (std::is_array<V>::value) {
    std::string all;
    for (const auto &one : value)
      all += (all.empty() ? "" : ", ") + json_of(one);
    return "[" + all + "]";
  } else if constexpr (std::is_integral<V>::value) {
    return std::to_string(value);
  } else {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", double(value));
    return digits;
  }
}

/// The fields of a shape as the members of an object of JSON.
template <class S> std::string members_of(S s) {
  std::string text;
  s.visit([&](const char *name, const auto &field) {
    text += std::string(text.empty() ? "" : ", ") + "\"" + name +
            "\": " + json_of(field);
  });
  return text;
}

/// A shape as one of type To, which may have constants in place of fields.
template <class To, class S> To shape_as(const S &s) {
  if constexpr (std::is_same<To, S>::value)
    return s;
  else
    return To(s);
}
template <class To, class S> bool fits(const S &s) {
  if constexpr (std::is_same<To, S>::value)
    return true;
  else
    return To::fits(s);
}

/// Adds an entry for each layer of the kind that the routine applies to. Named
/// has the routine, its parameters, and the expressions of its table.
template <class Named, class Layers, class... Shapes>
bool add(timed_entry entry, int element_bytes, shape_list<Shapes...>) {
  for (const auto &layer : Layers::list()) {
    if (!Named::applies(layer))
      continue;
    entry.shape = members_of(layer);
    entry.size = Layers::size(layer);
    entry.element_bytes = element_bytes;
    const std::ptrdiff_t scratch = Named::scratch(layer);
    entry.scratch = double(scratch);
    const auto add_for = [&](auto *type) {
      using S = std::remove_pointer_t<decltype(type)>;
      if (!fits<S>(layer))
        return;
      entry.run = [layer, scratch](nnc::stream &stream,
                                   const timed_memory &memory) {
        using epilogue = typename Layers::epilogue;
        using R = typename Named::template routine<S, epilogue>;
        Layers::template run<R>(stream, shape_as<S>(layer), memory, scratch);
      };
      timed_entries().push_back(entry);
    };
    (add_for(static_cast<Shapes *>(nullptr)), ...);
  }
  return true;
}

} // namespace

#define NNC_UNWRAP(...) __VA_ARGS__
#define NNC_TIMED_NAME_NOW(NUMBER) timed_##NUMBER
#define NNC_TIMED_NAME(NUMBER) NNC_TIMED_NAME_NOW(NUMBER)
#define NNC_TIMED(...) NNC_TIMED_AS(NNC_TIMED_NAME(__COUNTER__), __VA_ARGS__)
#define NNC_TIMED_AS(STRUCT, ...) NNC_TIMED_NOW(STRUCT, __VA_ARGS__)
#define NNC_TIMED_NOW(STRUCT, KIND, FAMILY, ROUTINE, TYPE, NAMES, VALUES,      \
                      APPLIES, SCRATCH, EFFICIENCY)                            \
  namespace {                                                                  \
  struct STRUCT {                                                              \
    template <class S, class Epi>                                              \
    using routine = nnc::ROUTINE<S, NNC_UNWRAP VALUES Epi>;                    \
    static bool applies([[maybe_unused]] const nnc::FAMILY##_shape &s) {       \
      NNC_UNWRAP NAMES return APPLIES;                                         \
    }                                                                          \
    static std::ptrdiff_t                                                      \
    scratch([[maybe_unused]] const nnc::FAMILY##_shape &s) {                   \
      NNC_UNWRAP NAMES return SCRATCH;                                         \
    }                                                                          \
  };                                                                           \
  [[maybe_unused]] const bool STRUCT##_is_added =                              \
      add<STRUCT, KIND##_layers<timed_types::TYPE>>(                           \
          {#ROUTINE, #KIND, #TYPE, #VALUES, "", {}, 0, 0, {}},                 \
          int(sizeof(timed_types::TYPE)),                                      \
          typename KIND##_layers<timed_types::TYPE>::shapes());                \
  }
#include NNC_TIMED_ROUTINES
