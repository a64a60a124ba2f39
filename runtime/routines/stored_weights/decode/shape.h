//===- shape.h - The shape of decoding routines ---------------------------===//
#ifndef NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H
#define NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H

namespace nnc {

/// How the elements of a weight are stored; decode/plan.h says where each byte
/// is.
enum decode_form {
  /// A number of `value_bits` bits for each element, its place in the table of
  /// its block.
  decode_codes,
  /// A Huffman code for each element, of at most `value_bits` bits.
  decode_huffman,
  /// Entries for the elements that differ from the last value of the table:
  /// `gap_bits` bits that say how many elements are skipped, then `value_bits`
  /// bits with the place of the value in the table.
  decode_entries,
  /// The same entries, whose gaps and values have Huffman codes of at most
  /// `gap_bits` and `value_bits` bits.
  decode_huffman_entries,
  /// Entries like these, whose values stand apart as they are, `value_bits`
  /// bits each. The table has one value, which they skip.
  decode_literals,
  /// `gaps` entries of each block of 2, 4, 8 or 16 elements: `gap_bits` bits
  /// that say which element it is, and apart from these `value_bits` bits with
  /// the place of its value in the table, or, where that has one value, the
  /// value as it is. All other elements have the last value of the table.
  decode_pattern
};

/// The form with the largest number.
constexpr int decode_last_form = decode_pattern;

/// Whether a form has entries, and none for the elements that these skip.
constexpr bool decode_has_entries(int form) {
  return form == decode_entries || form == decode_huffman_entries ||
         form == decode_literals || form == decode_pattern;
}

/// Makes the elements of a weight of what is stored of them. Blocks of `block`
/// elements, the last of which may be shorter, are decoded independently.
struct decode_shape {
  int form;     ///< a decode_form
  int elements; ///< those of the weight, padding included
  int block;
  int values; ///< length of a table
  int value_bits;
  int gaps; ///< different gaps, of Huffman codes; entries of a pattern's block
  int gap_bits;
  int entries; ///< of all blocks: what the time of decoding depends on

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

/// The steps of decoding a weight, which its time follows from: elements that
/// entries skip are only filled in, several at a time.
template <class S> constexpr double decode_steps(const S &s) {
  return decode_has_entries(s.form) ? s.entries + s.elements / 8.
                                    : double(s.elements);
}

} // namespace nnc

#endif // NNC_ROUTINES_STORED_WEIGHTS_DECODE_SHAPE_H
