//===- SecondOrder.cpp - Compression that keeps a layer's results ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/SecondOrder.h"

#include "compiler/compression/Clusters.h"
#include "compiler/compression/ColumnSweep.h"
#include "compiler/compression/IntegerClusters.h"
#include "compiler/compression/KeptWeights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

using namespace nnc::compression;
using namespace nnc::stored;

/// The damping: the fraction of the mean of the Hessian's diagonal that is
/// added to each diagonal element. It pulls weights that the samples do not
/// determine towards their own values.
static constexpr double kDamping = 0.01;
/// The largest number of fits of the values of tables.
static constexpr int kMostFits = 4;
/// The number of columns among whose weights those that become zero are chosen
/// at a time.
static constexpr int64_t kWidth = 64;
/// The number of rows in a sweep.
static constexpr int64_t kRows = 256;
/// The largest number of multiplications for a fit of the values of tables.
static constexpr double kMostTableProducts = 2e9;
/// The approximate number of multiplications to fit the weights that are not
/// zero.
static constexpr double kMostFitProducts = 4e10;

namespace {

/// The part of a matrix with the rows of a group of outputs and the columns of
/// a span of inputs.
struct Cell {
  int64_t firstRow, rows, firstColumn, columns;
  std::vector<int64_t> order;  ///< order of the columns in a sweep
  std::vector<double> hessian; ///< damped Hessian; columns in this order
  std::vector<double> factor;  ///< result of factorInverse() for the Hessian
};

class SecondOrder {
public:
  SecondOrder(llvm::ArrayRef<float> own, const MatrixShape &shape,
              llvm::ArrayRef<float> scales, const InputMoments &moments,
              const WeightGoal &goal)
      : own(own), shape(shape), scales(scales), moments(moments), goal(goal) {}

  /// Compresses the matrix. Returns true if there is a result.
  bool run();
  const std::vector<float> &getResult() const { return best; }

private:
  /// A range of rows of a cell.
  struct Strip {
    const Cell &cell;
    int64_t firstRow, rows;
  };

  bool prepare();
  template <class F> void forEachStrip(F visit) const;
  size_t getPlace(const Strip &strip, int64_t row, int64_t column) const {
    return (strip.firstRow + row) * shape.columns + strip.cell.firstColumn +
           strip.cell.order[column];
  }
  double getScale(size_t place) const {
    return scales.empty() ? 1 : static_cast<double>(scales[place]);
  }
  double getReal(llvm::ArrayRef<float> matrix, size_t place) const {
    return static_cast<double>(matrix[place]) * getScale(place);
  }
  std::vector<double> getReals(llvm::ArrayRef<float> matrix,
                               const Strip &strip) const;
  float settle(size_t place, double real) const;
  void sweep(std::vector<float> &result,
             llvm::function_ref<void(const Strip &, int64_t, int64_t,
                                     MatrixPart<const double>)>
                 choose);
  std::vector<int64_t> shareQuotas() const;
  void prune(std::vector<float> &result);
  void fitKept(std::vector<float> &result) const;
  void makeTables(llvm::ArrayRef<float> matrix);
  bool fitTables(llvm::ArrayRef<float> matrix);
  void keepBetter(const std::vector<float> &candidate);

  llvm::ArrayRef<float> own;
  MatrixShape shape;
  llvm::ArrayRef<float> scales;
  const InputMoments &moments;
  WeightGoal goal;
  std::vector<Cell> cells;
  /// The best values of the weights that are not pruned. The error of other
  /// values is the error of these plus that of the difference.
  std::vector<float> target;
  std::vector<char> isPruned;
  float least = 0, most = 0; ///< the range of integer weights
  /// The table of values of each block of rows, in ascending order; empty
  /// before they are known.
  std::vector<std::vector<float>> tables;
  std::vector<float> best;
  double bestError = 0;
};

} // namespace

