// Tests decision trees, distances and coupled probabilities of random shapes
// against their definitions.
#include "runtime/routines/catalogue/shapes.h"
#include "runtime/routines/learned/couple_probabilities/portable.h"
#include "runtime/routines/learned/squared_distance/portable.h"
#include "runtime/routines/learned/tree_ensemble/portable.h"
#include "test/runtime/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace nnc;

namespace {

std::mt19937 source(29);

int draw(int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(source);
}
template <class T> T real(double low, double high) {
  return T(std::uniform_real_distribution<double>(low, high)(source));
}

template <class R, class S, class... A> void run(const S &s, A... args) {
  // In two parts, as by two threads.
  const int units = R::units(s), half = units / 2;
  R::run(s, args..., none{}, 0, half);
  R::run(s, args..., none{}, half, units);
}

/// A node of a tree.
struct node {
  int feature = -1; ///< -1 for a leaf
  double value = 0;
  bool takes_missing = false;
  int first = 0, second = 0;
  int target = 0;             ///< target of a leaf's score, without `dense`
  std::vector<double> scores; ///< of a leaf: one, or one for each target
};

/// Random trees, and the arrays from which the routine reads them.
template <class T, class I> struct forest {
  std::vector<node> nodes;
  std::vector<int> starts;
  std::vector<T> values, scores;
  std::vector<I> tests, jumps;
  std::vector<std::int32_t> roots;

  int grow(const tree_ensemble_shape &s, int depth) {
    const int own = int(nodes.size());
    nodes.emplace_back();
    if (depth == 0 || draw(0, 4) == 0) {
      nodes[own].target = draw(0, s.targets - 1);
      for (int t = 0; t < (s.dense ? s.targets : 1); ++t)
        nodes[own].scores.push_back(draw(-8, 8));
      return own;
    }
    nodes[own].feature = draw(0, s.features - 1);
    nodes[own].value = draw(-3, 3);
    nodes[own].takes_missing = draw(0, 1);
    const int first = grow(s, depth - 1), second = grow(s, depth - 1);
    nodes[own].first = first;
    nodes[own].second = second;
    return own;
  }
  /// Creates the trees. Nodes are in depth-first order: the first child follows
  /// its parent.
  explicit forest(const tree_ensemble_shape &s) {
    for (int tree = 0; tree < s.trees; ++tree)
      starts.push_back(grow(s, draw(0, 5)));
    for (const node &n : nodes) {
      const bool leaf = n.feature < 0;
      const int row = int(scores.size()) / s.targets;
      values.push_back(T(leaf ? n.scores[0] : n.value));
      tests.push_back(I(leaf ? ~(s.dense ? row : n.target)
                             : 2 * n.feature + n.takes_missing));
      jumps.push_back(I(leaf ? 0 : n.second - int(jumps.size())));
      if (leaf && s.dense)
        scores.insert(scores.end(), n.scores.begin(), n.scores.end());
    }
    roots.assign(starts.begin(), starts.end());
    scores.push_back(0);
  }
  const node &find(int at, const T *row) const {
    while (nodes[at].feature >= 0) {
      const node &n = nodes[at];
      const double v = row[n.feature];
      const bool first = std::isnan(v) ? n.takes_missing : v <= n.value;
      at = first ? n.first : n.second;
    }
    return nodes[at];
  }
};

template <class T, class I> void check_trees() {
  for (int round = 0; round < 60; ++round) {
    const tree_ensemble_shape s{draw(1, 9), draw(1, 7), draw(1, 12),
                                draw(1, 5), draw(0, 1), draw(0, 2)};
    const forest<T, I> f(s);
    std::vector<T> x(std::size_t(s.rows * s.features));
    for (T &v : x)
      v = draw(0, 7) == 0 ? std::numeric_limits<T>::quiet_NaN()
                          : T(draw(-4, 4));
    std::vector<T> y(std::size_t(s.rows * s.targets));
    run<tree_ensemble_portable<tree_ensemble_shape, none>>(
        s, x.data(), f.values.data(), f.tests.data(), f.jumps.data(),
        f.roots.data(), f.scores.data(), y.data());
    for (int r = 0; r < s.rows; ++r) {
      std::vector<double> want(std::size_t(s.targets), 0);
      std::vector<bool> has(std::size_t(s.targets), false);
      for (int start : f.starts) {
        const node &leaf = f.find(start, x.data() + r * s.features);
        for (std::size_t i = 0; i < leaf.scores.size(); ++i) {
          const std::size_t t = s.dense ? i : std::size_t(leaf.target);
          const double score = leaf.scores[i];
          want[t] = !has[t]         ? score
                    : s.reduce == 0 ? want[t] + score
                    : s.reduce == 1 ? std::min(want[t], score)
                                    : std::max(want[t], score);
          has[t] = true;
        }
      }
      for (int t = 0; t < s.targets; ++t)
        REQUIRE(y[std::size_t(r * s.targets + t)] == T(want[std::size_t(t)]));
    }
  }
}

template <class T> void check_distances() {
  for (int round = 0; round < 60; ++round) {
    const squared_distance_shape s{draw(1, 5), draw(1, 6), draw(1, 19)};
    std::vector<T> x(std::size_t(s.m * s.k)), w(std::size_t(s.n * s.k)),
        y(std::size_t(s.m * s.n));
    // Far from zero: products of the vectors would lose the differences.
    for (T &v : x)
      v = T(1000) + real<T>(-1, 1);
    for (T &v : w)
      v = T(1000) + real<T>(-1, 1);
    run<squared_distance_portable<squared_distance_shape, none>>(
        s, x.data(), w.data(), y.data());
    for (int i = 0; i < s.m; ++i)
      for (int j = 0; j < s.n; ++j) {
        double sum = 0;
        for (int k = 0; k < s.k; ++k) {
          const double d = double(x[std::size_t(i * s.k + k)]) -
                           double(w[std::size_t(j * s.k + k)]);
          sum += d * d;
        }
        const double bound = 4 * std::sqrt(double(s.k)) *
                             std::numeric_limits<T>::epsilon() * sum;
        REQUIRE(std::abs(double(y[std::size_t(i * s.n + j)]) - sum) <= bound);
      }
  }
}

} // namespace

