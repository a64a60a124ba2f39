//===- fixed_gates.h - Sigmoids and tangents of fixed-point numbers -------===//
//
// TFLite's logistic function and hyperbolic tangent on 16-bit numbers, by
// linear interpolation in a table of sigmoid(k / 24) in units of 2^-16 for k
// from 0 to 255. Arguments are in units of 1 / 12288, results in units of
// 2^-15.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_SIMD_FIXED_GATES_H
#define NNC_SIMD_FIXED_GATES_H

#include "runtime/functions.h"
#include "runtime/simd/traits.h"

namespace nnc {

/// 2^(16 + bits) * sigmoid(|x| / 2^bits / 24) by linear interpolation in the
/// table; `most` beyond its end.
template <int bits>
NNC_INLINE uint32_t fixed_sigmoid_of_magnitude(int32_t x, const uint16_t *table,
                                               uint32_t most) {
  const uint32_t size =
      x < 0 ? 0u - static_cast<uint32_t>(x) : static_cast<uint32_t>(x);
  const uint32_t at = size >> bits, rest = size & ((1u << bits) - 1);
  if (at >= 255)
    return most;
  const uint32_t low = table[at], high = table[at + 1];
  return (low << bits) + rest * (high - low);
}

/// 2^15 * sigmoid(x / 12288).
NNC_INLINE int32_t fixed_sigmoid(int32_t x, const uint16_t *table) {
  const uint32_t y = fixed_sigmoid_of_magnitude<9>(x, table, 0x7fffu << 10);
  return static_cast<int32_t>(
      (x >= 0 ? y + (1u << 9) : (1u << 25) - y + (1u << 9) - 1) >> 10);
}

/// 2^15 * tanh(x / 12288).
NNC_INLINE int32_t fixed_tanh(int32_t x, const uint16_t *table) {
  const int32_t y = static_cast<int32_t>(
      fixed_sigmoid_of_magnitude<8>(x, table, 0xffffu << 8));
  return (x >= 0 ? y - (1 << 23) + (1 << 7) : (1 << 23) - y + (1 << 7) - 1) >>
         8;
}

/// The table of sigmoid(k / 24).
struct fixed_sigmoids {
  NNC_FN static const uint16_t *table() {
    static const uint16_t values[256] = {
        32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841,
        39498, 40149, 40794, 41432, 42064, 42688, 43304, 43912, 44511, 45102,
        45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475, 49975, 50464,
        50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755,
        55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007,
        58280, 58544, 58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370,
        60565, 60753, 60935, 61110, 61279, 61441, 61599, 61750, 61896, 62036,
        62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186,
        63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968,
        64030, 64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494,
        64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845,
        64873, 64900, 64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079,
        65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
        65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337,
        65345, 65352, 65360, 65367, 65374, 65381, 65387, 65393, 65399, 65404,
        65410, 65415, 65420, 65425, 65429, 65433, 65438, 65442, 65445, 65449,
        65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476, 65479,
        65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498,
        65500, 65501, 65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511,
        65512, 65513, 65514, 65515, 65516, 65517, 65517, 65518, 65519, 65520,
        65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524, 65525, 65525,
        65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529,
        65529, 65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531,
        65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533, 65533, 65533,
        65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534,
        65534, 65534, 65534, 65534, 65534, 65535,
    };
    return values;
  }
};

template <class T, enable_if_t<is_same<T, int32_t>::value, int> = 0>
NNC_INLINE T logistic_q15(T x) {
  return fixed_sigmoid(x, fixed_sigmoids::table());
}
template <class T, enable_if_t<is_same<T, int32_t>::value, int> = 0>
NNC_INLINE T tanh_q15(T x) {
  return fixed_tanh(x, fixed_sigmoids::table());
}

} // namespace nnc

#endif // NNC_SIMD_FIXED_GATES_H
