/*===- nnc_detection.h - Boxes of detected objects ------------------------===
 *
 * The function of the operator TFLite_Detection_PostProcess of TFLite, in the
 * form that nnc_custom.h describes. It decodes boxes and keeps the best ones
 * that do not overlap (non-maximum suppression).
 *
 * Operands are the encoded boxes, [1][n][4 or more], the scores of the classes,
 * [1][n][classes, perhaps with the background in front], and the anchors,
 * [n][4]. Each is of floats, or of 8-bit integers with a scale and a zero
 * point. Results are floats: the boxes (top, left, bottom, right), classes and
 * scores of the detections, with zeros behind the last one, and the number of
 * detections.
 *
 *===----------------------------------------------------------------------===*/
#ifndef NNC_DETECTION_H
#define NNC_DETECTION_H

#include "nnc_custom.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/** Indices of the operator's integer options in its first attribute. */
enum nnc_detection_int {
  NNC_DETECTION_MAX_DETECTIONS, /**< largest number of boxes that are kept */
  NNC_DETECTION_CLASSES_EACH,   /**< most classes of a box (fast form) */
  NNC_DETECTION_EACH_CLASS, /**< most detections of a class (regular form) */
  NNC_DETECTION_REGULAR,    /**< 1 for the regular form, 0 for the fast one */
  NNC_DETECTION_CLASSES     /**< number of classes, without the background */
};
/** Indices of the operator's real options in its second attribute. */
enum nnc_detection_real {
  NNC_DETECTION_MIN_SCORE,   /**< lowest score of a detection */
  NNC_DETECTION_MAX_OVERLAP, /**< largest intersection over union of two boxes
                              */
  NNC_DETECTION_SCALES       /**< divisors of encoded y, x, height and width */
};

/** An operand, whose elements are read as real numbers. */
struct nnc_detection_reals {
  int type;
  const void *data;
  float scale;
  int32_t zero_point;
};

/** The state of the search for detections. `boxes`, `best`, `order` and `alive`
 * have n elements each, in scratch memory. */
struct nnc_detection {
  int32_t n, columns; /**< number of boxes, and of scores of each box */
  struct nnc_detection_reals scores; /**< n rows of `columns` scores */
  const int64_t *ints;               /**< options, by nnc_detection_int */
  const float *reals;                /**< options, by nnc_detection_real */
  /** The decoded boxes, four numbers each: top, left, bottom, right; and the
   * scores by which the boxes compete. */
  float *boxes, *best;
  int32_t *order;       /**< indices of boxes, in order of descending scores */
  unsigned char *alive; /**< 1 for each box of `order` that may still be kept */
};

NNC_CUSTOM_FUNCTION static struct nnc_detection_reals
nnc_detection_open(const struct nnc_tensor_info *info, const void *data) {
  struct nnc_detection_reals reals;
  reals.type = (int)info->type;
  reals.data = data;
  reals.scale = info->num_scales ? info->scales[0] : 1.0f;
  reals.zero_point = info->num_scales ? info->zero_points[0] : 0;
  return reals;
}

NNC_CUSTOM_FUNCTION static float
nnc_detection_at(const struct nnc_detection_reals *reals, int32_t i) {
  int32_t stored;
  if (reals->type == (int)NNC_TYPE_F32)
    return ((const float *)reals->data)[i];
  stored = reals->type == (int)NNC_TYPE_U8 ? ((const uint8_t *)reals->data)[i]
                                           : ((const int8_t *)reals->data)[i];
  return (float)(stored - reals->zero_point) * reals->scale;
}

/** Returns 1 if index `a` comes before index `b` in order of descending values,
 * with equal values in order of indices. */
NNC_CUSTOM_FUNCTION static int nnc_detection_before(const float *values,
                                                    int32_t a, int32_t b) {
  return values[a] > values[b] || (!(values[a] < values[b]) && a < b);
}

/** Restores the heap property below element `root` of a heap of indices, whose
 * first element is the one that comes last (nnc_detection_before). */
NNC_CUSTOM_FUNCTION static void nnc_detection_sift(int32_t *heap, int32_t count,
                                                   int32_t root,
                                                   const float *values) {
  int32_t moved = heap[root], child;
  while ((child = 2 * root + 1) < count) {
    if (child + 1 < count &&
        nnc_detection_before(values, heap[child], heap[child + 1]))
      ++child;
    if (!nnc_detection_before(values, moved, heap[child]))
      break;
    heap[root] = heap[child];
    root = child;
  }
  heap[root] = moved;
}

