//===- Learned.cpp - Ops of classical machine learning --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/moves/Copy.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

//===----------------------------------------------------------------------===//
// nn.tree_ensemble
//===----------------------------------------------------------------------===//

LogicalResult TreeEnsembleOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location> location,
                                               Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()),
                   values = getPlain(adaptor.getValues()),
                   tests = getPlain(adaptor.getTests()),
                   roots = getPlain(adaptor.getRoots()),
                   scores = getPlain(adaptor.getScores());
  int64_t targets = adaptor.getTargets();
  if (x.getRank() != 2 || targets < 1)
    return emitOptionalError(location, "has ", targets,
                             " targets for features of type ", x,
                             "; it needs one or more, and a matrix");
  Type test = tests.getElementType();
  bool fits = values.getRank() == 1 && tests.getShape() == values.getShape() &&
              getPlain(adaptor.getJumps()) == tests &&
              (test.isSignlessInteger(16) || test.isSignlessInteger(32)) &&
              values.getElementType() == x.getElementType() &&
              scores.getElementType() == x.getElementType();
  if (!fits)
    return emitOptionalError(
        location, "has nodes with values of type ", values, ", tests of type ",
        tests, ", jumps of type ", getPlain(adaptor.getJumps()),
        " and scores of type ", scores, " for features of type ", x,
        "; it needs vectors of one length, of i16 or i32 for tests and jumps");
  if (roots.getRank() != 1 || !roots.getElementType().isSignlessInteger(32))
    return emitOptionalError(location, "has roots of type ", roots,
                             "; it needs a vector of i32");
  if (adaptor.getDense() &&
      (scores.getRank() != 2 || scores.getDimSize(1) != targets))
    return emitOptionalError(location, "has scores of type ", scores, " for ",
                             targets, " targets");
  types.push_back(withShape(x, {x.getDimSize(0), targets}));
  return success();
}
AxisUse TreeEnsembleOp::getAxisUse(int64_t axis) {
  return AxisUse::samples(*this, axis);
}

SmallVector<RoutineCall> TreeEnsembleOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("rows", x[0]).add("features", x[1]);
  fields.add("trees", getRoots().getType().getNumElements());
  fields.add("targets", static_cast<int64_t>(getTargets()));
  fields.add("dense", static_cast<int64_t>(getDense()));
  fields.add("reduce", static_cast<int64_t>(getReduction()));
  return {{"tree_ensemble", fields.get(), {0, 1, 2, 3, 4, 5}}};
}
Work TreeEnsembleOp::getWork() {
  Work work = bytesOnly(*this);
  // The depth of balanced trees with this number of nodes.
  int64_t trees = getRoots().getType().getNumElements(),
          nodes = getValues().getType().getNumElements();
  int64_t depth = llvm::Log2_64_Ceil(
      std::max<int64_t>(nodes / std::max<int64_t>(trees, 1), 1));
  int64_t scores = getDense() ? getTargets() : 1;
  work.operations =
      getX().getType().getDimSize(0) * trees * (4 * depth + scores);
  return work;
}

//===----------------------------------------------------------------------===//
// nn.squared_distance
//===----------------------------------------------------------------------===//

LogicalResult SquaredDistanceOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX()), w = getPlain(adaptor.getW());
  if (x.getRank() != 2 || w.getRank() != 2 ||
      x.getDimSize(1) != w.getDimSize(1) ||
      x.getElementType() != w.getElementType())
    return emitOptionalError(location, "has operands of types ", x, " and ", w,
                             "; it needs matrices with rows of one length");
  types.push_back(withShape(x, {x.getDimSize(0), w.getDimSize(0)}));
  return success();
}
SmallVector<RoutineCall> SquaredDistanceOp::getRoutineCalls() {
  ArrayRef<int64_t> x = getX().getType().getShape();
  ShapeFields fields(getContext());
  fields.add("m", x[0]).add("n", getW().getType().getDimSize(0));
  fields.add("k", x[1]);
  return {{"squared_distance", fields.get(), {0, 1}}};
}
Work SquaredDistanceOp::getWork() {
  Work work = bytesOnly(*this);
  work.multiplyAdds =
      getX().getType().getNumElements() * getW().getType().getDimSize(0);
  work.operations = work.multiplyAdds;
  return work;
}

//===----------------------------------------------------------------------===//
// nn.couple_probabilities
//===----------------------------------------------------------------------===//

LogicalResult CoupleProbabilitiesOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  RankedTensorType x = getPlain(adaptor.getX());
  int64_t classes = adaptor.getClasses();
  if (classes < 2 || classes > 65535 || x.getRank() != 2 ||
      x.getDimSize(1) != classes * (classes - 1) / 2)
    return emitOptionalError(location, "has probabilities of type ", x, " for ",
                             classes, " classes; it needs one for each pair");
  types.push_back(withShape(x, {x.getDimSize(0), classes}));
  return success();
}
SmallVector<RoutineCall> CoupleProbabilitiesOp::getRoutineCalls() {
  ShapeFields fields(getContext());
  fields.add("rows", getX().getType().getDimSize(0));
  fields.add("classes", static_cast<int64_t>(getClasses()));
  return {{"couple_probabilities", fields.get(), {0}}};
}
Work CoupleProbabilitiesOp::getWork() {
  Work work = bytesOnly(*this);
  // About twenty sweeps, each of which computes the matrix anew twice.
  int64_t classes = getClasses();
  work.operations = 200 * getX().getType().getDimSize(0) * classes * classes;
  return work;
}
