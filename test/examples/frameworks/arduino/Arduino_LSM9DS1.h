// Stands in for the library of an accelerometer in a test: it plays the clips
// of the example.
#ifndef ARDUINO_LSM9DS1_H
#define ARDUINO_LSM9DS1_H

#include "clips.h"

struct Accelerometer {
  int begin() { return 1; }
  int readAcceleration(float &x, float &y, float &z) {
    const int8_t *sample = clips[next / 64] + next % 64 * 3;
    x = sample[0] / 32.0f, y = sample[1] / 32.0f, z = sample[2] / 32.0f;
    ++next;
    return 1;
  }
  int next = 0;
};
static Accelerometer IMU;

#endif
