"""Radiograph-like pictures of invented studies; the patient's right is on the left, as radiologists look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examples.train_report_generator.studies import DIAMETERS_MM, SEVERITIES, SIZES, ZONES, Study

Picture = NDArray[np.float32]

LUNG_X, LUNG_WIDTH, LUNG_HEIGHT = 0.43, 0.33, 0.68  # middle and half axes, in halves of the picture
HEART_WIDTHS = dict(zip(("", *SEVERITIES), (0.27, 0.37, 0.46, 0.56), strict=True))
EFFUSION_LEVELS = dict(zip(SIZES, (0.42, 0.12, -0.18), strict=True))  # y of the fluid's surface; down is positive
ZONE_Y = dict(zip(ZONES, (-0.4, -0.05, 0.3), strict=True))
NODULE_RADII = dict(zip(DIAMETERS_MM, (0.035, 0.06, 0.095), strict=True))


def draw(study: Study, rng: np.random.Generator, size: int) -> NDArray[np.uint8]:
    """Draws a study; position, exposure and noise vary.

    Args:
        study: What to show.
        rng: Of everything that varies.
        size: Pixels a side.

    Returns:
        Grey values, shape (size, size).
    """
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    moved_x, moved_y = rng.uniform(-0.04, 0.04, 2)
    x, y = np.meshgrid(axis - moved_x, axis - moved_y)
    picture = 0.45 + 0.25 * _inside(np.abs(x) - 0.09, 0.03)  # the spine
    for side in ("right", "left"):
        picture = _draw_lung(picture, x, y, side, study, rng)
    width = HEART_WIDTHS[study.heart] * rng.uniform(0.95, 1.05)
    heart = _inside(_ellipse(x - 0.1, y - 0.33, width, 0.3), 0.05)
    picture = picture * (1 - heart) + heart * 0.78
    for name in study.devices:
        picture = _draw_device(picture, x, y, name)
    picture = (picture - 0.5) * rng.uniform(0.85, 1.15) + 0.5 + rng.uniform(-0.05, 0.05)
    picture += rng.normal(0, 0.025, picture.shape)
    return (np.clip(picture, 0, 1) * 255).astype(np.uint8)


def _draw_lung(picture: Picture, x: Picture, y: Picture, side: str, study: Study, rng: np.random.Generator) -> Picture:
    middle = _sign(side) * LUNG_X
    lung = _inside(_ellipse(x - middle, y, LUNG_WIDTH, LUNG_HEIGHT), 0.04)
    air = 0.17 + 0.05 * np.cos(22 * (y + 0.5 * (x - middle) ** 2))  # ribs
    if side == study.pneumothorax:
        apex = _inside(_ellipse(x - middle, y + 0.52, 0.3, 0.24), 0.03)
        rim = np.exp(-(((_ellipse(x - middle, y + 0.52, 0.3, 0.24)) / 0.06) ** 2))
        air = air * (1 - apex) + 0.02 * apex + 0.4 * rim * (y > -0.5)
    if study.opacity and study.opacity[0] == side:
        cx, cy = _spot(study.opacity, rng)
        air = air + 0.5 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 0.022)
    if study.nodule and study.nodule[0] == side:
        cx, cy = _spot(study.nodule[:2], rng)
        air = air + 0.6 * _inside(np.hypot(x - cx, y - cy) - NODULE_RADII[study.nodule[2]], 0.012)
    if side in study.effusions:
        surface = EFFUSION_LEVELS[study.effusions[side]] - 0.5 * (x - middle) ** 2 + rng.uniform(-0.03, 0.03)
        fluid = _inside(surface - y, 0.03)
        air = air * (1 - fluid) + 0.72 * fluid
    return picture * (1 - lung) + lung * air


def _draw_device(picture: Picture, x: Picture, y: Picture, name: str) -> Picture:
    if name == "endotracheal tube":
        mask = _inside(np.abs(x) - 0.02, 0.01) * (y < -0.35)
    elif name == "right jugular catheter":
        mask = _inside(np.abs(x + 0.12 + 0.25 * np.maximum(-0.45 - y, 0)) - 0.015, 0.01) * (y < 0.0)
    else:
        box = _inside(np.maximum(np.abs(x - 0.6) - 0.13, np.abs(y + 0.72) - 0.1), 0.02)
        lead = _inside(np.abs(x - 0.5 + 0.42 * (y + 0.62)) - 0.015, 0.01) * (y > -0.65) * (y < 0.35)
        mask = np.maximum(box, lead)
    return picture * (1 - mask) + mask


def _spot(place: tuple[str, str], rng: np.random.Generator) -> tuple[float, float]:
    side, zone = place
    return _sign(side) * (LUNG_X + rng.uniform(-0.06, 0.08)), ZONE_Y[zone] + rng.uniform(-0.08, 0.08)


def _sign(side: str) -> int:
    return -1 if side == "right" else 1


def _ellipse(x: Picture, y: Picture, width: float, height: float) -> Picture:
    """Below 0 inside, about the distance to the border elsewhere."""
    return (np.hypot(x / width, y / height) - 1) * min(width, height)


def _inside(distance: Picture, softness: float) -> Picture:
    """1 where the distance is below 0, with a soft border."""
    return 1 / (1 + np.exp(np.clip(distance / softness * 4, -30, 30)))
