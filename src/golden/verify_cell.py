# Compares the installed files with the lock and tests each framework in a process of its own.
if colab_boot_run("verify")[0]:
    raise ColabBootStop("colab-boot verify found problems; see the messages above")
