//===- InputMoments.cpp - Second moments of a layer's inputs --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/InputMoments.h"

#include <algorithm>
#include <cassert>

using namespace nnc::compression;

/// The number of vectors whose products are added up in single precision before
/// they are added to the sums in double precision.
static constexpr int64_t kChunk = 64;
/// The number of columns of a panel.
static constexpr int64_t kPanel = 8;
/// The largest number of multiplications for the moments of a layer.
static constexpr double kMostProducts = 4e10;

static int64_t getTriangle(int64_t rows) { return rows * (rows + 1) / 2; }

InputMoments::InputMoments(int64_t groups, int64_t columns, int64_t multiple)
    : groups(groups), columns(columns) {
  spanColumns = columns <= kMostColumns
                    ? columns
                    : std::max<int64_t>(1, kSpan / multiple) * multiple;
  spans = (columns + spanColumns - 1) / spanColumns;
  lower.resize(groups * spans);
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t span = 0; span < spans; ++span)
      getLower(group, span).resize(getTriangle(getSpanSize(span)));
}

int64_t InputMoments::getSpanSize(int64_t span) const {
  return std::min(spanColumns, columns - getSpanBegin(span));
}

int64_t InputMoments::getMostVectors() const {
  double products = static_cast<double>(groups) * static_cast<double>(columns) *
                    static_cast<double>(spanColumns) / 2;
  auto affordable = static_cast<int64_t>(
      std::min(kMostProducts / products, static_cast<double>(32768)));
  return std::max(affordable, std::min<int64_t>(spanColumns, 32768));
}

/// Adds the products of the columns of two panels, over `count` vectors, to
/// rows of the triangle.
static void addPanels(const float *left, const float *right, int64_t count,
                      int64_t firstRow, int64_t firstColumn, int64_t size,
                      std::vector<double> &lower) {
  for (int64_t half = 0; half < kPanel; half += 4) {
    float sums[4][kPanel] = {};
    for (int64_t n = 0; n < count; ++n)
      for (int i = 0; i < 4; ++i) {
        float value = left[n * kPanel + half + i];
        for (int j = 0; j < kPanel; ++j)
          sums[i][j] += value * right[n * kPanel + j];
      }
    for (int i = 0; i < 4; ++i) {
      int64_t row = firstRow + half + i;
      if (row >= size)
        return;
      int64_t end = std::min(firstColumn + kPanel, row + 1);
      for (int64_t column = firstColumn; column < end; ++column)
        lower[getTriangle(row) + column] +=
            static_cast<double>(sums[i][column - firstColumn]);
    }
  }
}

void InputMoments::add(int64_t group, llvm::ArrayRef<float> vectors) {
  assert(vectors.size() % columns == 0);
  auto count = static_cast<int64_t>(vectors.size()) / columns;
  std::vector<float> panels;
  for (int64_t first = 0; first < count; first += kChunk)
    for (int64_t span = 0; span < spans; ++span) {
      int64_t chunk = std::min(kChunk, count - first);
      int64_t size = getSpanSize(span), begin = getSpanBegin(span);
      int64_t numPanels = (size + kPanel - 1) / kPanel;
      panels.assign(numPanels * chunk * kPanel, 0);
      for (int64_t n = 0; n < chunk; ++n) {
        const float *vector = &vectors[(first + n) * columns + begin];
        for (int64_t i = 0; i < size; ++i)
          panels[(i / kPanel * chunk + n) * kPanel + i % kPanel] = vector[i];
      }
      std::vector<double> &sums = getLower(group, span);
      for (int64_t a = 0; a < numPanels; ++a)
        for (int64_t b = 0; b <= a; ++b)
          addPanels(&panels[a * chunk * kPanel], &panels[b * chunk * kPanel],
                    chunk, a * kPanel, b * kPanel, size, sums);
    }
}

std::vector<double> InputMoments::getBlock(int64_t group, int64_t span) const {
  int64_t size = getSpanSize(span);
  const std::vector<double> &sums = getLower(group, span);
  std::vector<double> block(size * size);
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column <= row; ++column)
      block[row * size + column] = block[column * size + row] =
          sums[getTriangle(row) + column];
  return block;
}

double InputMoments::getSquare(int64_t group, int64_t column) const {
  int64_t row = column % spanColumns;
  return getLower(group, column / spanColumns)[getTriangle(row) + row];
}

double InputMoments::getMeanSquare(int64_t group) const {
  double sum = 0;
  for (int64_t column = 0; column < columns; ++column)
    sum += getSquare(group, column);
  return sum / static_cast<double>(columns);
}

bool InputMoments::isZero() const {
  for (int64_t group = 0; group < groups; ++group)
    if (getMeanSquare(group) > 0)
      return false;
  return true;
}
