/* A stub of the driver's library, libcuda.so.1, of which nnc asks which GPU
 * there is. */
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) { return (int)flags; }

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int bytes, int device) {
  static const char stub[] = "Stub of a GPU";
  if (bytes < (int)sizeof stub)
    return 1;
  memcpy(name, stub, sizeof stub);
  return device;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *given = getenv("STUB_GPU_ARCHITECTURE");
  const int architecture = given ? atoi(given) : 80;
  *value = attribute == 75 ? architecture / 10 : architecture % 10;
  return device;
}
