//===- shape.h - The shape of decoding routines ---------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H

#include "runtime/functions.h"

namespace nnc {

/// The forms in which a weight is stored. decode/plan.h defines the position of
/// each byte.
enum decode_form {
  /// An index in the table of the element's block for each element, with
  /// `value_bits` bits.
  decode_codes,
  /// A Huffman code for each element, of at most `value_bits` bits.
  decode_huffman,
  /// An entry for each element that differs from the last value of the table:
  /// `gap_bits` bits with the number of skipped elements, then `value_bits`
  /// bits with the index of the value in the table.
  decode_entries,
  /// Entries as in decode_entries, whose gaps and values have Huffman codes of
  /// at most `gap_bits` and `value_bits` bits.
  decode_huffman_entries,
  /// Entries as in decode_entries, but with the values themselves, of
  /// `value_bits` bits each, stored separately. The table has one value: the
  /// skipped one.
  decode_literals,
  /// `gaps` entries for each block of 2, 4, 8 or 16 elements: `gap_bits` bits
  /// with the index of the element in the block, and separately `value_bits`
  /// bits with the index of its value in the table or, if the table has one
  /// value, the value itself. All other elements have the last value of the
  /// table.
  decode_pattern
};

/// The form with the largest number.
constexpr int decode_last_form = decode_pattern;

/// Returns true if a form has entries, which skip all other elements.
NNC_FN constexpr bool decode_has_entries(int form) {
  return form == decode_entries || form == decode_huffman_entries ||
         form == decode_literals || form == decode_pattern;
}

/// Decodes the elements of a stored weight. Blocks of `block` elements, the
/// last of which may be shorter, are decoded independently.
struct decode_shape {
  int form;     ///< a decode_form
  int elements; ///< elements of the weight, padding included
  int block;
  int values; ///< length of a table
  int value_bits;
  int gaps; ///< Huffman: distinct gaps; pattern: entries per block
  int gap_bits;
  int entries; ///< entries of all blocks, for the estimate of time

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("form", form);
    f("elements", elements);
    f("block", block);
    f("values", values);
    f("value_bits", value_bits);
    f("gaps", gaps);
    f("gap_bits", gap_bits);
    f("entries", entries);
  }
};

/// Returns the number of steps of decoding a weight, to which its time is
/// proportional. Skipped elements are only filled in, several at a time.
template <class S> NNC_FN constexpr double decode_steps(const S &s) {
  return decode_has_entries(s.form) ? s.entries + s.elements / 8.
                                    : double(s.elements);
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H