bool SecondOrder::prepare() {
  int64_t rows = shape.rows / moments.getNumGroups();
  for (int64_t group = 0; group < moments.getNumGroups(); ++group) {
    double damping = kDamping * moments.getMeanSquare(group);
    for (int64_t span = 0; span < moments.getNumSpans(); ++span) {
      Cell &cell = cells.emplace_back();
      cell.firstRow = group * rows;
      cell.rows = rows;
      cell.firstColumn = moments.getSpanBegin(span);
      cell.columns = moments.getSpanSize(span);
      cell.order.resize(cell.columns);
      std::iota(cell.order.begin(), cell.order.end(), 0);
      std::vector<double> block = moments.getBlock(group, span);
      // Columns with large inputs come first, while many others can still
      // compensate their errors.
      if (!goal.pattern)
        std::sort(cell.order.begin(), cell.order.end(),
                  [&](int64_t a, int64_t b) {
                    return std::pair(-block[a * (cell.columns + 1)], a) <
                           std::pair(-block[b * (cell.columns + 1)], b);
                  });
      cell.hessian.resize(block.size());
      for (int64_t i = 0; i < cell.columns; ++i)
        for (int64_t j = 0; j < cell.columns; ++j)
          cell.hessian[i * cell.columns + j] =
              block[cell.order[i] * cell.columns + cell.order[j]];
      // A group whose inputs are all 0 keeps its own weights as far as
      // possible.
      for (int64_t i = 0; i < cell.columns; ++i)
        cell.hessian[i * (cell.columns + 1)] += damping > 0 ? damping : 1;
      cell.factor = cell.hessian;
      if (!factorInverse(cell.factor, cell.columns))
        return false;
    }
  }
  return true;
}

template <class F> void SecondOrder::forEachStrip(F visit) const {
  for (const Cell &cell : cells)
    for (int64_t row = 0; row < cell.rows; row += kRows)
      visit(Strip{cell, cell.firstRow + row, std::min(kRows, cell.rows - row)});
}

/// Returns the settled value of a weight, as an element of the matrix. `real`
/// is its real value after it has compensated the errors of others.
float SecondOrder::settle(size_t place, double real) const {
  if (isPruned[place])
    return 0;
  double scale = getScale(place);
  if (scale == 0)
    return own[place];
  auto value = static_cast<float>(real / scale);
  if (!tables.empty()) {
    const std::vector<float> &table =
        tables[place / shape.columns / shape.getBlockRows()];
    auto above = std::lower_bound(table.begin(), table.end(), value);
    if (above == table.begin())
      return *above;
    if (above == table.end() || value - above[-1] <= *above - value)
      return above[-1];
    return *above;
  }
  return scales.empty() ? value
                        : std::clamp(std::nearbyint(value), least, most);
}

/// Returns the real values of the rows of a strip, with the columns in the
/// order of the sweep.
std::vector<double> SecondOrder::getReals(llvm::ArrayRef<float> matrix,
                                          const Strip &strip) const {
  int64_t columns = strip.cell.columns;
  std::vector<double> values(strip.rows * columns);
  for (int64_t row = 0; row < strip.rows; ++row)
    for (int64_t j = 0; j < columns; ++j)
      values[row * columns + j] = getReal(matrix, getPlace(strip, row, j));
  return values;
}

/// Sweeps over `target` and sets `result` to the settled weights. `choose` is
/// called before each block of columns of a strip.
void SecondOrder::sweep(std::vector<float> &result,
                        llvm::function_ref<void(const Strip &, int64_t, int64_t,
                                                MatrixPart<const double>)>
                            choose) {
  int64_t width = goal.pattern ? goal.pattern->group : kWidth;
  // Spans start at the start of a run, or at least at that of a group.
  int64_t run = goal.pattern ? shape.getRunColumns() : shape.columns;
  result.resize(own.size());
  forEachStrip([&](const Strip &strip) {
    std::vector<double> values = getReals(target, strip);
    sweepColumns(
        values, strip.rows, strip.cell.columns, strip.cell.factor, width, run,
        [&](int64_t begin, int64_t end, MatrixPart<const double> current) {
          choose(strip, begin, end, current);
        },
        [&](int64_t row, int64_t column, double real) {
          size_t place = getPlace(strip, row, column);
          result[place] = settle(place, real);
          return getReal(result, place);
        });
  });
}

