"""Dumps of an Ascend NPU and of TensorFlow: reading, writing, comparing. Reading and comparing need no TensorFlow."""
