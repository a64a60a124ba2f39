//===- Cost.h - How long a call should take -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_COST_H
#define NNC_COMPILER_ROUTINES_COST_H

#include "compiler/routines/DeviceCost.h"
#include "compiler/routines/Measurements.h"
#include "compiler/routines/WeightRules.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nnc {
class CandidateMemo;
class LayerForms;

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
  const Routine *routine = nullptr; ///< null for a view and for a transfer
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

/// Unit costs: the time of a call on one device of a machine, measured where a
/// measurement is known, and otherwise estimated by the device's cost model.
/// Where other calls were measured, estimates are multiplied by the ratio of
/// measured to estimated times, so that both can be compared.
class CostModel {
public:
  /// `weightBytes` is the size of all weights of the model, from which follows
  /// the cache or memory that they are read from. `measured` is null if nothing
  /// was measured. The costs are those of the machine's host.
  CostModel(target::MachineAttr machine, int64_t weightBytes,
            const Measurements *measured = nullptr);

  /// Returns the same costs on another device of the machine; an empty name is
  /// that of the host. They have no memo and no calibration, both of which are
  /// for one device.
  CostModel forDevice(llvm::StringRef name) const;

  target::MachineAttr getMachine() const { return machine; }
  target::DeviceAttr getDevice() const { return device; }
  /// Returns the device's name as types and measurements have it: empty for the
  /// host.
  std::string getDeviceName() const {
    return device == machine.getHost() ? "" : device.getName().str();
  }
  /// Returns the seconds to move `bytes` from one device of the machine to
  /// another, as TransferCost says.
  double getTransferSeconds(llvm::StringRef from, llvm::StringRef to,
                            int64_t bytes) const;
  bool knowsMeasurements() const { return measured && !measured->empty(); }

  /// Returns the estimate of the device's cost model, which
  /// DeviceCost::estimate() describes.
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params, const LayerWork &work) const {
    return deviceCost->estimate(routine, calls, params, work);
  }
  /// Sets the seconds of an estimated cost from measurements, and adds those of
  /// its bytes of code. `layer` is the layer's description if measurements are
  /// known.
  void price(UnitCost &cost, const Routine &routine,
             llvm::ArrayRef<int64_t> params, llvm::StringRef layer) const;

  /// Returns the cheapest routine that changes one layout to another on their
  /// device, or on that of the model where the types name none; its cost is
  /// kImpossible if there is none. A transfer to another device, which leaves
  /// the layout as it is, has no routine.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;
  /// Visits every routine of the model's device that changes one layout to
  /// another; none if the change is a view.
  void forEachAdapt(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    llvm::function_ref<void(AdaptCost)> visit) const;

  /// Returns the seconds to bring the memory of a value into the caches near
  /// the core before the value is written; 0 if these caches still hold it. In
  /// a network, all weights may have passed through the cache that holds the
  /// memory since it was last written. Measurements and estimates of single
  /// layers do not include this time.
  double getFetchSeconds(mlir::RankedTensorType value) const {
    return deviceCost->getFetchSeconds(nn::getPhysicalBytes(value));
  }

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

  /// Returns which weights the routines of candidates may read.
  const WeightRules &getWeightRules() const { return weightRules; }
  void setWeightRules(WeightRules rules) { weightRules = std::move(rules); }

private:
  /// Returns the bytes of code that a layer adds to a model: those of its own
  /// function, or its part of one that all layers of its routine share.
  double getAddedBytes(const Routine &routine,
                       llvm::ArrayRef<int64_t> params) const;

  target::MachineAttr machine;
  target::DeviceAttr device;
  int64_t weightBytes;
  std::shared_ptr<const DeviceCost> deviceCost;
  double byteSeconds = 0;
  llvm::StringMap<unsigned> sharersOfRoutines;
  const Measurements *measured;
  CandidateMemo *memo = nullptr;
  const LayerForms *forms = nullptr;
  const FreeMemory *freeMemory = nullptr;
  WeightRules weightRules;
  Calibration calibration;
};

/// Returns the bytes of all constants of `function`, each counted once.
int64_t getWeightBytes(mlir::func::FuncOp function);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_COST_H
