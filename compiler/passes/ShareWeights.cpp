//===- ShareWeights.cpp - Equal weights of several programs in one place --===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"

#include "dialects/exec/ModuleName.h"
#include "dialects/nn/tensors/TensorData.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

namespace nnc {
#define GEN_PASS_DEF_SHAREWEIGHTS
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

namespace {
/// The places of the weights of several programs in one file.
class SharedWeights {
public:
  explicit SharedWeights(exec::ProgramOp first)
      : end(llvm::alignTo(first.getWeights(), first.getAlign())) {}

  /// Sets the offset of each weight of `program`: that of a weight with the
  /// same bytes, else one after all others. The weights of the first program
  /// keep their offsets.
  LogicalResult place(exec::ProgramOp program, bool isFirst) {
    for (auto weight : program.getBody().getOps<exec::WeightOp>()) {
      std::optional<TensorData> data = TensorData::get(weight.getValue());
      if (!weight.getEncoded() || !data)
        return weight.emitOpError("has no bytes that can be compared");
      ArrayRef<char> bytes = data->getBytes();
      auto hash = llvm::SHA256::hash(
          {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
      StringRef key(reinterpret_cast<const char *>(hash.data()), hash.size());
      auto [known, isNew] =
          places.try_emplace(key, isFirst ? weight.getOffset() : end);
      if (isFirst)
        continue;
      weight.setOffset(known->second);
      if (isNew)
        end = llvm::alignTo(end + bytes.size(), program.getAlign());
    }
    return success();
  }

  uint64_t getEnd() const { return end; }

private:
  /// Offsets by the SHA-256 of the weight's bytes; different bytes are assumed
  /// to have different hashes.
  llvm::StringMap<uint64_t> places;
  uint64_t end; ///< end of the weights placed so far, in bytes
};
} // namespace

static LogicalResult shareWeights(ModuleOp module) {
  auto programs = llvm::to_vector(module.getOps<exec::ProgramOp>());
  if (programs.size() < 2)
    return success();
  SharedWeights shared(programs.front());
  for (exec::ProgramOp program : programs)
    if (failed(shared.place(program, program == programs.front())))
      return failure();
  auto name =
      StringAttr::get(module.getContext(), programs.front().getSymName());
  for (exec::ProgramOp program : programs) {
    program.setWeights(shared.getEnd());
    if (program != programs.front())
      program->setAttr(exec::kModuleAttr, name);
  }
  return success();
}

namespace {
struct ShareWeightsPass : nnc::impl::ShareWeightsBase<ShareWeightsPass> {
  void runOnOperation() override {
    if (failed(shareWeights(getOperation())))
      signalPassFailure();
  }
};
} // namespace