/// Returns the squared error if a weight of value `real` becomes zero and the
/// later columns compensate that.
static double getCost(double real, const Cell &cell, int64_t column) {
  double step = real / cell.factor[column * (cell.columns + 1)];
  return step * step;
}

/// Returns the number of weights that become zero in each block of columns of
/// each strip: those among the cheapest of all weights by their own values.
std::vector<int64_t> SecondOrder::shareQuotas() const {
  std::vector<float> costs;
  costs.reserve(own.size());
  std::vector<size_t> sizes;
  forEachStrip([&](const Strip &strip) {
    for (int64_t begin = 0; begin < strip.cell.columns; begin += kWidth) {
      int64_t end = std::min(begin + kWidth, strip.cell.columns);
      for (int64_t row = 0; row < strip.rows; ++row)
        for (int64_t j = begin; j < end; ++j)
          costs.push_back(static_cast<float>(
              getCost(getReal(own, getPlace(strip, row, j)), strip.cell, j)));
      sizes.push_back(strip.rows * (end - begin));
    }
  });
  auto count = static_cast<size_t>(
      std::llround(*goal.sparsity * static_cast<double>(own.size())));
  std::vector<int64_t> quotas(sizes.size());
  if (count == 0)
    return quotas;
  std::vector<float> sorted = costs;
  std::nth_element(sorted.begin(), sorted.begin() + (count - 1), sorted.end());
  float limit = sorted[count - 1];
  size_t ties = count - std::count_if(costs.begin(), costs.end(),
                                      [&](float cost) { return cost < limit; });
  auto cost = costs.begin();
  for (size_t i = 0; i < sizes.size(); ++i)
    for (size_t n = 0; n < sizes[i]; ++n, ++cost)
      if (*cost < limit || (*cost == limit && ties != 0)) {
        ++quotas[i];
        ties -= *cost == limit ? 1 : 0;
      }
  return quotas;
}

/// Chooses the weights that become zero, in a sweep that changes no other
/// weights except to compensate.
void SecondOrder::prune(std::vector<float> &result) {
  std::vector<int64_t> quotas;
  if (goal.sparsity)
    quotas = shareQuotas();
  size_t next = 0;
  std::vector<std::pair<double, size_t>> costs;
  auto drop = [&](int64_t count) {
    if (count <= 0)
      return;
    std::nth_element(costs.begin(), costs.begin() + (count - 1), costs.end());
    for (int64_t i = 0; i < count; ++i)
      isPruned[costs[i].second] = 1;
  };
  sweep(result, [&](const Strip &strip, int64_t begin, int64_t end,
                    MatrixPart<const double> current) {
    costs.clear();
    for (int64_t row = 0; row < strip.rows; ++row) {
      for (int64_t j = begin; j < end; ++j) {
        size_t place = getPlace(strip, row, j);
        costs.emplace_back(isPruned[place]
                               ? -1
                               : getCost(current.getRow(row)[j], strip.cell, j),
                           place);
      }
      if (goal.pattern) {
        drop(end - begin - goal.pattern->kept);
        costs.clear();
      }
    }
    if (goal.sparsity)
      drop(quotas[next++]);
  });
}

/// Fits the weights that are not pruned to the products of the own weights.
void SecondOrder::fitKept(std::vector<float> &result) const {
  forEachStrip([&](const Strip &strip) {
    int64_t columns = strip.cell.columns;
    std::vector<double> values = getReals(result, strip);
    double products = static_cast<double>(shape.getNumElements()) *
                      static_cast<double>(columns);
    fitKeptWeights(
        values, getReals(own, strip), strip.rows, columns, strip.cell.hessian,
        std::clamp(static_cast<int>(kMostFitProducts / products), 4, 40));
    for (int64_t row = 0; row < strip.rows; ++row)
      for (int64_t j = 0; j < columns; ++j)
        result[getPlace(strip, row, j)] =
            static_cast<float>(values[row * columns + j]);
  });
}

