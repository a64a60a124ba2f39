//===- Fourier.cpp - Fourier transforms ----------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"

#include "frontends/torch/graph/Node.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The power of the number of elements by which the sum of a transform is
/// divided: 0, 1/2 or 1.
enum class Scaling { none, root, full };

/// A transform of lines along axes, of which the last is transformed first, or
/// last in an inverse transform to real numbers.
struct Transform {
  bool isInverse = false;
  bool isReal = false; ///< of real numbers, or to them if it is inverse
  bool isOneSided = true;
  SmallVector<int64_t> axes;
  SmallVector<int64_t> lengths; ///< 0 is that of the input
  Scaling scaling = Scaling::none;
};

} // namespace

/// Returns the argument `self` with the axis of parts, of one part if its
/// numbers are real.
static Value getInput(Node &node) {
  Value x = node.getTensor("self");
  bool isComplex =
      node.getImporter().isComplex(node.getScope(), node.getTensorName("self"));
  return x && !isComplex ? node.unsqueeze(node.toReal(x), getRank(x)) : x;
}

/// Transforms lines along one axis.
static Value transformAxis(Node &node, Value x, const Transform &how,
                           int64_t axis, int64_t length, bool isReal) {
  if (!x)
    return {};
  int64_t size = getShape(x)[axis];
  bool isHalf = isReal && how.isOneSided;
  if (length == 0)
    length = how.isInverse && isHalf ? 2 * (size - 1) : size;
  if (length < 1)
    return node.broken("transforms lines of " + Twine(length) + " elements");
  Value y = transformLines(node, x, {}, axis, length, /*step=*/0, how.isInverse,
                           isHalf);
  // nn.dft divides inverse transforms by the length.
  auto count = static_cast<double>(length);
  double divisor = how.scaling == Scaling::none   ? 1
                   : how.scaling == Scaling::root ? std::sqrt(count)
                                                  : count;
  double factor = (how.isInverse ? count : 1) / divisor;
  return factor == 1 ? y : node.createBinary("mul", y, factor);
}

static Value transform(Node &node, const Transform &how) {
  Value x = getInput(node);
  if (!x)
    return {};
  SmallVector<size_t> order;
  for (size_t i = 0; i < how.axes.size(); ++i)
    order.push_back(i);
  // The transform of real numbers comes first, that to real numbers last.
  if (!how.isInverse)
    std::reverse(order.begin(), order.end());
  for (size_t i : order)
    x = transformAxis(node, x, how, how.axes[i], how.lengths[i],
                      how.isReal && i + 1 == how.axes.size());
  bool toReal = how.isReal && how.isInverse;
  return x && toReal ? node.reshape(x, getShape(x).drop_back()) : x;
}

//===----------------------------------------------------------------------===//
// torch.fft
//===----------------------------------------------------------------------===//

/// Reads the arguments of the functions of torch.fft: n and dim, or s and dim.
static bool readFft(Node &node, Transform &how) {
  Value x = getInput(node);
  if (!x)
    return false;
  int64_t rank = getRank(x) - 1;
  StringRef op = node.getOp().split('.').first;
  if (op.ends_with("2"))
    how.axes = {-2, -1};
  else if (op.ends_with("n"))
    how.axes = iota(rank);
  else
    how.axes = {-1};
  if (node.has("dim"))
    how.axes = node.getInts("dim");
  how.lengths = node.getInts(node.has("s") ? "s" : "n");
  if (op.ends_with("n") && !node.has("dim") && !how.lengths.empty() &&
      how.lengths.size() < how.axes.size())
    how.axes.erase(how.axes.begin(), how.axes.end() - how.lengths.size());
  if (how.lengths.empty())
    how.lengths.assign(how.axes.size(), 0);
  for (int64_t &length : how.lengths)
    length = length == -1 ? 0 : length;
  if (how.lengths.size() != how.axes.size()) {
    node.broken("has " + Twine(how.lengths.size()) + " lengths for " +
                Twine(how.axes.size()) + " axes");
    return false;
  }
  StringRef norm = node.getString("norm", "backward");
  if (norm != "backward" && norm != "ortho" && norm != "forward") {
    node.broken("has the norm '" + norm + "'");
    return false;
  }
  how.scaling = norm == "ortho"                        ? Scaling::root
                : (norm == "forward") != how.isInverse ? Scaling::full
                                                       : Scaling::none;
  return node.normalizeAxes(how.axes, rank);
}

