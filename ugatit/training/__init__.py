"""Training with the official arithmetic: losses, gradient penalties, TF1's Adam, learning rate, and one fused step.

    networks = build_networks(architecture, lambda scope: Build(factory=factory))             # networks.py
    training = Training(networks, make_optimisers(networks, factory), Objective('lsgan'))     # optimiser.py
    step = TrainingStep(training, Schedule())                                                 # step.py, schedule.py
    losses = step(steps_done, (images_a, images_b))
    save_checkpoint(folder, name, counter_after(steps_done + 1), official_state(training))    # state.py

`losses.py` and `penalty.py` hold the equations, `objective.py` puts them together under their official names,
`update.py` is one D or G update, eager or traced.
"""
