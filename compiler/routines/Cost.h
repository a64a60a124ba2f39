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

/// A key that is equal for the same call on layers that are alike, so that a
/// measurement of one serves all. Layers are alike if they differ only in sizes
/// above 12 that round to the same power of two.
std::string getAlikeCall(const Subject &subject);

/// Ratios of measured to estimated times.
class Calibration {
public:
  void add(llvm::StringRef layer, const Routine &routine,
           llvm::ArrayRef<int64_t> params, const UnitCost &measured);
  /// Scales an estimate by the median ratio of the first of these groups that
  /// has a measurement: this call on layers that are alike; this routine with
  /// other params on this layer; this routine on all layers; all calls.
  void scale(llvm::StringRef layer, const Routine &routine,
             llvm::ArrayRef<int64_t> params, UnitCost &cost) const;

private:
  llvm::StringMap<std::vector<double>> ratios; ///< sorted
};

/// Unit costs: the time of a call, measured where a measurement is known, and
/// otherwise estimated from the target's row. A call is estimated to take the
/// longest of three times: its arithmetic at the rate that the routine reaches,
/// reading its weights, and accessing its activations, both at the bandwidth of
/// the level that holds them. A part of the shorter times that does not overlap
/// with the longest, and a fixed time to start the call, are added. Where other
/// calls were measured, estimates are multiplied by the ratio of measured to
/// estimated times, so that both can be compared.
class CostModel {
public:
  /// `weightBytes` is the size of the whole model's weights, which decides from
  /// where they are read. `measured` is null if nothing was measured.
  CostModel(target::MachineAttr machine, int64_t weightBytes,
            const Measurements *measured = nullptr);

  target::MachineAttr getMachine() const { return machine; }
  bool knowsMeasurements() const { return measured && !measured->empty(); }

  /// Estimated seconds of a layer that consists of `calls` of one routine;
  /// infinity where other params are always as fast on such a machine.
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params, const LayerWork &work) const;
  /// The part of an estimate that a call takes before it computes anything.
  static double getStartSeconds(bool hasParams);
  /// Sets the seconds of an estimated cost to what measurements say.
  /// `layer` is the layer's description if measurements are known.
  void price(UnitCost &cost, const Routine &routine,
             llvm::ArrayRef<int64_t> params, llvm::StringRef layer) const;

  /// The cheapest way from one layout to another; kImpossible where nothing
  /// computes it.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;
  /// Every way, none for a view.
  void forEachAdapt(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    llvm::function_ref<void(AdaptCost)> visit) const;

  /// Seconds to bring the memory of a value near before it is written, in a
  /// network; 0 if the caches near the core hold it. The memory comes from a
  /// level through which all weights may have passed since it was last written.
  /// Measurements and estimates of single layers find it near.
  double getFetchSeconds(mlir::RankedTensorType value) const;

  void setCalibration(Calibration found) { calibration = std::move(found); }

  /// What forEachCandidate() remembers candidates in, or null.
  CandidateMemo *getMemo() const { return memo; }
  void setMemo(CandidateMemo *own) { memo = own; }

private:
  /// The machine's core, with vectors of `isa`.
  core_limits getCore(llvm::StringRef isa) const;

  target::MachineAttr machine;
  int64_t weightBytes;
  double crowding;      ///< 0 to 1: how far weights fill the last cache
  double weightSeconds; ///< to read a byte of the weights
  const Measurements *measured;
  CandidateMemo *memo = nullptr;
  Calibration calibration;
};

/// Bytes of all constants of `function`, each counted once.
int64_t getWeightBytes(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_COST_H
