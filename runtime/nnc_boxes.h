/*===- nnc_boxes.h - The best boxes that do not overlap -------------------===
 *
 * A function in the form that nnc_custom.h describes, for the operators
 * box_nms and MultiBoxDetection of MXNet. It selects rows in order of their
 * scores and drops those whose box overlaps that of a row selected before too
 * much (non-maximum suppression).
 *
 * The operand is [batches][n][columns], of floats. The columns of a row are a
 * score, the four numbers of a box, and perhaps the number of a class. The
 * result has the same shape: for each batch the selected rows, followed by rows
 * of -1.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_BOXES_H
#define NNC_BOXES_H

#include "nnc_custom.h"

#include <stddef.h>
#include <stdint.h>

/** Indices of the operator's integer options in its first attribute. */
enum nnc_boxes_int {
  NNC_BOXES_ID,          /**< column of the class; -1 if there is none */
  NNC_BOXES_SCORE,       /**< column of the score */
  NNC_BOXES_COORDINATES, /**< first column of the box */
  NNC_BOXES_MOST,        /**< number of rows with the best scores that count */
  NNC_BOXES_ANY_CLASS,   /**< 1 if boxes of other classes are dropped, too */
  NNC_BOXES_BACKGROUND,  /**< class whose rows do not count; -1 for none */
  NNC_BOXES_READS_CENTRES,  /**< 1 if boxes are given by centre and size instead
                               of two corners */
  NNC_BOXES_WRITES_CENTRES, /**< the same of the result */
  NNC_BOXES_KEEPS /**< 1 if rows that are dropped stay, with the class -1, and
                     an overlap that is equal to the bound is too much */
};
/** Indices of the operator's real options in its second attribute. */
enum nnc_boxes_real {
  NNC_BOXES_OVERLAP,  /**< bound of the intersection over union of two boxes */
  NNC_BOXES_MIN_SCORE /**< rows with a score above this count */
};

/** States of a row. */
enum nnc_boxes_state { NNC_BOXES_OPEN, NNC_BOXES_DONE, NNC_BOXES_DROPPED };

/** Writes the corners of the box at `box` to `corners`. */
NNC_CUSTOM_FUNCTION static void
nnc_boxes_get_corners(const float *box, int is_centre, float *corners) {
  int axis;
  for (axis = 0; axis < 2; ++axis) {
    float half = box[axis + 2] / 2;
    corners[axis] = is_centre ? box[axis] - half : box[axis];
    corners[axis + 2] = is_centre ? box[axis] + half : box[axis + 2];
  }
}

/** Returns the intersection over union of two boxes, given by corners. */
NNC_CUSTOM_FUNCTION static float nnc_boxes_overlap(const float *a,
                                                   const float *b) {
  float both = 1.0f, area_a = 1.0f, area_b = 1.0f, all;
  int axis;
  for (axis = 0; axis < 2; ++axis) {
    float begin = a[axis] > b[axis] ? a[axis] : b[axis];
    float end = a[axis + 2] < b[axis + 2] ? a[axis + 2] : b[axis + 2];
    both *= end > begin ? end - begin : 0.0f;
    area_a *= a[axis + 2] > a[axis] ? a[axis + 2] - a[axis] : 0.0f;
    area_b *= b[axis + 2] > b[axis] ? b[axis + 2] - b[axis] : 0.0f;
  }
  all = area_a + area_b - both;
  return all > 0.0f ? both / all : 0.0f;
}

