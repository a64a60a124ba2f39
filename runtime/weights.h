//===- weights.h - Verifies that weights belong to the code ---------------===//
//
// A module's weights begin with a header, which says how many bytes there are
// and what their hash is. The code holds the same two numbers: it compares them
// before each run, and hashes all of the bytes where its caller asks for it.
// nnc, too, includes this file, to write the header.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_WEIGHTS_H
#define NNC_WEIGHTS_H

#include <string.h>

#include <stddef.h>
#include <stdint.h>

namespace nnc {

/// The header of a module's weights, with little-endian numbers. The weights
/// themselves begin at the next multiple of their alignment.
struct weights_header {
  /// The magic number "nncw", and the version of this header and of the hash.
  static constexpr uint32_t word = 0x77636e6e, current = 1;

  uint32_t magic, version;
  /// Size of the weights, this header included.
  uint64_t bytes;
  /// hash_words() of all bytes behind the header and its padding.
  uint64_t hash;
  /// The model's name, truncated if it is too long. It is only for human
  /// readers.
  char model[40];
};
static_assert(sizeof(weights_header) == 64, "there is no padding");

/// Returns a 64-bit hash of `count` bytes, a multiple of eight, in words of
/// eight bytes. `hash` is the hash of the bytes before these. A change of a
/// single word always changes the hash.
inline uint64_t hash_words(const unsigned char *bytes, size_t count,
                           uint64_t hash = 0xcbf29ce484222325u) {
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word;
    memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

/// Returns true if `weights` begin with a header that has this size and hash.
inline bool has_header(const void *weights, uint64_t bytes, uint64_t hash) {
  weights_header header;
  memcpy(&header, weights, sizeof header);
  return header.magic == weights_header::word &&
         header.version == weights_header::current && header.bytes == bytes &&
         header.hash == hash;
}

} // namespace nnc

#endif // NNC_WEIGHTS_H
