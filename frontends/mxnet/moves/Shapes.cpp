//===- Shapes.cpp - Reshapes, transposes and axes of size 1 ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/graph/Layer.h"

using namespace mlir;
using namespace nnc;

namespace nnc::mxnet {

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

namespace {
/// A shape that is computed from the shape of an input and a list of codes.
class ShapeCodes {
public:
  ShapeCodes(Layer &layer, ArrayRef<int64_t> input, ArrayRef<int64_t> codes)
      : layer(layer), input(input), codes(codes) {}

  /// Computes the shape by the codes of Reshape.
  bool read();
  /// Computes the shape by the codes of _npx_reshape.
  bool readNumpy();
  /// Sets the size that stands for -1, for a tensor of `count` elements.
  bool infer(int64_t count);

  SmallVector<int64_t> shape;

private:
  bool fail() {
    layer.broken("has the shape " + toString(codes) +
                 ", which does not fit its input of shape " + toString(input));
    return false;
  }
  /// Sets `size` to the size of the next axis of the input.
  bool take(int64_t &size) {
    if (next >= input.size())
      return fail();
    size = input[next++];
    return true;
  }
  void takeRest() {
    for (; next < input.size(); ++next)
      shape.push_back(input[next]);
  }
  /// Merges two axes of the input into one.
  bool merge() {
    int64_t a = 0, b = 0;
    if (!take(a) || !take(b))
      return false;
    shape.push_back(a * b);
    return true;
  }
  /// Splits an axis of the input by the two codes behind code `i`.
  bool split(size_t &i);
  bool markInferred() {
    if (inferred)
      return fail();
    inferred = shape.size();
    shape.push_back(1);
    ++next;
    return true;
  }

  Layer &layer;
  ArrayRef<int64_t> input, codes;
  size_t next = 0; ///< axis of the input
  std::optional<size_t> inferred;
};
} // namespace

bool ShapeCodes::split(size_t &i) {
  int64_t size = 0;
  if (i + 2 >= codes.size() || !take(size))
    return fail();
  int64_t a = codes[++i], b = codes[++i];
  if (a == -1 && b > 0)
    a = size / b;
  else if (b == -1 && a > 0)
    b = size / a;
  if (a < 0 || b < 0 || a > kMaxDim || b > kMaxDim || a * b != size)
    return fail();
  shape.append({a, b});
  return true;
}

bool ShapeCodes::read() {
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t code = codes[i], size = 0;
    bool isSound = true;
    if (code > 0) {
      shape.push_back(code);
      ++next;
    } else if (code == 0) {
      isSound = take(size);
      shape.push_back(size);
    } else if (code == -1) {
      isSound = markInferred();
    } else if (code == -2) {
      takeRest();
    } else if (code == -3) {
      isSound = merge();
    } else {
      isSound = code == -4 ? split(i) : fail();
    }
    if (!isSound)
      return false;
  }
  return true;
}

bool ShapeCodes::readNumpy() {
  for (size_t i = 0; i < codes.size(); ++i) {
    int64_t code = codes[i], size = 0;
    bool isSound = true;
    if (code >= 0) {
      shape.push_back(code);
      ++next;
    } else if (code == -1) {
      isSound = markInferred();
    } else if (code == -2) {
      isSound = take(size);
      shape.push_back(size);
    } else if (code == -3) {
      isSound = take(size) && (size == 1 || fail());
    } else if (code == -4) {
      takeRest();
    } else if (code == -5) {
      isSound = merge();
    } else {
      isSound = code == -6 ? split(i) : fail();
    }
    if (!isSound)
      return false;
  }
  return true;
}

bool ShapeCodes::infer(int64_t count) {
  int64_t known = 1;
  for (int64_t size : shape)
    if (size < 0 || size > kMaxDim || llvm::MulOverflow(known, size, known))
      return fail();
  if (inferred && known != 0)
    shape[*inferred] = count / known;
  else if (inferred)
    shape[*inferred] = 0;
  return product(shape) == count || fail();
}

/// Returns the shape of the attribute target_shape of old graphs, in which 0
/// stands for a size that is inferred.
static SmallVector<int64_t> readTargetShape(Layer &layer, Value x) {
  SmallVector<int64_t> codes =
      layer.getInts("target_shape").value_or(SmallVector<int64_t>());
  bool keepsFirst = layer.getBool("keep_highest", false);
  for (size_t i = 0; i < codes.size(); ++i)
    if (codes[i] == 0)
      codes[i] = i == 0 && keepsFirst ? 0 : -1;
  if (keepsFirst && !codes.empty() && getRank(x) > 0)
    codes[0] = getShape(x)[0];
  return codes;
}

