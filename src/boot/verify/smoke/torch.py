"""A product and a convolution on the GPU where there is one: kernels for this architecture, cuBLAS and cuDNN. Lazy loading hides a
missing kernel until its first launch, so kernels are launched."""

import json

import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
a = torch.ones(8, 8, device=device)
assert float((a @ a).sum()) == 512.0, "the matrix product is wrong"
out = torch.nn.functional.conv2d(torch.ones(1, 1, 8, 8, device=device), torch.ones(1, 1, 3, 3, device=device))
assert float(out.sum()) == 324.0, "the convolution is wrong"
if gpu:
    assert float((a.half() @ a.half()).sum()) == 512.0, "the half-precision product is wrong"
    name = torch.cuda.get_device_name(0)
    detail = f"product and convolution on {name}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"
else:
    detail = f"product and convolution on the CPU; built for CUDA {torch.version.cuda}"
print(json.dumps({"ok": True, "version": torch.__version__, "gpu": gpu, "detail": detail}))
