"""The nms operator: it is missing exactly when torchvision was built for another torch."""

import json

import torch
import torchvision

device = "cuda" if torch.cuda.is_available() else "cpu"
boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [0.0, 0.0, 4.0, 3.9], [9.0, 9.0, 12.0, 12.0]], device=device)
kept = torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7], device=device), 0.5)
assert kept.tolist() == [0, 2], f"nms kept {kept.tolist()}"
detail = f"nms on the {device}"
print(json.dumps({"ok": True, "version": torchvision.__version__, "gpu": device == "cuda", "detail": detail}))
