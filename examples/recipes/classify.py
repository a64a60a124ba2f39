#!/usr/bin/env python3
"""Compiles a network and runs it on samples: classify.py MODEL.onnx SAMPLES.npz"""

import sys

import nnc
import numpy as np

model = nnc.compile(sys.argv[1])
labels = model.metadata["labels"].splitlines()
clips = np.load(sys.argv[2])["clip"]
wanted = labels * (len(clips) // len(labels))  # the samples are of one gesture after the other
told = [labels[model(clip[None]).argmax()] for clip in clips]
print(f"{len(clips)} clips, {sum(a == b for a, b in zip(told, wanted))} right")
