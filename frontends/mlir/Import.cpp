//===- Import.cpp - From a file of MLIR to a checked module ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mlir/Import.h"

#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/attributes/State.h"
#include "dialects/nn/tensors/TensorData.h"
#include "dialects/qnn/Qnn.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Module.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"

#include <cmath>

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// The advice in messages about a module that does not have the form of an
/// import's result.
static constexpr llvm::StringLiteral kWanted =
    "give a module as nnc quantize, nnc compress or nnc-translate --import "
    "--complete write it";

/// Returns " at line 3, column 7" for a place in the file, or an empty string.
static std::string describePlace(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place || place.getLine() == 0)
    return "";
  return (" at line " + Twine(place.getLine()) + ", column " +
          Twine(place.getColumn()))
      .str();
}

/// Returns a copy of the bytes at an address that is a multiple of every
/// alignment in bytecode. The reader of bytecode computes padding relative to
/// address 0.
static std::unique_ptr<llvm::MemoryBuffer> align(StringRef bytes,
                                                 StringRef name) {
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      bytes.size(), name, llvm::Align(4096));
  if (copy)
    llvm::copy(bytes, copy->getBufferStart());
  return copy;
}

/// Parses the text or bytecode in `buffer`. Reports what is wrong with it.
static OwningOpRef<ModuleOp> parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                   Problems &problems, MLIRContext &context) {
  std::vector<std::string> found;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        found.push_back(describePlace(diagnostic.getLocation()) + ": " +
                        diagnostic.str());
      return success();
    });
    // The bytecode's resources refer to the buffer, which they keep alive.
    auto sources = std::make_shared<llvm::SourceMgr>();
    sources->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  }
  if (module)
    return module;
  problems.report(ImportStatus::broken)
      << "is no sound module of MLIR"
      << (found.empty() ? std::string(": its end is missing") : found.front())
      << "; " << kWanted;
  return {};
}

/// Returns true for a row-major tensor type whose sizes are all known.
static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
}

/// Returns what is wrong with the scales and zero points of a type, or "".
static std::string describeQuantization(Type type) {
  auto quantized = qnn::getQuantizedType(type);
  if (!quantized)
    return "";
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  if (auto one = dyn_cast<quant::UniformQuantizedType>(quantized)) {
    scales.push_back(one.getScale());
    zeroPoints.push_back(one.getZeroPoint());
  } else if (auto each =
                 dyn_cast<quant::UniformQuantizedPerAxisType>(quantized)) {
    llvm::append_range(scales, each.getScales());
    llvm::append_range(zeroPoints, each.getZeroPoints());
  }
  for (double scale : scales)
    if (!std::isnormal(static_cast<float>(scale)) || scale < 0)
      return "whose scale is no positive 32-bit float";
  for (int64_t zeroPoint : zeroPoints)
    if (zeroPoint < quantized.getStorageTypeMin() ||
        zeroPoint > quantized.getStorageTypeMax())
      return "whose zero point is none of its integers";
  return "";
}

/// Reports ops and values that no import creates.
static void checkOps(ModuleOp module, Problems &problems) {
  auto isForeign = [](Operation *op) {
    Dialect *dialect = op->getDialect();
    return !isa_and_nonnull<nn::NnDialect, qnn::QnnDialect, func::FuncDialect,
                            BuiltinDialect>(dialect) ||
           isa<nn::LayerOp, nn::AdaptOp, nn::DecodeOp, func::CallOp,
               func::CallIndirectOp, func::ConstantOp>(op);
  };
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = nn::getModelName(op->getLoc());
    if (isForeign(op)) {
      problems.report(ImportStatus::unsupported, problems.getLoc(name),
                      op->getName().getStringRef())
          << "is an op that nnc makes of a model, or one of another compiler; "
          << kWanted;
      return WalkResult::skip();
    }
    auto constant = dyn_cast<nn::ConstantOp>(op);
    if (constant && !TensorData::get(constant.getValue())) {
      problems.report(ImportStatus::broken, problems.getLoc(name))
          << "has no elements, or not as many as its type "
          << constant.getType() << " says; print the module with its weights";
      return WalkResult::advance();
    }
    for (Type type : op->getResultTypes())
      if (std::string wrong = describeQuantization(type); !wrong.empty()) {
        problems.report(ImportStatus::broken, problems.getLoc(name),
                        op->getName().getStringRef())
            << "gives a result of type " << type << ", " << wrong;
        return WalkResult::interrupt();
      }
    for (Type type : op->getResultTypes())
      if (!isPlainTensor(type)) {
        problems.report(ImportStatus::unsupported, problems.getLoc(name),
                        op->getName().getStringRef())
            << "gives a result of type " << type
            << ", which is no tensor of sizes that are known; " << kWanted;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
}

/// Returns unique names for `count` arguments or results. Those for which
/// `getName` returns an empty name are called `word` and their number.
static std::vector<std::string>
getNames(unsigned count, StringRef word,
         llvm::function_ref<StringAttr(unsigned)> getName) {
  std::vector<std::string> names;
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < count; ++i) {
    StringAttr given = getName(i);
    std::string name = given && !given.getValue().empty()
                           ? given.getValue().str()
                           : (word + Twine(i)).str();
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n)
      unique = name + "_" + std::to_string(n);
    names.push_back(unique);
  }
  return names;
}