TEST_CASE("tree_ensemble finds the leaves that a walk from node to node does") {
  check_trees<float, std::int16_t>();
  check_trees<float, std::int32_t>();
  check_trees<double, std::int16_t>();
}

TEST_CASE("squared_distance is exact for vectors far from zero") {
  check_distances<float>();
  check_distances<double>();
}

TEST_CASE("couple_probabilities finds what pairs were made of") {
  for (int round = 0; round < 60; ++round) {
    const couple_probabilities_shape s{draw(1, 4), draw(2, 9)};
    std::vector<double> p, pairs;
    for (int r = 0; r < s.rows; ++r) {
      std::vector<double> own;
      double sum = 0;
      for (int c = 0; c < s.classes; ++c) {
        own.push_back(real<double>(0.05, 1));
        sum += own.back();
      }
      for (double &v : own)
        v /= sum;
      for (int i = 0; i < s.classes; ++i)
        for (int j = i + 1; j < s.classes; ++j)
          pairs.push_back(own[std::size_t(i)] /
                          (own[std::size_t(i)] + own[std::size_t(j)]));
      p.insert(p.end(), own.begin(), own.end());
    }
    std::vector<double> y(p.size()), scratch(2 * std::size_t(s.classes));
    run<couple_probabilities_portable<couple_probabilities_shape, none>>(
        s, pairs.data(), y.data(),
        reinterpret_cast<unsigned char *>(scratch.data()));
    for (int r = 0; r < s.rows; ++r) {
      double sum = 0;
      for (int c = 0; c < s.classes; ++c) {
        const std::size_t at = std::size_t(r * s.classes + c);
        // The routine stops when Q p is within 0.005 / classes of p^T Q p.
        REQUIRE(std::abs(y[at] - p[at]) < 0.05);
        sum += y[at];
      }
      REQUIRE(std::abs(sum - 1) < 1e-9);
    }
  }
}
