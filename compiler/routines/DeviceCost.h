//===- DeviceCost.h - How long a device takes for calls -------------------===//
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

/// The cost model of one kind of devices: estimated times, without
/// measurements, of what a device of the kind does. All weights of a model,
/// whose size tells where they come from, are read by the one device.
class DeviceCost {
public:
  virtual ~DeviceCost();
  /// Returns the estimated seconds of a layer that consists of `calls` of one
  /// routine; infinity if other parameters are always at least as fast on such
  /// a device.
  virtual double estimate(const Routine &routine,
                          llvm::ArrayRef<RoutineShape> calls,
                          llvm::ArrayRef<int64_t> params,
                          const LayerWork &work) const = 0;
  /// Returns the seconds to bring `bytes` of memory near to where they are
  /// computed before they are written, as CostModel::getFetchSeconds() says.
  virtual double getFetchSeconds(int64_t bytes) const = 0;
};

/// The cost model of a processor core. A call is estimated to take the longest
/// of three times: its arithmetic at the rate that the routine reaches, reading
/// its weights, and accessing its activations, both at the bandwidth of the
/// level that holds them. A part of the shorter times that does not overlap
/// with the longest, and a fixed time to start the call, are added.
class CoreCost : public DeviceCost {
public:
  CoreCost(target::CoreAttr core, int64_t weightBytes);
  double estimate(const Routine &routine, llvm::ArrayRef<RoutineShape> calls,
                  llvm::ArrayRef<int64_t> params,
                  const LayerWork &work) const override;
  double getFetchSeconds(int64_t bytes) const override;
  /// Returns the estimated seconds that a call takes before it computes
  /// anything.
  static double getStartSeconds(bool hasParams);

private:
  /// Returns the limits of the core for vectors of `isa`.
  core_limits getLimits(llvm::StringRef isa) const;

  target::CoreAttr core;
  int64_t weightBytes;
  /// Fraction of the last-level cache that weights fill, 0 to 1.
  double crowding;
  double weightSeconds; ///< seconds to read a byte of the weights
};

/// Returns the cost model of a device, which reads `weightBytes` of weights.
std::shared_ptr<const DeviceCost> makeDeviceCost(target::DeviceAttr device,
                                                 int64_t weightBytes);

/// The time of transfers between devices of a machine: a fixed time for each
/// transfer, and its bytes at the bandwidth of the link. All links are between
/// the host and another device, so that what goes from one of these to another
/// passes through the host.
class TransferCost {
public:
  explicit TransferCost(target::MachineAttr machine) : machine(machine) {}
  /// Returns the estimated seconds to move `bytes` from a device to another;
  /// an empty name is that of the host. 0 within one device, and infinity where
  /// the machine lacks one of them.
  double getSeconds(llvm::StringRef from, llvm::StringRef to,
                    int64_t bytes) const;

private:
  target::MachineAttr machine;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DEVICECOST_H
