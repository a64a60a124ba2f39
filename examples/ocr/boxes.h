// Finds the boxes of the lines of text in the detector's map of probabilities:
// the post-processing of "Real-time Scene Text Detection with Differentiable
// Binarization" (Liao et al. 2020), as PP-OCR uses it.
#ifndef OCR_BOXES_H
#define OCR_BOXES_H

#include "picture.h"

struct BoxOptions {
  float pixelThreshold = 0.3f; ///< lowest probability of a pixel of text
  float boxThreshold = 0.5f;   ///< lowest mean probability of a box
  /// The map shows only the core of a line: each side of its box moves outward
  /// by area * unclip / perimeter.
  float unclip = 1.6f;
  float smallestSide = 3; ///< shortest side of a box, in pixels of the map
};

/// Returns the boxes of the lines of text in coordinates of the map, in reading
/// order.
std::vector<Rectangle> findBoxes(const float *map, int width, int height,
                                 const BoxOptions & = {});

#endif
