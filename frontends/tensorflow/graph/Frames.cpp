//===- Frames.cpp - Loops of TensorFlow 1 as While ------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/graph/Frames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;
using namespace nnc::tensorflow;

/// Returns the operator of a node without the prefix of references to
/// variables: "Enter" of RefEnter.
static StringRef getFlowOp(const pb::NodeDef &node) {
  StringRef op = node.op();
  StringRef rest = op;
  bool isReference = rest.consume_front("Ref") &&
                     (rest == "Enter" || rest == "Exit" || rest == "Merge" ||
                      rest == "Switch" || rest == "NextIteration");
  return isReference ? rest : op;
}

static StringRef getFrameName(const pb::NodeDef &enter) {
  auto found = enter.attr().find("frame_name");
  return found == enter.attr().end() ? StringRef()
                                     : StringRef(found->second.s());
}

namespace {
/// A reducer of the frames of one graph.
class FrameReducer {
public:
  FrameReducer(Graph &graph, const MadeParts &parts, Problems &problems)
      : graph(graph), parts(parts), problems(problems) {}

  void run();

private:
  struct Frame {
    std::string name;
    int64_t depth = 1;       ///< 1 for a frame that is in no other
    Frame *parent = nullptr; ///< the frame around this one
    std::vector<const pb::NodeDef *> nodes; ///< all, with Enter nodes
  };
  /// The nodes through which a loop-carried value passes.
  struct Variable {
    const pb::NodeDef *enter = nullptr, *merge = nullptr, *next = nullptr,
                      *branch = nullptr;
  };

  const pb::NodeDef *find(StringRef reference) const {
    return graph.nodes.lookup(parseReference(reference).node);
  }
  bool assignFrames();
  void reduce(Frame &frame);
  std::vector<Variable> findVariables(const Frame &frame);
  Graph &addPart(const Frame &frame, StringRef part);
  void fail(const Frame &frame, const Twine &why);

  Graph &graph;
  const MadeParts &parts;
  Problems &problems;
  std::vector<const pb::NodeDef *> sorted; ///< all nodes, by name
  std::map<std::string, Frame> frames;
  /// The frames of nodes in one; an Enter is in the frame that it leads to.
  llvm::DenseMap<const pb::NodeDef *, Frame *> framesOf;
};
} // namespace

void FrameReducer::fail(const Frame &frame, const Twine &why) {
  problems.report(ImportStatus::unsupported, problems.getLoc(frame.name))
      << "is the frame of a loop " << why
      << "; nnc handles loops as tf.while_loop makes them";
}

/// Finds the frame of each node, by a walk in the order of the nodes without
/// the edges that lead to the next run. Returns true if the depth of a frame
/// became known; then the walk has to be repeated.
bool FrameReducer::assignFrames() {
  framesOf.clear();
  bool hasChanged = false;
  llvm::DenseMap<const pb::NodeDef *, int> open;
  llvm::DenseMap<const pb::NodeDef *, std::vector<const pb::NodeDef *>> readers;
  std::vector<const pb::NodeDef *> ready;
  for (const pb::NodeDef *node : sorted) {
    int count = 0;
    for (const std::string &input : node->input()) {
      const pb::NodeDef *before = find(input);
      if (!before || getFlowOp(*before) == "NextIteration")
        continue;
      readers[before].push_back(node);
      ++count;
    }
    open[node] = count;
    if (count == 0)
      ready.push_back(node);
  }
  while (!ready.empty()) {
    const pb::NodeDef *node = ready.back();
    ready.pop_back();
    Frame *frame = nullptr;
    for (const std::string &input : node->input()) {
      const pb::NodeDef *before = find(input);
      Frame *other = before ? framesOf.lookup(before) : nullptr;
      if (other && getFlowOp(*before) == "Exit")
        other = other->parent;
      if (other && (!frame || other->depth > frame->depth))
        frame = other;
    }
    if (getFlowOp(*node) == "Enter") {
      Frame &entered = frames[getFrameName(*node).str()];
      int64_t depth = frame ? frame->depth + 1 : 1;
      if (depth > entered.depth &&
          depth <= int64_t(frames.size())) { // no frame is in itself
        entered.depth = depth;
        hasChanged = true;
      }
      if (frame && frame != &entered &&
          (!entered.parent || entered.parent->depth < frame->depth))
        entered.parent = frame;
      frame = &entered;
    }
    if (frame)
      framesOf[node] = frame;
    for (const pb::NodeDef *reader : readers[node])
      if (--open[reader] == 0)
        ready.push_back(reader);
  }
  return hasChanged;
}

std::vector<FrameReducer::Variable>
FrameReducer::findVariables(const Frame &frame) {
  std::map<const pb::NodeDef *, Variable> byMerge;
  std::vector<const pb::NodeDef *> merges;
  for (const pb::NodeDef *node : frame.nodes) {
    if (getFlowOp(*node) != "Merge" || node->input_size() < 2)
      continue;
    Variable variable;
    for (int i = 0; i < 2; ++i) {
      const pb::NodeDef *before = find(node->input(i));
      if (before && getFlowOp(*before) == "Enter")
        variable.enter = before;
      if (before && getFlowOp(*before) == "NextIteration")
        variable.next = before;
    }
    if (!variable.enter || !variable.next || variable.next->input().empty() ||
        variable.enter->input().empty())
      continue; // of branches in the body
    variable.merge = node;
    byMerge[node] = variable;
    merges.push_back(node);
  }
  for (const pb::NodeDef *node : frame.nodes) {
    if (getFlowOp(*node) != "Switch" || node->input_size() < 2)
      continue;
    const pb::NodeDef *condition = find(node->input(1));
    auto found = byMerge.find(find(node->input(0)));
    if (condition && condition->op() == "LoopCond" && found != byMerge.end())
      found->second.branch = node;
  }
  std::vector<Variable> variables;
  for (const pb::NodeDef *merge : merges)
    variables.push_back(byMerge[merge]);
  return variables;
}

