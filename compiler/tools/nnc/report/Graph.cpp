//===- Graph.cpp - The dataflow graph of a program ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/report/Graph.h"

#include "dialects/nn/layouts/Layout.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <algorithm>
#include <set>

using namespace mlir;

namespace nnc::tools {
namespace {

/// A range of bytes of an input, output, state, buffer or weight.
struct Range {
  Operation *base;
  int64_t begin, end;
};

/// Returns the bytes to which a place refers, through nested views.
Range findRange(exec::PlaceOpInterface place) {
  int64_t offset = 0, bytes = nn::getPhysicalBytes(place.getTensor());
  Operation *op = place;
  while (auto view = dyn_cast<exec::ViewOp>(op)) {
    offset += int64_t(view.getOffset());
    op = exec::getPlaceOp(view.getBase());
  }
  return {op, offset, offset + bytes};
}

/// Visits the steps of a program in order, and tracks the last writer of each
/// byte.
class Builder {
public:
  explicit Builder(exec::ProgramOp program) : program(program) {}

  Graph build() {
    SmallVector<Operation *> steps = exec::getSteps(program);
    addPorts(int64_t(steps.size()));
    for (Operation *step : steps)
      addStep(step);
    for (auto [node, port] : llvm::enumerate(graph.ports))
      if (port.kind == GraphPort::Kind::output ||
          port.kind == GraphPort::Kind::nextState)
        read(int64_t(steps.size() + node), port.place);
    return std::move(graph);
  }

private:
  struct Write {
    int64_t begin, end, node;
  };

  void addPorts(int64_t first) {
    SmallVector<GraphPort> outgoing;
    for (Operation &op : program.getBody().front()) {
      auto place = dyn_cast<exec::PlaceOpInterface>(op);
      if (isa<exec::OutputOp>(op))
        outgoing.push_back({GraphPort::Kind::output, place});
      if (!isa<exec::InputOp, exec::StateOp>(op))
        continue;
      int64_t node = first + int64_t(graph.ports.size());
      bool isInput = isa<exec::InputOp>(op);
      graph.ports.push_back(
          {isInput ? GraphPort::Kind::input : GraphPort::Kind::state, place});
      write(node, place);
      if (!isInput)
        outgoing.push_back({GraphPort::Kind::nextState, place});
    }
    graph.ports.insert(graph.ports.end(), outgoing.begin(), outgoing.end());
  }

  void addStep(Operation *op) {
    auto node = int64_t(graph.steps.size());
    GraphStep &step = graph.steps.emplace_back();
    step.op = op;
    addParents(step);
    auto roles = op->getAttrOfType<ArrayAttr>(nn::kRolesAttr);
    size_t operand = 0;
    auto readAll = [&](ValueRange places) {
      for (Value place : places) {
        StringRef role = roles && operand < roles.size()
                             ? cast<StringAttr>(roles[operand]).getValue()
                             : StringRef();
        ++operand;
        readOrLoad(node, exec::getPlaceOp(place), role, step);
      }
    };
    auto writeAll = [&](ValueRange places) {
      for (Value place : places) {
        exec::PlaceOpInterface target = exec::getPlaceOp(place);
        step.activationBytes += nn::getPhysicalBytes(target.getTensor());
        write(node, target);
      }
    };
    auto setScratch = [&](Value scratch) {
      if (scratch)
        step.scratchBytes =
            nn::getPhysicalBytes(exec::getPlaceOp(scratch).getTensor());
    };
    if (auto call = dyn_cast<exec::CallOp>(op)) {
      if (auto said = call->getAttrOfType<DictionaryAttr>(nn::kDescriptionAttr))
        step.description = nn::Description::fromAttr(said);
      readAll(call.getInputs());
      readAll(call.getExtras());
      writeAll(call.getOutputs());
      setScratch(call.getScratch());
    } else if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      step.description.kind = nn::LayerKind::move;
      step.description.operation = "copy";
      readAll(copy.getSource());
      writeAll(copy.getTarget());
    } else if (auto transfer = dyn_cast<exec::TransferOp>(op)) {
      step.description.kind = nn::LayerKind::move;
      step.description.operation = "transfer";
      readAll(transfer.getSource());
      writeAll(transfer.getTarget());
    } else if (auto custom = dyn_cast<exec::CustomOp>(op)) {
      step.description.operation = custom.getOperatorName().str();
      readAll(custom.getInputs());
      writeAll(custom.getOutput());
      setScratch(custom.getScratch());
    }
  }

  static void addParents(GraphStep &step) {
    for (Operation *parent = step.op->getParentOp();
         !isa<exec::ProgramOp>(parent); parent = parent->getParentOp())
      if (auto branch = dyn_cast<exec::BranchOp>(parent))
        step.within.insert(step.within.begin(), branch.getName().str());
      else if (auto loop = dyn_cast<exec::LoopOp>(parent))
        step.within.insert(step.within.begin(), loop.getName().str());
  }

  void readOrLoad(int64_t node, exec::PlaceOpInterface place, StringRef role,
                  GraphStep &step) {
    auto weight = dyn_cast<exec::WeightOp>(findRange(place).base);
    if (!weight) {
      step.activationBytes += nn::getPhysicalBytes(place.getTensor());
      read(node, place);
      return;
    }
    // The value of an encoded weight is a list of bytes.
    int64_t bytes = weight.getEncoded()
                        ? weight.getValue().getNumElements()
                        : nn::getPhysicalBytes(weight.getTensor());
    step.weights.push_back({weight.getName().str(), role.str(),
                            weight.getTensor(), bytes,
                            !loaded.insert(weight).second});
  }

  void read(int64_t node, exec::PlaceOpInterface place) {
    Range range = findRange(place);
    for (const Write &write : writes[range.base])
      if (write.begin < range.end && range.begin < write.end)
        if (write.node != node && known.insert({write.node, node}).second)
          graph.edges.push_back({write.node, node, place.getTensor()});
  }

  void write(int64_t node, exec::PlaceOpInterface place) {
    Range range = findRange(place);
    std::vector<Write> &all = writes[range.base];
    // A write replaces older ones that it covers entirely. In a branch or a
    // loop, older ones stay as well, because the step may not run.
    bool isSure =
        node >= int64_t(graph.steps.size()) || graph.steps[node].within.empty();
    if (isSure)
      llvm::erase_if(all, [&](const Write &old) {
        return range.begin <= old.begin && old.end <= range.end;
      });
    all.push_back({range.begin, range.end, node});
  }

  exec::ProgramOp program;
  Graph graph;
  llvm::DenseMap<Operation *, std::vector<Write>> writes; ///< keyed by base
  llvm::DenseSet<Operation *> loaded;                     ///< weights
  std::set<std::pair<int64_t, int64_t>> known;            ///< edges
};

} // namespace

Graph Graph::build(exec::ProgramOp program) { return Builder(program).build(); }

} // namespace nnc::tools
