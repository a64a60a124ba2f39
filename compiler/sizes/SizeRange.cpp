//===- SizeRange.cpp - Numbers as expressions of sizes --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/SizeRange.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace nnc;

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void nnc::makeConsistent(std::vector<SizePoint> &points,
                         ArrayRef<SizeRange> ranges) {
  if (llvm::none_of(ranges, [](const SizeRange &range) {
        return range.within || range.computed;
      }))
    return;
  const size_t callers = llvm::count_if(
      ranges, [](const SizeRange &range) { return !range.isFound; });
  std::vector<SizePoint> distinct;
  for (SizePoint &point : points) {
    for (auto [i, range] : llvm::enumerate(ranges))
      if (range.computed)
        point[i] = range.computed.evaluate(ArrayRef(point).drop_front(callers));
      else if (range.within)
        point[i] = std::min(point[i], point[*range.within]);
    if (!llvm::is_contained(distinct, point))
      distinct.push_back(point);
  }
  points = std::move(distinct);
}

/// Returns `count` sizes of the range, all above `least` and none of them in
/// `taken`, to which they are added. The first is `high` or, if that does not
/// qualify, the next size above. Sizes from there downwards follow, and the
/// lowest qualifying one. If these do not suffice, sizes above are added. If
/// the step is 1, powers of two do not qualify, because compilers replace
/// divisions by them by multiplications; however, they are preferred to sizes
/// above if the range is `related` to others.
static SmallVector<int64_t> chooseSizes(const SizeRange &range, int count,
                                        int64_t least, bool related,
                                        SmallVectorImpl<int64_t> &taken) {
  SmallVector<int64_t> sizes;
  auto isUsual = [&](int64_t size) {
    return size > least && (range.step > 1 || !llvm::isPowerOf2_64(size) ||
                            (range.isMost && size == range.high));
  };
  auto add = [&](int64_t size) {
    if (isUsual(size) && !llvm::is_contained(taken, size) &&
        int(sizes.size()) < count)
      sizes.push_back(size);
  };
  int64_t above = range.high;
  for (; sizes.empty(); above += range.step)
    add(above);
  for (int64_t size = sizes[0] - range.step;
       size >= range.low && int(sizes.size()) + 1 < count; size -= range.step)
    add(size);
  // A model may treat small sizes differently, for example by a maximum or a
  // window.
  for (int64_t size = range.low; size < sizes.back() && size < sizes[0];
       size += range.step)
    if (isUsual(size) && !llvm::is_contained(taken, size)) {
      add(size);
      break;
    }
  for (int64_t size = range.high;
       related && size > least && int(sizes.size()) < count; size -= range.step)
    if (!llvm::is_contained(taken, size) && !llvm::is_contained(sizes, size))
      sizes.push_back(size);
  // Three sizes suffice for expressions that are linear in this size.
  const int needed = range.isMost ? 3 : count;
  for (; int(sizes.size()) < needed; above += range.step)
    add(above);
  llvm::append_range(taken, sizes);
  return sizes;
}

std::vector<SizePoint> nnc::chooseSamples(ArrayRef<SizeRange> ranges) {
  // A quadratic polynomial in one size has three coefficients; a fourth sample
  // checks it.
  const int count = 4;
  SmallVector<SmallVector<int64_t>> sizes(ranges.size());
  SmallVector<int64_t> taken;
  // The sizes of a range are larger than all sizes of the ranges that are
  // within it, so that the two differ in all samples.
  auto choose = [&](auto self, size_t i) -> void {
    int64_t least = 1;
    bool related = ranges[i].within.has_value();
    for (size_t inner = i + 1; inner < ranges.size(); ++inner)
      if (ranges[inner].within == i) {
        self(self, inner);
        least = std::max(least, *llvm::max_element(sizes[inner]));
        related = true;
      }
    sizes[i] = chooseSizes(ranges[i], count, least, related, taken);
  };
  for (size_t i = 0; i < ranges.size(); ++i)
    if (!ranges[i].within)
      choose(choose, i);
  std::vector<SizePoint> samples(1);
  for (const auto &own : sizes)
    samples[0].push_back(own[0]);
  for (size_t i = 0; i < ranges.size(); ++i)
    for (int64_t size : ArrayRef(sizes[i]).drop_front()) {
      samples.push_back(samples[0]);
      samples.back()[i] = size;
    }
  if (ranges.size() == 1)
    return samples;
  for (int turn = 0; turn < 2; ++turn) {
    samples.push_back(samples[0]);
    for (size_t i = 0; i < ranges.size(); ++i)
      samples.back()[i] = turn ? sizes[i].back() : sizes[i][1 + i % 2];
  }
  return samples;
}

