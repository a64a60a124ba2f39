//===- Several.cpp - Several shapes of the inputs in one module -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"
#include "compiler/tools/driver/Emit.h"

#include "dialects/exec/ModuleName.h"
#include "dialects/nn/TensorData.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

namespace nnc::tools {

namespace {
/// Gives the weights of several programs their places in one file.
class SharedWeights {
public:
  explicit SharedWeights(exec::ProgramOp first)
      : end(llvm::alignTo(first.getWeights(), first.getAlign())) {}

  /// Finds a place for each weight of `program`: that of the same bytes, else
  /// one behind all others. Those of the first program have theirs.
  mlir::LogicalResult place(exec::ProgramOp program, bool isFirst) {
    for (auto weight : program.getBody().getOps<exec::WeightOp>()) {
      std::optional<TensorData> data = TensorData::get(weight.getValue());
      if (!weight.getEncoded() || !data)
        return weight.emitOpError("has no bytes that can be compared");
      llvm::ArrayRef<char> bytes = data->getBytes();
      auto hash = llvm::SHA256::hash(
          {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
      llvm::StringRef key(reinterpret_cast<const char *>(hash.data()),
                          hash.size());
      auto [known, isNew] =
          places.try_emplace(key, isFirst ? weight.getOffset() : end);
      if (isFirst)
        continue;
      weight.setOffset(known->second);
      if (isNew)
        end = llvm::alignTo(end + bytes.size(), program.getAlign());
    }
    return mlir::success();
  }

  uint64_t getEnd() const { return end; }

private:
  /// Places by the hash of what lies there, which no two values are known to
  /// have in common.
  llvm::StringMap<uint64_t> places;
  uint64_t end; ///< of all weights that have a place
};
} // namespace

mlir::LogicalResult shareWeights(mlir::ModuleOp module) {
  auto programs = llvm::to_vector(module.getOps<exec::ProgramOp>());
  if (programs.size() < 2)
    return mlir::success();
  SharedWeights shared(programs.front());
  for (exec::ProgramOp program : programs)
    if (failed(shared.place(program, program == programs.front())))
      return mlir::failure();
  auto name =
      mlir::StringAttr::get(module.getContext(), programs.front().getSymName());
  for (exec::ProgramOp program : programs) {
    program.setWeights(shared.getEnd());
    if (program != programs.front())
      program->setAttr(exec::kModuleAttr, name);
  }
  return mlir::success();
}

std::string Driver::findSeveralProblem() const {
  if (!wanted.takesSeveral)
    return "this command takes one shape for each input; give --shape once";
  if (!choices.ranges.empty())
    return "--shape gives an input several shapes, and no bounds with '..' "
           "then";
  if (choices.stream)
    return "--stream has one window of time in memory, and takes one shape for "
           "each input";
  if (!choices.customs.functions.empty())
    return "--custom takes one shape for each input";
  for (const MemoryChoice &memory : choices.memories)
    if (memory.holdsWeights)
      return "--pool=...:weights takes one shape for each input";
  for (size_t i = 0; i < choices.otherShapes.size(); ++i)
    for (size_t j = 0; j <= i; ++j) {
      auto complete = [&](frontends::GivenShapes given) {
        given.insert(choices.shapes.begin(), choices.shapes.end());
        return given;
      };
      frontends::GivenShapes other =
          j == i ? choices.shapes : complete(choices.otherShapes[j]);
      if (complete(choices.otherShapes[i]) == other)
        return "--shape gives the same shapes twice; leave one of them out";
    }
  return "";
}

ExitCode Driver::compileOthers() {
  mlir::OwningOpRef<mlir::ModuleOp> module = std::move(op),
                                    imported = std::move(importedOp),
                                    formed = std::move(formedOp),
                                    layered = std::move(layeredOp);
  auto machine =
      (*module)->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
  exec::ProgramOp first = *module->getOps<exec::ProgramOp>().begin();
  ExitCode code = ExitCode::done;
  for (size_t i = 0; i < choices.otherShapes.size(); ++i) {
    frontends::GivenShapes shapes = choices.otherShapes[i];
    shapes.insert(choices.shapes.begin(), choices.shapes.end());
    code = importShapes(shapes, /*found=*/{}, machine, op);
    if (code == ExitCode::done && !foundSizes.empty()) {
      mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << "has '" << foundSizes.front().name
          << "', as long as data say, and takes one shape for each input";
      code = ExitCode::unsupported;
    }
    if (code == ExitCode::done)
      code = compileOne();
    if (code != ExitCode::done)
      break;
    auto program = *op->getOps<exec::ProgramOp>().begin();
    program.setSymName((first.getSymName() + "_" + llvm::Twine(i + 2)).str());
    program->moveBefore(module->getBody(), module->getBody()->end());
    others.push_back({std::move(importedOp), std::move(layeredOp)});
  }
  op = std::move(module);
  importedOp = std::move(imported);
  formedOp = std::move(formed);
  layeredOp = std::move(layered);
  return code;
}

} // namespace nnc::tools
