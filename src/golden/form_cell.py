# @title What this notebook needs { display-mode: "form" }
framework = "torch"  # @param ["torch", "jax[cuda12]", "tensorflow[and-cuda]", "none"] {"allow-input": true}
version = "any"  # @param ["any"] {"allow-input": true}
packages = "transformers accelerate"  # @param {"type": "string"}
gpu = "this machine"  # @param ["this machine", "T4", "L4", "A100", "H100", "G4"]
try:
    import colab_boot
except ImportError:
    %pip install --quiet colab-boot
%reload_ext colab_boot
%boot form