static Value convertFft(Node &node, bool isInverse, bool isReal) {
  Transform how;
  how.isInverse = isInverse;
  how.isReal = isReal;
  return readFft(node, how) ? transform(node, how) : Value();
}
Value convertFft(Node &node) { return convertFft(node, false, false); }
Value convertIfft(Node &node) { return convertFft(node, true, false); }
Value convertRfft(Node &node) { return convertFft(node, false, true); }
Value convertIrfft(Node &node) { return convertFft(node, true, true); }

//===----------------------------------------------------------------------===//
// Operators that they are decomposed to
//===----------------------------------------------------------------------===//

static Value convertKernel(Node &node, Transform how) {
  Value x = getInput(node);
  how.axes = node.getInts("dim");
  int64_t scaling = node.getInt("normalization");
  if (!x || !node.normalizeAxes(how.axes, getRank(x) - 1))
    return {};
  if (how.axes.empty() || scaling < 0 || scaling > 2)
    return node.broken("has " + Twine(how.axes.size()) +
                       " axes and the normalization " + Twine(scaling));
  how.scaling = static_cast<Scaling>(scaling);
  how.lengths.assign(how.axes.size(), 0);
  if (node.has("last_dim_size"))
    how.lengths.back() = node.getInt("last_dim_size");
  return transform(node, how);
}

Value convertFftR2C(Node &node) {
  Transform how;
  how.isReal = true;
  how.isOneSided = node.getBool("onesided", true);
  return convertKernel(node, how);
}
Value convertFftC2R(Node &node) {
  Transform how;
  how.isInverse = how.isReal = true;
  return convertKernel(node, how);
}
Value convertFftC2C(Node &node) {
  Transform how;
  how.isInverse = !node.getBool("forward", true);
  return convertKernel(node, how);
}

/// Returns a window function of fewer than `length` elements with zeros on both
/// sides, and a longer one as it is.
static Value padWindow(Node &node, Value window, int64_t length) {
  int64_t rest = length - (window ? getShape(window)[0] : length);
  if (rest <= 0)
    return window;
  SmallVector<int64_t> pads = {rest / 2, rest - rest / 2};
  return node.create<nn::PadOp>(nn::PadMode::constant, window, pads,
                                APFloat(0.0));
}

/// Converts stft: the transforms of windows that follow each other, as batch x
/// elements x windows.
Value convertStft(Node &node) {
  Value x = getInput(node), window = node.getOptionalTensor("window");
  int64_t length = node.getInt("n_fft"),
          step = node.getInt("hop_length", length / 4),
          width = node.getInt("win_length", length);
  if (!x)
    return {};
  if (node.getBool("center"))
    return node.unsupported("pads its input; torch.stft exports that apart");
  bool isSingle = getRank(x) == 2;
  if (isSingle)
    x = node.unsqueeze(x, 0);
  if (getRank(x) != 3 || length < 1 || step < 1 || width < 1 ||
      width > length || getShape(x)[1] < length ||
      (window && getShape(window) != ArrayRef<int64_t>(width)))
    return node.broken("has a signal of shape " + toString(getShape(x)) +
                       ", windows of " + Twine(length) +
                       " elements, of which " + Twine(width) +
                       " count, and a step of " + Twine(step));
  Type element = getElement(x);
  if (!window && width < length)
    window = node.splat(1, element, {width});
  window = padWindow(node, window, length);
  bool isReal = getShape(x)[2] == 1;
  Value y = transformLines(node, x, window, 1, length, step,
                           /*isInverse=*/false,
                           isReal && node.getBool("onesided", isReal));
  if (node.getBool("normalized"))
    y = node.createBinary("mul", y, 1 / std::sqrt(static_cast<double>(length)));
  y = y ? node.transpose(y, {0, 2, 1, 3}) : Value();
  return y && isSingle ? node.reshape(y, getShape(y).drop_front()) : y;
}