/// Adds a function with the nodes of a frame that compute something, and with
/// the constants that they read.
Graph &FrameReducer::addPart(const Frame &frame, StringRef part) {
  static const llvm::StringSet<> flow = {"Enter", "NextIteration", "LoopCond",
                                         "Exit"};
  Graph &made = parts.addFunction((frame.name + "_" + part).str());
  for (const pb::NodeDef *node : frame.nodes)
    if (!flow.contains(getFlowOp(*node)))
      made.nodes[node->name()] = node;
  for (const pb::NodeDef *node : frame.nodes)
    for (const std::string &input : node->input())
      if (const pb::NodeDef *before = find(input);
          before && before->op() == "Const")
        made.nodes.try_emplace(before->name(), before);
  return made;
}

void FrameReducer::reduce(Frame &frame) {
  std::vector<Variable> variables = findVariables(frame);
  const pb::NodeDef *condition = nullptr;
  std::vector<const pb::NodeDef *> exits, captured;
  for (const pb::NodeDef *node : frame.nodes) {
    StringRef op = getFlowOp(*node);
    if (op == "LoopCond")
      condition = node;
    else if (op == "Exit")
      exits.push_back(node);
    else if (op == "Enter" && !node->input().empty() &&
             llvm::none_of(variables, [&](const Variable &variable) {
               return variable.enter == node;
             }))
      captured.push_back(node);
  }
  if (!condition || condition->input().empty())
    return fail(frame, "without a condition");
  Graph &test = addPart(frame, "cond"), &body = addPart(frame, "body");
  pb::NodeDef &loop = parts.addNode();
  // No node that TensorFlow names has two slashes in a row.
  loop.set_name(frame.name + "//While");
  loop.set_op("While");
  (*loop.mutable_attr())["cond"].mutable_func()->set_name(test.name);
  (*loop.mutable_attr())["body"].mutable_func()->set_name(body.name);
  test.results.push_back(condition->input(0));
  for (const Variable &variable : variables) {
    loop.add_input(variable.enter->input(0));
    for (Graph *part : {&test, &body}) {
      part->nodes.erase(variable.merge->name());
      part->arguments.push_back(variable.merge->name());
      if (variable.branch) {
        part->nodes.erase(variable.branch->name());
        part->aliases.emplace_back(variable.branch->name() + ":1",
                                   part->arguments.size() - 1);
      }
    }
    body.results.push_back(variable.next->input(0));
  }
  for (const pb::NodeDef *enter : captured) {
    loop.add_input(enter->input(0));
    for (Graph *part : {&test, &body})
      part->arguments.push_back(enter->name());
    body.results.push_back(enter->name());
  }
  for (const pb::NodeDef *node : frame.nodes)
    graph.nodes.erase(node->name());
  auto add = [&](const pb::NodeDef &node) {
    graph.nodes[node.name()] = &node;
    if (frame.parent)
      frame.parent->nodes.push_back(&node);
  };
  add(loop);
  for (const pb::NodeDef *exit : exits) {
    StringRef value =
        exit->input().empty() ? "" : parseReference(exit->input(0)).node;
    auto found = llvm::find_if(variables, [&](const Variable &variable) {
      return variable.branch && value == variable.branch->name();
    });
    if (found == variables.end()) {
      fail(frame, "with an exit '" + exit->name() +
                      "' of a value that the loop does not carry");
      return;
    }
    pb::NodeDef &result = parts.addNode();
    result.set_name(exit->name());
    result.set_op("Identity");
    result.add_input(loop.name() + ":" +
                     std::to_string(found - variables.begin()));
    add(result);
  }
}

void FrameReducer::run() {
  for (const auto &entry : graph.nodes) {
    sorted.push_back(entry.second);
    if (getFlowOp(*entry.second) == "Enter") {
      std::string name = getFrameName(*entry.second).str();
      frames[name].name = name;
    }
  }
  if (frames.empty())
    return;
  auto byName = [](const pb::NodeDef *a, const pb::NodeDef *b) {
    return a->name() < b->name();
  };
  llvm::sort(sorted, byName);
  int64_t passes = 0;
  while (assignFrames())
    if (++passes > problems.getLimits().depth) {
      problems.report(ImportStatus::limit)
          << "has loops that are nested deeper than "
          << problems.getLimits().depth << "; --limit depth=N allows more";
      return;
    }
  for (const pb::NodeDef *node : sorted)
    if (Frame *frame = framesOf.lookup(node))
      frame->nodes.push_back(node);
  std::vector<Frame *> inwards;
  for (auto &entry : frames)
    inwards.push_back(&entry.second);
  llvm::sort(inwards, [](const Frame *a, const Frame *b) {
    return std::tie(b->depth, a->name) < std::tie(a->depth, b->name);
  });
  for (Frame *frame : inwards)
    reduce(*frame);
}

void nnc::tensorflow::reduceLoops(Graph &graph, const MadeParts &parts,
                                  Problems &problems) {
  FrameReducer(graph, parts, problems).run();
}
