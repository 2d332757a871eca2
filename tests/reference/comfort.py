"""History comfort: six signals of the logged past and the driven future, each within bounds."""

import numpy as np
from scipy.signal import savgol_filter

from navaudit.axes import AX, AY, DT_S, HEADING, YAW_ACCELERATION, YAW_RATE
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M
from reference.resample import interpolate


def history_comfort(past, states):
    """0 where a signal leaves its bounds at any moment of ``[candidate, step, 11]`` or before."""
    before = history(past)
    before = np.broadcast_to(before, (len(states), *before.shape))
    comfortable = within_bounds(np.concatenate([before, states], axis=1))
    return np.where(comfortable, 1.0, 0.0)


def history(past):
    """Logged states every 0.1 s, less the last two: the end is left out, then one more.

    They are joined to t = 0 as if they were 0.1 s apart from it.  Turning is not kept.
    """
    times_us = np.arange(past.time_us[0], past.time_us[-1], 100_000)[:-1]
    states = interpolate(past.time_us, past.state, times_us)
    states[:, YAW_RATE:] = 0.0
    return states


def within_bounds(states):
    """Whether all six signals of joined states ``[candidate, sample, 11]`` keep within bounds."""
    turning = states[..., YAW_RATE] ** 2 + states[..., YAW_ACCELERATION]
    ahead = smooth(states[..., AX] + REAR_AXLE_TO_CENTRE_M * turning, 8, 2)
    sideways = smooth(states[..., AY], 8, 2)
    total = smooth(np.hypot(states[..., AX], states[..., AY]), 8, 2)
    heading = unwrapped(states[..., HEADING])
    signals = (
        (ahead, -4.05, 2.40),
        (sideways, -4.89, 4.89),
        (smooth(total, 15, 2, derivative=1), -8.37, 8.37),
        (smooth(ahead, 15, 2, derivative=1), -4.13, 4.13),
        (smooth(heading, 5, 3, derivative=2), -1.93, 1.93),
        (smooth(heading, 5, 2, derivative=1), -0.95, 0.95),
    )
    return np.all([((low < one) & (one < high)).all(axis=1) for one, low, high in signals], axis=0)


def smooth(signal, window, order, derivative=0):
    """Fit polynomials to windows of samples and read them or a derivative; eight decimals."""
    read = savgol_filter(signal, window, order, deriv=derivative, delta=DT_S, axis=1)
    return np.round(read, 8)


def unwrapped(heading):
    """Headings ``[candidate, sample]`` without jumps by whole turns."""
    turns = np.round(np.diff(heading, axis=1, prepend=heading[:, :1]) / (2 * np.pi))
    return heading - 2 * np.pi * np.cumsum(turns, axis=1)
