// From the detector's map of probabilities to the boxes of the lines of text:
// the post-processing of "Real-time Scene Text Detection with Differentiable
// Binarization" (Liao et al. 2020), as PP-OCR uses it.
#ifndef OCR_BOXES_H
#define OCR_BOXES_H

#include "picture.h"

struct BoxOptions {
  float pixelThreshold = 0.3f; ///< a pixel belongs to text from here on
  float boxThreshold = 0.5f;   ///< mean probability of a box worth reading
  float unclip = 1.6f; ///< the map shows the core of a line; grow it again
  float smallestSide = 3;
};

/// Boxes in coordinates of the map, in reading order.
std::vector<Rectangle> findBoxes(const float *map, int width, int height,
                                 const BoxOptions & = {});

#endif