/// Returns the sum of windows, elements x windows x anything, that begin every
/// `step` elements: elements x anything.
static Value overlapAdd(Node &node, Value windows, int64_t step) {
  if (!windows)
    return {};
  ArrayRef<int64_t> shape = getShape(windows);
  int64_t length = shape[0], count = shape[1], width = shape[2];
  SmallVector<int64_t> places;
  for (int64_t i : iota(length))
    for (int64_t window : iota(count))
      places.push_back(window * step + i);
  Value zeros =
      node.splat(0, getElement(windows), {length + step * (count - 1), width});
  return node.create<nn::ScatterOp>(
      nn::ScatterKind::add, zeros, node.constant(places),
      node.reshape(windows, {length * count, width}));
}

/// Converts istft: windows that are transformed back, added where they overlap
/// and divided by the sum of the squares of the window function.
Value convertIstft(Node &node) {
  Value x = getInput(node), window = node.getOptionalTensor("window");
  int64_t length = node.getInt("n_fft"),
          step = node.getInt("hop_length", length / 4),
          width = node.getInt("win_length", length);
  if (!x)
    return {};
  if (node.getBool("return_complex"))
    return node.unsupported("has complex results; nnc handles real ones");
  bool isSingle = getRank(x) == 3, isOneSided = node.getBool("onesided", true);
  if (isSingle)
    x = node.unsqueeze(x, 0);
  if (!x || getRank(x) != 4 || length < 1 || step < 1 || width < 1 ||
      width > length || getShape(x)[2] < 1 ||
      getShape(x)[1] != (isOneSided ? length / 2 + 1 : length) ||
      (window && getShape(window) != ArrayRef<int64_t>(width)))
    return x ? node.broken("has a spectrum of shape " + toString(getShape(x)) +
                           " and windows of " + Twine(length) +
                           " elements, of which " + Twine(width) + " count")
             : x;
  int64_t batch = getShape(x)[0], count = getShape(x)[2];
  Value y = transformLines(node, x, {}, 1, length, /*step=*/0,
                           /*isInverse=*/true, isOneSided);
  if (y && !isOneSided)
    y = node.slice(y, 3, 0, 1);
  y = y ? node.reshape(y, {batch, length, count}) : y;
  if (!y)
    return {};
  if (node.getBool("normalized"))
    y = node.createBinary("mul", y, std::sqrt(static_cast<double>(length)));
  Type element = getElement(y);
  window =
      window ? node.castTo(window, element) : node.splat(1, element, {width});
  window = node.reshape(padWindow(node, window, length), {length, 1, 1});
  Value sum = overlapAdd(
      node,
      node.createElementwise("mul", {node.transpose(y, {1, 2, 0}), window}),
      step);
  Value weight =
      overlapAdd(node,
                 node.expand(node.createElementwise("mul", {window, window}),
                             {length, count, 1}),
                 step);
  // A centered transform leaves out half a window at both ends.
  int64_t all = length + step * (count - 1),
          start = node.getBool("center", true) ? length / 2 : 0,
          size = node.has("length") ? node.getInt("length") : all - 2 * start;
  int64_t known = std::min(size, all - start);
  if (size < 1 || known < 1)
    return node.broken("has " + Twine(size) + " results");
  y = node.createElementwise("div", {node.slice(sum, 0, start, known),
                                     node.slice(weight, 0, start, known)});
  y = y ? node.transpose(y, {1, 0}) : y;
  if (size > known) {
    SmallVector<int64_t> pads = {0, 0, 0, size - known};
    y = node.create<nn::PadOp>(nn::PadMode::constant, y, pads, APFloat(0.0));
  }
  return y && isSingle ? node.reshape(y, {size}) : y;
}

} // namespace nnc::torch
