//===- Targets.cpp - nnc targets ------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/console/JsonDocument.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Process.h"
#include "compiler/tools/nnc/commands/Command.h"
#include "compiler/tools/nnc/options/Options.h"

#include "dialects/target/Target.h"
#include "llvm/Support/Program.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Targets : public Command {
public:
  void addOptions(CLI::App &app) override { addJsonOption(app, json); }

  ExitCode run() override {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    std::vector<target::MachineAttr> machines = {
        target::detectMachine(&context)};
    for (target::MachineAttr machine : target::getMachines(&context))
      machines.push_back(machine);
    if (json)
      printAsJson(machines);
    else
      print(machines);
    return ExitCode::done;
  }

private:
  static std::vector<std::string> isas(target::MachineAttr machine) {
    std::vector<std::string> names;
    for (llvm::StringRef isa :
         machine.getHost().getIsas().getAsValueRange<mlir::StringAttr>())
      names.push_back(isa.str());
    return names;
  }

  static json::Array architectures(target::MachineAttr machine) {
    json::Array names;
    for (mlir::Attribute name : machine.getHost().getArchitectures())
      names.push_back(llvm::cast<mlir::StringAttr>(name).getValue());
    return names;
  }

  /// Returns true if this machine has a compiler for the target.
  static bool hasCompiler(target::MachineAttr machine) {
    Words words = splitCommand(machine.getHost().getCompiler());
    return !words.empty() && llvm::sys::findProgramByName(words.front());
  }

  static void print(const std::vector<target::MachineAttr> &machines) {
    Table table({"target", "triple", "vectors", "routines", "caches",
                 "compiler", "emulator"});
    for (target::MachineAttr machine : machines) {
      std::vector<std::string> caches;
      for (int64_t bytes : machine.getHost().getCore().getCaches().asArrayRef())
        caches.push_back(formatBytes(double(bytes)));
      std::string name = machine.getName().str();
      if (!machine.getChip().empty())
        name += fmt::format(" ({})", machine.getChip().str());
      Words emulator = splitCommand(machine.getEmulator());
      table.add({name, machine.getTriple().str(),
                 fmt::format("{} x {} B",
                             machine.getHost().getCore().getVectorRegisters(),
                             machine.getHost().getCore().getVectorBytes()),
                 fmt::format("{}", fmt::join(isas(machine), " ")),
                 fmt::format("{}", fmt::join(caches, " ")),
                 machine.getHost().getCompiler().str() +
                     (hasCompiler(machine) ? "" : " (not here)"),
                 emulator.empty() ? "" : emulator.front()});
    }
    table.print();
  }

  static void printAsJson(const std::vector<target::MachineAttr> &machines) {
    json::Array array;
    for (target::MachineAttr machine : machines)
      array.push_back(json::Object{
          {"name", machine.getName()},
          {"triple", machine.getTriple()},
          {"chip", machine.getChip()},
          {"isas", isas(machine)},
          {"vector_bytes", machine.getHost().getCore().getVectorBytes()},
          {"vector_registers",
           machine.getHost().getCore().getVectorRegisters()},
          {"caches",
           machine.getHost().getCore().getCaches().asArrayRef().vec()},
          {"compiler", machine.getHost().getCompiler()},
          {"compiler_found", hasCompiler(machine)},
          {"flags", machine.getHost().getFlags()},
          {"emulator", machine.getEmulator()},
          {"align", machine.getHost().getAlign()},
          {"board", machine.getBoard()},
          {"architectures", architectures(machine)}});
    printJson(std::move(array));
  }

  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeTargets() { return std::make_unique<Targets>(); }

} // namespace nnc::tools
