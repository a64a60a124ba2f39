//===- Weights.cpp - The bytes of the weights -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/TensorData.h"
#include "runtime/weights.h"

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

/// Writes the weights without the header. Their number of bytes is that of the
/// program.
static LogicalResult writeAll(exec::ProgramOp program,
                              llvm::raw_ostream &stream) {
  SmallVector<exec::WeightOp> weights(
      program.getBody().getOps<exec::WeightOp>());
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
  fillTo(program.getWeights());
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
  if (program.getWeights() == 0)
    return 0;
  return llvm::alignTo(sizeof(weights_header), program.getAlign());
}

uint64_t codegen::getWeightsBytes(exec::ProgramOp program) {
  // Their hash is made of words of 8 bytes.
  return llvm::alignTo(getWeightsHeaderBytes(program) + program.getWeights(),
                       std::max<uint64_t>(program.getAlign(), 8));
}

bool codegen::takesWeights(exec::ProgramOp program,
                           const EmitOptions &options) {
  return options.weights == "file" && program.getWeights() != 0;
}

FailureOr<WeightsStamp> codegen::writeWeights(exec::ProgramOp program,
                                              llvm::raw_pwrite_stream &stream) {
  WeightsStamp stamp;
  stamp.headerBytes = getWeightsHeaderBytes(program);
  stamp.bytes = getWeightsBytes(program);
  stream.write_zeros(stamp.headerBytes);
  HashingStream hashing(stream);
  if (failed(writeAll(program, hashing)))
    return failure();
  hashing.write_zeros(stamp.bytes - stamp.headerBytes - hashing.tell());
  stamp.hash = hashing.getHash();
  weights_header header = {weights_header::word,
                           weights_header::current,
                           stamp.bytes,
                           stamp.hash,
                           {}};
  StringRef name = program.getSymName().take_front(sizeof header.model - 1);
  llvm::copy(name, header.model);
  stream.pwrite(reinterpret_cast<const char *>(&header), sizeof header, 0);
  return stamp;
}