/** Drops the open rows whose boxes overlap that of row `best`. */
NNC_CUSTOM_FUNCTION static void
nnc_boxes_drop(const float *rows, int32_t n, int32_t columns, int32_t best,
               const int64_t *ints, const float *reals, unsigned char *states) {
  const float *row = rows + (ptrdiff_t)best * columns;
  int is_centre = ints[NNC_BOXES_READS_CENTRES] != 0;
  int32_t id = (int32_t)ints[NNC_BOXES_ID], i;
  float own[4];
  nnc_boxes_get_corners(row + ints[NNC_BOXES_COORDINATES], is_centre, own);
  for (i = 0; i < n; ++i) {
    const float *other = rows + (ptrdiff_t)i * columns;
    float corners[4], overlap;
    if (states[i] != (unsigned char)NNC_BOXES_OPEN)
      continue;
    if (id >= 0 && !ints[NNC_BOXES_ANY_CLASS] && other[id] != row[id])
      continue;
    nnc_boxes_get_corners(other + ints[NNC_BOXES_COORDINATES], is_centre,
                          corners);
    overlap = nnc_boxes_overlap(own, corners);
    if (overlap > reals[NNC_BOXES_OVERLAP] ||
        (ints[NNC_BOXES_KEEPS] && overlap >= reals[NNC_BOXES_OVERLAP]))
      states[i] = (unsigned char)NNC_BOXES_DROPPED;
  }
}

/** Copies a row, with its box in the form of the result. */
NNC_CUSTOM_FUNCTION static void nnc_boxes_copy(const float *row, float *to,
                                               int32_t columns,
                                               const int64_t *ints) {
  int64_t at = ints[NNC_BOXES_COORDINATES];
  int32_t i;
  int axis;
  for (i = 0; i < columns; ++i)
    to[i] = row[i];
  if (ints[NNC_BOXES_READS_CENTRES] == ints[NNC_BOXES_WRITES_CENTRES])
    return;
  nnc_boxes_get_corners(row + at, ints[NNC_BOXES_READS_CENTRES] != 0, to + at);
  for (axis = 0; axis < 2 && ints[NNC_BOXES_WRITES_CENTRES]; ++axis) {
    float begin = to[at + axis], end = to[at + axis + 2];
    to[at + axis] = (begin + end) / 2;
    to[at + axis + 2] = end - begin;
  }
}

NNC_CUSTOM_FUNCTION static void nnc_boxes_nms(const struct nnc_operator *op,
                                              const void *const *inputs,
                                              void *const *outputs,
                                              void *scratch) {
  const int64_t *ints = op->attributes[0].ints;
  const float *reals = op->attributes[1].floats;
  const int32_t *dims = op->inputs[0].dims;
  int32_t n = dims[1], columns = dims[2], batch, i, j;
  int64_t id = ints[NNC_BOXES_ID], score = ints[NNC_BOXES_SCORE];
  unsigned char *states = (unsigned char *)scratch;
  for (i = 0; i < op->outputs[0].elements; ++i)
    ((float *)outputs[0])[i] = -1.0f;
  for (batch = 0; batch < dims[0]; ++batch) {
    const float *rows =
        (const float *)inputs[0] + (ptrdiff_t)batch * n * columns;
    float *to = (float *)outputs[0] + (ptrdiff_t)batch * n * columns;
    for (i = 0; i < n; ++i) {
      const float *row = rows + (ptrdiff_t)i * columns;
      int counts = row[score] > reals[NNC_BOXES_MIN_SCORE];
      if (id >= 0 && ints[NNC_BOXES_BACKGROUND] >= 0 &&
          row[id] == (float)ints[NNC_BOXES_BACKGROUND])
        counts = 0;
      states[i] = (unsigned char)(counts ? NNC_BOXES_OPEN : NNC_BOXES_DONE);
    }
    for (i = 0; i < n && i < ints[NNC_BOXES_MOST]; ++i) {
      int32_t best = -1;
      int is_dropped;
      for (j = 0; j < n; ++j)
        if (states[j] != (unsigned char)NNC_BOXES_DONE &&
            (best < 0 || rows[(ptrdiff_t)j * columns + score] >
                             rows[(ptrdiff_t)best * columns + score]))
          best = j;
      if (best < 0)
        break;
      is_dropped = states[best] == (unsigned char)NNC_BOXES_DROPPED;
      states[best] = (unsigned char)NNC_BOXES_DONE;
      if (is_dropped && !ints[NNC_BOXES_KEEPS])
        continue;
      nnc_boxes_copy(rows + (ptrdiff_t)best * columns, to, columns, ints);
      if (is_dropped)
        to[id] = -1.0f;
      else
        nnc_boxes_drop(rows, n, columns, best, ints, reals, states);
      to += columns;
    }
  }
}

#endif /* NNC_BOXES_H */
