"""Where devices end, whether they lie well, and what two reports say differently of it."""

from __future__ import annotations

from rrgmetrics.comparing.model import Unit
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.model import Finding
from rrgmetrics.reading.places import is_astray

# Steps along the path of a device (lexicon/*/attributes.yaml, tip_sites) that change its position, and that matter.
TIP_STEPS, TIP_SIGNIFICANT_STEPS = 2, 3
TIP_ASTRAY_STEPS = 3  # from all places where a device belongs


def device_error(ref: Unit, cand: Unit, lexicon: Lexicon) -> bool | None:
    """Returns whether a wrong device position matters; None if the positions agree."""
    a, b = ref.head, cand.head
    measured = a.measurements_mm and b.measurements_mm and lexicon.concepts[a.concept].carina_cm
    if not measured and {position(a, lexicon), position(b, lexicon)} == {"good", "bad"}:
        return True  # of two depths that are measured, the difference tells
    if other_route(ref, cand):
        return False
    if ref.head.concept in lexicon.roles["lodged"] and a.tip and b.tip and not _paths(a, lexicon) & _paths(b, lexicon):
        return True
    ends = _end(a, lexicon), _end(b, lexicon)
    steps = max(_tip_steps(*ends, lexicon), _tip_steps(*ends[::-1], lexicon))
    if steps >= TIP_STEPS or (steps and _belongs_once(a, b, lexicon)):
        return steps >= TIP_SIGNIFICANT_STEPS
    return None


def _belongs_once(a: Finding, b: Finding, lexicon: Lexicon) -> bool:
    """Whether one of two devices that end in different places ends where it belongs, and the other does not."""
    return a.tip.isdisjoint(b.tip) and (position(a, lexicon) == "good") != (position(b, lexicon) == "good")


def _end(device: Finding, lexicon: Lexicon) -> frozenset[str]:
    """Returns where a device ends: of the places in the gut that it may lie in, the last one that it reaches."""
    gut = {
        site for site in device.tip & lexicon.concepts[device.concept].expected_tip if lexicon.tips[site].path == "gut"
    }
    return device.tip - gut | {max(gut, key=lambda site: lexicon.tips[site].order)} if gut else device.tip


def other_route(a: Unit, b: Unit) -> bool:
    """Whether two devices came in by different ways; one in the chest wall may have come in by any."""
    routes = {a.head.route, b.head.route}
    return len(routes) == 2 and routes.isdisjoint({None, "chest_wall"})


def _paths(device: Finding, lexicon: Lexicon) -> set[str]:
    return {lexicon.tips[site].path for site in device.tip}


def position(device: Finding, lexicon: Lexicon) -> str | None:
    """Returns whether a device lies well: as stated, or as its tip, its level or its depth above the carina tells."""
    concept = lexicon.concepts[device.concept]
    if device.position or is_astray(device, concept) or concept.key in lexicon.roles["astray"]:
        return device.position or "bad"
    if _is_far_off(device, concept.expected_tip, lexicon):
        return "bad"
    depths = concept.carina_cm
    if depths and device.measurements_mm:
        return "good" if any(depths[0] <= mm / 10 <= depths[-1] for mm in device.measurements_mm) else "bad"
    fits = device.tip & concept.expected_tip or device.levels & concept.expected_levels
    return "good" if fits else None


def _is_far_off(device: Finding, expected: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether a device ends on its path, but far from where it belongs; "out of view" is on no path of a line."""
    on_path = {lexicon.tips[site].path for site in expected} & _paths(device, lexicon)
    return bool(on_path) and _tip_steps(device.tip, expected, lexicon) >= TIP_ASTRAY_STEPS


def _tip_steps(a: frozenset[str], b: frozenset[str], lexicon: Lexicon) -> int:
    """Returns how far the tip of `a` that fits `b` least lies from the tips of `b` on the same path.

    Tips on two paths, one in the airway and one in the gut, are as far apart as matters.
    """
    paths = [{lexicon.tips[tip].path for tip in tips} for tips in (a, b)]
    worst = TIP_SIGNIFICANT_STEPS if all(paths) and paths[0].isdisjoint(paths[1]) else 0
    for x in a:
        path, order, x_wide = lexicon.tips[x]
        distances = [
            max(0, abs(order - y_order) - x_wide - y_wide)  # "the SVC" is all of it
            for y_path, y_order, y_wide in (lexicon.tips[y] for y in b)
            if y_path == path
        ]
        worst = max(worst, min(distances, default=0))
    return worst
