//===- VerifyMemory.cpp - Checks the places of values ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The check knows nothing of lifetimes or groups: it follows bytes. For each
// byte of memory, it records which byte of which value was written there. The
// plan is wrong if a read finds another byte than that of its operand.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/VerifyMemory.h"
#include "compiler/memory/Contents.h"
#include "compiler/passes/Passes.h"
#include "compiler/routines/Scratch.h"
#include "dialects/nn/control/Control.h"

#include <map>

namespace nnc {
#define GEN_PASS_DEF_VERIFYMEMORY
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;
using exec::PlaceAttr;
using exec::Pool;

namespace {
/// The contents of one memory or buffer, as byte ranges in ascending order.
class Bytes {
public:
  void write(int64_t at, ArrayRef<ByteRange> ranges);
  bool holds(int64_t at, ArrayRef<ByteRange> ranges) const;
  /// Removes the contents that `other` does not hold at the same offsets.
  void intersect(const Bytes &other);

private:
  void clear(int64_t begin, int64_t end);
  std::map<int64_t, ByteRange> ranges;
};

class Checker {
public:
  explicit Checker(func::FuncOp function)
      : function(function), contents(function) {}
  LogicalResult run();

private:
  LogicalResult check(func::FuncOp function);
  LogicalResult check(Operation *op);
  LogicalResult checkIf(nn::IfOp op);
  LogicalResult checkLoop(nn::LoopOp op);
  LogicalResult checkRun(nn::LoopOp op, func::FuncOp body, bool isFirst);
  LogicalResult checkScratch(Operation *op, int64_t wanted);
  /// Checks that an operand of `op` is intact, and writes `other`, the value
  /// that it becomes, at its place.
  LogicalResult handOver(Operation *op, unsigned operand, Value other);
  /// Does so for several operands, whose numbers begin with `first`, except for
  /// those in `left`. Values that are in place already are not written, so that
  /// they must stay intact until all others are written.
  LogicalResult handOver(Operation *op, unsigned first, ValueRange others,
                         ArrayRef<unsigned> left = {});
  /// Checks that all of `values` are intact at their places when `op` ends.
  LogicalResult checkPlaced(Operation *op, ValueRange values);
  LogicalResult checkOperand(Operation *op, unsigned operand);
  LogicalResult checkBounds(Operation *op, PlaceAttr place, int64_t bytes);
  /// Checks that `place`, which a value of `op` has, is in the memory of
  /// `device`.
  LogicalResult checkDevice(Operation *op, PlaceAttr place, StringRef device);
  LogicalResult compute(Operation *op, PlaceAttr place);
  LogicalResult move(Operation *op, PlaceAttr place, ArrayRef<Move> moves);
  LogicalResult finish(Operation *op);
  Bytes &memory(PlaceAttr place) {
    return pools[{static_cast<int>(place.getPool()), place.getIndex()}];
  }
  /// Returns the number of memories or buffers in the pool of `place`.
  int64_t count(PlaceAttr place);
  int64_t getSize(PlaceAttr place);

  using Pools = std::map<std::pair<int, int64_t>, Bytes>;
  /// Removes the contents that are not in `other`, the contents after another
  /// path of execution.
  void intersect(Pools &other);

