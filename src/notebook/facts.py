def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing and initialises no device."""
    modules, loaded = {}, dict(sys.modules)
    for name, module in loaded.items():
        top = loaded.get(name.split(".")[0])
        file = getattr(module, "__file__", None)
        # What lies in a regular package goes with it; namespace packages have no file of their own.
        if not isinstance(file, str) or ("." in name and isinstance(getattr(top, "__file__", None), str)):
            continue
        version = getattr(module, "__version__", None)
        modules[name] = {"file": file, "version": version if isinstance(version, str) else None}

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    initialised = {}
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
    if "jax" in loaded:
        bridge = loaded.get("jax._src.xla_bridge")
        initialised["jax"] = asked(lambda: bridge is not None and bridge.backends_are_initialized())
    if "tensorflow" in loaded:
        context = loaded.get("tensorflow.python.eager.context")
        initialised["tensorflow"] = asked(lambda: context.context()._initialized)
    return {
        "schema": 1,
        "pid": os.getpid(),
        "modules": modules,
        "environment": {name: os.environ.get(name) for name in variables},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry or os.getcwd() for entry in sys.path if isinstance(entry, str)],
    }
