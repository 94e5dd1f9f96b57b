"""A jitted convolution on the first device: plugin, compiler and cuDNN."""

import json

import jax
import jax.numpy as jnp

device = jax.devices()[0]
image = jnp.ones((1, 1, 8, 8))
kernel = jnp.ones((1, 1, 3, 3))
out = jax.jit(lambda a, b: jax.lax.conv(a, b, (1, 1), "VALID"))(image, kernel)
assert float(out.sum()) == 9.0 * 36, f"the convolution gave {float(out.sum())}"
gpu = device.platform in ("gpu", "cuda")
detail = f"jitted convolution on {device.device_kind} ({device.platform})"
print(json.dumps({"ok": True, "version": jax.__version__, "gpu": gpu, "tpu": device.platform == "tpu", "detail": detail}))
