// Tensors in any layout that a routines.inc names.
#ifndef NNC_TEST_LAYOUTS_H
#define NNC_TEST_LAYOUTS_H

#include "test/runtime/blocked.h"

#include <cctype>
#include <string>

namespace nnc_test {

/// The axes of a tensor, a letter for each, and their sizes.
struct axes {
  std::string names;
  std::vector<int> sizes;

  std::size_t count() const {
    std::size_t n = 1;
    for (int size : sizes)
      n *= size;
    return n;
  }
};

/// The positions of the elements of a row-major tensor in a layout. "KCRS16c8k"
/// names the axes from the outermost to the innermost, of C and K their blocks,
/// then 16 channels C and 8 channels K; axes that the layout does not name come
/// before all others.
class layout_map {
public:
  layout_map(const axes &t, std::string layout) : tensor(t) {
    if (layout == "plain")
      layout = t.names;
    std::string order;
    for (char name : t.names)
      if (layout.find(name) == std::string::npos)
        order += name;
    std::size_t i = 0;
    for (; i < layout.size() && std::isupper(layout[i]); ++i)
      order += layout[i];
    std::vector<step> inner;
    while (i < layout.size()) {
      std::size_t digits;
      const int block = std::stoi(layout.substr(i), &digits);
      i += digits;
      inner.push_back({axis(char(std::toupper(layout[i++]))), block, 0});
    }
    for (char name : order) {
      step outer{axis(name), 0, 1};
      outer.size = t.sizes[outer.axis];
      for (const step &block : inner)
        if (block.axis == outer.axis) {
          outer.size = blocks(outer.size, block.size);
          outer.divisor = block.size;
        }
      steps.push_back(outer);
    }
    for (step block : inner)
      steps.push_back({block.axis, block.size, 1});
    for (const step &s : steps)
      elements *= s.size;
  }

  /// Returns the number of elements of the layout, padding included.
  std::size_t size() const { return elements; }

  /// Calls f(index in the row-major tensor, index in the layout) for each
  /// element.
  template <class F> void each(F f) const {
    std::vector<int> index(tensor.sizes.size(), 0);
    for (std::size_t i = 0; i < tensor.count(); ++i) {
      std::size_t at = 0;
      for (const step &s : steps)
        at = at * s.size + index[s.axis] / s.divisor % s.size;
      f(i, at);
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < tensor.sizes[d])
          break;
        index[d] = 0;
      }
    }
  }

  floats pack(const floats &x) const {
    floats y(elements, 0.0f);
    each([&](std::size_t from, std::size_t to) { y[to] = x[from]; });
    return y;
  }
  /// Returns the row-major elements of y, or NaN everywhere if padding in y is
  /// not zero.
  floats unpack(floats y) const {
    floats x(tensor.count());
    each([&](std::size_t to, std::size_t from) {
      x[to] = y[from];
      y[from] = 0.0f;
    });
    for (float padding : y)
      if (padding != 0.0f)
        return not_written(x.size());
    return x;
  }

private:
  /// A physical dimension: its index is `index / divisor % size`, where `index`
  /// is that along the logical axis `axis`.
  struct step {
    std::size_t axis;
    int size, divisor;
  };
  std::size_t axis(char name) const { return tensor.names.find(name); }

  axes tensor;
  std::vector<step> steps;
  std::size_t elements = 1;
};

} // namespace nnc_test

#endif // NNC_TEST_LAYOUTS_H
