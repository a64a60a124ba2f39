//===- Candidates.h - Routines that can compute a layer -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_CANDIDATES_H
#define NNC_COMPILER_ROUTINES_CANDIDATES_H

#include "compiler/routines/Cost.h"

#include <map>

namespace nnc {

/// A routine that can compute a layer, with its parameters and cost. The types
/// of the operands and the result, with their layouts, are the candidate's
/// schema in the sense of SoftNeuro.
struct Candidate : UnitCost {
  const Routine *routine = nullptr;
  llvm::SmallVector<int64_t> params;
  /// The types of the inputs, followed by those of the extras.
  llvm::SmallVector<mlir::RankedTensorType> operands;
  mlir::RankedTensorType result;
  double error = 0; ///< rounding error, as Routine::getError() defines it
  /// The bytes that the routine needs in addition to its operands and result in
  /// row-major order: scratch memory and the padding of their layouts. It is 0
  /// if the cost model has no limit of memory (CostModel::setFreeMemory).
  int64_t memory = 0;
  /// The part of `seconds` that is a penalty for bytes above that limit.
  double memorySeconds = 0;
  /// The form of the layer that the routine computes (LayerForms.h); null if
  /// it is the layer itself.
  nn::LayerOp form = {};
  /// Whether the model limits the bytes of its weights. The encoding of a
  /// weight, which decides how many bytes the weight takes, is then part of the
  /// schema.
  bool weighsBytes = false;

  nn::LayerOp getForm(nn::LayerOp layer) const { return form ? form : layer; }

  /// Returns true if both candidates have the same schema, so that other layers
  /// cannot tell them apart.
  bool hasSchemaOf(const Candidate &other) const;
  /// Returns true if the layer is a transpose between two layouts whose result
  /// has the same bytes as its operand: it shares the operand's memory, and no
  /// routine runs.
  bool isView() const;
  /// Returns true if both are the same routine with the same parameters and
  /// types.
  bool isSameAs(const Candidate &other) const {
    return routine == other.routine && params == other.params &&
           hasSchemaOf(other);
  }
};

/// The set of a routine's parameters that are tried: all combinations in its
/// line of routines.inc, or only the first that applies, which suits most
/// layers.
enum class ParamChoice { all, first };

/// The estimated candidates of the layers of a function, without measurements.
/// A caller that plans the same function repeatedly keeps it, as long as the
/// layers do not change.
class CandidateMemo {
public:
  struct Entry {
    Candidate candidate; ///< with its estimated cost
    std::string layer;   ///< the layer's description, the key of measurements
  };
  /// The key is the layer, the routine, and the layout for operands that the
  /// routine takes in any layout.
  std::map<std::tuple<mlir::Operation *, const Routine *, const void *>,
           std::vector<Entry>>
      entries;
  /// The error that storing a weight in a layout adds
  /// (WeightEncoding::getError).
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, double> weightErrors;
};

/// The name of a candidate that is a view in printed plans.
inline constexpr llvm::StringLiteral kViewName = "view";

/// Visits all candidates of `layer` and of its other forms in the cost model.
/// If the layer names a routine (and parameters) already, only this one is
/// visited. Routines that work in any layout are tried in row-major order and
/// in each of `layouts` that fits.
void forEachCandidate(nn::LayerOp layer, const CostModel &cost,
                      llvm::ArrayRef<nn::LayoutAttr> layouts,
                      llvm::function_ref<void(Candidate)> visit,
                      ParamChoice params = ParamChoice::all);

/// Returns the estimated or measured seconds of a layer with the routine and
/// the types that it has; 0 if no routine computes it.
double getLayerSeconds(nn::LayerOp layer, const CostModel &cost);

/// Returns the layouts that candidates of the block's layers require. These are
/// the layouts in which routines for any layout are worth trying.
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

/// Returns the cost model of `function` on `machine`, calibrated by the
/// measurements of the function's own layers. `measured`, `memo` and `forms`,
/// if not null, must outlive the result. Candidates keep to `rules`.
CostModel
makeCostModel(mlir::func::FuncOp function, target::MachineAttr machine,
              const Measurements *measured, CandidateMemo *memo = nullptr,
              const LayerForms *forms = nullptr, const WeightRules &rules = {});

/// Returns, for each schema, the cheapest candidate and those dearer ones that
/// have smaller rounding errors.
llvm::SmallVector<Candidate, 0>
findCandidates(nn::LayerOp layer, const CostModel &cost,
               llvm::ArrayRef<nn::LayoutAttr> layouts,
               ParamChoice params = ParamChoice::all);

/// Checks the choice that the layer states: its routine is in the catalogue,
/// runs on the machine, and computes this anchor and epilogue with these
/// shapes, layouts, element types and parameters. Reports what is wrong and
/// what to do. If the machine is null, every routine runs.
mlir::LogicalResult checkRoutine(nn::LayerOp layer,
                                 target::MachineAttr machine);
mlir::LogicalResult checkRoutine(nn::AdaptOp adapt,
                                 target::MachineAttr machine);
/// Checks every layer and adapt in `root`.
mlir::LogicalResult checkRoutines(mlir::Operation *root,
                                  target::MachineAttr machine);

/// Returns true if the layer's epilogue gives zero for zeros in the operands
/// that have a layout, so that it may also run on the padding of that layout.
bool keepsZeros(nn::LayerOp layer,
                llvm::ArrayRef<mlir::RankedTensorType> operands);

/// Returns the work of `layer` with operands and a result of these types.
LayerWork getLayerWork(nn::LayerOp layer,
                       llvm::ArrayRef<mlir::RankedTensorType> operands,
                       mlir::RankedTensorType result);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_CANDIDATES_H
