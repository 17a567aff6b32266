"""What an NVIDIA GPU makes of this project, in one table: `bash tests/gpu.sh`.

`steps` lists what is measured, `run` runs each step in a process of its own within its limit, `figures` keeps what was
measured, `table` puts it together. The other modules are the steps.
"""
