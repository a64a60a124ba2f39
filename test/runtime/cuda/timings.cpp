// Adds the routines of a table that timed_routines.py writes to those that are
// timed: NNC_TIMED_ROUTINES is its name.
#include "test/runtime/cuda/timings.h"

#include "runtime/routines/attention/flash.cuh"
#include "runtime/routines/attention/flash_floats.cuh"
#include "runtime/routines/catalogue/applies.h"
#include "runtime/routines/convolution/conv2d/depthwise_nhwc.cuh"
#include "runtime/routines/convolution/conv2d/float_gemm.cuh"
#include "runtime/routines/convolution/conv2d/tensor_cores.cuh"
#include "runtime/routines/matrix/matmul/float_gemm.cuh"
#include "runtime/routines/matrix/matmul/tensor_cores.cuh"
#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/reduction/reduce/rows.cuh"

using namespace nnc_test;

namespace {

/// The fields of a shape as the members of an object of JSON.
template <class S> std::string members_of(S s) {
  std::string text;
  s.visit([&](const char *name, const auto &field) {
    text += std::string(text.empty() ? "" : ", ") + "\"" + name + "\": ";
    if constexpr (std::is_array<std::decay_t<decltype(field)>>::value ||
                  std::is_pointer<std::decay_t<decltype(field)>>::value) {
      std::string all;
      for (const auto &value : field)
        all += (all.empty() ? "" : ", ") + std::to_string(value);
      text += "[" + all + "]";
    } else if constexpr (std::is_integral<
                             std::decay_t<decltype(field)>>::value) {
      text += std::to_string(field);
    } else {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.9g", double(field));
      text += digits;
    }
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
