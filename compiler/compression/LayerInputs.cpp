//===- LayerInputs.cpp - Vectors that weights multiply --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/LayerInputs.h"

#include "compiler/compression/MatrixForm.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace nnc;
using namespace nnc::compression;
using llvm::ArrayRef;

/// Calls `visit` with at most `most` of the numbers below `count`. They are
/// spread evenly, but not periodically, as the tensor may have a period, too.
template <class F>
static void forEachChosen(int64_t count, int64_t most, F visit) {
  if (count <= most) {
    for (int64_t i = 0; i < count; ++i)
      visit(i);
    return;
  }
  // One number from each of `most` parts, at a position that follows the golden
  // ratio.
  for (int64_t i = 0; i < most; ++i) {
    int64_t begin = count / most * i + count % most * i / most;
    int64_t end = count / most * (i + 1) + count % most * (i + 1) / most;
    double share = static_cast<double>(i) * 0.6180339887498949;
    visit(begin + static_cast<int64_t>((share - std::floor(share)) *
                                       static_cast<double>(end - begin)));
  }
}

void LayerInputs::add(ArrayRef<int64_t> shape, ArrayRef<float> values,
                      int64_t most, compression::InputMoments &moments) const {
  if (values.empty())
    return;
  if (kind == Kind::product)
    addVectors(shape, values, most, moments);
  else
    addPatches(shape, values, most, moments);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The sizes of the input and the output along the spatial axes, and the
/// padding before the input.
struct LayerInputs::Window {
  /// Padding at the begin of each axis.
  std::vector<int64_t> input, output, before;
};

LayerInputs::Window LayerInputs::getWindow(ArrayRef<int64_t> shape) const {
  Window window;
  window.input = shape.drop_front(2).vec();
  size_t axes = kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    int64_t input = window.input[i];
    bool isSame = padding != Padding::given;
    int64_t before = isSame ? 0 : pads[i], after = isSame ? 0 : pads[axes + i];
    if (kind == Kind::transposed) {
      // Outputs that padding by output_shape or auto_pad would cut off are
      // included.
      window.output.push_back((input - 1) * strides[i] + extent - before -
                              after);
      window.before.push_back(before);
      continue;
    }
    if (isSame) {
      int64_t total = std::max<int64_t>(
          0, (llvm::divideCeil(input, strides[i]) - 1) * strides[i] + extent -
                 input);
      before = padding == Padding::sameLower ? total - total / 2 : total / 2;
      after = total - before;
    }
    window.output.push_back((input + before + after - extent) / strides[i] + 1);
    window.before.push_back(before);
  }
  return window;
}

void LayerInputs::addPatches(ArrayRef<int64_t> shape, ArrayRef<float> values,
                             int64_t most,
                             compression::InputMoments &moments) const {
  Window window = getWindow(shape);
  size_t axes = kernel.size();
  int64_t channels = shape[1] / groups,
          places = compression::getProduct(window.output);
  int64_t size = compression::getProduct(window.input),
          taps = compression::getProduct(kernel);
  // The element of the image that each tap of the chosen output positions
  // reads, -1 in the padding; and the image of each position.
  std::vector<int64_t> read, images;
  forEachChosen(shape[0] * places, most, [&](int64_t chosen) {
    images.push_back(chosen / places);
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t place = chosen % places, rest = tap, number = 0, stride = 1;
      for (size_t axis = axes; axis-- > 0;) {
        int64_t at = place % window.output[axis], k = rest % kernel[axis];
        place /= window.output[axis];
        rest /= kernel[axis];
        int64_t from;
        bool isRead = true;
        if (kind == Kind::transposed) {
          int64_t scaled = at + window.before[axis] - k * dilations[axis];
          from = scaled / strides[axis];
          isRead = scaled >= 0 && scaled % strides[axis] == 0;
        } else {
          from = at * strides[axis] - window.before[axis] + k * dilations[axis];
        }
        if (!isRead || from < 0 || from >= window.input[axis])
          number = -1;
        else if (number >= 0)
          number += from * stride;
        stride *= window.input[axis];
      }
      read.push_back(number);
    }
  });
  std::vector<float> patches(images.size() * taps * channels);
  for (int64_t group = 0; group < groups; ++group) {
    float *next = patches.data();
    for (size_t i = 0; i < images.size(); ++i)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t number = read[i * taps + tap];
        const float *image =
            values.data() + (images[i] * shape[1] + group * channels) * size;
        for (int64_t c = 0; c < channels; ++c)
          *next++ = number < 0 ? 0 : image[c * size + number] - zeroPoint;
      }
    moments.add(group, patches);
  }
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

void LayerInputs::addVectors(ArrayRef<int64_t> shape, ArrayRef<float> values,
                             int64_t most,
                             compression::InputMoments &moments) const {
  int64_t columns = moments.getNumColumns();
  int64_t outer = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  // A tensor with one axis is a single vector.
  bool isTurned = alongColumns && shape.size() >= 2;
  int64_t vectors = isTurned ? shape.back() : outer;
  int64_t matrices =
      compression::getProduct(shape) / std::max<int64_t>(1, vectors * columns);
  ArrayRef<int64_t> axes =
      shape.size() > 2 ? shape.drop_back(2) : ArrayRef<int64_t>();
  std::vector<float> chosen;
  for (int64_t group = 0; group < groups; ++group) {
    chosen.clear();
    forEachChosen(matrices * vectors, most, [&](int64_t number) {
      int64_t matrix = number / vectors, vector = number % vectors;
      // The leading axes of both factors are aligned at the last one, as in
      // NumPy.
      int64_t rest = matrix, ofGroup = group;
      for (size_t back = 1; back <= std::min(axes.size(), batch.size());
           ++back) {
        int64_t size = axes[axes.size() - back],
                own = batch[batch.size() - back];
        if (size != 1 && own != 1 && rest % size != ofGroup % own)
          return;
        rest /= size;
        ofGroup /= own;
      }
      const float *first = values.data() + matrix * vectors * columns;
      for (int64_t k = 0; k < columns; ++k)
        chosen.push_back((isTurned ? first[k * vectors + vector]
                                   : first[vector * columns + k]) -
                         zeroPoint);
    });
    moments.add(group, chosen);
  }
}