/// Sets the tables to values near those of `matrix`, by k-means in which
/// differences count by their cost.
void SecondOrder::makeTables(llvm::ArrayRef<float> matrix) {
  std::vector<float> shared = matrix.vec(), weights(matrix.size());
  forEachStrip([&](const Strip &strip) {
    for (int64_t j = 0; j < strip.cell.columns; ++j) {
      double cost = getCost(1, strip.cell, j);
      for (int64_t row = 0; row < strip.rows; ++row) {
        size_t place = getPlace(strip, row, j);
        weights[place] = static_cast<float>(
            scales.empty() ? cost : std::sqrt(cost) * getScale(place));
      }
    }
  });
  forEachBlock(shape, [&](size_t start, size_t count) {
    auto block = llvm::MutableArrayRef(shared).slice(start, count);
    auto own = llvm::ArrayRef(weights).slice(start, count);
    if (scales.empty())
      shareValues(block, goal.clusters, own);
    else
      shareIntegers(block, own, goal.clusters);
    std::vector<float> table = block.vec();
    std::sort(table.begin(), table.end());
    table.erase(std::unique(table.begin(), table.end()), table.end());
    tables.push_back(std::move(table));
  });
}

/// Changes the values of the tables, except for zero, so that the products are
/// nearest to those of the own weights if each weight keeps its index in the
/// table. Returns true if a value changed.
bool SecondOrder::fitTables(llvm::ArrayRef<float> matrix) {
  double products = 0;
  for (const Cell &cell : cells)
    products += static_cast<double>(cell.rows) *
                static_cast<double>(cell.columns) *
                static_cast<double>(cell.columns);
  auto step = static_cast<int64_t>(std::ceil(products / kMostTableProducts));
  size_t blocks = tables.size();
  std::vector<std::vector<double>> normal(blocks), right(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    normal[b].resize(tables[b].size() * tables[b].size());
    right[b].resize(tables[b].size());
  }
  std::vector<size_t> codes;
  std::vector<double> differences, sums;
  for (const Cell &cell : cells)
    for (int64_t row = 0; row < cell.rows; row += step) {
      Strip strip{cell, cell.firstRow + row, 1};
      size_t block = strip.firstRow / shape.getBlockRows();
      const std::vector<float> &table = tables[block];
      codes.resize(cell.columns);
      differences.resize(cell.columns);
      for (int64_t j = 0; j < cell.columns; ++j) {
        size_t place = getPlace(strip, 0, j);
        codes[j] = std::lower_bound(table.begin(), table.end(), matrix[place]) -
                   table.begin();
        differences[j] = static_cast<double>(own[place] - matrix[place]);
      }
      for (int64_t i = 0; i < cell.columns; ++i) {
        const double *hessian = &cell.hessian[i * cell.columns];
        sums.assign(table.size(), 0);
        double product = 0;
        for (int64_t j = 0; j < cell.columns; ++j) {
          sums[codes[j]] += hessian[j];
          product += hessian[j] * differences[j];
        }
        right[block][codes[i]] += product;
        for (size_t c = 0; c < table.size(); ++c)
          normal[block][codes[i] * table.size() + c] += sums[c];
      }
    }
  bool hasMoved = false;
  for (size_t b = 0; b < blocks; ++b) {
    std::vector<float> &table = tables[b];
    size_t size = table.size();
    double trace = 0;
    for (size_t c = 0; c < size; ++c)
      trace += normal[b][c * (size + 1)];
    if (trace <= 0)
      continue;
    for (size_t c = 0; c < size; ++c) {
      normal[b][c * (size + 1)] += 1e-6 * trace / static_cast<double>(size);
      if (table[c] != 0)
        continue;
      for (size_t d = 0; d < size; ++d)
        if (d != c)
          normal[b][c * size + d] = normal[b][d * size + c] = 0;
      right[b][c] = 0;
    }
    if (!factorInverse(normal[b], static_cast<int64_t>(size)))
      continue;
    solveByFactor(normal[b], right[b]);
    for (size_t c = 0; c < size; ++c) {
      float moved =
          static_cast<float>(static_cast<double>(table[c]) + right[b][c]);
      hasMoved |= moved != table[c];
      table[c] = moved;
    }
    std::sort(table.begin(), table.end());
  }
  return hasMoved;
}