/** Sorts indices in order of descending values. */
NNC_CUSTOM_FUNCTION static void
nnc_detection_sort(int32_t *order, int32_t count, const float *values) {
  int32_t i;
  for (i = count / 2; i-- > 0;)
    nnc_detection_sift(order, count, i, values);
  for (i = count; i-- > 1;) {
    int32_t last = order[0];
    order[0] = order[i];
    order[i] = last;
    nnc_detection_sift(order, i, 0, values);
  }
}

NNC_CUSTOM_FUNCTION static float nnc_detection_overlap(const float *a,
                                                       const float *b) {
  float area_a = (a[2] - a[0]) * (a[3] - a[1]);
  float area_b = (b[2] - b[0]) * (b[3] - b[1]);
  float top = a[0] > b[0] ? a[0] : b[0], left = a[1] > b[1] ? a[1] : b[1];
  float bottom = a[2] < b[2] ? a[2] : b[2], right = a[3] < b[3] ? a[3] : b[3];
  float height = bottom > top ? bottom - top : 0.0f;
  float width = right > left ? right - left : 0.0f;
  float both = height * width;
  if (area_a <= 0 || area_b <= 0)
    return 0.0f;
  return both / (area_a + area_b - both);
}

/** Selects at most `most` boxes in order of their scores `best`: each whose
 * score is high enough and that does not overlap a box selected before it too
 * much. Writes their indices to the start of `order` and returns their number.
 */
NNC_CUSTOM_FUNCTION static int32_t nnc_detection_select(struct nnc_detection *d,
                                                        int32_t most) {
  int32_t i, j, count = 0, kept = 0;
  for (i = 0; i < d->n; ++i)
    if (d->best[i] >= d->reals[NNC_DETECTION_MIN_SCORE])
      d->order[count++] = i;
  nnc_detection_sort(d->order, count, d->best);
  for (i = 0; i < count; ++i)
    d->alive[i] = 1;
  for (i = 0; i < count && kept < most; ++i) {
    int32_t box = d->order[i];
    if (!d->alive[i])
      continue;
    for (j = i + 1; j < count; ++j)
      if (d->alive[j] && nnc_detection_overlap(d->boxes + 4 * box,
                                               d->boxes + 4 * d->order[j]) >
                             d->reals[NNC_DETECTION_MAX_OVERLAP])
        d->alive[j] = 0;
    d->order[kept++] = box;
  }
  return kept;
}

/** Decodes all boxes. An encoded box holds the offset of its centre from that
 * of the anchor and the logarithm of its size, relative to the anchor's size.
 */
NNC_CUSTOM_FUNCTION static void
nnc_detection_decode(struct nnc_detection *d,
                     const struct nnc_detection_reals *encoded, int32_t stride,
                     const struct nnc_detection_reals *anchors) {
  const float *scales = d->reals + NNC_DETECTION_SCALES;
  int32_t i;
  int axis;
  for (i = 0; i < d->n; ++i)
    for (axis = 0; axis < 2; ++axis) {
      int32_t at = i * stride + axis, anchor = i * 4 + axis;
      double size = (double)nnc_detection_at(anchors, anchor + 2);
      float centre = (float)((double)nnc_detection_at(encoded, at) /
                                 (double)scales[axis] * size +
                             (double)nnc_detection_at(anchors, anchor));
      float half = (float)(0.5 *
                           exp((double)nnc_detection_at(encoded, at + 2) /
                               (double)scales[axis + 2]) *
                           size);
      d->boxes[4 * i + axis] = centre - half;
      d->boxes[4 * i + axis + 2] = centre + half;
    }
}

/** Writes detection number `to`: the box, its class `label` and its score. */
NNC_CUSTOM_FUNCTION static void
nnc_detection_write(const struct nnc_detection *d, void *const *outputs,
                    int32_t to, int32_t box, int32_t label, float score) {
  int i;
  for (i = 0; i < 4; ++i)
    ((float *)outputs[0])[4 * to + i] = d->boxes[4 * box + i];
  ((float *)outputs[1])[to] = (float)label;
  ((float *)outputs[2])[to] = score;
}

/** The fast form: boxes compete by the score of their best class, and each box
 * that is kept gives a detection for each of its best classes. Returns the
 * number of boxes. */
