"""What arithmetic a device really has: tiny experiments, and a card that says what they show. For `diagnose.py device`.

Nothing is asked of the device but results: names and documents do not say what a compiler makes of a float32 network.
"""