  func::FuncOp function;
  Contents contents;
  Pools pools;
};
} // namespace

static bool meet(PlaceAttr a, int64_t aBytes, PlaceAttr b, int64_t bBytes) {
  return a.getPool() == b.getPool() && a.getIndex() == b.getIndex() &&
         a.getOffset() < b.getOffset() + bBytes &&
         b.getOffset() < a.getOffset() + aBytes;
}

static PlaceAttr moveBy(PlaceAttr place, int64_t bytes) {
  return PlaceAttr::get(place.getContext(), place.getPool(), place.getIndex(),
                        place.getOffset() + bytes, 0);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

void Bytes::clear(int64_t begin, int64_t end) {
  auto it = ranges.lower_bound(begin);
  if (it != ranges.begin() && std::prev(it)->second.end > begin)
    --it;
  while (it != ranges.end() && it->second.begin < end) {
    ByteRange old = it->second;
    it = ranges.erase(it);
    if (old.begin < begin)
      ranges[old.begin] = {old.begin, begin, old.root, old.origin};
    if (old.end > end)
      ranges[end] = {end, old.end, old.root, old.origin + end - old.begin};
  }
}

void Bytes::write(int64_t at, ArrayRef<ByteRange> written) {
  for (ByteRange range : written) {
    if (range.begin == range.end) // a tensor without elements
      continue;
    range.begin += at;
    range.end += at;
    clear(range.begin, range.end);
    ranges[range.begin] = range;
  }
}

bool Bytes::holds(int64_t at, ArrayRef<ByteRange> wanted) const {
  for (const ByteRange &range : wanted) {
    // The range may be stored in several pieces, which are visited in order.
    int64_t position = at + range.begin;
    while (position < at + range.end) {
      auto it = ranges.upper_bound(position);
      if (it == ranges.begin())
        return false;
      const ByteRange &found = std::prev(it)->second;
      int64_t origin = range.origin + position - at - range.begin;
      if (found.end <= position || found.root != range.root ||
          found.origin + position - found.begin != origin)
        return false;
      position = found.end;
    }
  }
  return true;
}

void Bytes::intersect(const Bytes &other) {
  std::map<int64_t, ByteRange> both;
  for (const auto &[begin, own] : ranges) {
    auto it = other.ranges.upper_bound(begin);
    if (it != other.ranges.begin())
      --it;
    for (; it != other.ranges.end() && it->second.begin < own.end; ++it) {
      const ByteRange &found = it->second;
      int64_t from = std::max(begin, found.begin),
              to = std::min(own.end, found.end);
      if (from < to && own.root == found.root &&
          own.origin - own.begin == found.origin - found.begin)
        both[from] = {from, to, own.root, own.origin + from - own.begin};
    }
  }
  ranges = std::move(both);
}

//===----------------------------------------------------------------------===//
// Checker
//===----------------------------------------------------------------------===//

int64_t Checker::count(PlaceAttr place) {
  if (place.getPool() == Pool::output)
    return function.getFunctionType().getNumResults();
  if (place.getPool() == Pool::input || place.getPool() == Pool::state)
    return function.getNumArguments();
  auto memories = function->getAttrOfType<ArrayAttr>(
      place.getPool() == Pool::weight ? exec::kWeightMemoriesAttr
                                      : exec::kMemoriesAttr);
  return memories ? static_cast<int64_t>(memories.size()) : 1;
}

int64_t Checker::getSize(PlaceAttr place) {
  switch (place.getPool()) {
  case Pool::arena:
    if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
      return cast<exec::MemoryAttr>(memories[place.getIndex()]).getBytes();
    if (auto arena = function->getAttrOfType<IntegerAttr>(exec::kArenaAttr))
      return arena.getInt();
    return 0;
  case Pool::input:
  case Pool::state:
    return getBytes(function.getArgument(place.getIndex()));
  case Pool::output:
    return getBytes(function.getBody().front().getTerminator()->getOperand(
        place.getIndex()));
  case Pool::weight:
    break;
  }
  return std::numeric_limits<int64_t>::max();
}

LogicalResult Checker::checkBounds(Operation *op, PlaceAttr place,
                                   int64_t bytes) {
  if (place.getIndex() < 0 || place.getIndex() >= count(place))
    return op->emitOpError()
           << "speaks of " << place << ", which the function does not have";
  if (place.getOffset() < 0 || place.getOffset() > getSize(place) - bytes)
    return op->emitOpError() << "wants " << bytes << " bytes at " << place
                             << ", which has " << getSize(place);
  return success();
}

/// Weights may be in any memory; the caller's memory belongs to the host.
LogicalResult Checker::checkDevice(Operation *op, PlaceAttr place,
                                   StringRef device) {
  StringRef owner;
  if (place.getPool() == Pool::weight)
    return success();
  if (auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr);
      memories && place.getPool() == Pool::arena)
    owner = cast<exec::MemoryAttr>(memories[place.getIndex()]).getDevice();
  if (owner == device)
    return success();
  auto describe = [](StringRef name) {
    return name.empty() ? "the host" : ("the device '" + name + "'").str();
  };
  return op->emitOpError() << "has a value of " << describe(device) << " at "
                           << place << ", in memory of " << describe(owner);
}

LogicalResult Checker::checkOperand(Operation *op, unsigned operand) {
  Value value = op->getOperand(operand);
  PlaceAttr place = getPlace(value);
  if (!place)
    return op->emitOpError() << "reads a value without an exec.place";
  if (place.getPool() == Pool::weight)
    return checkBounds(op, place, /*bytes=*/0);
  if (failed(checkBounds(op, place,
                         op->hasTrait<OpTrait::IsTerminator>()
                             ? getBytes(value)
                             : getReadBytes(op, operand))) ||
      failed(checkDevice(op, place, nn::getDevice(value.getType()))))
    return failure();
  if (!memory(place).holds(place.getOffset(), contents.of(value)))
    return op->emitOpError()
           << "reads operand " << operand << " at " << place
           << ", where something else has been written by then";
  return success();
}

/// Checks an op that computes its result, which must not overlap an operand
/// except in place, and writes the result and the scratch memory.
LogicalResult Checker::compute(Operation *op, PlaceAttr place) {
  Value result = op->getResult(0);
  auto scratch = op->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  for (OpOperand &operand : op->getOpOperands()) {
    PlaceAttr other = getPlace(operand.get());
    int64_t bytes = getBytes(operand.get());
    bool inPlace =
        other == place && readsInPlace(op, operand.getOperandNumber());
    if (!inPlace && meet(place, getBytes(result), other, bytes))
      return op->emitOpError()
             << "writes over its operand " << operand.getOperandNumber();
    if (scratch && meet(scratch, scratch.getBytes(), other, bytes))
      return op->emitOpError()
             << "has scratch over its operand " << operand.getOperandNumber();
  }
  int64_t wanted = getScratchBytes(op, /*threads=*/1);
  if (wanted > (scratch ? scratch.getBytes() : 0))
    return op->emitOpError("has too little scratch for its routine: run "
                           "nnc-plan-memory again, or give it exec.scratch of ")
           << wanted << " bytes";
  if (scratch) {
    if (failed(checkBounds(op, scratch, scratch.getBytes())) ||
        failed(checkDevice(op, scratch, getDevice(op))))
      return failure();
    if (meet(scratch, scratch.getBytes(), place, getBytes(result)))
      return op->emitOpError("has scratch over its result");
    memory(scratch).write(scratch.getOffset(),
                          ByteRange{0, scratch.getBytes(), Value(), 0});
  }
  memory(place).write(place.getOffset(), contents.of(result));
  return success();
}

/// Checks an op that only moves bytes. The moved parts that are not in place
/// are copied one by one. A result with too many ranges to follow gets bytes of
/// its own.
LogicalResult Checker::move(Operation *op, PlaceAttr place,
                            ArrayRef<Move> moves) {
  Value result = op->getResult(0);
  bool isCopied = contents.isCopied(result);
  for (const Move &move : moves) {
    Value operand = op->getOperand(move.operand);
    PlaceAttr from = moveBy(getPlace(operand), move.source);
    PlaceAttr to = moveBy(place, move.target);
    if (from == to && !isCopied)
      continue;
    if (failed(checkOperand(op, move.operand)))
      return failure();
    if (from != to && meet(from, move.bytes, to, move.bytes))
      return op->emitOpError()
             << "copies operand " << move.operand << " over itself";
    memory(to).write(
        to.getOffset(),
        isCopied ? ByteRanges{{0, move.bytes, result, move.target}}
                 : contents.of(operand, move.source, move.source + move.bytes));
  }
  if (!memory(place).holds(place.getOffset(), contents.of(op->getResult(0))))
    return op->emitOpError("writes over one of its parts");
  return success();
}

//===----------------------------------------------------------------------===//
// Functions that ops run
//===----------------------------------------------------------------------===//

void Checker::intersect(Pools &other) {
  for (auto &[key, bytes] : pools)
    bytes.intersect(other[key]);
}

LogicalResult Checker::handOver(Operation *op, unsigned operand, Value other) {
  if (failed(checkOperand(op, operand)))
    return failure();
  PlaceAttr place = getPlace(other);
  if (!place || place.getPool() == Pool::input ||
      place.getPool() == Pool::weight)
    return op->emitOpError()
           << "needs a place that may be written for what operand " << operand
           << " becomes";
  if (failed(checkBounds(op, place, getBytes(other))))
    return failure();
  memory(place).write(place.getOffset(), contents.of(other));
  return success();
}

LogicalResult Checker::handOver(Operation *op, unsigned first,
                                ValueRange others, ArrayRef<unsigned> left) {
  for (bool isInPlace : {false, true})
    for (auto [i, other] : llvm::enumerate(others)) {
      bool stays = getPlace(op->getOperand(first + i)) == getPlace(other);
      if (stays == isInPlace && !llvm::is_contained(left, i) &&
          failed(handOver(op, first + i, other)))
        return failure();
    }
  return success();
}

LogicalResult Checker::checkPlaced(Operation *op, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    PlaceAttr place = getPlace(value);
    if (!memory(place).holds(place.getOffset(), contents.of(value)))
      return op->emitOpError()
             << "writes over value " << i << " of those that it hands over";
  }
  return success();
}

