//===- DeviceCost.h - Estimated times of calls on a device ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_DEVICECOST_H
#define NNC_COMPILER_ROUTINES_DEVICECOST_H

#include "compiler/routines/Catalogue.h"
#include "dialects/target/Target.h"

#include <memory>

namespace nnc {

/// The work of a layer, which does not depend on the routine.
struct LayerWork {
  /// The multiply-adds, or for a family without them its operations.
  double operations = 0;
  double epilogueOperations = 0; ///< operations on values in registers, most of
                                 ///< which are hidden between multiply-adds
  double exponentials = 0;       ///< exponentials and functions of similar cost
  double gates = 0;              ///< calls of functions of runtime/simd/gates.h
  double lookups = 0;            ///< bytes that are looked up in tables
  /// The bytes of activations that are read and written.
  int64_t activationBytes = 0;
  int64_t weightBytes = 0; ///< bytes of constants that are read
};

/// The cost model of one kind of device: estimates, without measurements, of
/// the time that its calls take. The device reads all weights of the model,
/// whose total size decides the cache or memory that they come from.
class DeviceCost {
public:
  virtual ~DeviceCost();
  /// Returns the estimated seconds of a layer that consists of `calls` of one
  /// routine, or infinity if other parameters are always at least as fast on
  /// this kind of device.
  virtual double estimate(const Routine &routine,
                          llvm::ArrayRef<RoutineShape> calls,
                          llvm::ArrayRef<int64_t> params,
                          const LayerWork &work) const = 0;
  /// Returns the seconds to bring `bytes` of memory near to the core before
  /// they are written; see CostModel::getFetchSeconds().
  virtual double getFetchSeconds(int64_t bytes) const = 0;
};

/// The cost model of a processor core. The estimate of a call is the longest of
/// three times: computing at the rate that the routine reaches, reading the
/// weights, and accessing the activations. Weights and activations each move at
/// the bandwidth of the cache or memory that holds them. The parts of the
/// shorter times that do not overlap with the longest, and a fixed time to
/// start the call, are added.
class CoreCost : public DeviceCost {
public:
  CoreCost(target::CoreAttr core, int64_t weightBytes);
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params,
                  const LayerWork &work) const override;
  double getFetchSeconds(int64_t bytes) const override;
  /// Returns the estimated seconds from the start of a call to its first
  /// computation. `hasParams` tells whether the routine has parameters.
  static double getStartSeconds(bool hasParams);

private:
  /// Returns the core's limits for a routine that uses vectors of `isa`.
  core_limits getLimits(llvm::StringRef isa) const;

  target::CoreAttr core;
  int64_t weightBytes;
  /// Fraction of the last-level cache that weights fill, 0 to 1.
  double crowding;
  double weightSeconds; ///< seconds to read a byte of the weights
};

/// Returns the cost model of a device that reads `weightBytes` of weights.
std::shared_ptr<const DeviceCost> makeDeviceCost(target::DeviceAttr device,
                                                 int64_t weightBytes);

/// The time of transfers between devices of a machine: a fixed time for each
/// transfer, plus its bytes at the bandwidth of the link. Every link joins the
/// host and another device, so a transfer between two other devices passes
/// through the host.
class TransferCost {
public:
  explicit TransferCost(target::MachineAttr machine) : machine(machine) {}
  /// Returns the estimated seconds to move `bytes` from one device to another;
  /// an empty name means the host. The result is 0 within one device, and
  /// infinity if the machine lacks one of the devices.
  double getSeconds(llvm::StringRef from, llvm::StringRef to,
                    int64_t bytes) const;

private:
  target::MachineAttr machine;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DEVICECOST_H
