"""U-GAT-IT in TensorFlow that computes the same picture in float16."""
