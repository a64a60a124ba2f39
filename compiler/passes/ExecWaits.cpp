//===- ExecWaits.cpp - Where an exec program waits for devices ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The last step of nnc-lower-to-exec. A device other than the host runs its
// calls and transfers in order while the host continues. The host waits before
// it reads memory that a transfer writes, before it writes memory that a
// transfer reads or writes, and at the end of the program.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/ExecLowering.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nnc;

namespace {
/// A range of bytes in the memory of the host. Places in the arena have no
/// owner, since they may overlap; each other place is memory of its own.
struct Span {
  Operation *owner;
  StringRef memory; ///< name of the memory, for a place in the arena
  int64_t begin, end;
  bool isWritten;

  bool meets(const Span &other) const {
    return owner == other.owner && memory == other.memory &&
           begin < other.end && other.begin < end &&
           (isWritten || other.isWritten);
  }
};

/// A traversal of the steps of a program that adds waits in front of them.
class Waiter {
public:
  explicit Waiter(exec::ProgramOp program) : builder(program.getContext()) {}
  void run(Block &steps);

private:
  void visit(Operation *step);
  /// Adds waits in front of `step` for each device, except for `except`, that
  /// has a pending transfer whose memory conflicts with the host's memory that
  /// `step` reads or writes.
  void waitFor(Operation *step, StringRef except);
  void waitForAll(Block &steps, Block::iterator at);
  void wait(StringRef device, Block &steps, Block::iterator at);

  OpBuilder builder;
  /// The devices that the host has not waited for since their last call or
  /// transfer, each with the memory of the host that its transfers read or
  /// write.
  llvm::MapVector<StringRef, SmallVector<Span>> busy;
};
} // namespace

static Span getSpan(Value place, bool isWritten) {
  exec::PlaceOpInterface op = exec::getPlaceOp(place);
  int64_t begin = 0, bytes = nn::getPhysicalBytes(op.getTensor());
  while (auto view = dyn_cast<exec::ViewOp>(op.getOperation())) {
    begin += view.getOffset();
    op = exec::getPlaceOp(view.getBase());
  }
  if (!exec::isInArena(op))
    return {op, "", begin, begin + bytes, isWritten};
  auto buffer = dyn_cast<exec::BufferOp>(op.getOperation());
  begin += buffer ? int64_t(buffer.getOffset()) : *exec::getPortOffset(op);
  return {nullptr, exec::getMemory(op), begin, begin + bytes, isWritten};
}

/// Returns the places of the host that a step reads or writes.
static SmallVector<Span> getSpans(Operation *step) {
  SmallVector<Value> written;
  if (auto call = dyn_cast<exec::CallOp>(step)) {
    llvm::append_range(written, call.getOutputs());
    written.push_back(call.getScratch());
  } else if (auto custom = dyn_cast<exec::CustomOp>(step)) {
    written = {custom.getOutput(), custom.getScratch()};
  } else if (auto copy = dyn_cast<exec::CopyOp>(step)) {
    written.push_back(copy.getTarget());
  } else if (auto transfer = dyn_cast<exec::TransferOp>(step)) {
    written.push_back(transfer.getTarget());
  }
  SmallVector<Span> spans;
  for (Value place : step->getOperands())
    if (exec::getPlaceOp(place).getDevice().empty())
      spans.push_back(getSpan(place, llvm::is_contained(written, place)));
  return spans;
}

void Waiter::wait(StringRef device, Block &steps, Block::iterator at) {
  builder.setInsertionPoint(&steps, at);
  Location loc =
      at == steps.end() ? steps.getParentOp()->getLoc() : at->getLoc();
  builder.create<exec::WaitOp>(loc, device);
}

void Waiter::waitForAll(Block &steps, Block::iterator at) {
  for (const auto &[device, spans] : busy)
    wait(device, steps, at);
  busy.clear();
}

void Waiter::waitFor(Operation *step, StringRef except) {
  SmallVector<Span> own = getSpans(step);
  busy.remove_if([&](auto &entry) {
    auto meetsOne = [&](const Span &span) {
      return llvm::any_of(own, [&](const Span &o) { return o.meets(span); });
    };
    if (entry.first == except || !llvm::any_of(entry.second, meetsOne))
      return false;
    wait(entry.first, *step->getBlock(), Block::iterator(step));
    return true;
  });
}

void Waiter::visit(Operation *step) {
  if (isa<exec::BranchOp, exec::LoopOp>(step)) {
    waitForAll(*step->getBlock(), Block::iterator(step));
    for (Region &region : step->getRegions())
      run(region.front());
    return;
  }
  StringRef device = exec::getDevice(step);
  waitFor(step, device);
  if (device.empty())
    return;
  SmallVector<Span> &spans = busy[device];
  if (isa<exec::TransferOp>(step))
    llvm::append_range(spans, getSpans(step));
}

void Waiter::run(Block &steps) {
  for (Operation &step : llvm::make_early_inc_range(steps))
    if (!isa<exec::PlaceOpInterface>(step))
      visit(&step);
  waitForAll(steps, steps.end());
}

void nnc::addWaits(exec::ProgramOp program) {
  Waiter(program).run(program.getBody().front());
}
