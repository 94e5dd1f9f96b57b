"""What a training does, once, and held against what must come out: a product, number formats, a convolution with its gradients."""

import json

import numpy
import tensorflow as tf

gpu = bool(tf.config.list_physical_devices("GPU"))
done = []
random = numpy.random.default_rng(0)
a, b = random.standard_normal((512, 512)), random.standard_normal((512, 512))
exact = a @ b
tf.config.experimental.enable_tensor_float_32_execution(False)
with tf.device("/GPU:0" if gpu else "/CPU:0"):
    out = tf.matmul(tf.constant(a, tf.float32), tf.constant(b, tf.float32)).numpy()
    worst = float(abs(out - exact).max() / abs(exact).max())
    assert worst < 1e-4, f"the fp32 product is off by {worst:.1e}"
    done.append(f"fp32 product within {worst:.0e}")
    for kind in (tf.float16, tf.bfloat16):
        x, y = tf.cast(a, kind), tf.cast(b, kind)
        one, other = tf.matmul(x, y), tf.matmul(x, y)
        assert bool(tf.reduce_all(one == other)), f"two {kind.name} products of the same matrices differ"
        worst = float(abs(tf.cast(one, tf.float64).numpy() - exact).max() / abs(exact).max())
        assert worst < 5e-2, f"the {kind.name} product is off by {worst:.1e}"
        done.append(kind.name)
    weight = tf.Variable(random.standard_normal((3, 3, 8, 16)), dtype=tf.float32)
    image = tf.constant(random.standard_normal((4, 32, 32, 8)), tf.float32)
    loss = lambda: tf.reduce_mean(tf.square(tf.nn.conv2d(image, weight, 1, "SAME")))
    with tf.GradientTape() as tape:
        value = loss()
    gradient = tape.gradient(value, weight)
    assert bool(tf.reduce_all(tf.math.is_finite(gradient))), "a gradient is not finite"
    step = 1e-2 * weight.numpy()
    weight.assign_add(step)
    up = float(loss())
    weight.assign_sub(2 * step)
    moved, wanted = (up - float(loss())) / 2, float(tf.reduce_sum(gradient * step))
    assert abs(moved - wanted) <= 2e-2 * max(abs(wanted), 1e-6), f"the gradient says {wanted:.3e}, and the loss moved by {moved:.3e}"
    done.append("convolution and its gradients")
print(json.dumps({"ok": True, "version": tf.__version__, "gpu": gpu, "detail": "; ".join(done)}))
