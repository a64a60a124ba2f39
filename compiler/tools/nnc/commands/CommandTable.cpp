//===- CommandTable.cpp - The commands of nnc -----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commands/CommandTable.h"

#include "llvm/ADT/STLExtras.h"

namespace nnc::tools {

static const CommandEntry entries[] = {
    {"compile",
     "Turns a model into a folder of C++ source",
     makeCompile,
     true,
     "Reads MODEL, chooses a routine and a layout for each layer, and writes a "
     "folder with a C header, C++17 source, weights, a CMakeLists.txt and "
     "manifest.json. The code needs no library, and all memory that it uses "
     "comes from its caller. The same model, target and options give the same "
     "bytes on any machine.",
     {{"nnc compile resnet50.onnx --target=aarch64 -o resnet50",
       "Makes code for a 64-bit Arm."},
      {"nnc compile kws.tflite --target=cortex-m4 --max-ram=64K -o kws",
       "Makes code for a microcontroller, or ends with exit code 6 where it "
       "would take more than 64 KiB of RAM."}}},
    {"check",
     "Lists every problem of a model, else its sizes",
     makeCheck,
     true,
     "Tells all that keeps MODEL from being compiled in one run. A model "
     "without problems is compiled, and the sizes of its inputs, outputs, "
     "arena, weights and code are printed.",
     {{"nnc check kws.tflite --target=cortex-m4 --max-ram=64K --max-flash=256K",
       "Ends with exit code 6 where the model is too large for a chip."}}},
    {"run",
     "Compiles, builds and runs a model on .npy files",
     makeRun,
     true,
     "Compiles MODEL, builds the code into a program with the target's "
     "compiler, and runs it, in an emulator where the target has one. MODEL "
     "may also be a folder that nnc compile wrote.",
     {{"nnc run resnet50.onnx --input=data=image.npy --output-dir=results",
       "Writes a .npy file for each output."}}},
    {"verify",
     "Compares a model's results with expected ones",
     makeVerify,
     true,
     "Compiles, builds and runs MODEL, and compares its outputs with those of "
     "test data or of nnc's own reference evaluation. Where they differ, the "
     "exit code is 5 and the first layer that differs is named.",
     {{"nnc verify resnet50.onnx --random=2",
       "Compares on two sets of random inputs."},
      {"nnc verify resnet50.onnx --data=test_data --target=aarch64",
       "Compares with files, in an emulator."}}},
    {"bench",
     "Times a model, layer by layer",
     makeBench,
     false,
     "Compiles, builds and runs MODEL, and prints the time of a run and of "
     "each layer. For a target without an operating system it counts "
     "instructions in an emulator.",
     {{"nnc bench resnet50.onnx --threads=2 --pin", "Times it on two cores."}}},
    {"tune",
     "Measures what could compute each layer, for --tuning",
     makeTune,
     true,
     "Builds and times the routines that could be the fastest for a layer of "
     "MODEL, and writes a file of measurements. With --tuning other commands "
     "choose by these instead of estimates.",
     {{"nnc tune resnet50.onnx --budget=2m -o resnet50.tune",
       "Measures for two minutes on this machine."},
      {"nnc tune resnet50.onnx --target=aarch64 --on=ssh:board",
       "Measures on a machine that ssh reaches."}}},
    {"quantize",
     "Makes a float model an 8-bit one, by calibration data",
     makeQuantize,
     true,
     "Runs MODEL on samples to see the range of each activation, and writes an "
     "ONNX model with QuantizeLinear and DequantizeLinear around the layers "
     "that work on 8-bit integers. The report tells how much each layer loses.",
     {{"nnc quantize resnet50.onnx --calibration=samples --per-channel -o "
       "resnet50_int8.onnx",
       "Gives weights a scale for each output channel."}}},
    {"compress",
     "Prunes a float model and shares its weights",
     makeCompress,
     true,
     "Makes weights of MODEL zero, or lets those of a layer share a few "
     "values, and writes an ONNX model with the new weights, which other tools "
     "read, too. The report tells the bytes of each layer by how its weights "
     "are stored.",
     {{"nnc compress resnet50.onnx --clusters=16 --max-drop=1% "
       "--calibration=samples -o resnet50_16.onnx",
       "Lets weights share 16 values where the results stay close."}}},
    {"explain",
     "Shows what each layer could be computed by, and at what cost",
     makeExplain,
     false,
     "Prints for each layer of MODEL the routines and layouts that the search "
     "weighed, their costs, and which one it chose.",
     {{"nnc explain resnet50.onnx --layer=conv1",
       "Shows the layers whose name has conv1 in it."}}},
    {"report",
     "Writes a page that shows a model as compiled, or compares two",
     makeReport,
     true,
     "Writes one file of HTML that needs no network: the graph as compiled, "
     "the arena over time, the weights and the layers under the target's "
     "roofline. With OTHER the page shows what differs.",
     {{"nnc report resnet50.onnx --measure -o resnet50.html",
       "Shows measured times beside estimates."},
      {"nnc report before.html after.html -o change.html",
       "Compares two pages that were written before."}}},
    {"ops",
     "Lists the operators that models may use",
     makeOps,
     false,
     "Prints a table of the operators that nnc reads, with the versions of "
     "them and what is limited.",
     {{"nnc ops --frontend=tflite", "Lists the operators of TFLite."}}},
    {"target-probe",
     "Measures caches and speed of a machine, for --probe",
     makeTargetProbe,
     true,
     "Measures in about two seconds how many multiply-adds a core makes and "
     "how fast caches and memory are, and writes a file by which other "
     "commands estimate costs with --probe.",
     {{"nnc target-probe --target=aarch64 --on=ssh:board -o board.probe",
       "Measures a machine that ssh reaches."}}},
    {"targets",
     "Lists the machines that code can be made for",
     makeTargets,
     false,
     "Prints a table of what --target may be, with the compiler, flags and "
     "emulator of each, and whether that compiler is installed.",
     {}},
    {"routines",
     "Lists the routines that layers are computed by",
     makeRoutines,
     false,
     "Prints a table of the routines of the runtime, with the layouts that "
     "they read and write and the parameters among which the search chooses.",
     {{"nnc routines --family=conv2d", "Lists the routines of convolutions."}}},
    {"completion",
     "Prints what lets a shell complete command lines of nnc",
     makeCompletion,
     false,
     "Prints a script for SHELL, which completes commands, options, their "
     "values and files. An installed nnc has these scripts where shells find "
     "them.",
     {{"source <(nnc completion bash)", "Completes in this shell of bash."},
      {"nnc completion fish > ~/.config/fish/completions/nnc.fish",
       "Completes in fish from now on."}}},
    {"manual",
     "Prints the manual page of nnc or of a command",
     makeManual,
     false,
     "Prints a manual page as source for man or groff. An installed nnc has "
     "these pages where man finds them: man nnc-compile.",
     {{"nnc manual compile | man -l -", "Shows the page of nnc compile."}}},
};

llvm::ArrayRef<CommandEntry> getCommands() { return entries; }

const CommandEntry *findCommand(llvm::StringRef name) {
  const CommandEntry *found = llvm::find_if(
      entries, [&](const CommandEntry &entry) { return name == entry.name; });
  return found == std::end(entries) ? nullptr : found;
}

} // namespace nnc::tools
