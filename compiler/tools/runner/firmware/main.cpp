//===- main.cpp - Runs an emitted module without an operating system ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// This file is built with -DNNC_MODEL=resnet50 -DNNC_MODEL_CONSTANTS=RESNET50.
//
//===----------------------------------------------------------------------===//

#include "firmware.h"

// In angle brackets, so that a module called "firmware" is not mistaken for the
// header above.
#define NNC_HEADER(name) <name.h>
#define NNC_PASTE2(a, b) a##b
#define NNC_PASTE(a, b) NNC_PASTE2(a, b)
#include NNC_HEADER(NNC_MODEL)

using namespace firmware;

namespace {

using Inputs = NNC_PASTE(NNC_MODEL, _inputs);
using Outputs = NNC_PASTE(NNC_MODEL, _outputs);

constexpr size_t alignment = NNC_PASTE(NNC_MODEL_CONSTANTS, _ALIGN);

/// Memory between two guard areas of known bytes, which show whether the module
/// wrote outside of it.
class Guarded {
public:
  Guarded() = default;
  explicit Guarded(size_t bytes) : bytes(bytes) {
    // A multiple of the alignment and no more, so that code which needs more
    // alignment than it asks for is found.
    auto *begin = static_cast<unsigned char *>(
        allocate(bytes + 2 * guard + alignment, 2 * alignment));
    own = begin + guard + alignment;
    fill(own - guard, guard);
    fill(own + bytes, guard);
    for (size_t i = 0; i < bytes; ++i)
      own[i] = pattern;
  }
  void *data() const { return own; }
  size_t size() const { return bytes; }
  bool isKept() const {
    for (size_t i = 0; i < guard; ++i)
      if (own[i - guard] != pattern || own[bytes + i] != pattern)
        return false;
    return true;
  }

private:
  static void fill(unsigned char *area, size_t count) {
    for (size_t i = 0; i < count; ++i)
      area[i] = pattern;
  }
  static constexpr size_t guard = 256;
  static constexpr unsigned char pattern = 0x5a;
  unsigned char *own = nullptr;
  size_t bytes = 0;
};

/// Returns what follows `option` in `argument`, or null if it is another one.
char *valueOf(char *argument, const char *option) {
  for (; *option; ++option, ++argument)
    if (*argument != *option)
      return nullptr;
  return argument;
}

size_t toNumber(const char *text) {
  size_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + static_cast<size_t>(*text - '0');
  return number;
}

/// The arguments of a run, and where they come from and go to.
struct Call {
  static constexpr size_t inputFields = sizeof(Inputs) / sizeof(void *),
                          outputFields = sizeof(Outputs) / sizeof(void *);
  Guarded inputs[inputFields], outputs[outputFields], arena;
  const char *outputPaths[outputFields];
  size_t inputCount = 0, outputCount = 0;

  void addInput(Guarded memory) {
    if (inputCount == inputFields)
      fail("there are too many inputs");
    inputs[inputCount++] = memory;
  }
  void addInput(const char *path) {
    File file(path, File::read);
    Guarded memory(file.size());
    file.get(memory.data(), memory.size());
    file.close();
    addInput(memory);
  }
  /// Takes PATH:BYTES; without a path the output is discarded.
  void addOutput(char *text) {
    char *colon = nullptr;
    for (char *c = text; *c; ++c)
      if (*c == ':')
        colon = c;
    if (!colon || outputCount == outputFields)
      fail("--output=[FILE]:BYTES, for each output");
    *colon = '\0';
    outputPaths[outputCount] = text;
    outputs[outputCount++] = Guarded(toNumber(colon + 1));
  }
  void run() const {
    // The structs consist of pointers only.
    union {
      Inputs fields;
      const void *pointers[inputFields];
    } in;
    union {
      Outputs fields;
      void *pointers[outputFields];
    } out;
    for (size_t i = 0; i < inputFields; ++i)
      in.pointers[i] = inputs[i].data();
    for (size_t i = 0; i < outputFields; ++i)
      out.pointers[i] = outputs[i].data();
    if (NNC_PASTE(NNC_MODEL, _run)(&in.fields, &out.fields, arena.data()) != 0)
      fail("the module returned a status other than 0");
  }
  void check() const {
    bool isKept = arena.isKept();
    for (const Guarded &memory : inputs)
      isKept = isKept && memory.isKept();
    for (const Guarded &memory : outputs)
      isKept = isKept && memory.isKept();
    if (!isKept)
      fail("the module wrote outside of its arena, inputs or outputs");
  }
  void write() const {
    for (size_t i = 0; i < outputFields; ++i) {
      if (!outputPaths[i][0])
        continue;
      File file(outputPaths[i], File::write);
      file.put(outputs[i].data(), outputs[i].size());
      file.close();
    }
  }
};

const File *layerDump; ///< where outputs of layers go, or null
bool timesLayers;
uint64_t layerStart;

} // namespace

/// The module, built with -DNNC_HOOKS=1, calls this function after each layer.
void nnc_layer_done(const char *, int layer, const void *output, size_t bytes) {
  if (layerDump) {
    const int64_t header[2] = {layer, static_cast<int64_t>(bytes)};
    layerDump->put(header, sizeof header);
    layerDump->put(output, bytes);
  }
  if (timesLayers) {
    const uint64_t time = now() - layerStart;
    print("layer ");
    print(static_cast<uint64_t>(layer));
    print(" ");
    print(time);
    print("\n");
    layerStart = now(); // leaves out what this took
  }
}

/// Each line of the file that the emulator was given is an argument.
int main() {
  startClock();
  char room[1024];
  File list(readCommandLine(room, sizeof room), File::read);
  const size_t length = list.size();
  char *text = static_cast<char *>(allocate(length + 1, 1));
  list.get(text, length);
  list.close();
  text[length] = '\0';

  static Call call;
  const char *layers = nullptr;
  size_t runs = 0;
  for (char *next = text; *next;) {
    char *line = next;
    while (*next && *next != '\n')
      ++next;
    if (*next)
      *next++ = '\0';
    if (const char *path = valueOf(line, "--input="))
      call.addInput(path);
    else if (const char *bytes = valueOf(line, "--zeros=")) {
      Guarded memory(toNumber(bytes));
      for (size_t i = 0; i < memory.size(); ++i)
        static_cast<unsigned char *>(memory.data())[i] = 0;
      call.addInput(memory);
    } else if (char *output = valueOf(line, "--output="))
      call.addOutput(output);
    else if (const char *path = valueOf(line, "--layers="))
      layers = path;
    else if (const char *count = valueOf(line, "--runs="))
      runs = toNumber(count);
    else
      fail("unknown argument ", line);
  }
  if (call.inputCount != Call::inputFields ||
      call.outputCount != Call::outputFields)
    fail("there are too few inputs or outputs");
  call.arena = Guarded(NNC_PASTE(NNC_MODEL_CONSTANTS, _ARENA_BYTES));

  if (layers) {
    File dump(layers, File::write);
    layerDump = &dump;
    call.run();
    layerDump = nullptr;
    dump.close();
  }
  paintStack();
  call.run();
  print("stack ");
  print(static_cast<uint64_t>(measureStack()));
  print("\n");
  call.check();
  call.write();
  for (size_t run = 0; run < runs; ++run) {
    const uint64_t start = now();
    call.run();
    const uint64_t time = now() - start;
    print("run ");
    print(time);
    print("\n");
  }
  if (runs) {
    timesLayers = true;
    layerStart = now();
    call.run();
  }
  return 0;
}
