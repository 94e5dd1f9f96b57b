def colab_boot_facts(variables):
    """What this kernel has loaded and how it is set, for colab-boot to judge. Imports nothing and initialises no device."""

    def of(module, attribute):
        try:  # a module may be anything, and have any text; JSON may not
            value = getattr(module, attribute, None)
            return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
        except Exception:
            return None

    def encodable(text):
        return isinstance(text, str) and text.encode("utf-8", "ignore").decode() == text

    modules, loaded = {}, {name: module for name, module in dict(sys.modules).items() if encodable(name)}
    for name, module in loaded.items():
        top = loaded.get(name.split(".")[0])
        file = of(module, "__file__")
        # What lies in a regular package goes with it; namespace packages have no file of their own.
        if file is None or ("." in name and of(top, "__file__") is not None):
            continue
        modules[name] = {"file": file, "version": of(module, "__version__")}

    def asked(question):
        try:
            return bool(question())
        except Exception:
            return None

    def told(question):
        try:
            return question()
        except Exception:
            return None

    def torch_memory():
        cuda = loaded["torch"].cuda
        stats, (free, total) = cuda.memory_stats(), cuda.mem_get_info()
        parts = {"reserved": "reserved_bytes.all.current", "allocated": "allocated_bytes.all.current"}
        parts.update({"split": "inactive_split_bytes.all.current", "retries": "num_alloc_retries", "failed": "num_ooms"})
        return {"free": free, "total": total, **{name: stats.get(key, 0) for name, key in parts.items()}}

    initialised, memory = {}, None
    if "torch" in loaded:
        initialised["torch.cuda"] = asked(lambda: loaded["torch"].cuda.is_initialized())
        memory = told(torch_memory) if initialised["torch.cuda"] else None
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
        "environment": {name: os.environ.get(name) for name in variables if encodable(os.environ.get(name, ""))},
        "initialised": {name: known for name, known in initialised.items() if known is not None},
        "path": [entry or os.getcwd() for entry in sys.path if encodable(entry)],
        "start_method": told(lambda: loaded["multiprocessing"].get_start_method(allow_none=True)),
        "hash_randomization": bool(sys.flags.hash_randomization),
        "torch_memory": memory,
    }
