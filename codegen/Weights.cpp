//===- Weights.cpp - The bytes of the weights -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/tensors/TensorData.h"
#include "runtime/weights.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

/// Returns the encoded bytes of `weight`.
static FailureOr<TensorData> getBytes(exec::WeightOp weight) {
  if (!weight.getEncoded())
    return weight.emitOpError("is not encoded; nnc-encode-weights has to run "
                              "before the code is written");
  std::optional<TensorData> bytes = TensorData::get(weight.getValue());
  if (!bytes)
    return weight.emitOpError(
        "has a value whose data is not in memory; was it elided?");
  return *bytes;
}

/// Writes the weights of a piece, but not its header.
static LogicalResult writeAll(exec::ProgramOp program,
                              const WeightsPiece &piece,
                              llvm::raw_ostream &stream) {
  // If weights of several programs share a place, they have the same bytes
  // there.
  llvm::DenseSet<uint64_t> shared;
  SmallVector<exec::WeightOp> weights;
  for (auto each :
       program->getParentOfType<ModuleOp>().getOps<exec::ProgramOp>())
    for (auto weight : each.getBody().getOps<exec::WeightOp>())
      if (exec::getMemory(weight) == piece.memory &&
          nn::getPhysicalBytes(weight.getTensor()) != 0 &&
          (each == program || !shared.contains(weight.getOffset()))) {
        weights.push_back(weight);
        shared.insert(weight.getOffset());
      }
  llvm::sort(weights, [](exec::WeightOp a, exec::WeightOp b) {
    return a.getOffset() < b.getOffset();
  });
  uint64_t at = 0;
  auto fillTo = [&](uint64_t offset) {
    if (offset > at)
      stream.write_zeros(offset - at);
    at = std::max(at, offset);
  };
  for (exec::WeightOp weight : weights) {
    if (weight.getOffset() < at)
      return weight.emitOpError("overlaps another weight");
    fillTo(weight.getOffset());
    FailureOr<TensorData> data = getBytes(weight);
    if (failed(data))
      return failure();
    ArrayRef<char> bytes = data->getBytes();
    stream.write(bytes.data(), bytes.size());
    at += bytes.size();
  }
  fillTo(piece.bytes - getWeightsHeaderBytes(program));
  return success();
}

namespace {
/// A stream that passes bytes to another stream and computes nnc::hash_words()
/// of them.
class HashingStream final : public llvm::raw_ostream {
public:
  explicit HashingStream(llvm::raw_ostream &next)
      : raw_ostream(/*unbuffered=*/true), next(next) {}
  uint64_t getHash() const {
    assert(pending.empty() && "the bytes are whole words");
    return hash;
  }
  uint64_t current_pos() const override { return count; }

private:
  void write_impl(const char *bytes, size_t size) override {
    next.write(bytes, size);
    count += size;
    if (!pending.empty()) {
      size_t missing = std::min(kWord - pending.size(), size);
      pending.append(bytes, bytes + missing);
      bytes += missing;
      size -= missing;
      if (pending.size() == kWord) {
        fold(pending.data(), kWord);
        pending.clear();
      }
    }
    size_t whole = size / kWord * kWord;
    fold(bytes, whole);
    pending.append(bytes + whole, bytes + size);
  }
  void fold(const char *bytes, size_t size) {
    hash =
        hash_words(reinterpret_cast<const unsigned char *>(bytes), size, hash);
  }

  static constexpr size_t kWord = 8;
  llvm::raw_ostream &next;
  SmallVector<char, kWord> pending;
  uint64_t hash = hash_words(nullptr, 0), count = 0;
};
} // namespace

uint64_t codegen::getWeightsHeaderBytes(exec::ProgramOp program) {
  auto bytes =
      static_cast<uint64_t>(exec::getWeightsHeaderBytes(program.getAlign()));
  assert(bytes >= sizeof(weights_header) && "the header has room");
  return bytes;
}

SmallVector<WeightsPiece> codegen::listWeights(exec::ProgramOp program) {
  SmallVector<WeightsPiece> pieces;
  std::string name = exec::getModuleName(program),
              constants = program.getSymName().upper();
  // Sizes are multiples of 8 bytes because the hash is computed over such
  // words.
  auto round = [&](uint64_t bytes) {
    return llvm::alignTo(bytes, std::max<uint64_t>(program.getAlign(), 8));
  };
  for (auto memory : program.getWeightMemories().getAsRange<exec::MemoryAttr>())
    if (memory.getBytes())
      pieces.push_back(
          {memory.getName().str(), name + "_" + exec::getWeightsName(memory),
           constants + "_" + memory.getName().upper() + "_WEIGHT_BYTES",
           round(static_cast<uint64_t>(memory.getBytes()))});
  if (pieces.empty() && program.getWeights())
    pieces.push_back(
        {"", name + "_weights", constants + "_WEIGHT_BYTES",
         round(getWeightsHeaderBytes(program) + program.getWeights())});
  return pieces;
}

uint64_t codegen::getWeightsBytes(exec::ProgramOp program) {
  uint64_t bytes = 0;
  for (const WeightsPiece &piece : listWeights(program))
    bytes += piece.bytes;
  return bytes;
}

bool codegen::takesWeights(exec::ProgramOp program,
                           const EmitOptions &options) {
  return (options.weights == "file" || isCuda(program)) &&
         program.getWeights() != 0;
}

LogicalResult codegen::writeWeights(exec::ProgramOp program,
                                    WeightsPiece &piece,
                                    llvm::raw_pwrite_stream &stream) {
  stream.write_zeros(getWeightsHeaderBytes(program));
  HashingStream hashing(stream);
  if (failed(writeAll(program, piece, hashing)))
    return failure();
  piece.hash = hashing.getHash();
  weights_header header = {weights_header::word,
                           weights_header::current,
                           piece.bytes,
                           piece.hash,
                           {}};
  StringRef name = program.getSymName().take_front(sizeof header.model - 1);
  llvm::copy(name, header.model);
  stream.pwrite(reinterpret_cast<const char *>(&header), sizeof header, 0);
  return success();
}
