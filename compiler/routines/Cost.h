//===- Cost.h - How long a call should take -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_COST_H
#define NNC_COMPILER_ROUTINES_COST_H

#include "compiler/routines/Catalogue.h"
#include "compiler/routines/Measurements.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/StringMap.h"

namespace nnc {
class CandidateMemo;

/// What a layer computes and touches, whatever the routine.
struct LayerWork {
  double operations = 0; ///< multiply-adds, or what the routine has instead
  double epilogueOperations = 0; ///< of values in registers, most of which fit
                                 ///< between multiply-adds
  double exponentials = 0;       ///< and functions like these
  double gates = 0;              ///< functions of runtime/simd/gates.h
  int64_t activationBytes = 0;   ///< read and written
  int64_t weightBytes = 0;       ///< constants read
};

/// How long something takes.
struct UnitCost {
  double seconds = 0;
  double estimate = 0; ///< what the target's row alone lets expect
  bool measured = false;
  bool alike = false; ///< not measured, but the same call on a layer alike is
};

/// What computes an adapt, and its cost.
struct AdaptCost : UnitCost {
  const Routine *routine = nullptr; ///< none for a view
  llvm::SmallVector<int64_t> params;
};

/// The same for the same call on layers that are alike: whose sizes past a
/// dozen are about the same power of two.
std::string getAlikeCall(const Subject &subject);

/// By how much measured times differ from estimated ones.
class Calibration {
public:
  void add(llvm::StringRef layer, const Routine &routine,
           llvm::ArrayRef<int64_t> params, const UnitCost &measured);
  /// Scales an estimate by the median ratio of what was measured of this call
  /// on layers alike; where there is nothing, of the routine with other params
  /// on this layer; else of the routine on all layers; else of all.
  void scale(llvm::StringRef layer, const Routine &routine,
             llvm::ArrayRef<int64_t> params, UnitCost &cost) const;

private:
  llvm::StringMap<std::vector<double>> ratios; ///< sorted
};

/// Unit costs: measured where that is known. Else estimated from a target row:
/// a call takes as long as its arithmetic at the rate that the routine's inner
/// loop reaches, or as its weights or its activations from the level that holds
/// them, whichever is longest; what does not hide behind that, and a fixed time
/// more; and multiplied by what measurements differ from such estimates, so
/// that both can be compared.
class CostModel {
public:
  /// `weightBytes` of the whole model say where weights are read from. Where
  /// nothing is measured, `measured` is null.
  CostModel(target::MachineAttr machine, int64_t weightBytes,
            const Measurements *measured = nullptr);

  target::MachineAttr getMachine() const { return machine; }
  bool knowsMeasurements() const { return measured && !measured->empty(); }

  /// What a layer that is `calls` of one routine costs by the target's row;
  /// infinity where other params are always sooner done on such a machine.
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params, const LayerWork &work) const;
  /// Of that, what a call takes before it computes anything.
  static double getStartSeconds(bool hasParams);
  /// Sets what is estimated to what measurements say of it. `layer` describes
  /// it where measurements are known.
  void price(UnitCost &cost, const Routine &routine,
             llvm::ArrayRef<int64_t> params, llvm::StringRef layer) const;

  /// The cheapest way from one layout to another; kImpossible where nothing
  /// computes it.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;
  /// Every way, none for a view.
  void forEachAdapt(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    llvm::function_ref<void(AdaptCost)> visit) const;

  /// To write a value in a network: where the caches near the core do not hold
  /// it, its place comes from beyond first, through which all weights may have
  /// passed since it was last written. Layers that are measured, or estimated,
  /// by themselves find it near.
  double getFetchSeconds(mlir::RankedTensorType value) const;

  void setCalibration(Calibration found) { calibration = std::move(found); }

  /// What forEachCandidate() remembers candidates in, or null.
  CandidateMemo *getMemo() const { return memo; }
  void setMemo(CandidateMemo *own) { memo = own; }

private:
  /// Of the machine, with vectors of `isa`.
  Core getCore(llvm::StringRef isa) const;

  target::MachineAttr machine;
  int64_t weightBytes;
  double crowded;       ///< 0 to 1, how far they fill the last cache
  double weightSeconds; ///< to read a byte of them
  const Measurements *measured;
  CandidateMemo *memo = nullptr;
  Calibration calibration;
};

/// Bytes of all constants of `function`, each counted once.
int64_t getWeightBytes(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_COST_H
