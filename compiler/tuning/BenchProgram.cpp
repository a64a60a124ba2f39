//===- BenchProgram.cpp - A program that measures candidates --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tuning/BenchProgram.h"

#include "compiler/memory/Contents.h"
#include "compiler/routines/ExecCall.h"
#include "compiler/routines/Scratch.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

Job nnc::makeAdaptJob(RankedTensorType from, RankedTensorType to,
                      const AdaptCost &adapt) {
  return {LayerOp(),
          {adapt, adapt.routine, adapt.params, {from}, to},
          {describeAdapt(*getAdaptCall(from, to), from),
           adapt.routine->name.str(),
           {adapt.params.begin(), adapt.params.end()}}};
}

Job nnc::makeLayerJob(LayerOp layer, Candidate candidate) {
  layer = candidate.getForm(layer);
  Subject subject{describeLayer(layer, candidate.operands, candidate.result),
                  candidate.routine->name.str(),
                  {candidate.params.begin(), candidate.params.end()}};
  return {layer, std::move(candidate), std::move(subject)};
}

/// The alignment of the program's memory in bytes. No target needs more.
static constexpr int64_t kMemoryAlign = target::costs::kUsualAlign;

namespace {
class Bench {
public:
  Bench(ArrayRef<Job> jobs, target::MachineAttr machine, int threads)
      : jobs(jobs), machine(machine), threads(threads),
        loc(UnknownLoc::get(machine.getContext())),
        builder(machine.getContext()) {}
  FailureOr<BenchProgram> build(int64_t modelWeights);

private:
  bool isConstant(const Job &job, unsigned operand) const;
  Operation *createOp(const Job &job);
  void placeWeights();
  SmallVector<unsigned> getOrder() const;
  exec::ProgramOp createProgram(ModuleOp module);
  RankedTensorType getBytesType(int64_t bytes) {
    return RankedTensorType::get({bytes}, builder.getIntegerType(8, false));
  }
  Value createBuffer(StringRef name, RankedTensorType type, int64_t offset);
  void createCopy(int64_t from, Value target);
  Value createZeros(RankedTensorType type);
  LogicalResult createJob(unsigned index, std::pair<int, int> &calls);

  ArrayRef<Job> jobs;
  target::MachineAttr machine;
  int threads;
  Location loc;
  OpBuilder builder;
  exec::Names names;

  /// The block that holds the measured ops; their operands are its arguments.
  Block block;
  SmallVector<Operation *> ops; ///< one for each job
  /// The offset in the arena of the weights of each layer. All its candidates
  /// read the same place, however their weights are packed.
  DenseMap<Operation *, int64_t> weights;
  int64_t weightsEnd = 0;
  /// Bytes at the start of the arena from which inputs are copied.
  int64_t sourceBytes = 0;
  int64_t arena = 0;
  int64_t zeroBytes = 0;
  DenseMap<Type, Value> zeros;
  int calls = 0; ///< number of calls and copies so far
};
} // namespace

static int64_t getPlaceBytes(Operation *op, unsigned operand) {
  return llvm::alignTo(getReadBytes(op, operand), kMemoryAlign);
}

static bool isFloat(RankedTensorType type) {
  return isa<FloatType>(type.getElementType());
}

bool Bench::isConstant(const Job &job, unsigned operand) const {
  Operation *producer =
      job.layer ? job.layer->getOperand(operand).getDefiningOp() : nullptr;
  return producer && producer->hasTrait<OpTrait::ConstantLike>();
}

/// Creates the layer or adapt of the job as nnc-choose-routines would leave it.
Operation *Bench::createOp(const Job &job) {
  const Candidate &candidate = job.candidate;
  SmallVector<Value> operands;
  for (RankedTensorType type : candidate.operands)
    operands.push_back(block.addArgument(type, loc));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  if (!job.layer) {
    auto adapt =
        builder.create<AdaptOp>(loc, candidate.result, operands.front());
    adapt.setRoutine(candidate.routine->name);
    if (!candidate.params.empty())
      adapt.setParams(candidate.params);
    return adapt;
  }
  auto layer = cast<LayerOp>(builder.clone(*job.layer));
  layer->setOperands(operands);
  layer.getY().setType(candidate.result);
  layer.setRoutine(candidate.routine->name);
  layer.setParams(candidate.params);
  return layer;
}

void Bench::placeWeights() {
  llvm::MapVector<Operation *, int64_t> bytes;
  for (auto [job, op] : llvm::zip(jobs, ops)) {
    int64_t own = 0;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      if (!isFloat(job.candidate.operands[i]))
        continue;
      if (isConstant(job, i))
        own += getPlaceBytes(op, i);
      else
        sourceBytes = std::max(sourceBytes, getPlaceBytes(op, i));
    }
    if (job.layer)
      bytes[job.layer] = std::max(bytes[job.layer], own);
  }
  weightsEnd = sourceBytes;
  for (auto [layer, own] : bytes) {
    weights[layer] = weightsEnd;
    weightsEnd += own;
  }
}

/// Returns the order of the jobs in rounds. Each round has one candidate of
/// every layer that has any left, so that the weights of other layers are read
/// before those of a layer are read again.
SmallVector<unsigned> Bench::getOrder() const {
  DenseMap<Operation *, int> counts;
  SmallVector<std::pair<int, unsigned>> order;
  for (auto [i, job] : llvm::enumerate(jobs)) {
    int round = job.layer ? counts[job.layer]++ : 0;
    order.push_back({round, static_cast<unsigned>(i)});
  }
  llvm::sort(order);
  return llvm::to_vector(llvm::make_second_range(order));
}

