"""Three steps of a small training from a seed, and the digest of what came out. Run twice, the two must agree."""

import hashlib
import json
import random
import sys

import torch

seed = int(sys.argv[1])
random.seed(seed)
torch.manual_seed(seed)
torch.use_deterministic_algorithms(True)
torch.backends.cudnn.benchmark = False
gpu = torch.cuda.is_available()
device = "cuda" if gpu else "cpu"
model = torch.nn.Sequential(
    torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Dropout(0.2), torch.nn.Flatten(), torch.nn.Linear(16 * 14 * 14, 10)
).to(device)
optimizer = torch.optim.AdamW(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(96, 3, 16, 16), torch.randint(0, 10, (96,)))
digest = hashlib.sha256()
for images, labels in torch.utils.data.DataLoader(data, batch_size=32, shuffle=True):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
    loss.backward()
    optimizer.step()
    digest.update(str(float(loss.detach())).encode())
for value in model.state_dict().values():
    digest.update(value.detach().cpu().numpy().tobytes() if not value.dtype.is_floating_point else value.detach().float().cpu().numpy().tobytes())
digest.update(repr(sorted(hash(word) for word in ("a", "b", "c"))).encode() if sys.flags.hash_randomization == 0 else b"")
print(json.dumps({"ok": True, "version": torch.__version__, "gpu": gpu, "detail": digest.hexdigest()}))