void SecondOrder::keepBetter(const std::vector<float> &candidate) {
  double error = getOutputError(own, candidate, shape, scales, moments);
  if (!best.empty() && !(error < bestError))
    return;
  best = candidate;
  bestError = error;
}

bool SecondOrder::run() {
  if (moments.isZero() || !prepare())
    return false;
  isPruned.resize(own.size());
  for (size_t i = 0; i < own.size(); ++i)
    isPruned[i] = own[i] == 0;
  auto [low, high] = std::minmax_element(own.begin(), own.end());
  least = std::min(0.f, *low);
  most = std::max(0.f, *high);
  target = own.vec();
  std::vector<float> current = target;
  if (goal.sparsity || goal.pattern) {
    prune(current);
    if (scales.empty()) {
      fitKept(current);
      target = current;
    }
  }
  if (goal.clusters == 0) {
    keepBetter(current);
    return true;
  }
  makeTables(current);
  auto chooseNothing = [](const Strip &, int64_t, int64_t,
                          MatrixPart<const double>) {};
  for (int i = 0;; ++i) {
    sweep(current, chooseNothing);
    double before = bestError;
    keepBetter(current);
    bool isBetter = i == 0 || bestError < before;
    if (!scales.empty() || i == kMostFits || !isBetter || !fitTables(current))
      return true;
  }
}

double nnc::compression::getOutputError(llvm::ArrayRef<float> before,
                                        llvm::ArrayRef<float> after,
                                        const MatrixShape &shape,
                                        llvm::ArrayRef<float> scales,
                                        const InputMoments &moments) {
  double signal = 0, noise = 0;
  int64_t groupRows = shape.rows / moments.getNumGroups();
  std::vector<double> values, products;
  for (int64_t group = 0; group < moments.getNumGroups(); ++group)
    for (int64_t span = 0; span < moments.getNumSpans(); ++span) {
      std::vector<double> block = moments.getBlock(group, span);
      int64_t columns = moments.getSpanSize(span);
      int64_t end = (group + 1) * groupRows;
      for (int64_t row = group * groupRows; row < end; row += kRows) {
        int64_t rows = std::min(kRows, end - row);
        // The first rows hold the differences, the others the weights
        // themselves.
        values.assign(2 * rows * columns, 0);
        products.assign(2 * rows * columns, 0);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            size_t place =
                (row + i) * shape.columns + moments.getSpanBegin(span) + j;
            double scale =
                scales.empty() ? 1 : static_cast<double>(scales[place]);
            double value = static_cast<double>(before[place]);
            values[i * columns + j] =
                (value - static_cast<double>(after[place])) * scale;
            values[(rows + i) * columns + j] = value * scale;
          }
        subtractProduct({products.data(), columns}, {values.data(), columns},
                        {block.data(), columns}, 2 * rows, columns, columns);
        for (int64_t i = 0; i < rows * columns; ++i) {
          noise -= values[i] * products[i];
          signal -= values[rows * columns + i] * products[rows * columns + i];
        }
      }
    }
  return signal > 0 ? std::sqrt(std::max(noise, 0.) / signal) : 0;
}

OutputErrors nnc::compression::compressBySecondOrder(
    llvm::MutableArrayRef<float> matrix, const MatrixShape &shape,
    llvm::ArrayRef<float> scales, const InputMoments &moments,
    const WeightGoal &goal) {
  assert(shape.rows % moments.getNumGroups() == 0 &&
         shape.columns == moments.getNumColumns());
  std::vector<float> own = matrix.vec();
  compressByMagnitude(matrix, shape, scales, goal);
  OutputErrors errors;
  errors.magnitude = errors.result =
      getOutputError(own, matrix, shape, scales, moments);
  SecondOrder solver(own, shape, scales, moments, goal);
  if (errors.magnitude == 0 || !solver.run())
    return errors;
  double error =
      getOutputError(own, solver.getResult(), shape, scales, moments);
  if (error < errors.magnitude) {
    llvm::copy(solver.getResult(), matrix.begin());
    errors.result = error;
  }
  return errors;
}