exec::ProgramOp Bench::createProgram(ModuleOp module) {
  builder.setInsertionPointToEnd(module.getBody());
  auto program = builder.create<exec::ProgramOp>(loc, names.add("bench"), 0, 0,
                                                 kMemoryAlign, 0);
  setMachine(program, machine);
  program.getBody().emplaceBlock();
  return program;
}

Value Bench::createBuffer(StringRef name, RankedTensorType type,
                          int64_t offset) {
  arena = std::max<int64_t>(
      arena, offset + llvm::alignTo(getPhysicalBytes(type), kMemoryAlign));
  return builder.create<exec::BufferOp>(loc, builder.getType<exec::PlaceType>(),
                                        names.add(name), type, offset,
                                        /*memory=*/StringAttr());
}

void Bench::createCopy(int64_t from, Value target) {
  Value source =
      createBuffer("source", exec::getPlaceOp(target).getTensor(), from);
  builder.create<exec::CopyOp>(loc, names.add("fill"), source, target);
  ++calls;
}

/// Creates a buffer of zeros. Integers are indices, sizes or codes, for which
/// zero is always valid.
Value Bench::createZeros(RankedTensorType type) {
  Value &place = zeros[type];
  if (place)
    return place;
  auto value = cast<ElementsAttr>(builder.getZeroAttr(getLogicalType(type)));
  place = builder.create<exec::WeightOp>(
      loc, builder.getType<exec::PlaceType>(), names.add("zeros"), type,
      zeroBytes, value, /*encoded=*/false, /*memory=*/StringAttr());
  zeroBytes += llvm::alignTo(getPhysicalBytes(type), kMemoryAlign);
  return place;
}

LogicalResult Bench::createJob(unsigned index, std::pair<int, int> &range) {
  const Job &job = jobs[index];
  Operation *op = ops[index];
  int64_t constant = job.layer ? weights.lookup(job.layer) : 0;
  int64_t free = weightsEnd;
  SmallVector<Value> places(op->getNumOperands());
  // The first operand is written last, because it is usually the result of the
  // preceding layer.
  for (unsigned i = places.size(); i-- > 0;) {
    RankedTensorType type = job.candidate.operands[i];
    if (!isFloat(type)) {
      places[i] = createZeros(type);
      continue;
    }
    int64_t &at = isConstant(job, i) ? constant : free;
    places[i] = createBuffer("x", type, at);
    if (!isConstant(job, i))
      createCopy(0, places[i]);
    at += getPlaceBytes(op, i);
    arena = std::max(arena, at);
  }
  RankedTensorType result = job.candidate.result;
  Value target = createBuffer("y", result, free);
  free += llvm::alignTo(getPhysicalBytes(result), kMemoryAlign);
  Value scratch;
  if (int64_t bytes = getScratchBytes(op, threads))
    scratch = createBuffer("scratch", getBytesType(bytes), free);
  range.first = calls;
  Work work = cast<CostOpInterface>(op).getWork();
  Description said = describe(op);
  for (const RoutineCall &call : getRoutineCalls(op)) {
    if (failed(createExecCall(
            builder, op, call, work, said, names.addCall("measured"),
            [&](unsigned operand) { return places[operand]; }, target,
            scratch)))
      return failure();
    ++calls;
  }
  range.second = calls;
  return success();
}

FailureOr<BenchProgram> Bench::build(int64_t modelWeights) {
  for (const Job &job : jobs)
    ops.push_back(createOp(job));
  placeWeights();
  // Other data takes the place of the model's remaining weights, which a round
  // does not read: as many bytes as evict the last-level cache, or as these
  // weights have if they are fewer.
  int64_t others =
      std::min(modelWeights,
               machine.getHost().getCore().getLastBytes() * 3 / 2) -
      (weightsEnd - sourceBytes);
  // The copy accesses all of it: it reads one half and writes the other.
  int64_t flushed =
      llvm::alignTo(std::max<int64_t>(others / 2, 0), kMemoryAlign);
  int64_t flushAt = weightsEnd;
  weightsEnd += 2 * flushed;

  BenchProgram bench;
  bench.module = ModuleOp::create(loc);
  exec::ProgramOp program = createProgram(*bench.module);
  builder.setInsertionPointToEnd(&program.getBody().front());
  auto one = RankedTensorType::get({1}, builder.getF32Type());
  auto place = builder.getType<exec::PlaceType>();
  StringAttr none;
  Value in = builder.create<exec::InputOp>(loc, place, names.add("in"), one,
                                           none, IntegerAttr(), none);
  Value out = builder.create<exec::OutputOp>(loc, place, names.add("out"), one,
                                             none, IntegerAttr(), none, none);
  builder.create<exec::CopyOp>(loc, names.add("pass"), in, out);
  ++calls;
  bench.calls.resize(jobs.size());
  DenseSet<Operation *> inRound;
  for (unsigned index : getOrder()) {
    Operation *layer = jobs[index].layer;
    if (layer && !inRound.insert(layer).second) {
      inRound.clear();
      inRound.insert(layer);
      if (flushed)
        createCopy(flushAt, createBuffer("flushed", getBytesType(flushed),
                                         flushAt + flushed));
    }
    if (failed(createJob(index, bench.calls[index])))
      return failure();
  }
  program.setArena(llvm::alignTo(arena, kMemoryAlign));
  program.setWeights(zeroBytes);
  reserveCounters(program);
  prepareExpressions(program);
  if (failed(verify(*bench.module)))
    return failure();
  return bench;
}

FailureOr<BenchProgram> nnc::buildBenchProgram(ArrayRef<Job> jobs,
                                               target::MachineAttr machine,
                                               int64_t weightBytes,
                                               int threads) {
  return Bench(jobs, machine, threads).build(weightBytes);
}