/// Checks both branches of an `if`. Later ops may read only bytes that both
/// branches leave alike.
LogicalResult Checker::checkIf(nn::IfOp op) {
  if (failed(checkOperand(op, 0)))
    return failure();
  Pools before = pools, after;
  for (func::FuncOp body : nn::getBodies(op)) {
    after = std::exchange(pools, before);
    if (failed(check(body)))
      return failure();
    Operation *end = body.getBody().front().getTerminator();
    if (failed(handOver(end, 0, op.getYs())) ||
        failed(checkPlaced(end, op.getYs())))
      return failure();
  }
  intersect(after);
  return success();
}

/// Checks that the scratch memory of `op`, the last op of a body, has at least
/// `wanted` bytes and lies within its memory.
LogicalResult Checker::checkScratch(Operation *op, int64_t wanted) {
  auto scratch = op->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  if (wanted > (scratch ? scratch.getBytes() : 0))
    return op->emitOpError("has too little scratch to exchange carried values: "
                           "run nnc-plan-memory again, or give it exec.scratch "
                           "of ")
           << wanted << " bytes";
  return scratch ? checkBounds(op, scratch, scratch.getBytes()) : success();
}

/// Checks one run of a loop: first the body, then the collected values, then
/// the next values of carried values, which are the carried values of the next
/// run.
LogicalResult Checker::checkRun(nn::LoopOp op, func::FuncOp body,
                                bool isFirst) {
  if (BlockArgument number = body.getArgument(0); !number.use_empty()) {
    PlaceAttr run = getPlace(number);
    if (failed(checkBounds(op, run, getBytes(number))))
      return failure();
    memory(run).write(run.getOffset(), contents.of(number));
  }
  if (failed(check(body)))
    return failure();
  Operation *end = body.getBody().front().getTerminator();
  unsigned carried = op.getInits().size();
  for (auto [i, y] : llvm::enumerate(op.getCollected())) {
    PlaceAttr place = getPlace(y);
    if (!isFirst && !memory(place).holds(place.getOffset(), contents.of(y)))
      return op.emitOpError()
             << "writes over what it collects as result " << carried + i;
    if (failed(handOver(end, carried + i, y)))
      return failure();
  }
  SmallVector<unsigned> exchanged = getExchanged(op, end, contents);
  SmallVector<int64_t> offsets = getExchangeOffsets(end, exchanged);
  if (failed(checkScratch(end, offsets.back())))
    return failure();
  auto scratch = end->getAttrOfType<PlaceAttr>(exec::kScratchAttr);
  for (auto [i, offset] : llvm::zip(exchanged, offsets)) {
    if (failed(checkOperand(end, i)))
      return failure();
    memory(scratch).write(scratch.getOffset() + offset,
                          contents.of(end->getOperand(i)));
  }
  for (auto [i, y] : llvm::enumerate(op.getLast()))
    if (getPlace(y) != getPlace(body.getArgument(1 + i)))
      return op.emitOpError() << "needs carried value " << i
                              << " and its last value in one place";
  if (failed(handOver(end, 0, op.getLast(), exchanged)))
    return failure();
  for (auto [i, offset] : llvm::zip(exchanged, offsets)) {
    Value y = op.getLast()[i];
    if (!memory(scratch).holds(scratch.getOffset() + offset,
                               contents.of(end->getOperand(i))))
      return end->emitOpError()
             << "writes over operand " << i << " in its scratch memory";
    PlaceAttr place = getPlace(y);
    memory(place).write(place.getOffset(), contents.of(y));
  }
  if (failed(checkPlaced(end, op.getYs())))
    return failure();
  for (Value argument : body.getArguments().slice(1, op.getInits().size())) {
    PlaceAttr place = getPlace(argument);
    memory(place).write(place.getOffset(), contents.of(argument));
  }
  return success();
}