std::vector<SizePoint> nnc::chooseChecks(ArrayRef<SizeRange> given,
                                         int64_t most, bool withZeros) {
  SmallVector<SizeRange> ranges(given);
  if (!withZeros)
    for (SizeRange &range : ranges)
      range.low =
          std::max(range.low, std::min<int64_t>(range.step, range.high));
  // Each range has as many sizes as keep the number of points within the limit.
  int64_t perRange = 2;
  auto countPoints = [&](int64_t each) {
    int64_t count = 1;
    for (const SizeRange &range : ranges)
      count *= std::min(each, (range.high - range.low) / range.step + 1);
    return count;
  };
  while (perRange < most && countPoints(perRange + 1) <= most)
    ++perRange;
  std::vector<SizePoint> points(1);
  for (const SizeRange &range : ranges) {
    int64_t last = (range.high - range.low) / range.step,
            count = std::min(perRange, last + 1);
    std::vector<SizePoint> more;
    for (const SizePoint &point : points)
      for (int64_t i = 0; i < count; ++i) {
        more.push_back(point);
        int64_t step = count > 1 ? last * i / (count - 1) : last;
        more.back().push_back(range.low + step * range.step);
      }
    points = std::move(more);
  }
  makeConsistent(points, given);
  return points;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

int64_t nnc::evaluate(AffineExpr expression, ArrayRef<int64_t> point) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return constant.getValue();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return point[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  int64_t a = evaluate(binary.getLHS(), point),
          b = evaluate(binary.getRHS(), point);
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return a - llvm::divideFloorSigned(a, b) * b;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  default:
    llvm_unreachable("no binary expression");
  }
}

ExpressionFinder::ExpressionFinder(std::vector<SizeRange> given,
                                   std::vector<SizePoint> points,
                                   MLIRContext *context)
    : ranges(std::move(given)), samples(std::move(points)), context(context) {
  // Every product of at most three sizes, each at most squared.
  SmallVector<int, 2> exponents(ranges.size(), 0);
  auto add = [&](auto self, size_t axis, int degree) -> void {
    if (axis == ranges.size()) {
      if (degree == 0)
        return;
      Term term{exponents, {}};
      for (const SizePoint &point : samples) {
        int64_t value = 1;
        for (size_t i = 0; i < ranges.size(); ++i)
          for (int e = 0; e < exponents[i]; ++e)
            value *= point[i];
        term.values.push_back(value);
      }
      terms.push_back(std::move(term));
      return;
    }
    for (int e = 0; e <= 2 && degree + e <= 3; ++e) {
      exponents[axis] = e;
      self(self, axis + 1, degree + e);
    }
    exponents[axis] = 0;
  };
  add(add, 0, 0);
  llvm::sort(terms, [](const Term &a, const Term &b) {
    auto degree = [](const Term &term) {
      return std::accumulate(term.exponents.begin(), term.exponents.end(), 0);
    };
    return std::make_pair(degree(a), a.exponents) <
           std::make_pair(degree(b), b.exponents);
  });
}

SmallVector<AffineExpr> ExpressionFinder::getSums() const {
  return llvm::map_to_vector(factors,
                             [](const auto &factor) { return factor.first; });
}

void ExpressionFinder::addSum(AffineExpr sum) {
  std::vector<int64_t> values;
  for (const SizePoint &point : samples)
    values.push_back(evaluate(sum, point));
  if (getQuotient(sum))
    quotients.push_back({{}, values, sum});
  factors.insert({sum, std::move(values)});
}

AffineExpr ExpressionFinder::makeProduct(const Term &term) const {
  AffineExpr product = term.quotient;
  for (auto [i, exponent] : llvm::enumerate(term.exponents))
    for (int e = 0; e < exponent; ++e) {
      AffineExpr size = getAffineSymbolExpr(i, context);
      product = product ? product * size : size;
    }
  return product;
}

bool ExpressionFinder::isWhole(AffineExpr numerator, int64_t divisor) const {
  // As a function of the steps of a size, the remainder has a period of at most
  // `divisor` steps.
  constexpr int64_t kMost = 4096;
  SizePoint point;
  int64_t tried = 0;
  auto visit = [&](auto self, size_t axis) -> bool {
    if (axis == ranges.size())
      return ++tried <= kMost && evaluate(numerator, point) % divisor == 0;
    const SizeRange &range = ranges[axis];
    for (int64_t i = 0; i < divisor; ++i) {
      int64_t size = range.low + i * range.step;
      if (size > range.high)
        break;
      point.push_back(size);
      bool divides = self(self, axis + 1);
      point.pop_back();
      if (!divides)
        return false;
    }
    return true;
  };
  return visit(visit, 0);
}

/// Solves a system of linear equations. Each row holds the coefficients and the
/// right-hand side. Sets `solution` to the numerators of the unknowns and,
/// last, their common denominator. Returns false if there is not exactly one
/// solution.
static bool solve(std::vector<std::vector<__int128>> rows,
                  SmallVectorImpl<int64_t> &solution) {
  const size_t unknowns = rows[0].size() - 1;
  // Bareiss' elimination: all divisions are exact.
  __int128 previous = 1;
  for (size_t column = 0; column < unknowns; ++column) {
    size_t pivot = column;
    while (pivot < rows.size() && rows[pivot][column] == 0)
      ++pivot;
    if (pivot == rows.size())
      return false;
    std::swap(rows[column], rows[pivot]);
    for (size_t row = 0; row < rows.size(); ++row) {
      if (row == column)
        continue;
      __int128 factor = rows[row][column];
      for (size_t j = 0; j <= unknowns; ++j)
        rows[row][j] =
            (rows[row][j] * rows[column][column] - factor * rows[column][j]) /
            previous;
    }
    previous = rows[column][column];
  }
  for (size_t row = unknowns; row < rows.size(); ++row)
    if (rows[row][unknowns] != 0)
      return false;
  __int128 denominator = rows[0][0];
  for (size_t i = 0; i < unknowns; ++i)
    solution.push_back(int64_t(rows[i][unknowns]));
  solution.push_back(int64_t(denominator));
  int64_t common = 0;
  for (int64_t value : solution)
    common = std::gcd(common, value);
  if (solution.back() < 0)
    common = -common;
  for (int64_t &value : solution)
    value /= common;
  return true;
}

