"""What a training does, once, and held against what must come out: products in each number format, a convolution with its gradients, copies, a collective."""

import json
import time

import torch

gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
done = []
torch.manual_seed(0)

a, b = torch.randn(512, 512), torch.randn(512, 512)
exact = a.double() @ b.double()
begun = time.perf_counter()
if gpu:
    torch.backends.cuda.matmul.allow_tf32 = False
out = (a.to(device) @ b.to(device)).cpu().double()
first = time.perf_counter() - begun
worst = float((out - exact).abs().max() / exact.abs().max())
assert worst < 1e-5, f"the fp32 product is off by {worst:.1e}"
done.append(f"fp32 product within {worst:.0e}")
if gpu and torch.cuda.get_device_capability(0) >= (8, 0):
    torch.backends.cuda.matmul.allow_tf32 = True
    worst = float(((a.to(device) @ b.to(device)).cpu().double() - exact).abs().max() / exact.abs().max())
    assert worst < 2e-3, f"the tf32 product is off by {worst:.1e}"
    done.append("tf32")
for kind in (torch.float16, torch.bfloat16):
    size = 2048 if gpu else 256
    x, y = torch.randn(size, size, device=device).to(kind), torch.randn(size, size, device=device).to(kind)
    one, other = x @ y, x @ y
    assert torch.equal(one, other), f"two {kind} products of the same matrices differ"
    wanted = x.float() @ y.float()
    worst = float((one.float() - wanted).abs().max() / wanted.abs().max())
    assert worst < 2e-2, f"the {kind} product is off by {worst:.1e}"
    done.append(str(kind).removeprefix("torch."))
image = torch.randn(4, 8, 32, 32, device=device, requires_grad=True)
weight = torch.randn(16, 8, 3, 3, device=device, requires_grad=True)
result = torch.nn.functional.conv2d(image, weight, padding=1)
result.square().mean().backward()
with torch.no_grad():
    wanted = torch.nn.functional.conv2d(image.double().cpu(), weight.double().cpu(), padding=1)
worst = float((result.detach().double().cpu() - wanted).abs().max() / wanted.abs().max())
assert worst < 1e-2 and torch.isfinite(weight.grad).all(), f"the convolution is off by {worst:.1e}"
done.append("convolution and its gradients")
if gpu:
    sent = torch.randint(0, 255, (64 << 20,), dtype=torch.uint8).pin_memory()
    assert torch.equal(sent.to(device, non_blocking=True).cpu(), sent), "what was copied to the GPU and back is not what it was"
    major, minor = torch.cuda.get_device_capability(0)
    names = torch.cuda.get_arch_list()
    done.append(f"64 MiB there and back; built for {' '.join(names)}, this is sm_{major}{minor}")
    if first > 5:
        done.append(f"the first launch took {first:.0f} s: PTX was compiled, set CUDA_CACHE_PATH to a place that lasts")
if torch.distributed.is_available():
    import os
    import tempfile

    backend = "nccl" if gpu and torch.distributed.is_nccl_available() else "gloo"
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group(backend, init_method=f"file://{os.path.join(folder, 'rendezvous')}", rank=0, world_size=1)
        ones = torch.ones(1024, device=device)
        torch.distributed.all_reduce(ones)
        assert float(ones.sum()) == 1024.0, "the all-reduce is wrong"
        torch.distributed.destroy_process_group()
    done.append(f"all-reduce ({backend})")
print(json.dumps({"ok": True, "version": torch.__version__, "gpu": gpu, "detail": "; ".join(done)}))
