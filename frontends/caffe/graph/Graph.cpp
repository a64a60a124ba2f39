//===- Graph.cpp - Walks a network's layers -------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/graph/Graph.h"

#include "dialects/nn/Nn.h"
#include "frontends/caffe/graph/Layer.h"
#include "frontends/common/Module.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::caffe;

GraphImporter::GraphImporter(const LoadedModel &loaded,
                             const ImportOptions &options,
                             const GivenShapes &topShapes, Problems &problems,
                             Problems &fileProblems, func::FuncOp function)
    : loaded(loaded), topShapes(topShapes), problems(problems),
      fileProblems(fileProblems), function(function),
      builder(OpBuilder::atBlockEnd(&function.getBody().front())),
      weights(loaded.net, loaded.weights.get()), customs(options.customs) {
  for (const schema::LayerParameter &layer : loaded.net.layer())
    for (const std::string &top : layer.top())
      computedBy[top] = layer.name();
}

Location GraphImporter::getLoc(const schema::LayerParameter &param) const {
  if (!param.name().empty() || param.top_size() == 0)
    return problems.getLoc(param.name());
  return problems.getLoc(param.top(0));
}

/// Collects the bottoms that the layer reads. Returns false if one of them has
/// no value, after an error here or at the layer that should compute it.
bool GraphImporter::readBottoms(const schema::LayerParameter &param,
                                const OpInfo &info,
                                SmallVectorImpl<Value> &bottoms) {
  if (param.bottom_size() < info.minBottoms ||
      param.bottom_size() > info.maxBottoms) {
    problems.report(ImportStatus::broken, getLoc(param), info.name)
        << info.name << " has " << param.bottom_size() << " bottoms; it needs "
        << (param.bottom_size() < info.minBottoms ? "at least " : "at most ")
        << (param.bottom_size() < info.minBottoms ? info.minBottoms
                                                  : info.maxBottoms);
    return false;
  }
  return collectBottoms(param, info.role == Role::loss ? 1 : -1, bottoms);
}

/// Collects the first `most` bottoms, and reports those that nothing computes.
bool GraphImporter::collectBottoms(const schema::LayerParameter &param,
                                   size_t most,
                                   SmallVectorImpl<Value> &bottoms) {
  bool hasAll = true;
  for (const std::string &bottom : param.bottom()) {
    if (bottoms.size() == most)
      break;
    auto found = blobs.find(bottom);
    unread.erase(bottom);
    if (found == blobs.end()) {
      auto later = computedBy.find(bottom);
      auto problem =
          problems.report(ImportStatus::broken, getLoc(param), param.type());
      problem << param.type() << " reads '" << bottom << "', which ";
      auto leftOut = loaded.leftOut.find(bottom);
      if (later == computedBy.end() && leftOut == loaded.leftOut.end())
        problem << "no layer computes";
      else if (later == computedBy.end())
        problem << "only layer '" << leftOut->second
                << "' computes, and that is no layer of inference (phase "
                   "TEST); give the network that is deployed, with a layer of "
                   "type Input in its place";
      else
        problem << "only layer '" << later->second
                << "' computes, and that is not in front of it; Caffe runs "
                   "layers in the order of the file";
    }
    bottoms.push_back(found == blobs.end() ? Value() : found->second.value);
    hasAll &= bool(bottoms.back());
  }
  return hasAll;
}

/// Makes `values` those of the layer's tops; further tops have no value.
void GraphImporter::setTops(const schema::LayerParameter &param,
                            ArrayRef<Value> values) {
  auto set = [&](const std::string &top, Value value) {
    blobs[top] = {value, param.name()};
    unread.insert(top);
  };
  for (int i = 0; i < param.top_size(); ++i) {
    const std::string &top = param.top(i);
    auto before = blobs.find(top);
    if (before != blobs.end() && !llvm::is_contained(param.bottom(), top))
      problems.report(ImportStatus::broken, getLoc(param), param.type())
          << param.type() << " computes '" << top << "', which layer '"
          << before->second.source
          << "' computes, too; only a layer that reads a blob may compute it "
             "again";
    set(top, size_t(i) < values.size() ? values[i] : Value());
  }
  // Caffe gives losses without a top one of their own.
  if (param.top_size() == 0 && !values.empty() && values[0])
    set(param.name(), values[0]);
}

/// Returns the name by which --custom names the layer's type.
static std::string getOperatorName(const schema::LayerParameter &param) {
  const schema::PythonParameter &python = param.python_param();
  return param.type() == "Python" && param.has_python_param()
             ? python.module() + "." + python.layer()
             : param.type();
}

const CustomFunction *
nnc::caffe::findCustom(Customs &customs, const schema::LayerParameter &param) {
  return findOp(param.type()) ? nullptr : customs.find(getOperatorName(param));
}

