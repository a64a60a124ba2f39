// Tells gestures with an Arduino Nano 33 BLE, whose accelerometer it reads for 1.3 seconds.
#include <Arduino_LSM9DS1.h>
#include <gesture.h>

const char *const names[] = {"still", "shake", "circle", "nod"};
const int count = 4, samples = 64, axes = 3;
const unsigned long period = 20; // milliseconds

float x, y, z;
int8_t clip[samples * axes], scores[count];
alignas(GESTURE_ALIGN) unsigned char arena[GESTURE_ARENA_BYTES];

// The model's input is in 32nds of gravity.
int8_t quantize(float gravity) {
  return (int8_t)constrain(lroundf(gravity * 32), -128, 127);
}

void setup() {
  Serial.begin(115200);
  IMU.begin();
}

void loop() {
  for (int i = 0; i < samples; ++i) {
    const unsigned long start = millis();
    IMU.readAcceleration(x, y, z); // leaves them as they are between two samples
    clip[axes * i] = quantize(x);
    clip[axes * i + 1] = quantize(y);
    clip[axes * i + 2] = quantize(z);
    while (millis() - start < period) {
    }
  }
  gesture_inputs inputs = {clip};
  gesture_outputs outputs = {scores};
  if (const int status = gesture_run(&inputs, &outputs, arena)) {
    Serial.print("gesture_run() failed with status ");
    Serial.println(status);
    return;
  }
  int best = 0;
  for (int i = 1; i < count; ++i)
    if (scores[i] > scores[best])
      best = i;
  Serial.println(names[best]);
}
