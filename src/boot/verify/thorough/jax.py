"""What a training does, once, and held against what must come out: a product, a convolution with its gradients, number formats."""

import json

import jax
import jax.numpy as jnp
import numpy

device = jax.devices()[0]
done = []
random = numpy.random.default_rng(0)
a, b = random.standard_normal((512, 512)), random.standard_normal((512, 512))
exact = a @ b
with jax.default_matmul_precision("highest"):
    out = numpy.asarray(jax.jit(jnp.matmul)(a.astype("float32"), b.astype("float32")), dtype="float64")
worst = float(abs(out - exact).max() / abs(exact).max())
assert worst < 1e-4, f"the fp32 product is off by {worst:.1e}"
done.append(f"fp32 product within {worst:.0e}")
for kind in (jnp.float16, jnp.bfloat16):
    x, y = jnp.asarray(a, dtype=kind), jnp.asarray(b, dtype=kind)
    product = jax.jit(jnp.matmul)
    one, other = product(x, y), product(x, y)
    assert bool((one == other).all()), f"two {kind.__name__} products of the same matrices differ"
    worst = float(abs(numpy.asarray(one, dtype="float64") - exact).max() / abs(exact).max())
    assert worst < 3e-2, f"the {kind.__name__} product is off by {worst:.1e}"
    done.append(kind.__name__)


def loss(weight, image):
    return (jax.lax.conv(image, weight, (1, 1), "SAME") ** 2).mean()


weight, image = jnp.asarray(random.standard_normal((16, 8, 3, 3)), "float32"), jnp.asarray(random.standard_normal((4, 8, 32, 32)), "float32")
gradient = jax.jit(jax.grad(loss))(weight, image)
step = 1e-2 * weight
moved = float(loss(weight + step, image) - loss(weight - step, image)) / 2
wanted = float((gradient * step).sum())
assert abs(moved - wanted) <= 2e-2 * max(abs(wanted), 1e-6), f"the gradient says {wanted:.3e}, and the loss moved by {moved:.3e}"
done.append("convolution and its gradients")
assert bool((jax.device_get(jax.device_put(image)) == image).all()), "what was copied to the device and back is not what it was"
gpu = device.platform in ("gpu", "cuda")
print(json.dumps({"ok": True, "version": jax.__version__, "gpu": gpu, "tpu": device.platform == "tpu", "detail": f"{'; '.join(done)}; on {device.device_kind} ({device.platform})"}))
