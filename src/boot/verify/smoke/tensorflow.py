"""A convolution on the first device, with no silent move to another one."""

import json

import tensorflow as tf

tf.config.set_soft_device_placement(False)
gpu = bool(tf.config.list_physical_devices("GPU"))
with tf.device("/GPU:0" if gpu else "/CPU:0"):
    out = tf.nn.conv2d(tf.ones([1, 8, 8, 1]), tf.ones([3, 3, 1, 1]), 1, "VALID")
assert float(tf.reduce_sum(out)) == 324.0, "the convolution is wrong"
build = tf.sysconfig.get_build_info()
detail = f"convolution on the {'GPU' if gpu else 'CPU'}; built for CUDA {build.get('cuda_version', 'none')}"
print(json.dumps({"ok": True, "version": tf.__version__, "gpu": gpu, "detail": detail}))
