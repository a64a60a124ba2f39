//===- shape.h - The shape of suppress routines ---------------------------===//
#ifndef NNC_ROUTINES_LENGTHS_SUPPRESS_SHAPE_H
#define NNC_ROUTINES_LENGTHS_SUPPRESS_SHAPE_H

namespace nnc {

/// Non-maximum suppression among boxes[batches][boxes][4] with
/// scores[batches][classes][boxes], of each batch and class by itself. A box is
/// two corners, y, x, y, x, or with `centered` x, y, width, height. y[1 + 3 *
/// batches * classes * most] holds the number of selected boxes, a triple
/// (batch, class, box) for each, and zeros.
struct suppress_shape {
  int batches, classes, boxes, most, centered;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("batches", batches);
    f("classes", classes);
    f("boxes", boxes);
    f("most", most);
    f("centered", centered);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LENGTHS_SUPPRESS_SHAPE_H
