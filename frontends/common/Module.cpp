//===- Module.cpp - The module that an import fills -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Module.h"

#include "dialects/exec/Identifiers.h"
#include "dialects/nn/control/Control.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;

/// Returns the attributes of an argument or result of that name.
static DictionaryAttr getNameAttributes(Builder builder, StringRef name) {
  return builder.getDictionaryAttr(
      builder.getNamedAttr(nn::kNameAttr, builder.getStringAttr(name)));
}

func::FuncOp nnc::frontends::createMain(ModuleOp module, ArrayRef<Input> inputs,
                                        Problems &problems) {
  SmallVector<Type> types;
  SmallVector<StringRef> names;
  for (const Input &input : inputs) {
    if (!input.type || input.value)
      continue;
    types.push_back(input.type);
    names.push_back(input.name);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto main = builder.create<func::FuncOp>(problems.getLoc(), "main",
                                           builder.getFunctionType(types, {}));
  Block *entry = main.addEntryBlock();
  // All attributes are set at once because each change copies those of all
  // arguments.
  SmallVector<Attribute> attributes;
  for (auto [i, name] : llvm::enumerate(names)) {
    attributes.push_back(getNameAttributes(builder, name));
    entry->getArgument(i).setLoc(problems.getLoc(name));
  }
  main.setAllArgAttrs(attributes);
  return main;
}

void nnc::frontends::returnFromMain(func::FuncOp main, ArrayRef<Value> results,
                                    ArrayRef<StringRef> names) {
  OpBuilder builder = OpBuilder::atBlockEnd(&main.getBody().front());
  builder.create<func::ReturnOp>(main.getLoc(), results);
  main.setType(builder.getFunctionType(main.getArgumentTypes(),
                                       TypeRange(ValueRange(results))));
  SmallVector<Attribute> attributes;
  for (StringRef name : names)
    attributes.push_back(getNameAttributes(builder, name));
  main.setAllResultAttrs(attributes);
}

/// Erases constants whose values the importer has used up.
static void eraseUnusedConstants(ModuleOp module) {
  for (auto main : module.getOps<func::FuncOp>())
    for (Operation &op : llvm::make_early_inc_range(main.getBody().front()))
      if (isa<nn::ConstantOp>(op) && op.use_empty())
        op.erase();
}

/// Erases functions that no op runs, which abandoned attempts have left behind.
static void eraseUnusedBodies(ModuleOp module) {
  DenseSet<Operation *> used;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      for (func::FuncOp body : nn::getAllBodies(function))
        used.insert(body);
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!used.contains(function))
      function.erase();
}

void nnc::frontends::countHalfConstant(Operation *where, int64_t elements) {
  ModuleOp module = where->getParentOfType<ModuleOp>();
  int64_t count = 1;
  if (auto known =
          module->getAttrOfType<DenseI64ArrayAttr>(nn::kHalfConstantsAttr)) {
    count += known[0];
    elements += known[1];
  }
  module->setAttr(
      nn::kHalfConstantsAttr,
      DenseI64ArrayAttr::get(where->getContext(), {count, elements}));
}

void nnc::frontends::finishModule(OwningOpRef<ModuleOp> module, StringRef path,
                                  StringRef sha256,
                                  const ImportOptions &options,
                                  Problems &problems, ImportResult &result) {
  if (problems.none()) {
    eraseUnusedBodies(*module);
    eraseUnusedConstants(*module);
    if (failed(verify(*module)))
      problems.report(ImportStatus::fault)
          << "was imported to what is no sound program; please report this";
  }
  result.status = problems.getStatus();
  if (!problems.none())
    return;
  Builder builder(module->getContext());
  std::string name = options.name.empty()
                         ? exec::makeModuleName(llvm::sys::path::stem(path))
                         : options.name;
  (*module)->setAttr(nn::kModelAttr, builder.getStringAttr(name));
  (*module)->setAttr(nn::kSha256Attr, builder.getStringAttr(sha256));
  result.module = std::move(module);
}
