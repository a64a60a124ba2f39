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

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nnc {
class CandidateMemo;
class LayerForms;

/// The work of a layer, which does not depend on the routine.
struct LayerWork {
  /// Multiply-adds, or the operations of a family without them.
  double operations = 0;
  double epilogueOperations = 0; ///< of values in registers, most of which fit
                                 ///< between multiply-adds
  double exponentials = 0;       ///< exponentials and functions of similar cost
  double gates = 0;              ///< calls of functions of runtime/simd/gates.h
  /// Bytes of activations that are read and written.
  int64_t activationBytes = 0;
  int64_t weightBytes = 0; ///< bytes of constants that are read
};

/// The time that a call takes.
struct UnitCost {
  double seconds = 0;
  /// Estimate from the target's row, without measurements.
  double estimate = 0;
  bool measured = false;
  bool alike = false; ///< not measured itself, but on a similar layer
};

/// The routine that computes an adapt, and its cost.
struct AdaptCost : UnitCost {
  const Routine *routine = nullptr; ///< null if the adapt is a view
  llvm::SmallVector<int64_t> params;
};

/// The memory that is free while each layer of a function runs, beside all
/// values in row-major order, within a limit. What a candidate takes of it is
/// its scratch memory and the padding of its layouts.
struct FreeMemory {
  llvm::DenseMap<mlir::Operation *, int64_t> bytes; ///< of each layer
  int threads = 1; ///< that share the work of a layer
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
  /// `weightBytes` is the size of all weights of the model, from which follows
  /// the cache or memory that they are read from. `measured` is null if nothing
  /// was measured.
  CostModel(target::MachineAttr machine, int64_t weightBytes,
            const Measurements *measured = nullptr);

  target::MachineAttr getMachine() const { return machine; }
  bool knowsMeasurements() const { return measured && !measured->empty(); }

  /// Returns the estimated seconds of a layer that consists of `calls` of one
  /// routine; infinity if other parameters are always at least as fast on such
  /// a machine.
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params, const LayerWork &work) const;
  /// Returns the estimated seconds that a call takes before it computes
  /// anything.
  static double getStartSeconds(bool hasParams);
  /// Sets the seconds of an estimated cost from measurements, and adds those of
  /// its bytes of code. `layer` is the layer's description if measurements are
  /// known.
  void price(UnitCost &cost, const Routine &routine,
             llvm::ArrayRef<int64_t> params, llvm::StringRef layer) const;

  /// Returns the cheapest routine that changes one layout to another; its cost
  /// is kImpossible if there is none.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;
  /// Visits every routine that changes one layout to another; none if the
  /// change is a view.
  void forEachAdapt(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    llvm::function_ref<void(AdaptCost)> visit) const;

  /// Returns the seconds to bring the memory of a value into the caches near
  /// the core before the value is written; 0 if these caches still hold it. In
  /// a network, all weights may have passed through the cache that holds the
  /// memory since it was last written. Measurements and estimates of single
  /// layers do not include this time.
  double getFetchSeconds(mlir::RankedTensorType value) const;

  /// Sets the seconds that a byte of code costs, and how many layers may share
  /// the code of each routine.
  void setByteSeconds(double seconds, llvm::StringMap<unsigned> sharers) {
    byteSeconds = seconds;
    sharersOfRoutines = std::move(sharers);
  }

  /// Makes candidates that take more than the free memory dearer than all that
  /// do not, by the bytes that they take too many. Null takes that back.
  void setFreeMemory(const FreeMemory *found) { freeMemory = found; }
  const FreeMemory *getFreeMemory() const { return freeMemory; }
  /// Returns the seconds that candidates of the layer cost more if they take
  /// `bytes` of the free memory.
  double getMemorySeconds(mlir::Operation *layer, int64_t bytes) const;

  void setCalibration(Calibration found) { calibration = std::move(found); }

  /// Returns the memo in which forEachCandidate() keeps candidates, or null.
  CandidateMemo *getMemo() const { return memo; }
  void setMemo(CandidateMemo *own) { memo = own; }

  /// Returns the other forms of layers whose candidates forEachCandidate()
  /// visits, or null.
  const LayerForms *getForms() const { return forms; }
  void setForms(const LayerForms *others) { forms = others; }

private:
  /// Returns the bytes of code that a layer adds to a model: those of its own
  /// function, or its part of one that all layers of its routine share.
  double getAddedBytes(const Routine &routine,
                       llvm::ArrayRef<int64_t> params) const;
  /// Returns the limits of the machine's core for vectors of `isa`.
  core_limits getCore(llvm::StringRef isa) const;

  target::MachineAttr machine;
  int64_t weightBytes;
  /// Fraction of the last-level cache that weights fill, 0 to 1.
  double crowding;
  double weightSeconds; ///< seconds to read a byte of the weights
  double byteSeconds = 0;
  llvm::StringMap<unsigned> sharersOfRoutines;
  const Measurements *measured;
  CandidateMemo *memo = nullptr;
  const LayerForms *forms = nullptr;
  const FreeMemory *freeMemory = nullptr;
  Calibration calibration;
};

/// Returns the bytes of all constants of `function`, each counted once.
int64_t getWeightBytes(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_COST_H
