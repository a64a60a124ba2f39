//===- Cost.h - Estimated and measured times of calls ---------------------===//
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

/// The time that a call takes, in seconds.
struct UnitCost {
  double seconds = 0;
  /// The estimate from the target's row in the table of targets, without
  /// measurements.
  double estimate = 0;
  bool measured = false;
  bool alike = false; ///< whether a measurement of a similar layer was used
};

/// The routine that computes an adapt, and its cost.
struct AdaptCost : UnitCost {
  const Routine *routine = nullptr; ///< null for a view and for a transfer
  llvm::SmallVector<int64_t> params;
};

/// The memory in bytes that is left within a limit while each layer of a
/// function runs, when all live values are held in row-major order. A candidate
/// uses it for scratch memory and for the padding of its layouts.
struct FreeMemory {
  llvm::DenseMap<mlir::Operation *, int64_t> bytes; ///< free bytes, by layer
  int threads = 1; ///< number of threads that share a layer's work
};

/// Returns a key that is equal for the same call on similar layers, so that a
/// measurement of one serves all of them. Layers are similar if they differ
/// only in sizes above 12 that round to the same power of two.
std::string getAlikeCall(const Subject &subject);

/// Ratios of measured to estimated times.
class Calibration {
public:
  void add(llvm::StringRef layer, const Routine &routine,
           llvm::ArrayRef<int64_t> params, const UnitCost &measured);
  /// Scales an estimate by the median ratio of the closest group of calls that
  /// has a measurement. From closest to farthest, the groups are: this call on
  /// similar layers; this routine with other parameters on this layer; this
  /// routine on all layers; all calls.
  void scale(llvm::StringRef layer, const Routine &routine,
             llvm::ArrayRef<int64_t> params, UnitCost &cost) const;

private:
  llvm::StringMap<std::vector<double>> ratios; ///< sorted lists, by group
};

/// Unit costs: the time of a call on one device of a machine, measured where a
/// measurement is known, and otherwise estimated by the device's cost model.
/// Where other calls were measured, estimates are multiplied by the ratio of
/// measured to estimated times, so that both can be compared.
class CostModel {
public:
  /// Creates the cost model of the machine's host. `weightBytes` is the size of
  /// all weights of the model, which decides the cache or memory that they are
  /// read from. `measured` is null if there are no measurements.
  CostModel(target::MachineAttr machine, int64_t weightBytes,
            const Measurements *measured = nullptr);

  /// Returns the cost model of another device of the same machine; an empty
  /// name means the host. The result has no memo and no calibration, because
  /// both belong to one device.
  CostModel forDevice(llvm::StringRef name) const;

  target::MachineAttr getMachine() const { return machine; }
  target::DeviceAttr getDevice() const { return device; }
  /// Returns the device's name as types and measurements spell it: empty for
  /// the host.
  std::string getDeviceName() const {
    return device == machine.getHost() ? "" : device.getName().str();
  }
  /// Returns the seconds to move `bytes` from one device of the machine to
  /// another, as TransferCost estimates them.
  double getTransferSeconds(llvm::StringRef from, llvm::StringRef to,
                            int64_t bytes) const;
  bool knowsMeasurements() const { return measured && !measured->empty(); }

  /// Returns the estimate of the device's cost model, which
  /// DeviceCost::estimate() describes.
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params, const LayerWork &work) const {
    return deviceCost->estimate(routine, calls, params, work);
  }
  /// Sets the seconds of a cost from its estimate and the measurements, and
  /// adds the price of its bytes of code. `layer` is the layer's description;
  /// it is needed only if there are measurements.
  void price(UnitCost &cost, const Routine &routine,
             llvm::ArrayRef<int64_t> params, llvm::StringRef layer) const;

  /// Returns the cheapest routine that changes one layout to another on the
  /// device of both types, or on the model's device if the types name none. Its
  /// cost is kImpossible if there is no such routine. A transfer to another
  /// device must keep the layout, and has no routine.
  AdaptCost getAdapt(mlir::RankedTensorType from,
                     mlir::RankedTensorType to) const;
  /// Visits every routine of the model's device that changes one layout to
  /// another. It visits none if the change is a view.
  void forEachAdapt(mlir::RankedTensorType from, mlir::RankedTensorType to,
                    llvm::function_ref<void(AdaptCost)> visit) const;

  /// Returns the seconds to bring the memory of a value into the caches near
  /// the core before the value is written, or 0 if these caches still hold it.
  /// In a network, all weights may have passed through the cache that holds
  /// this memory since it was last written. Measurements and estimates of
  /// single layers do not include this time.
  double getFetchSeconds(mlir::RankedTensorType value) const {
    return deviceCost->getFetchSeconds(nn::getPhysicalBytes(value));
  }

  /// Sets the price of a byte of code in seconds, and for each routine the
  /// number of layers that may share one function for all of their sizes, and
  /// the number of those that may call the functions which this routine has in
  /// a module once.
  void setByteSeconds(double seconds, llvm::StringMap<unsigned> sharers,
                      llvm::StringMap<unsigned> callers) {
    byteSeconds = seconds;
    sharersOfRoutines = std::move(sharers);
    callersOfRoutines = std::move(callers);
  }

  /// Adds to each candidate that exceeds the free memory a penalty per excess
  /// byte that is larger than any saving of time. Null removes the limit.
  void setFreeMemory(const FreeMemory *found) { freeMemory = found; }
  const FreeMemory *getFreeMemory() const { return freeMemory; }
  /// Returns the penalty in seconds of a candidate of the layer that takes
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
  /// function, or its share of a function for all layers with this routine, and
  /// its share of the functions that these call.
  double getAddedBytes(const Routine &routine,
                       llvm::ArrayRef<int64_t> params) const;

  target::MachineAttr machine;
  target::DeviceAttr device;
  int64_t weightBytes;
  std::shared_ptr<const DeviceCost> deviceCost;
  double byteSeconds = 0;
  llvm::StringMap<unsigned> sharersOfRoutines, callersOfRoutines;
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