Value convertReshape(Layer &layer) {
  Value x = layer.getInput(0);
  bool isNumpy = layer.getOp().starts_with("_np");
  auto codes = layer.getInts(isNumpy ? "newshape" : "shape");
  if (!codes || (codes->empty() && layer.has("target_shape")))
    codes = readTargetShape(layer, x);
  if (layer.getText("order", "C") != "C")
    return layer.unsupported("has the order '" + layer.getText("order") + "'");
  SmallVector<int64_t> shape(getShape(x));
  bool isReversed = layer.getBool("reverse", false);
  if (isReversed) {
    std::reverse(shape.begin(), shape.end());
    std::reverse(codes->begin(), codes->end());
  }
  ShapeCodes reader(layer, shape, *codes);
  // np.reshape knows -1 alone; 0 is a size there.
  if (!(isNumpy ? reader.readNumpy() : reader.read()) ||
      !reader.infer(getNumElements(x)))
    return {};
  if (isReversed)
    std::reverse(reader.shape.begin(), reader.shape.end());
  return layer.reshape(x, reader.shape);
}

/// Converts reshape_like: axes of the first input, all or from lhs_begin to
/// lhs_end, become those of the second one.
Value convertReshapeLike(Layer &layer) {
  ArrayRef<int64_t> own = getShape(layer.getInput(0)),
                    other = getShape(layer.getInput(1));
  auto read = [&](StringRef name, int64_t otherwise, int64_t rank) {
    int64_t at = layer.getInt(name, otherwise);
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t rank = own.size(), rankOther = other.size();
  int64_t begin = read("lhs_begin", 0, rank), end = read("lhs_end", rank, rank),
          from = read("rhs_begin", 0, rankOther),
          to = read("rhs_end", rankOther, rankOther);
  if (begin > end || from > to)
    return layer.broken("has axes from " + Twine(begin) + " to " + Twine(end) +
                        " and from " + Twine(from) + " to " + Twine(to));
  SmallVector<int64_t> shape(own.take_front(begin));
  llvm::append_range(shape, other.slice(from, to - from));
  llvm::append_range(shape, own.drop_front(end));
  if (product(shape) != product(own))
    return layer.broken("gives a tensor of shape " + toString(own) +
                        " the shape " + toString(shape));
  return layer.reshape(layer.getInput(0), shape);
}

Value convertFlatten(Layer &layer) {
  Value x = layer.getInput(0);
  if (getRank(x) < 1)
    return layer.reshape(x, {1, 1});
  return layer.reshape(x, {getShape(x)[0], product(getShape(x).drop_front(1))});
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

Value convertTranspose(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.getInts("axes").value_or(SmallVector<int64_t>());
  if (axes.empty()) {
    axes = iota(getRank(x));
    std::reverse(axes.begin(), axes.end());
  }
  if (int64_t(axes.size()) != getRank(x))
    return layer.broken("has axes " + toString(axes) +
                        " for an input of shape " + toString(getShape(x)));
  return layer.normalizeAxes(axes, getRank(x)) ? layer.transpose(x, axes)
                                               : Value();
}

Value convertSwapAxis(Layer &layer) {
  Value x = layer.getInput(0);
  auto a = layer.getAxis("dim1", 0, getRank(x)),
       b = layer.getAxis("dim2", 0, getRank(x));
  if (!a || !b)
    return {};
  SmallVector<int64_t> axes = iota(getRank(x));
  std::swap(axes[*a], axes[*b]);
  return layer.transpose(x, axes);
}

Value convertExpandDims(Layer &layer) {
  Value x = layer.getInput(0);
  auto axis = layer.getAxis("axis", 0, getRank(x) + 1);
  if (!axis)
    return {};
  SmallVector<int64_t> shape(getShape(x));
  shape.insert(shape.begin() + *axis, 1);
  return layer.reshape(x, shape);
}

Value convertSqueeze(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.getInts("axis").value_or(SmallVector<int64_t>());
  if (!layer.normalizeAxes(axes, getRank(x)))
    return {};
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(getShape(x))) {
    bool isNamed = llvm::is_contained(axes, int64_t(axis));
    if (isNamed && size != 1)
      return layer.broken("removes axis " + Twine(axis) + " of size " +
                          Twine(size));
    if (!(isNamed || (axes.empty() && size == 1)))
      shape.push_back(size);
  }
  if (shape.empty() && !layer.getOp().starts_with("_np"))
    shape.push_back(1);
  return layer.reshape(x, shape);
}

//===----------------------------------------------------------------------===//
// Repeated elements
//===----------------------------------------------------------------------===//

/// Returns x expanded to `shape`, which has as many axes; a size of 0 keeps
/// that of x.
static Value broadcastTo(Layer &layer, Value x, ArrayRef<int64_t> given) {
  SmallVector<int64_t> shape(given);
  if (int64_t(shape.size()) != getRank(x) && !layer.getOp().starts_with("_np"))
    return layer.broken("expands a tensor of shape " + toString(getShape(x)) +
                        " to " + toString(shape));
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && int64_t(i) < getRank(x))
      size = getShape(x)[i];
    if (size < 0 || size > kMaxDim)
      return layer.broken("expands a tensor to the shape " + toString(given));
  }
  return layer.expand(x, shape);
}

