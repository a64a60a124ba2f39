//===- Candidates.h - What could compute a layer --------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_CANDIDATES_H
#define NNC_COMPILER_ROUTINES_CANDIDATES_H

#include "compiler/routines/Cost.h"

#include <map>

namespace nnc {

/// A routine with its parameters for a layer; SoftNeuro's schema is in the
/// types: what layouts the operands and the result have then.
struct Candidate : UnitCost {
  const Routine *routine = nullptr;
  llvm::SmallVector<int64_t> params;
  llvm::SmallVector<mlir::RankedTensorType> operands; ///< inputs, then extras
  mlir::RankedTensorType result;
  double error = 0; ///< what rounding adds, as Routine::getError() says

  /// Whether both ask the same of other layers.
  bool hasSchemaOf(const Candidate &other) const;
  /// Whether both are the same routine, called in the same way.
  bool isSameAs(const Candidate &other) const {
    return routine == other.routine && params == other.params &&
           hasSchemaOf(other);
  }
};

/// Which params of a routine are tried: all in its line of routines.inc, or the
/// first of them that apply, those that suit most layers.
enum class ParamChoice { all, first };

/// What could compute the layers of a function, but for measurements: for who
/// plans it again and again, while its layers stay as they are.
class CandidateMemo {
public:
  struct Entry {
    Candidate candidate; ///< at what is estimated
    std::string layer;   ///< as measurements describe it
  };
  /// By the layer, the routine, and the layout for what that leaves open.
  std::map<std::tuple<mlir::Operation *, const Routine *, const void *>,
           std::vector<Entry>>
      entries;
  /// What storing a weight costs (WeightEncoding::getError), by its encoding
  /// and the axis of its outermost block.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Attribute, unsigned>, double>
      weightErrors;
};

/// Everything that could compute `layer`; where it names a routine (and params)
/// already, only that. Routines that follow any layout are tried in each of
/// `layouts` that fits, and in row-major order.
void forEachCandidate(nn::LayerOp layer, const CostModel &cost,
                      llvm::ArrayRef<nn::LayoutAttr> layouts,
                      llvm::function_ref<void(Candidate)> visit,
                      ParamChoice params = ParamChoice::all);

/// The layouts that candidates of the block's layers insist on: those that the
/// others, which take any, are to be tried in.
llvm::SetVector<nn::LayoutAttr> findLayouts(mlir::Block &block,
                                            const CostModel &cost);

/// Visits every way to change a value of one of the types `values` between
/// row-major order and each of `layouts`, in both directions.
void forEachAdapt(
    llvm::ArrayRef<mlir::RankedTensorType> values,
    llvm::ArrayRef<nn::LayoutAttr> layouts, const CostModel &cost,
    llvm::function_ref<void(mlir::RankedTensorType from,
                            mlir::RankedTensorType to, const AdaptCost &adapt)>
        visit);

/// The costs of `function` on `machine`, calibrated by what is measured of its
/// own layers. `measured` and `memo`, if not null, outlive the result.
CostModel makeCostModel(mlir::func::FuncOp function,
                        target::MachineAttr machine,
                        const Measurements *measured,
                        CandidateMemo *memo = nullptr);

/// Of these, for each schema, the cheapest, and those that are dearer but lose
/// less to rounding.
llvm::SmallVector<Candidate, 0>
findCandidates(nn::LayerOp layer, const CostModel &cost,
               llvm::ArrayRef<nn::LayoutAttr> layouts,
               ParamChoice params = ParamChoice::all);

/// Checks what the layer says: its routine is in the catalogue, runs on the
/// target, and computes this anchor and epilogue with these shapes, layouts,
/// element types and params. Reports what is wrong and what to do. A null
/// machine runs everything.
mlir::LogicalResult checkRoutine(nn::LayerOp layer,
                                 target::MachineAttr machine);
mlir::LogicalResult checkRoutine(nn::AdaptOp adapt,
                                 target::MachineAttr machine);
/// The same for every layer and adapt in `root`.
mlir::LogicalResult checkRoutines(mlir::Operation *root,
                                  target::MachineAttr machine);

/// Whether the layer's epilogue maps zeros in the operands that have a layout
/// to zero: then it may run over the padding of that layout.
bool keepsZeros(nn::LayerOp layer,
                llvm::ArrayRef<mlir::RankedTensorType> operands);

/// What `layer` computes and touches with operands and result of these types.
LayerWork getLayerWork(nn::LayerOp layer,
                       llvm::ArrayRef<mlir::RankedTensorType> operands,
                       mlir::RankedTensorType result);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_CANDIDATES_H