/// Imports a layer that a function of the user computes. It reads the bottoms
/// and then the blobs. Its tops have the shapes that the user gives, or else
/// that of the first bottom.
void GraphImporter::importCustom(const schema::LayerParameter &param,
                                 const CustomFunction &function) {
  SmallVector<Value> bottoms;
  if (!collectBottoms(param, -1, bottoms)) {
    setTops(param, {});
    return;
  }
  Layer layer(builder, problems, getLoc(param), param, bottoms, weights);
  Customs::Call call;
  call.name = getOperatorName(param);
  call.operands = bottoms;
  for (size_t i = 0; i < layer.getNumBlobs(); ++i)
    call.operands.push_back(layer.getBlob(i));
  if (llvm::is_contained(call.operands, Value()))
    return;
  for (Value operand : call.operands)
    call.reads.push_back(
        describePlain(cast<RankedTensorType>(operand.getType())));
  for (const std::string &top : param.top()) {
    auto given = topShapes.find(top);
    if (given == topShapes.end() && bottoms.empty()) {
      layer.fail(ImportStatus::unbound,
                 "has no bottom whose shape '" + top +
                     "' could have; give it one with --shape " + top +
                     "=1x3x8x8");
      return;
    }
    SmallVector<int64_t> shape(given == topShapes.end()
                                   ? getShape(bottoms[0])
                                   : ArrayRef<int64_t>(given->second));
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    if (!layer.checkSize(type))
      return;
    call.writes.push_back(describePlain(type));
  }
  if (param.has_python_param())
    call.attributes.push_back(builder.getNamedAttr(
        "param_str", builder.getStringAttr(param.python_param().param_str())));
  setTops(param, customs.create(function, call, layer));
}

void GraphImporter::noteUnsupported(const schema::LayerParameter &param) {
  if (param.type().empty()) {
    problems.report(ImportStatus::broken, getLoc(param)) << "has no type";
    return;
  }
  std::string name = "layer type '" + param.type() + "'";
  if (param.type() == "Python")
    name = "layer type 'Python' (" + getOperatorName(param) + ")";
  customs.noteMissing(getOperatorName(param));
  ++missing
        .insert(
            {builder.getStringAttr(name), MissingOperator{getLoc(param), 0}})
        .first->second.count;
}

void GraphImporter::importLayer(const schema::LayerParameter &param) {
  const OpInfo *info = findOp(param.type());
  if (!info) {
    if (const CustomFunction *function = findCustom(customs, param)) {
      importCustom(param, *function);
      return;
    }
    noteUnsupported(param);
    for (const std::string &bottom : param.bottom())
      unread.erase(bottom);
    setTops(param, {});
    return;
  }
  if (info->role == Role::dropped || info->role == Role::input)
    return;
  SmallVector<Value> bottoms;
  if (!readBottoms(param, *info, bottoms)) {
    setTops(param, {});
    return;
  }
  Layer layer(builder, problems, getLoc(param), param, bottoms, weights);
  bool wasSound = problems.none();
  layer.setTop(0, info->convert(layer));
  SmallVector<Value> tops;
  for (size_t i = 0; i < layer.getNumTops(); ++i)
    tops.push_back(layer.getTop(i));
  bool isSilent = param.top_size() == 0;
  if (wasSound && problems.none() && missing.empty() && !isSilent &&
      llvm::is_contained(tops, Value()))
    layer.broken("has " + Twine(param.top_size()) +
                 " tops, more than it computes");
  setTops(param, tops);
}

void GraphImporter::reportMissingWeights() {
  // A file that could not be read has been reported.
  if (weights.getNumMissing() == 0 || !fileProblems.none())
    return;
  if (loaded.weights) {
    fileProblems.report(ImportStatus::broken)
        << "has layers with weights, and the file of weights '"
        << loaded.weights->path
        << "' holds a network without any: none of its layers has blobs";
    return;
  }
  fileProblems.report(ImportStatus::unbound)
      << "has layers with weights, and no file of weights was given: pass "
         "--weights FILE.caffemodel, or put that file beside the network under "
         "the same name";
}

/// Erases the batch normalizations that a scale behind them replaced.
static void eraseReplacedNorms(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<nn::BatchNormOp>(op) && op.use_empty())
      op.erase();
}

void GraphImporter::run(ArrayRef<Input> inputs) {
  auto arguments = function.getArguments().begin();
  for (const Input &input : inputs) {
    Value value = input.value ? Value(builder.create<nn::ConstantOp>(
                                    problems.getLoc(input.name), input.value))
                              : Value(*arguments++);
    blobs[input.name] = {value, input.name};
  }
  int64_t most = problems.getLimits().nodes;
  if (loaded.net.layer_size() > most) {
    problems.report(ImportStatus::limit)
        << "has " << loaded.net.layer_size() << " layers, more than --limit "
        << "nodes=" << most << " allows";
    return;
  }
  for (const schema::LayerParameter &param : loaded.net.layer())
    importLayer(param);
  reportMissing(missing, problems, "layers",
                "`nnc ops --frontend=caffe` lists what is, and --custom takes "
                "a function for a type of layers");
  reportMissingWeights();
  customs.reportUnused([](StringRef name) { return bool(findOp(name)); },
                       problems);
  if (unread.empty())
    problems.report(ImportStatus::broken)
        << "has no outputs: no layer computes a blob that no other layer reads";
  if (!problems.none() || !fileProblems.none())
    return;
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  for (const std::string &name : unread) {
    results.push_back(blobs[name].value);
    names.push_back(name);
  }
  returnFromMain(function, results, names);
  eraseReplacedNorms(function.getBody().front());
}
