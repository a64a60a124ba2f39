//===- Ops.cpp - nnc ops --------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Terminal.h"
#include "compiler/tools/nnc/Command.h"

#include "frontends/onnx/Ops.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace json = llvm::json;

namespace nnc::tools {
namespace {

class Ops : public Command {
public:
  void addOptions(CLI::App &app) override { addJsonOption(app, json); }

  ExitCode run() override {
    if (json) {
      json::Array array;
      for (const onnx::OpInfo &op : onnx::getOps())
        array.push_back(json::Object{{"name", op.name},
                                     {"first_opset", op.getOpsets().first},
                                     {"last_opset", op.getOpsets().second},
                                     {"limits", op.limits}});
      printJson(std::move(array));
      return ExitCode::done;
    }
    Table table({"operator", "opsets", "limits"});
    for (const onnx::OpInfo &op : onnx::getOps()) {
      auto [first, last] = op.getOpsets();
      table.add({op.name.str(), fmt::format("{} to {}", first, last),
                 op.limits.str()});
    }
    table.print();
    printOut("\n{} operators of ONNX's default domain, and what ONNX itself "
             "defines by these.\n",
             onnx::getOps().size());
    return ExitCode::done;
  }

private:
  bool json = false;
};

} // namespace

std::unique_ptr<Command> makeOps() { return std::make_unique<Ops>(); }

} // namespace nnc::tools