/// Gives all arguments and results of `main` names.
static void nameInterface(func::FuncOp main) {
  Builder builder(main.getContext());
  std::vector<std::string> inputs =
      getNames(main.getNumArguments(), "input", [&](unsigned i) {
        return main.getArgAttrOfType<StringAttr>(i, nn::kNameAttr);
      });
  for (auto [i, name] : llvm::enumerate(inputs))
    main.setArgAttr(i, nn::kNameAttr, builder.getStringAttr(name));
  std::vector<std::string> outputs =
      getNames(main.getNumResults(), "output", [&](unsigned i) {
        return main.getResultAttrOfType<StringAttr>(i, nn::kNameAttr);
      });
  for (auto [i, name] : llvm::enumerate(outputs))
    main.setResultAttr(i, nn::kNameAttr, builder.getStringAttr(name));
}

/// Checks the user's shapes against the inputs, whose sizes are all known, and
/// puts constants in place of inputs whose values the user gives.
static void bindArguments(func::FuncOp main, const ImportOptions &options,
                          Problems &problems) {
  std::vector<TensorInfo> declared;
  std::vector<unsigned> arguments;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    if (nn::getNextValue(main, i))
      continue;
    auto type = cast<RankedTensorType>(main.getArgumentTypes()[i]);
    TensorInfo info;
    info.name = main.getArgAttrOfType<StringAttr>(i, nn::kNameAttr).str();
    info.element = type.getElementType();
    llvm::raw_string_ostream(info.elementName) << info.element;
    info.dims.emplace();
    for (int64_t size : type.getShape())
      info.dims->push_back({size, ""});
    declared.push_back(std::move(info));
    arguments.push_back(i);
  }
  std::vector<Input> inputs =
      bindInputs(declared, options.shapes, options, problems);
  OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
  llvm::BitVector dead(main.getNumArguments());
  for (auto [input, argument] : llvm::zip(inputs, arguments)) {
    if (!input.value)
      continue;
    Value known = builder.create<nn::ConstantOp>(problems.getLoc(input.name),
                                                 input.value);
    main.getArgument(argument).replaceAllUsesWith(known);
    dead.set(argument);
  }
  if (problems.none())
    main.eraseArguments(dead);
}

/// Checks that `module` is a model. Returns its main function, or null after
/// errors.
static func::FuncOp checkModule(ModuleOp module, Problems &problems) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() || !main.getBody().hasOneBlock()) {
    problems.report(ImportStatus::broken)
        << "has no function 'main' of one block; " << kWanted;
    return {};
  }
  checkOps(module, problems);
  if (main.getNumResults() == 0)
    problems.report(ImportStatus::broken)
        << "has a function 'main' without results; " << kWanted;
  for (Type type : main.getFunctionType().getInputs())
    if (!isPlainTensor(type) || qnn::getQuantizedType(type))
      problems.report(ImportStatus::unsupported)
          << "takes an argument of type " << type
          << ", which is no tensor of numbers whose sizes are known";
  for (Type type : main.getFunctionType().getResults())
    if (!isPlainTensor(type) || qnn::getQuantizedType(type))
      problems.report(ImportStatus::unsupported)
          << "gives a result of type " << type
          << ", which is no tensor of numbers whose sizes are known";
  return problems.none() ? main : func::FuncOp();
}

ImportResult module_file::importModel(StringRef path,
                                      const ImportOptions &options,
                                      MLIRContext &context) {
  context.loadDialect<nn::NnDialect, qnn::QnnDialect, func::FuncDialect>();
  Problems problems(context, path, options.trial, options.limits);
  ImportResult result;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    problems.report(ImportStatus::broken)
        << "cannot be read: " << buffer.getError().message();
    result.status = problems.getStatus();
    return result;
  }
  auto hash =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef((*buffer)->getBuffer()));
  std::string sha256 = llvm::toHex(hash, /*LowerCase=*/true);
  OwningOpRef<ModuleOp> module =
      parse(align((*buffer)->getBuffer(), path), problems, context);
  func::FuncOp main = module ? checkModule(*module, problems) : func::FuncOp();
  if (!main) {
    result.status = problems.getStatus();
    return result;
  }
  nameInterface(main);
  bindArguments(main, options, problems);
  finishModule(std::move(module), path, sha256, options, problems, result);
  return result;
}