Value convertBroadcastTo(Layer &layer) {
  return broadcastTo(layer, layer.getInput(0),
                     layer.getInts("shape").value_or(SmallVector<int64_t>()));
}

Value convertBroadcastLike(Layer &layer) {
  Value x = layer.getInput(0), like = layer.getInput(1);
  if (!layer.has("lhs_axes") && !layer.has("rhs_axes"))
    return broadcastTo(layer, x, getShape(like));
  auto own = layer.getInts("lhs_axes").value_or(SmallVector<int64_t>()),
       other = layer.getInts("rhs_axes").value_or(SmallVector<int64_t>());
  if (own.size() != other.size() || !layer.normalizeAxes(own, getRank(x)) ||
      !layer.normalizeAxes(other, getRank(like)))
    return layer.broken("has lists of axes that do not fit");
  SmallVector<int64_t> shape(getShape(x));
  for (auto [a, b] : llvm::zip(own, other))
    shape[a] = getShape(like)[b];
  return broadcastTo(layer, x, shape);
}

Value convertBroadcastAxis(Layer &layer) {
  Value x = layer.getInput(0);
  auto axes = layer.getInts("axis").value_or(SmallVector<int64_t>()),
       sizes = layer.getInts("size").value_or(SmallVector<int64_t>());
  if (axes.size() != sizes.size() || !layer.normalizeAxes(axes, getRank(x)))
    return layer.broken("has " + Twine(axes.size()) + " axes and " +
                        Twine(sizes.size()) + " sizes");
  SmallVector<int64_t> shape(getShape(x));
  for (auto [axis, size] : llvm::zip(axes, sizes))
    shape[axis] = size;
  return broadcastTo(layer, x, shape);
}

/// Returns x with each slice of `axis` followed by count - 1 copies of itself.
static Value repeat(Layer &layer, Value x, int64_t axis, int64_t count) {
  SmallVector<int64_t> shape(getShape(x));
  SmallVector<int64_t> wide = shape;
  wide.insert(wide.begin() + axis + 1, 1);
  x = layer.reshape(x, wide);
  wide[axis + 1] = count;
  shape[axis] *= count;
  if (shape[axis] > kMaxDim)
    return layer.broken("repeats elements " + Twine(count) + " times");
  return layer.reshape(layer.expand(x, wide), shape);
}

Value convertRepeat(Layer &layer) {
  Value x = layer.getInput(0);
  int64_t count = layer.getInt("repeats", 1);
  if (count < 1 || count > kMaxDim)
    return layer.broken("repeats elements " + Twine(count) + " times");
  if (!layer.has("axis"))
    return repeat(layer, layer.reshape(x, {getNumElements(x)}), 0, count);
  auto axis = layer.getAxis("axis", 0, getRank(x));
  return axis ? repeat(layer, x, *axis, count) : Value();
}

Value convertTile(Layer &layer) {
  Value x = layer.getInput(0);
  auto counts = layer.getInts("reps").value_or(SmallVector<int64_t>());
  SmallVector<int64_t> shape(getShape(x));
  while (shape.size() < counts.size())
    shape.insert(shape.begin(), 1);
  while (counts.size() < shape.size())
    counts.insert(counts.begin(), 1);
  // A pair of axes, of which the first is expanded, for each axis.
  SmallVector<int64_t> narrow, wide, result;
  for (auto [size, count] : llvm::zip(shape, counts)) {
    if (count < 1 || count > kMaxDim || size * count > kMaxDim)
      return layer.broken("has reps " + toString(counts));
    if (count != 1) {
      narrow.push_back(1);
      wide.push_back(count);
    }
    narrow.push_back(size);
    wide.push_back(size);
    result.push_back(size * count);
  }
  return layer.reshape(layer.expand(layer.reshape(x, narrow), wide), result);
}

} // namespace nnc::mxnet
