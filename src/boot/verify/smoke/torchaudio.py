"""A resampling: its native library loads only beside the torch it was built for."""

import json

import torch
import torchaudio

wave = torch.sin(torch.arange(1600) / 10).unsqueeze(0)
out = torchaudio.functional.resample(wave, 16000, 8000)
assert out.shape[-1] == 800, f"resampling gave {out.shape}"
print(json.dumps({"ok": True, "version": torchaudio.__version__, "detail": "resampled a wave"}))