/// Checks a loop by two runs; the second one starts with the memory that the
/// first one leaves.
LogicalResult Checker::checkLoop(nn::LoopOp op) {
  func::FuncOp body = nn::getBodies(op).front();
  unsigned first = op.getCount() ? 1 : 0;
  if (first && failed(checkOperand(op, 0)))
    return failure();
  ValueRange carried =
      ValueRange(body.getArguments()).slice(1, op.getInits().size());
  if (failed(handOver(op, first, carried)) || failed(checkPlaced(op, carried)))
    return failure();
  Pools before = pools;
  for (bool isFirst : {true, false})
    if (failed(checkRun(op, body, isFirst)) ||
        (first && failed(checkOperand(op, 0))))
      return failure();
  if (op.getCount() || op.getConditional())
    intersect(before); // The loop may have no runs.
  // The collected values of runs that do not take place are undefined.
  for (Value y : op.getYs()) {
    PlaceAttr place = getPlace(y);
    memory(place).write(place.getOffset(), contents.of(y));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult Checker::check(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>() && failed(check(&op)))
      return failure();
  return success();
}

LogicalResult Checker::check(Operation *op) {
  if (isa<nn::ControlOpInterface>(op) && op->getNumResults() != 0 &&
      !op->hasAttr(exec::kPlacesAttr))
    return op->emitOpError("has no exec.places");
  if (auto branch = dyn_cast<nn::IfOp>(op))
    return checkIf(branch);
  if (auto loop = dyn_cast<nn::LoopOp>(op))
    return checkLoop(loop);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (failed(checkOperand(op, i)))
      return failure();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return finish(op);
  if (op->getNumResults() != 1)
    return op->emitOpError("needs one result");
  PlaceAttr place = getPlace(op->getResult(0));
  if (!place)
    return op->emitOpError("has no exec.place");
  ArrayRef<Move> moves = contents.getMoves(op);
  bool isView = moves.size() == 1 &&
                moveBy(getPlace(op->getOperand(moves[0].operand)),
                       moves[0].source) == moveBy(place, moves[0].target);
  if (!isView &&
      (place.getPool() == Pool::input || place.getPool() == Pool::weight))
    return op->emitOpError() << "writes to " << place;
  if (failed(checkBounds(op, place, getBytes(op->getResult(0)))) ||
      failed(checkDevice(op, place, getDevice(op))))
    return failure();
  if (isView && place.getPool() == Pool::weight)
    return success();
  return moves.empty() ? compute(op, place) : move(op, place, moves);
}

/// Checks the copies of results to their final places, in order.
LogicalResult Checker::finish(Operation *op) {
  for (unsigned result : getFinishOrder(function)) {
    if (failed(checkOperand(op, result)))
      return failure();
    PlaceAttr place = getFinalPlace(function, result);
    if (failed(checkBounds(op, place, getBytes(op->getOperand(result)))))
      return failure();
    memory(place).write(place.getOffset(), contents.of(op->getOperand(result)));
  }
  for (unsigned result = 0; result < op->getNumOperands(); ++result)
    if (PlaceAttr place = getFinalPlace(function, result); !memory(place).holds(
            place.getOffset(), contents.of(op->getOperand(result))))
      return op->emitOpError() << "writes over result " << result;
  return success();
}

LogicalResult Checker::run() {
  for (BlockArgument argument : function.getArguments()) {
    PlaceAttr place = getPlace(argument);
    if (failed(checkBounds(function, place, getBytes(argument))))
      return failure();
    memory(place).write(place.getOffset(), contents.of(argument));
  }
  if (failed(check(function)))
    return failure();
  return check(function.getBody().front().getTerminator());
}

LogicalResult nnc::verifyMemory(func::FuncOp function) {
  return Checker(function).run();
}

namespace {
struct VerifyMemoryPass : nnc::impl::VerifyMemoryBase<VerifyMemoryPass> {
  void runOnOperation() override {
    if (failed(nn::verifyBodies(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isPrivate() && failed(verifyMemory(function)))
        return signalPassFailure();
  }
};
} // namespace
