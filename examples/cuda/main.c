/* Tells the gestures of the recorded clips on a GPU: once in a stream, and once
 * by a captured graph. Fails where a gesture is wrong or the graph computes
 * something else. */
#include "clips.h"
#include "gesture.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

enum { count = sizeof gestures / sizeof *gestures, scores_bytes = count };

/* Prints what CUDA says of a call that failed. */
static int failed(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

/* The GPU's memory that the network needs. */
struct memory {
  void *weights, *arena, *clip, *scores;
};

static int allocate(struct memory *gpu) {
  return failed(cudaMalloc(&gpu->weights, GESTURE_WEIGHT_BYTES), "weights") ||
         failed(cudaMalloc(&gpu->arena, GESTURE_ARENA_BYTES), "arena") ||
         failed(cudaMalloc(&gpu->clip, sizeof clips[0]), "clip") ||
         failed(cudaMalloc(&gpu->scores, scores_bytes), "scores");
}

/* Adds a run to the stream: the copies of a clip and of its scores, and the
 * network between them. */
static int add_run(const struct memory *gpu, const void *clip, int8_t *scores,
                   cudaStream_t stream) {
  const struct gesture_inputs inputs = {.clip = gpu->clip,
                                        .weights = gpu->weights};
  const struct gesture_outputs outputs = {.scores = gpu->scores};
  if (failed(cudaMemcpyAsync(gpu->clip, clip, sizeof clips[0],
                             cudaMemcpyHostToDevice, stream),
             "copying the clip"))
    return 1;
  const int status = gesture_run(&inputs, &outputs, gpu->arena, stream);
  if (status != GESTURE_OK) {
    fprintf(stderr, "gesture_run() failed with status %d\n", status);
    return 1;
  }
  return failed(cudaMemcpyAsync(scores, gpu->scores, scores_bytes,
                                cudaMemcpyDeviceToHost, stream),
                "copying the scores");
}

static int find_best(const int8_t *scores) {
  int best = 0;
  for (int k = 1; k < count; ++k)
    if (scores[k] > scores[best])
      best = k;
  return best;
}

int main(void) {
  struct memory gpu;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replay;
  /* The copies of a graph read and write the same memory in each replay. */
  signed char clip[sizeof clips[0]];
  int8_t scores[count], again[count];
  if (allocate(&gpu) || failed(cudaStreamCreate(&stream), "stream"))
    return 1;
  const int status = gesture_load_weights(gpu.weights, NULL, stream);
  if (status != GESTURE_OK) {
    fprintf(stderr, "gesture_load_weights() failed with status %d\n", status);
    return 1;
  }
  if (failed(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
             "capture") ||
      add_run(&gpu, clip, again, stream) ||
      failed(cudaStreamEndCapture(stream, &graph), "capture") ||
      failed(cudaGraphInstantiate(&replay, graph, 0), "graph"))
    return 1;

  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    memcpy(clip, clips[i], sizeof clip);
    if (add_run(&gpu, clips[i], scores, stream) ||
        failed(cudaGraphLaunch(replay, stream), "replay") ||
        failed(cudaStreamSynchronize(stream), "run"))
      return 1;
    printf("%s is %s\n", gestures[i], gestures[find_best(scores)]);
    wrong += find_best(scores) != i || memcmp(scores, again, scores_bytes) != 0;
  }
  return wrong != 0;
}