AffineExpr ExpressionFinder::fit(ArrayRef<const Term *> chosen,
                                 ArrayRef<int64_t> values) const {
  // At least one sample more than there are unknowns checks the solution.
  if (samples.size() < chosen.size() + 2)
    return {};
  // Differences from the first sample keep the numbers small.
  std::vector<std::vector<__int128>> rows;
  for (size_t i = 1; i < samples.size(); ++i) {
    auto &row = rows.emplace_back();
    for (const Term *term : chosen)
      row.push_back(term->values[i] - term->values[0]);
    row.push_back(values[i] - values[0]);
  }
  SmallVector<int64_t> solution;
  if (!solve(std::move(rows), solution))
    return {};
  int64_t divisor = solution.back();
  __int128 rest = __int128(divisor) * values[0];
  AffineExpr sum;
  for (auto [i, term] : llvm::enumerate(chosen)) {
    // Emitted code computes with 32-bit integers.
    __int128 largest = __int128(solution[i]) * term->values[0];
    if (largest != int32_t(largest))
      return {};
    rest -= largest;
    AffineExpr part = makeProduct(*term) * solution[i];
    sum = sum ? sum + part : part;
  }
  if (rest != int32_t(rest))
    return {};
  sum = sum + int64_t(rest);
  if (!isChecked(sum))
    return {};
  if (divisor == 1)
    return sum;
  // Sums of quotients have no period by which isWhole() could tell.
  bool isOfProducts = llvm::none_of(
      chosen, [](const Term *term) { return bool(term->quotient); });
  return isOfProducts && isWhole(sum, divisor) ? sum.floorDiv(divisor)
                                               : AffineExpr();
}

AffineExpr ExpressionFinder::findSum(ArrayRef<int64_t> values) const {
  for (const Term &term : terms)
    if (AffineExpr found = fit(&term, values))
      return found;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (AffineExpr found = fit({&terms[j], &terms[i]}, values))
        return found;
  if (AffineExpr found = findQuotient(values))
    return found;
  if (ranges.size() < 3)
    return {};
  // A concat of several inputs along an axis has the sum of their sizes.
  SmallVector<const Term *> sizes;
  for (const Term &term : terms)
    if (std::accumulate(term.exponents.begin(), term.exponents.end(), 0) == 1)
      sizes.push_back(&term);
  return fit(sizes, values);
}

/// Returns the degree of an expression as a polynomial in one size.
static int getDegree(AffineExpr expression, unsigned size) {
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbol.getPosition() == size ? 1 : 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return 0;
  int a = getDegree(binary.getLHS(), size),
      b = getDegree(binary.getRHS(), size);
  return expression.getKind() == AffineExprKind::Mul ? a + b : std::max(a, b);
}

bool ExpressionFinder::isChecked(AffineExpr expression) const {
  for (size_t i = 0; i < ranges.size(); ++i) {
    llvm::SmallDenseSet<int64_t> distinct;
    for (const SizePoint &point : samples)
      distinct.insert(point[i]);
    // Some polynomial of degree n goes through any n + 1 points.
    if (getDegree(expression, i) + 2 > int(distinct.size()))
      return false;
  }
  return true;
}

AffineExpr ExpressionFinder::findProduct(ArrayRef<int64_t> values,
                                         int depth) const {
  if (llvm::all_equal(values))
    return getAffineConstantExpr(values[0], context);
  if (AffineExpr sum = findSum(values))
    return sum;
  if (depth == 0)
    return {};
  for (const auto &[factor, ofFactor] : factors) {
    SmallVector<int64_t> rest;
    for (auto [value, divisor] : llvm::zip(values, ofFactor))
      if (divisor > 1 && value % divisor == 0)
        rest.push_back(value / divisor);
    if (rest.size() != values.size())
      continue;
    AffineExpr found = findProduct(rest, depth - 1);
    if (found && isChecked(found * factor))
      return found * factor;
  }
  return {};
}

AffineExpr ExpressionFinder::find(ArrayRef<int64_t> values) {
  // Limits of the search. A tensor has few dimensions that depend on sizes.
  constexpr int kMostFactors = 3;
  constexpr size_t kMostKnown = 64;
  AffineExpr found = findProduct(values, kMostFactors);
  if (found && !isa<AffineConstantExpr>(found) && factors.size() < kMostKnown)
    factors.insert({found, std::vector<int64_t>(values)});
  return found;
}
