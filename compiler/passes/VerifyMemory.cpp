//===- VerifyMemory.cpp - Checks the places of values ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Knows nothing of lifetimes or groups: it follows bytes. Every byte of memory
// carries which byte of which value it was computed as, and each read finds
// what it wants or the plan is wrong.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/VerifyMemory.h"
#include "compiler/memory/Contents.h"
#include "compiler/passes/Passes.h"
#include "compiler/routines/Scratch.h"

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
/// The bytes of one arena or buffer, as ranges in order.
class Bytes {
public:
  void write(int64_t at, ArrayRef<ByteRange> ranges);
  bool holds(int64_t at, ArrayRef<ByteRange> ranges) const;

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
  LogicalResult check(Operation *op);
  LogicalResult checkOperand(Operation *op, unsigned operand);
  LogicalResult checkBounds(Operation *op, PlaceAttr place, int64_t bytes);
  LogicalResult compute(Operation *op, PlaceAttr place);
  LogicalResult move(Operation *op, PlaceAttr place, ArrayRef<Move> moves);
  LogicalResult finish(Operation *op);
  Bytes &memory(PlaceAttr place) {
    return pools[{static_cast<int>(place.getPool()), place.getIndex()}];
  }
  /// Returns how many memories there are of the kind of that of `place`.
  int64_t count(PlaceAttr place);
  int64_t getSize(PlaceAttr place);

  func::FuncOp function;
  Contents contents;
  std::map<std::pair<int, int64_t>, Bytes> pools;
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
    // Walk what lies there; it may be cut finer.
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
                             : getReadBytes(op, operand))))
    return failure();
  if (!memory(place).holds(place.getOffset(), contents.of(value)))
    return op->emitOpError()
           << "reads operand " << operand << " at " << place
           << ", where something else has been written by then";
  return success();
}

/// A result that is computed takes memory that none of the operands is in.
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
    if (failed(checkBounds(op, scratch, scratch.getBytes())))
      return failure();
    if (meet(scratch, scratch.getBytes(), place, getBytes(result)))
      return op->emitOpError("has scratch over its result");
    memory(scratch).write(scratch.getOffset(),
                          ByteRange{0, scratch.getBytes(), Value(), 0});
  }
  memory(place).write(place.getOffset(), contents.of(result));
  return success();
}

/// Parts that do not lie in the result already are copied, one by one. What has
/// too many ranges to follow holds, where a part has come to, bytes of its own.
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

LogicalResult Checker::check(Operation *op) {
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
  SmallVector<Move> moves = getMoves(op);
  bool isView = moves.size() == 1 &&
                moveBy(getPlace(op->getOperand(moves[0].operand)),
                       moves[0].source) == moveBy(place, moves[0].target);
  if (!isView &&
      (place.getPool() == Pool::input || place.getPool() == Pool::weight))
    return op->emitOpError() << "writes to " << place;
  if (failed(checkBounds(op, place, getBytes(op->getResult(0)))))
    return failure();
  if (isView && place.getPool() == Pool::weight)
    return success();
  return moves.empty() ? compute(op, place) : move(op, place, moves);
}

/// Results that are not where the caller wants them are copied, in order.
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
  for (Operation &op : function.getBody().front()) {
    if (!op.hasTrait<OpTrait::ConstantLike>() && failed(check(&op)))
      return failure();
  }
  return success();
}

LogicalResult nnc::verifyMemory(func::FuncOp function) {
  return Checker(function).run();
}

namespace {
struct VerifyMemoryPass : nnc::impl::VerifyMemoryBase<VerifyMemoryPass> {
  void runOnOperation() override {
    if (failed(verifyMemory(getOperation())))
      signalPassFailure();
  }
};
} // namespace
