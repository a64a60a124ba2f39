//===- shape.h - The shape of tree_ensemble routines ----------------------===//
#ifndef NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_SHAPE_H
#define NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_SHAPE_H

namespace nnc {

/// Scores y[rows][targets] that `trees` decision trees give to
/// x[rows][features]. With `dense` a leaf has a score for each target, else for
/// one of them. reduce is the reduction of the scores of all trees: 0 sum, 1
/// minimum, 2 maximum. The minimum or maximum is 0 for a target that no leaf
/// has a score for.
struct tree_ensemble_shape {
  int rows, features, trees, targets, dense, reduce;

  /// Calls f(name, field) for each field.
  template <class F> void visit(F f) {
    f("rows", rows);
    f("features", features);
    f("trees", trees);
    f("targets", targets);
    f("dense", dense);
    f("reduce", reduce);
  }
};

} // namespace nnc

#endif // NNC_ROUTINES_LEARNED_TREE_ENSEMBLE_SHAPE_H
