"""The model: policy, normalisers, layers, rules, networks; a Keras-free `tf.Module`."""