NNC_CUSTOM_FUNCTION static int32_t nnc_detection_fast(struct nnc_detection *d,
                                                      void *const *outputs) {
  int32_t classes = (int32_t)d->ints[NNC_DETECTION_CLASSES];
  int32_t each = (int32_t)d->ints[NNC_DETECTION_CLASSES_EACH];
  int32_t first = d->columns - classes, i, j, c, kept;
  for (i = 0; i < d->n; ++i) {
    d->best[i] = nnc_detection_at(&d->scores, i * d->columns + first);
    for (c = 1; c < classes; ++c) {
      float score = nnc_detection_at(&d->scores, i * d->columns + first + c);
      if (score > d->best[i])
        d->best[i] = score;
    }
  }
  kept = nnc_detection_select(d, (int32_t)d->ints[0]);
  for (i = 0; i < kept; ++i) {
    int32_t row = d->order[i] * d->columns + first, last = -1;
    float bound = 0;
    for (j = 0; j < each && j < classes; ++j) {
      /* The class that follows `last` in order of descending scores, with equal
       * scores in order of their numbers. */
      int32_t next = -1;
      float best = 0;
      for (c = 0; c < classes; ++c) {
        float score = nnc_detection_at(&d->scores, row + c);
        int is_left =
            last < 0 || score < bound || (!(score > bound) && c > last);
        if (is_left && (next < 0 || score > best)) {
          next = c;
          best = score;
        }
      }
      if (next < 0)
        break;
      nnc_detection_write(d, outputs, i * each + j, d->order[i], next, best);
      last = next;
      bound = best;
    }
  }
  return kept;
}

/** The regular form: boxes compete within each class, and the best ones of all
 * classes are detections. Returns the number of detections. */
NNC_CUSTOM_FUNCTION static int32_t
nnc_detection_regular(struct nnc_detection *d, void *const *outputs) {
  int32_t classes = (int32_t)d->ints[NNC_DETECTION_CLASSES];
  int32_t most = (int32_t)d->ints[NNC_DETECTION_MAX_DETECTIONS];
  int32_t each = (int32_t)d->ints[NNC_DETECTION_EACH_CLASS];
  int32_t first = d->columns - classes, found = 0, c, i, j, k;
  float *boxes = (float *)outputs[0], *labels = (float *)outputs[1];
  float *scores = (float *)outputs[2];
  for (c = 0; c < classes; ++c) {
    int32_t kept;
    for (i = 0; i < d->n; ++i)
      d->best[i] = nnc_detection_at(&d->scores, i * d->columns + first + c);
    kept = nnc_detection_select(d, each < most ? each : most);
    for (i = 0; i < kept; ++i) {
      float score = d->best[d->order[i]];
      /* Insert it behind all detections with at least its score. */
      for (j = found; j > 0 && scores[j - 1] < score; --j)
        continue;
      if (j == most)
        continue;
      if (found < most)
        ++found;
      for (k = found - 1; k > j; --k) {
        int at;
        for (at = 0; at < 4; ++at)
          boxes[4 * k + at] = boxes[4 * (k - 1) + at];
        labels[k] = labels[k - 1];
        scores[k] = scores[k - 1];
      }
      nnc_detection_write(d, outputs, j, d->order[i], c, score);
    }
  }
  return found;
}

NNC_CUSTOM_FUNCTION static void
nnc_detection_postprocess(const struct nnc_operator *op,
                          const void *const *inputs, void *const *outputs,
                          void *scratch) {
  struct nnc_detection d;
  struct nnc_detection_reals encoded, anchors;
  int32_t i, found;
  encoded = nnc_detection_open(&op->inputs[0], inputs[0]);
  anchors = nnc_detection_open(&op->inputs[2], inputs[2]);
  d.n = op->inputs[0].dims[1];
  d.columns = op->inputs[1].dims[2];
  d.scores = nnc_detection_open(&op->inputs[1], inputs[1]);
  d.ints = op->attributes[0].ints;
  d.reals = op->attributes[1].floats;
  d.boxes = (float *)scratch;
  d.best = d.boxes + 4 * (size_t)d.n;
  d.order = (int32_t *)(void *)(d.best + d.n);
  d.alive = (unsigned char *)(d.order + d.n);
  for (i = 0; i < op->outputs[0].elements; ++i)
    ((float *)outputs[0])[i] = 0;
  for (i = 0; i < op->outputs[1].elements; ++i)
    ((float *)outputs[1])[i] = ((float *)outputs[2])[i] = 0;
  nnc_detection_decode(&d, &encoded, op->inputs[0].dims[2], &anchors);
  found = d.ints[NNC_DETECTION_REGULAR] ? nnc_detection_regular(&d, outputs)
                                        : nnc_detection_fast(&d, outputs);
  ((float *)outputs[3])[0] = (float)found;
}

#endif /* NNC_DETECTION_H */
