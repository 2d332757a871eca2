"""Generate, audit and repair the training labels of NAVSIM driving planners."""
